"""Figures that are equal but for rounding count as equal.

A mean over seeds depends, in its last bit, on the order in which it was summed. So one rule holds
wherever figures are ranked: two that differ by at most `TOLERANCE`, relative to the figure in
question, are a tie. Costs are figures of which less is better; a figure of which more is better
is given with its sign changed, as the tolerance is the same on both sides of zero.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")

TOLERANCE = 1e-12
"""How far apart, relative to their size, figures that tie may be: far above what rounding does
to a mean, and far below what any measurement means."""


def rank_among(costs: Floats, cost: float) -> int:
    """Return the rank of a cost: 1 plus the number of costs that are less and no tie.

    Missing costs (NaN) are passed over; a missing one ranks behind all that are known.

    Example:
        >>> import numpy as np
        >>> rank_among(np.array([-0.8, -0.8000000000000002, -0.9]), -0.8)
        2
    """
    if math.isnan(cost):
        return 1 + int((~np.isnan(costs)).sum())
    margin = TOLERANCE * abs(cost) if math.isfinite(cost) else 0.0
    return 1 + int((costs < cost - margin).sum())


def regret_among(costs: Floats, cost: float) -> float:
    """Return how much a cost is above the least of some costs; exactly 0 if they tie.

    Missing costs (NaN) are passed over; a missing one has no regret, so NaN.
    """
    least = float(np.fmin.reduce(costs))
    return 0.0 if math.isclose(cost, least, rel_tol=TOLERANCE) else cost - least


def level(figures: Floats) -> Floats:
    """Return the figures with those that tie made equal, so that sorting keeps their order.

    Ascending neighbours that tie form a group, and each of a group becomes its least. Missing
    figures (NaN) stay missing.

    Example:
        >>> import numpy as np
        >>> level(np.array([0.8000000000000002, 0.5, 0.8])).tolist()
        [0.8, 0.5, 0.8]
    """
    order = np.argsort(figures)
    ascending = figures[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = ~np.isclose(ascending[:-1], ascending[1:], rtol=TOLERANCE, atol=0)
    first = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
    levelled = np.empty(len(order))
    levelled[order] = ascending[first]
    return levelled
