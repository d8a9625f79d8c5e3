"""A space as independent choices, as most search libraries want it.

Three choices of links (the first node has none) and four of operations name a raw form.
Many raw forms are the same architecture, and one, four skips, is none:
`Oracle.evaluate_form` deals with both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchquery.kinds.architectures.arch import NODES
from benchquery.kinds.architectures.space import Space


def choices(space: Space) -> dict[str, tuple[int, ...] | tuple[str, ...]]:
    """Return the values that each choice has, by name: ``link1`` to ``op3``."""
    links = {f"link{node}": tuple(range(node + 1)) for node in range(1, NODES)}
    return {**links, **{f"op{node}": space.ops for node in range(NODES)}}


def form(chosen: Mapping[str, Any]) -> tuple[list[int], list[str]]:
    """Return the links and operations that were chosen."""
    links = [0, *(chosen[f"link{node}"] for node in range(1, NODES))]
    return links, [chosen[f"op{node}"] for node in range(NODES)]
