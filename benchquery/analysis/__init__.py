"""What the tables say: pure functions from tables to results.

Every function takes the column to look at. The papers' figures look at ``perf``, the test
figure, so that is the default here: an analysis reports, it does not choose.

One rule holds for rows without a figure (out of memory, diverged, failed). In rankings such a row
is the worst: ``top`` has it last, ``rank`` behind all that have a figure, no front has it and it
is never the best. A row whose job failed is so by every column: it keeps no bytes and may have
taken no time. In analyses a row without a figure is left out and counted: the result is that of the
table without these rows, results that are records say how many in ``left_out``, and `left_out` says
it for any table and columns. Where too few rows are left, the analysis is refused.

The functions live with the kind of table that they are about; each kind says which it has, and
they are imported when they are first asked for: ``from benchquery.analysis import agreement``.
What serves every kind is in `benchquery.analysis.statistics` and `benchquery.analysis.known`.
"""

from __future__ import annotations

from typing import Any

from benchquery.analysis.known import left_out as left_out
from benchquery.table.kind import resolve
from benchquery.table.registry import kinds


def __getattr__(name: str) -> Any:
    """Find an analysis among those of all kinds."""
    for kind in kinds():
        if name in kind.analyses:
            return resolve(kind.analyses[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {__dir__()}")


def __dir__() -> list[str]:
    return sorted({"left_out", *(name for kind in kinds() for name in kind.analyses)})
