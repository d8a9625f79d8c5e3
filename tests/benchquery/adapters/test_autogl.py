"""AutoGL's contract, without AutoGL; and its algorithms, where it is installed."""

from __future__ import annotations

import importlib.util
import itertools
from typing import Any

import numpy as np
import pytest

from benchquery import SPACES, Arch, lightread
from benchquery.adapters.autogl import Estimator, parse
from benchquery.errors import BudgetExhaustedError, MissingPackageError, QueryError
from benchquery.search import Budget, Oracle, run
from benchquery.search.choices import choices

HERE = importlib.util.find_spec("autogl") is not None
needs_autogl = pytest.mark.skipif(
    not HERE, reason="AutoGL is not installed: scripts/autogl_environment.sh makes an environment"
)


def test_selections_name_every_raw_form_once() -> None:
    space = SPACES["proteins"]
    sizes = {name: len(values) for name, values in choices(space).items()}
    models = {
        parse(space, dict(zip(sizes, indices, strict=True)))
        for indices in itertools.product(*map(range, sizes.values()))
    }
    assert len(models) == 24 * 5**4
    real = {Arch(m.link, m.ops).valid_hash() for m in models if set(m.ops) != {"skip"}}
    assert real == set(space.hashes.tolist())


def test_selections_may_be_numpy_integers() -> None:
    selection = dict(zip(choices(SPACES["full"]), np.array([1, 2, 1, 1, 2, 7, 3]), strict=True))
    model = parse(SPACES["full"], selection)
    assert Arch(model.link, model.ops).valid_hash() == 61237
    assert model._model == model


@pytest.mark.parametrize(
    ("protocol", "mask", "column"),
    [("validation", "val", "valid_perf"), ("leaky-test", "val", "perf"),
     ("leaky-test", "test", "perf")],
)  # fmt: skip
def test_the_estimator_gives_metrics_and_a_loss(protocol: str, mask: str, column: str) -> None:
    oracle = Oracle(lightread("cora"), Budget(1), protocol=protocol)  # type: ignore[arg-type]
    estimator, model = Estimator(oracle), parse(SPACES["full"], dict.fromkeys(CHOICES, 0))
    number = Arch(model.link, model.ops).valid_hash()
    metrics, loss = estimator.infer(model, None, mask=mask)
    assert metrics == [lightread("cora")[number][column]]
    assert loss.item() == pytest.approx(1 - metrics[0])
    with pytest.raises(BudgetExhaustedError):
        estimator.infer(model, None, mask=mask)


@pytest.mark.parametrize("mask", ["train", "test", "all"])
def test_the_estimator_honours_the_mask(mask: str) -> None:
    oracle = Oracle(lightread("cora"), Budget(5))
    model = parse(SPACES["full"], dict.fromkeys(CHOICES, 0))
    with pytest.raises(QueryError, match=f"'{mask}'.*'validation' allows: val"):
        Estimator(oracle).infer(model, None, mask=mask)
    assert oracle.spent == 0


@pytest.mark.skipif(HERE, reason="AutoGL is installed")
def test_without_autogl_there_is_a_hint() -> None:
    with pytest.raises(MissingPackageError, match="autogl_environment"):
        run("autogl:random", "cora", 5)


@pytest.mark.autogl
@needs_autogl
@pytest.mark.parametrize("name", ["random", "graphnas", "agnn"])
def test_algorithms_use_their_budget_and_follow_their_seed(name: str) -> None:
    first, again, other = (run(f"autogl:{name}", "cora", 40, seed=seed) for seed in (0, 0, 1))
    assert first.hashes.tolist() == again.hashes.tolist() != other.hashes.tolist()
    assert len(first) == 40
    np.testing.assert_array_equal(
        first.rewards, lightread("cora").lookup(first.hashes, "valid_perf")
    )


@pytest.mark.autogl
@needs_autogl
def test_an_example_written_for_the_published_package_finds_the_same() -> None:
    """The way of AutoGL's own example: a space of names, and an estimator that looks up."""
    import nas_bench_graph
    import torch
    from autogl.module.nas.algorithm import GraphNasRL
    from autogl.module.nas.estimator import BaseEstimator
    from autogl.module.nas.space import BaseSpace

    import benchquery.compat.nas_bench_graph as compat

    class Name(torch.nn.Module):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def found(package: Any) -> list[tuple[float, str]]:
        class Names(BaseSpace):  # type: ignore[misc]
            def instantiate(self) -> None:
                super().instantiate()
                self.input_dim = self.output_dim = 2
                for node in range(4):
                    links = self.setInputChoice(
                        node, n_candidates=node + 1, n_chosen=1, key=f"in{node}"
                    )
                    ops = [Name(op) for op in package.gnn_list_proteins]
                    setattr(self, f"in{node}", links)
                    setattr(self, f"op{node}", self.setLayerChoice(node, ops, key=f"op{node}"))
                self.unused = torch.nn.Linear(1, 1)

            def forward(self, bench: Any) -> float:
                links = [getattr(self, f"in{node}").selected for node in range(4)]
                ops = [getattr(self, f"op{node}").name for node in range(4)]
                code = package.Arch(links, ops).valid_hash()
                return 0.0 if code in ("88888", 88888) else float(bench[code]["perf"])

            def parse_model(self, selection: Any, device: Any) -> Any:
                return self.wrap().fix(selection)

        class LookUp(BaseEstimator):  # type: ignore[misc]
            def infer(self, model: Any, dataset: Any, mask: str = "train") -> Any:
                return [model(package.light_read("proteins"))], 0

        torch.manual_seed(0)
        np.random.seed(0)
        space = Names()
        space.instantiate()
        algorithm = GraphNasRL(num_epochs=2, ctrl_steps_aggregate=5)
        algorithm.search(space, None, LookUp())
        return [(score, str(chosen)) for score, chosen in algorithm.allhist]

    history = found(compat)
    assert len(history) == 10
    assert history == found(nas_bench_graph)


CHOICES = tuple(choices(SPACES["full"]))
