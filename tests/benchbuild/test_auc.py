"""The area under the ROC curve against that of ogb's evaluator and of counted pairs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from ogb.nodeproppred import Evaluator

from benchbuild.compute.auc import mean_auc
from benchbuild.compute.objective import Objective
from benchbuild.testing.gpu import PretendGpu

SHAPES = st.tuples(st.integers(1, 30), st.integers(1, 4))


def by_ogb(scores: np.ndarray, y: np.ndarray) -> float:
    """Return what ogb's evaluator says; NaN where it refuses."""
    evaluator = Evaluator("ogbn-proteins")
    evaluator.num_tasks = y.shape[1]
    try:
        return float(evaluator.eval({"y_true": y, "y_pred": scores})["rocauc"])
    except RuntimeError:
        return np.nan


@given(st.data())
def test_it_is_ogb_s_with_ties_and_tasks_of_one_class(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    few = st.sampled_from([-1.5, -0.0, 0.0, 0.25, 3.0])
    scores = data.draw(arrays(np.float32, shape, elements=few | st.floats(-9, 9, width=32)))
    y = data.draw(arrays(np.float32, shape, elements=st.sampled_from([0.0, 1.0])))
    found = float(mean_auc(torch.from_numpy(scores), torch.from_numpy(y)))
    assert found == pytest.approx(by_ogb(scores, y), abs=1e-12, nan_ok=True)


def test_it_counts_pairs() -> None:
    random = np.random.RandomState(1)
    scores, y = random.randint(0, 40, 500), random.randint(0, 2, 500)
    pairs = scores[y == 1][:, None] - scores[y == 0][None]
    expected = ((pairs > 0) + 0.5 * (pairs == 0)).mean()
    both = torch.from_numpy(scores).float()[:, None], torch.from_numpy(y)[:, None]
    assert float(mean_auc(*both)) == expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_gives_none(bad: float) -> None:
    scores = torch.tensor([[0.0], [1.0], [bad]])
    assert torch.isnan(mean_auc(scores, torch.tensor([[0.0], [1.0], [1.0]])))


def test_a_gpu_measures_it_without_waiting(gpu: PretendGpu) -> None:
    torch.manual_seed(0)
    y = [torch.randint(2, (20, 3)).float() for _ in range(3)]
    logits = torch.empty(60, 3).normal_()
    here = Objective("rocauc", (y[0], y[1], y[2])).measure(logits)
    on_gpu = [part.to(gpu.device) for part in y]
    there = Objective("rocauc", (on_gpu[0], on_gpu[1], on_gpu[2])).measure(logits.to(gpu.device))
    assert not gpu.synchronisations
    torch.testing.assert_close(there.cpu(), here, rtol=0, atol=1e-12)
