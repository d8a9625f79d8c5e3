r"""Whether networks that are trained on condensed images rank as NAS-Bench-201 says they do.

The protocol is DC-Bench's (its Table 3): some architectures are trained on a condensed set, ranked
by validation images, and compared with what each reaches on the whole dataset. Of a random ranking
of :math:`n` architectures Spearman's correlation is 0 on average with a standard deviation of
:math:`1 / \sqrt{n - 1}`, Kendall's :math:`\sqrt{2 (2n + 5) / (9 n (n - 1))}`; its first one is as
good as the mean of all.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import has_figures
from benchquery.analysis.statistics import rank_correlation
from benchquery.errors import QueryError
from benchquery.kinds.cells.columns import ACCURACIES
from benchquery.kinds.cells.table import CellTable
from benchquery.table.rows import RowTable

if TYPE_CHECKING:
    import numpy as np
    from scipy import stats

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")
    stats = LazyModule("scipy.stats", extra="analysis")

FAMILY = "nas-bench-201:"
"""How the models of a table begin that are cell networks."""
LEAST = 3
"""How many architectures it takes at least."""
WHOLE = "whole"
"""The method of networks that were trained on all images."""
NAMED = ("config", "method", "per_class", "seed")
"""The columns that name a condensed set."""
_WHOLE = (WHOLE, WHOLE, None, None)


def search_agreement(
    condensed: RowTable[Any],
    cells: CellTable,
    column: str | None = None,
    by: str = "valid_perf",
) -> list[dict[str, Any]]:
    """Hold the ranking of cell networks by each condensed set against a table of them.

    Args:
        condensed: A table of condensed images, with rows of cell networks
            (``benchbuild evaluate TABLE --models nas-bench-201``).
        cells: The table of NAS-Bench-201.
        column: The accuracy of that table to compare with; None for that of the dataset.
        by: The column of the condensed table that ranks networks.

    Returns:
        A row for each condensed set, and each way in which networks were trained on it:
        ``architectures``, how many; ``spearman`` and ``kendall`` with their ``_chance``, the
        standard deviation that they have of a random ranking; ``top1``, the accuracy in percent
        that the table has of the first one (the mean of all that come first), with ``top1_chance``,
        that of one drawn at random, and ``best``, that of the best of these architectures;
        ``regret`` and ``regret_chance``, what both lack to the best; ``left_out``, how many more
        architectures lack one of the two figures. Where networks were trained on all images too,
        the method ``whole`` is their ranking, by the test figure.

    Raises:
        QueryError: If no set has figures of three such networks, it is not clear what column to
            compare with, or the one that ranks holds texts.
    """
    column = _column(condensed, column)
    has_figures(condensed, by)
    rankings: dict[tuple[object, ...], dict[str, tuple[float, float]]] = {}
    asked: dict[tuple[object, ...], set[str]] = {}
    for row in condensed.records():
        if not row["model"].startswith(FAMILY):
            continue
        cell = row["model"].removeprefix(FAMILY)
        true, settings = cells[cell][column], _settings(row)
        own = tuple(row[name] for name in NAMED)
        for name, ranked_by in ((own, by), (_WHOLE, "full_perf")):
            place, figure = (*name, ranked_by, settings), row.get(ranked_by, math.nan)
            asked.setdefault(place, set()).add(cell)
            if not math.isnan(figure) and not math.isnan(true):
                rankings.setdefault(place, {})[cell] = (figure, true)
    found = [
        {
            **dict(zip((*NAMED, "by", "evaluation"), name, strict=True)),
            "compared_with": column,
            **_measures(*map(np.array, zip(*ranking.values(), strict=True))),
            "left_out": len(asked[name]) - len(ranking),
        }
        for name, ranking in rankings.items()
        if len(ranking) >= LEAST
    ]
    if not found:
        raise QueryError(
            f"no condensed set of {condensed.name!r} has figures of {LEAST} networks of "
            "NAS-Bench-201; benchbuild evaluate TABLE --models nas-bench-201 trains some"
        )
    return sorted(found, key=lambda row: row["method"] == WHOLE)


def _column(condensed: RowTable[Any], column: str | None) -> str:
    """Return the accuracy that a table is compared with."""
    own = condensed.dataset.partition(":")[0].partition("-")[0]
    column = own if column is None else column
    if column not in ACCURACIES:
        said = f"{condensed.dataset!r} has none of its own; " if column == own else ""
        raise QueryError(
            f"{said}name the accuracy to compare with, one of {', '.join(ACCURACIES)}"
            + ("" if said else f", not {column!r}")
        )
    return column


def _settings(row: Any) -> str:
    """Return how networks were trained, the network apart, as JSON."""
    given = json.loads(row["evaluation_text"])
    return json.dumps({name: value for name, value in given.items() if name != "model"})


def _measures(seen: Floats, true: Floats) -> dict[str, Any]:
    """Compare how good architectures look with how good they are."""
    count = len(seen)
    best, mean = float(true.max()), float(true.mean())
    first = float(true[seen == seen.max()].mean())
    return {
        "architectures": count,
        "spearman": rank_correlation(seen, true),
        "spearman_chance": 1 / math.sqrt(count - 1),
        "kendall": float(stats.kendalltau(seen, true).statistic),
        "kendall_chance": math.sqrt(2 * (2 * count + 5) / (9 * count * (count - 1))),
        "top1": first,
        "top1_chance": mean,
        "best": best,
        "regret": best - first,
        "regret_chance": best - mean,
    }
