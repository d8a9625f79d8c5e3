"""AutoGL 0.4: its search algorithms on our tables.

AutoGL pins NNI 2.8 and numpy below 2, so it needs an environment of its own:
``scripts/autogl_environment.sh`` makes one. This module imports without it. Algorithms that
train a model by gradients (Darts, Gasso, Spos) can't search a table.

An algorithm of AutoGL, built in or your own, runs unchanged::

    from autogl.module.nas.algorithm import GraphNasRL

    trace = run(GraphNasRL(device="cpu"), "cora", "2%")
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import io
import logging
import random
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import MissingPackageError, QueryError
from benchquery.kinds.architectures.space import Space
from benchquery.kinds.architectures.table import ArchTable
from benchquery.search.budget import Budget
from benchquery.search.choices import choices, form
from benchquery.search.oracle import Oracle, RewardProtocol
from benchquery.search.run import run as run_search
from benchquery.search.strategies import Strategy
from benchquery.search.trace import Trace

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

_ROUNDS = 10**6
"""More than any budget: it is the oracle that ends a search."""

MASKS: Mapping[RewardProtocol, tuple[str, ...]] = MappingProxyType(
    {"validation": ("val",), "leaky-test": ("val", "test"), "one-seed": ("val",)}
)
"""By protocol, the parts of the data that an algorithm may ask the metric of.

AutoGL's own NAS-Bench-Graph example answers every mask with the test metric. Here the test
metric is had under the protocol of that name only.
"""


@dataclasses.dataclass(frozen=True)
class Model:
    """A raw form, in the place of the model that AutoGL would train.

    Attributes:
        link: Its links.
        ops: Its operations.
    """

    link: tuple[int, ...]
    ops: tuple[str, ...]

    @property
    def _model(self) -> Model:
        """What AutoGL hands to an estimator: the model in the box."""
        return self


def parse(space: Space, selection: Mapping[str, int]) -> Model:
    """Return the model of a selection: the index that was chosen for each choice."""
    chosen = {name: values[int(selection[name])] for name, values in choices(space).items()}
    link, ops = form(chosen)
    return Model(tuple(link), tuple(ops))


class Estimator:
    """Answers AutoGL's algorithms from an oracle, as its estimators do.

    Args:
        oracle: The oracle.
    """

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def infer(self, model: Model, dataset: object, mask: str = "train") -> tuple[list[float], Any]:
        """Return the metrics and the loss of a model on a part of the data.

        Args:
            model: The model.
            dataset: AutoGL's dataset; not used, as the oracle knows its own.
            mask: The part of the data: ``val``, as `MASKS` says.

        Raises:
            QueryError: If the protocol does not allow to ask for this part.
            BudgetExhaustedError: If the budget is used up.
        """
        allowed = MASKS[self._oracle.protocol]
        if mask not in allowed:
            raise QueryError(
                f"an algorithm asked for the metric on {mask!r}; the protocol "
                f"{self._oracle.protocol!r} allows: {', '.join(allowed)}"
            )
        metric = self._oracle.evaluate_form(model.link, model.ops)
        return [metric], np.float64(1 - metric)


def graph_space(space: Space) -> Any:
    """Return a space of ours as an AutoGL space: a layer choice for each link and operation.

    Raises:
        MissingPackageError: If AutoGL is not installed.
    """
    torch, base = _import("torch"), _import("autogl.module.nas.space.base")

    class GraphSpace(base.BaseSpace):  # type: ignore[misc, name-defined]
        """The choices; AutoGL also wants sizes and a parameter to find the device by."""

        input_dim = output_dim = 1

        def __init__(self) -> None:
            super().__init__()
            self.anchor = torch.nn.Parameter(torch.zeros(1))

        def instantiate(self) -> None:
            super().instantiate()
            for order, (name, values) in enumerate(choices(space).items()):
                setattr(self, name, self.setLayerChoice(order, base.map_nn(values), key=name))

        def parse_model(self, selection: Mapping[str, int], device: object) -> Model:
            return parse(space, selection)

    made = GraphSpace()
    made.instantiate()
    return made


def search(oracle: Oracle, algorithm: Any) -> None:
    """Let an algorithm of AutoGL ask an oracle.

    Args:
        oracle: The oracle.
        algorithm: An algorithm of `autogl.module.nas.algorithm`, or one with its method
            ``search(space, dataset, estimator)``.

    Raises:
        BudgetExhaustedError: When the budget is used up.
        MissingPackageError: If AutoGL is not installed.
    """
    algorithm.search(graph_space(oracle.space), None, Estimator(oracle))


def run(
    algorithm: Any,
    dataset: str | ArchTable,
    budget: str | int | Budget = "2%",
    *,
    protocol: RewardProtocol = "validation",
) -> Trace:
    """Let an algorithm of AutoGL search a table.

    Args:
        algorithm: The algorithm; it draws from numpy's and torch's global generators.
        dataset: A table, or the name of one.
        budget: How much it may ask, as `benchquery.search.run` reads it.
        protocol: What the reward is.

    Raises:
        BenchQueryError: As `benchquery.search.run` does.
    """

    def adapted(oracle: Oracle, rng: random.Random) -> None:
        search(oracle, algorithm)

    adapted.__name__ = f"autogl:{type(algorithm).__name__}"
    return run_search(adapted, dataset, budget, protocol=protocol)


def _import(name: str) -> Any:
    """Import a module of AutoGL's environment, and keep to ourselves what that prints.

    Raises:
        MissingPackageError: If it is not there.
    """
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"this needs AutoGL, in an environment of its own ({error}): "
            "scripts/autogl_environment.sh makes one"
        ) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep AutoGL from logging, and from printing to standard output, where results go."""
    level = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(level)


def _adapt(module: str, name: str) -> Strategy:
    """Turn an algorithm of AutoGL, named by its module and class, into a strategy of ours."""

    def adapted(oracle: Oracle, rng: random.Random) -> None:
        algorithms, torch = _import(f"autogl.module.nas.algorithm.{module}"), _import("torch")
        np.random.seed(rng.getrandbits(32))
        torch.manual_seed(rng.getrandbits(32))
        with _quiet():
            algorithm = getattr(algorithms, name)(
                device="cpu", num_epochs=_ROUNDS, disable_progress=True
            )
            search(oracle, algorithm)

    return adapted


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "random": _adapt("random_search", "RandomSearch"),
        "graphnas": _adapt("rl", "GraphNasRL"),
        "agnn": _adapt("agnn_rl", "AGNNRL"),
    }
)
"""AutoGL's algorithms with its own settings; the last two are the paper's GNAS and Auto-GNN."""
