"""The cell network of the search space: its wiring, its layers, its size.

Wiring and size need no torch, so planning and inspecting stay quick; the network itself is
imported when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchbuild.kinds.train.network.size import Layer, count_parameters, describe
from benchbuild.kinds.train.network.wiring import Node, Wiring, wire

if TYPE_CHECKING:
    from benchbuild.kinds.train.network.cell import CellNetwork, build_network

__all__ = [
    "CellNetwork",
    "Layer",
    "Node",
    "Wiring",
    "build_network",
    "count_parameters",
    "describe",
    "wire",
]


def __getattr__(name: str) -> Any:
    """Import the network on first use."""
    if name in ("CellNetwork", "build_network"):
        from benchbuild.kinds.train.network import cell

        return getattr(cell, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
