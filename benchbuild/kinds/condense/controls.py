"""What a row says beside the figure that is reported, so that no one has to take it on trust.

Choosing among snapshots is worth something by itself: a row has the judge's figure of the snapshot
that was chosen, of the first one, before anything was learnt, and of the last one. A class that
gets more synthetic nodes than it has labelled ones repeats some: a row of a condensed graph says
how many of its nodes differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from benchquery.kinds.condensed.config import PROTOCOLS, CondenseConfig
from benchquery.kinds.condensed.forms import GRAPH

if TYPE_CHECKING:
    from benchbuild.kinds.condense.table import Kept, Row

DISTINCT = "distinct_nodes"


def add_controls(
    rows: Sequence[Row], cells: Sequence[dict[str, Any]], kept: Mapping[str, Kept]
) -> None:
    """Add the columns to the cells of rows.

    Args:
        rows: The rows.
        cells: The columns of each, which are added to.
        kept: What is kept, by the hash of its configuration.
    """
    for row, cell in zip(rows, cells, strict=True):
        found = kept.get(cell["config"])
        cell.update(_of_snapshots(row.config, found))
        if row.config.domain.form == GRAPH:
            known = cell.pop(DISTINCT, 0)
            cell[DISTINCT] = _distinct(found, known)


def _of_snapshots(config: CondenseConfig, kept: Kept | None) -> dict[str, float]:
    """Return the judge's figures; NaN where published code's own choice may be by test labels."""
    nothing = dict.fromkeys(("first_valid", "chosen_valid", "last_valid"), math.nan)
    if kept is None or config.protocol != PROTOCOLS[0]:
        return nothing
    judged = np.asarray(kept.trace["valid_perf"], dtype=np.float64)
    if np.isnan(judged).all():
        return nothing
    figures = float(judged[0]), float(np.nanmax(judged)), float(judged[-1])
    return dict(zip(nothing, figures, strict=True))


def _distinct(kept: Kept | None, known: int) -> int:
    """Return how many nodes differ; of a graph that was left out it is known already."""
    if kept is None:
        return 0
    if kept.payload is None:
        return known
    return len(np.unique(kept.payload.to_arrays()["x"], axis=0))
