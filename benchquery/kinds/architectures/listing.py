"""What ``benchquery ls`` lists of architectures."""

from __future__ import annotations

from typing import Any

from benchquery.kinds.architectures.arch import OPS
from benchquery.kinds.architectures.space import SPACES


def spaces() -> list[dict[str, Any]]:
    """Return the spaces with their sizes and operations."""
    return [
        {"space": name, "architectures": len(space), "operations": list(space.ops)}
        for name, space in SPACES.items()
    ]


def operations() -> list[dict[str, Any]]:
    """Return the operations with the spaces that have them."""
    return [
        {"operation": op, "spaces": [name for name, space in SPACES.items() if op in space.ops]}
        for op in OPS
    ]
