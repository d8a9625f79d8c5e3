"""Where training goes from one way of computing to another; the predicted costs follow it."""

from __future__ import annotations

SPARSE_BELOW = 0.2
"""Share of nonzero features below which the sparse product is the cheaper one on a CPU."""

WHOLE_FROM = 0.8
"""Share of the nodes from which on computing all rows costs less than picking some."""

ATTENTION_WHOLE = 1 << 25
"""Entries, edges times heads, up to which attention holds all of them at once."""

ATTENTION_SLAB = 1 << 22
"""Entries that attention holds at once beyond that."""
