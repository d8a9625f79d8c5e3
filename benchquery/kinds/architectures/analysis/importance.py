r"""Which part of an architecture explains its performance (Figure 6 of the paper).

.. math::
    \eta^2 = \frac{\sum_k n_k (\mu_k - \bar\mu)^2}{\sum_i (x_i - \bar\mu)^2}

is the share of the variance that lies between groups of architectures. More groups explain more
even of pure chance: on average (K - 1) / (n - 1) with K groups of n values. The adjusted share

.. math::
    \epsilon^2 = \frac{\eta^2 - (K - 1) / (n - 1)}{1 - (K - 1) / (n - 1)}

is 0 on average where the groups mean nothing.

Prefixes and suffixes of canonical forms are confounded: the first node's link is always 0, so its
choices make 9 groups, while those of the last node make 34; and which form is canonical depends on
the operations. The raw forms have neither fault. All 9 link lists with all 9^4 operations are a
full factorial design, on which the decomposition of the variance is exact and unique (functional
ANOVA): with :math:`f_u` the part that depends on the choices u together and on no fewer,

.. math::
    f_u(x) = \sum_{v \subseteq u} (-1)^{|u \setminus v|}\, E[f \mid x_v], \qquad
    \operatorname{Var} f = \sum_u \operatorname{Var} f_u .
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import has_figures, known_part
from benchquery.errors import QueryError
from benchquery.kinds.architectures.arch import LINKS, NODES, OPS, raw_hashes
from benchquery.kinds.architectures.encoding import link_indices, op_indices
from benchquery.kinds.architectures.space import get_space
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Floats, Ints
else:
    np = LazyModule("numpy")

_CHOICES = ("links", *(f"op{node}" for node in range(1, NODES + 1)))


def eta_squared(values: Array, groups: Ints) -> float:
    """Return the share of the variance of values that lies between groups.

    Missing values (NaN) are left out. Values that do not vary have no variance to share: NaN.

    Raises:
        QueryError: If no value is known.
    """
    known = ~np.isnan(values)
    values, groups = values[known], groups[known]
    if not len(values):
        raise QueryError(f"none of {len(known):,} values is known, so nothing explains them")
    if np.ptp(values) == 0:
        return float("nan")
    _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
    means = np.bincount(group, weights=values) / size
    between = (size * (means - values.mean()) ** 2).sum()
    return float(between / ((values - values.mean()) ** 2).sum())


def adjusted_eta_squared(values: Array, groups: Ints) -> float:
    """Return `eta_squared` less what as many groups explain of pure chance.

    It is 0 on average where groups mean nothing, and may be below. NaN where values do not vary or
    every group has a single value.

    Raises:
        QueryError: If no value is known.
    """
    share, known = eta_squared(values, groups), ~np.isnan(values)
    chance = (len(np.unique(groups[known])) - 1) / max(int(known.sum()) - 1, 1)
    return (share - chance) / (1 - chance) if chance < 1 else float("nan")


@dataclass(frozen=True)
class Decomposition:
    """Which choices the variance of a figure is due to, over the raw forms on the nine link lists.

    Attributes:
        by: The figure.
        variance: Its variance over the raw forms.
        main: By choice (``links``, ``op1`` to ``op4``), the share that is due to it alone.
        pairs: By two choices, the share that is due to both together and to neither alone.
        higher: The share that three or more choices have together.
        forms: How many raw forms there are.
        filled: How many of them have no figure of their own, as all their operations are skip, and
            take the mean.
    """

    by: str
    variance: float
    main: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float]
    higher: float
    forms: int
    filled: int

    @property
    def note(self) -> str:
        """What the rows are about."""
        return f"variance of {self.by} over {self.forms:,} raw forms: {self.variance:.6f}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each choice, then the sums over pairs and over more."""
        sums = {"pairs": sum(self.pairs.values()), "higher": self.higher}
        return [{"choice": name, "share": part} for name, part in {**self.main, **sums}.items()]


def decompose(table: ArchTable, by: str = "perf") -> Decomposition:
    """Return which choices the variance of a figure is due to, exactly.

    Args:
        table: A table that holds its whole space, with a figure of every architecture.
        by: The figure.

    Raises:
        QueryError: If an architecture has no figure, or the column holds texts.
    """
    has_figures(table, by)
    ops = [OPS.index(op) for op in get_space(table.manifest.space).ops]
    figures: Floats = np.full(10 ** (NODES + 1), np.nan)
    figures[table.hashes] = table.column(by)
    shape = (len(LINKS), *[len(OPS)] * NODES)
    raw: Floats = np.full((len(LINKS), len(OPS) ** NODES), np.nan)
    for row, link in zip(raw, LINKS, strict=True):
        row[:-1] = figures[np.frombuffer(raw_hashes(link), np.int32)]
    cube = raw.reshape(shape)[np.ix_(range(len(LINKS)), *[ops] * NODES)]
    missing = int(np.isnan(cube).sum())
    if missing > len(LINKS):
        raise QueryError(
            f"{missing - len(LINKS):,} of the {cube.size - len(LINKS):,} raw forms have no figure "
            f"in {by!r} in the table {table.name!r}; a decomposition needs all of them"
        )
    cube = np.where(np.isnan(cube), np.nanmean(cube), cube)
    return _decomposed(cube, by, missing)


def _decomposed(cube: Floats, by: str, filled: int) -> Decomposition:
    """Take the variance over a full factorial design apart."""
    axes, total = range(cube.ndim), float(cube.var())
    explained: dict[tuple[int, ...], float] = {}
    for size in range(1, cube.ndim):
        for kept in itertools.combinations(axes, size):
            rest = tuple(axis for axis in axes if axis not in kept)
            within = [
                part for fewer in range(1, size) for part in itertools.combinations(kept, fewer)
            ]
            between = float(cube.mean(axis=rest).var()) / total if total else float("nan")
            explained[kept] = between - sum(explained[part] for part in within)
    names = _CHOICES
    main = {names[kept[0]]: part for kept, part in explained.items() if len(kept) == 1}
    pairs = {
        (names[kept[0]], names[kept[1]]): part for kept, part in explained.items() if len(kept) == 2
    }
    return Decomposition(
        by=by,
        variance=total,
        main=main,
        pairs=pairs,
        higher=1 - sum(main.values()) - sum(pairs.values()),
        forms=cube.size,
        filled=filled,
    )


def node_importance(
    table: ArchTable, by: str = "perf", *, adjusted: bool = False
) -> dict[str, Floats]:
    """Return the share of the variance that the first or last 1 to 4 nodes explain.

    A node's choice is its input and its operation, in canonical form. Rows without a
    figure are left out. First and last nodes are confounded with how forms are written; `decompose`
    is exact.

    Args:
        table: The table.
        by: The figure.
        adjusted: Whether what as many groups explain of pure chance is taken off; four nodes make
            a group of each architecture, which explains nothing then: NaN.

    Returns:
        ``prefix`` and ``suffix``, each by the number of nodes; NaN if the figures do not vary.

    Raises:
        QueryError: If fewer than two rows have a figure.
    """
    known = known_part(table, by, least=2)
    values, hashes = known.column(by), known.hashes
    links = np.array(LINKS)[link_indices(hashes)]
    nodes = links * len(OPS) + op_indices(hashes)
    base = (NODES * len(OPS)) ** np.arange(NODES)

    share = adjusted_eta_squared if adjusted else eta_squared

    def explained(columns: slice) -> float:
        part = nodes[:, columns]
        return share(values, part @ base[: part.shape[1]])

    lengths = range(1, NODES + 1)
    return {
        "prefix": np.array([explained(slice(0, length)) for length in lengths]),
        "suffix": np.array([explained(slice(NODES - length, NODES)) for length in lengths]),
    }
