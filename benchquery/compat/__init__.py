"""Names and habits of other packages, so that code written for them runs on these tables."""

from __future__ import annotations

import importlib
import sys

_PUBLISHED = "nas_bench_graph"


def install() -> None:
    """Let ``import nas_bench_graph`` find the tables of this package, in this process.

    For code that can't be changed; the published package may be installed beside it or not.
    """
    sys.modules[_PUBLISHED] = importlib.import_module(f"{__name__}.{_PUBLISHED}")
