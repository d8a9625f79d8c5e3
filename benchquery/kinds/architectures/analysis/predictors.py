"""A benchmark of predictors: learn a few architectures, rank all the others.

The splits are fixed by their size and seed: which architectures are learnt does not depend on the
predictor, nor on the table, as long as it holds the whole space. A predictor is judged by Kendall's
tau-b over the architectures that it did not learn, on the table it learnt from and on others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.analysis.statistics import kendall
from benchquery.errors import QueryError, UnknownNameError
from benchquery.kinds.architectures.analysis.agreement import goodness
from benchquery.kinds.architectures.analysis.graph_network import GraphNetwork
from benchquery.kinds.architectures.encoding import encode
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np
    import threadpoolctl
    from sklearn import ensemble, linear_model

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")
    threadpoolctl = LazyModule("threadpoolctl", extra="analysis")
    ensemble = LazyModule("sklearn.ensemble", extra="analysis")
    linear_model = LazyModule("sklearn.linear_model", extra="analysis")

SIZES = (50, 100, 200, 400)
_BLOCK = 4_096
"""How many architectures are encoded at a time: the encoding by paths is wide."""

Ranker = Callable[["Ints"], "Floats"]
"""Gives architectures, by hash, the figures to rank them by."""


def _in_blocks(predict: Callable[[Any], Floats], encoding: str) -> Ranker:
    """Return what encodes architectures and predicts, a block at a time."""

    def ranked(hashes: Ints) -> Floats:
        starts = range(0, len(hashes), _BLOCK)
        return np.concatenate(
            [predict(encode(hashes[start : start + _BLOCK], encoding)) for start in starts]
        )

    return ranked


def _ridge(hashes: Ints, values: Floats, encoding: str, seed: int) -> Ranker:
    """Fit ridge regression; how much is shrunk is chosen by leaving each out."""
    model = linear_model.RidgeCV(np.logspace(-2, 3, 11)).fit(encode(hashes, encoding), values)
    return _in_blocks(model.predict, encoding)


def _trees(hashes: Ints, values: Floats, encoding: str, seed: int) -> Ranker:
    """Fit gradient-boosted trees."""
    model = ensemble.HistGradientBoostingRegressor(min_samples_leaf=5, random_state=seed)
    with threadpoolctl.threadpool_limits(1):
        model.fit(encode(hashes, encoding), values)
    return _in_blocks(model.predict, encoding)


def _graph(hashes: Ints, values: Floats, encoding: str, seed: int) -> Ranker:
    """Fit a small graph network, which sees the graph itself: no encoding."""
    return GraphNetwork(seed).fit(hashes, values).predict


PREDICTORS: Mapping[str, Callable[[Ints, Floats, str, int], Ranker]] = MappingProxyType(
    {"ridge": _ridge, "trees": _trees, "graph": _graph}
)
"""By name, what learns figures of architectures from hashes, figures, an encoding and a seed."""


def split(table: ArchTable, size: int, seed: int) -> tuple[Ints, Ints]:
    """Return the hashes of a table's architectures to learn, and those of all the others.

    Raises:
        QueryError: If there are not more architectures than are to be learnt, or the size is
            below 2.
    """
    hashes = np.sort(table.hashes)
    if not 2 <= size < len(hashes):
        raise QueryError(
            f"a split learns 2 to {len(hashes) - 1:,} architectures of the table {table.name!r}, "
            f"not {size}"
        )
    mixed = np.random.default_rng((seed, size)).permutation(hashes)
    return mixed[:size], np.sort(mixed[size:])


@dataclass(frozen=True, eq=False)
class PredictorScores:
    """How well predictors rank architectures that they did not learn.

    Attributes:
        by: The figure that is predicted.
        encoding: How architectures are shown to all but the graph network.
        sizes: How many architectures were learnt.
        taus: By predictor, table that was learnt and table that was judged: (sizes, seeds)
            Kendall's tau-b.
    """

    by: str
    encoding: str
    sizes: tuple[int, ...]
    taus: Mapping[tuple[str, str, str], Floats]

    @property
    def note(self) -> str:
        """What the rows are about."""
        seeds = next(iter(self.taus.values())).shape[1]
        return (
            f"Kendall's tau-b by {self.by} over the architectures that were not learnt, mean of "
            f"{seeds} splits; columns are how many were learnt; {self.encoding} encoding"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each predictor and pair of tables: means over the splits."""
        return [
            {
                "predictor": predictor,
                "learnt": learnt,
                "judged": judged,
                **{
                    str(size): float(mean)
                    for size, mean in zip(self.sizes, taus.mean(axis=1), strict=True)
                },
                "error": float(taus[-1].std(ddof=1) / np.sqrt(taus.shape[1]))
                if taus.shape[1] > 1
                else float("nan"),
            }
            for (predictor, learnt, judged), taus in self.taus.items()
        ]


def benchmark_predictors(
    tables: Mapping[str, ArchTable],
    by: str = "valid_perf",
    *,
    encoding: str = "adjacency",
    predictors: Sequence[str] = tuple(PREDICTORS),
    sizes: Sequence[int] = SIZES,
    seeds: int = 3,
) -> PredictorScores:
    """Let predictors learn a few architectures of each table, and rank all others of every table.

    Args:
        tables: Tables by name.
        by: The figure to predict.
        encoding: How architectures are shown to all but the graph network.
        predictors: Names of `PREDICTORS`.
        sizes: How many architectures to learn.
        seeds: How many splits of each size.

    Raises:
        QueryError: If there are no tables or no seeds, a table is too small for a split, or two
            tables share too few architectures.
        UnknownNameError: If there is no such predictor or encoding.
    """
    if not tables or seeds < 1:
        raise QueryError(f"predictors need a table and a seed, not {len(tables)} and {seeds}")
    unknown = [name for name in predictors if name not in PREDICTORS]
    if unknown:
        raise UnknownNameError(
            f"unknown predictor {unknown[0]!r}; allowed: {', '.join(PREDICTORS)}"
        )
    known = {name: known_part(table, by, least=3) for name, table in tables.items()}
    found: dict[tuple[str, str, str], Floats] = {
        (predictor, learnt, judged): np.empty((len(sizes), seeds))
        for predictor in predictors
        for learnt in tables
        for judged in tables
    }
    for learnt, table in known.items():
        for row, size in enumerate(sizes):
            for seed in range(seeds):
                few, _ = split(table, size, seed)
                values = goodness(table.lookup(few, by), by)
                for predictor in predictors:
                    rank = PREDICTORS[predictor](few, values, encoding, seed)
                    for judged, other in known.items():
                        found[predictor, learnt, judged][row, seed] = _judge(rank, other, few, by)
    return PredictorScores(by, encoding, tuple(sizes), found)


def _judge(rank: Ranker, table: ArchTable, few: Ints, by: str) -> float:
    """Return Kendall's tau-b of a ranking over what was not learnt."""
    rest = np.setdiff1d(table.hashes, few)
    return kendall(rank(rest), goodness(table.lookup(rest, by), by))
