"""A job of every kind and method, twice on every sort of device that this machine has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from benchbuild.datasets import hyperparameters_for
from benchbuild.engines.base import Refusal, open_context, run_job
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.kind import condense_run
from benchbuild.kinds.darts.kind import darts_run
from benchbuild.kinds.darts.records import LINK_NAMES
from benchbuild.kinds.train.kind import train_run
from benchbuild.kinds.tune.kind import tune_run
from benchbuild.pipeline.jobs import AnyRun, Place
from benchbuild.pipeline.records import JobRecord
from benchbuild.pipeline.registry import kind_of
from benchquery.kinds.architectures.arch import OPS, Arch
from benchquery.kinds.condensed.domains.nodes import METHODS
from tests.benchbuild.condensing import SMALL, settings

GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU here")
DEVICES = ["cpu", pytest.param("cuda:0", marks=GPU)]
HP = hyperparameters_for("csbm").override(epochs=4)


def runs() -> dict[str, AnyRun]:
    """A run of one quick job or more, by name."""
    evaluations = Evaluations.of(["gcn", "mlp"], [0], {"epochs": 4, "hidden": 8})
    links = Evaluations.of(["gcn"], [0], {"epochs": 4, "hidden": 8}, task="link-prediction")
    archs = {op: Arch([0, 1, 2, 3], [op] * 4).valid_hash() for op in OPS if op != "skip"}
    return {
        **{op: train_run(SMALL, archs=[number], seeds=[0], hp=HP) for op, number in archs.items()},
        "tune": tune_run(SMALL, trials=1, ranges={"epochs": [3]}),
        "darts": darts_run(SMALL, links=[next(iter(LINK_NAMES))], hp=HP.override(pre=1, hidden=8)),
        **{method: condense_run(SMALL, [settings(method)], evaluations) for method in METHODS},
        "link-prediction": condense_run(SMALL, [settings("gcond")], links),
    }


RUNS = runs()


def do(run: AnyRun, device: str, scratch: Path) -> JobRecord:
    """Run the first job as a worker does."""
    kind = kind_of(run.kind)
    context = open_context(kind, run.settings, Place(device, scratch=str(scratch)))
    assert not isinstance(context, Refusal), context.reason
    record = run_job(kind, context, kind.keys(run)[0])
    assert record.status == "ok", record.reason
    assert not list(kind.problems(run, record))
    return record


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", RUNS)
def test_a_job_ends_well_and_the_same_way_twice(name: str, device: str, tmp_path: Path) -> None:
    run = RUNS[name]
    first, second = (do(run, device, tmp_path / number) for number in ("first", "second"))
    for field in kind_of(run.kind).record.columns():
        if field.role == "figure":
            before, after = (getattr(one, field.name) for one in (first, second))
            np.testing.assert_array_equal(before, after, field.name)
