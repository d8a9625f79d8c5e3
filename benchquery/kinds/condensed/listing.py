"""What ``benchquery ls`` lists of condensation."""

from __future__ import annotations

from typing import Any

from benchquery.kinds.condensed.config import MODELS, TASKS
from benchquery.kinds.condensed.grids import GRIDS, grid
from benchquery.kinds.condensed.methods import find_method, method_names


def methods() -> list[dict[str, Any]]:
    """Return the methods with what they match and begin with."""
    found = {name: find_method(name) for name in method_names()}
    return [
        {"method": name, "family": spec.family, "init": spec.init, "backbone": spec.backbone}
        for name, spec in found.items()
    ]


def models() -> list[dict[str, Any]]:
    """Return the models that condensed graphs are judged by, with what they can be asked to do."""
    return [{"model": name, "tasks": list(TASKS)} for name in MODELS]


def grids() -> list[dict[str, Any]]:
    """Return the grids with their sizes."""
    return [{"grid": name, "configurations": len(grid(name))} for name in GRIDS]
