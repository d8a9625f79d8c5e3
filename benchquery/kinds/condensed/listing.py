"""What ``benchquery ls`` lists of condensation."""

from __future__ import annotations

from typing import Any

from benchquery.kinds.condensed.domains import DOMAINS
from benchquery.kinds.condensed.grids import GRIDS, grid
from benchquery.kinds.condensed.methods import find_method, method_names


def methods() -> list[dict[str, Any]]:
    """Return the methods of each domain with what they match and begin with."""
    return [
        {
            "method": name,
            "domain": domain,
            "family": (spec := find_method(name, domain)).family,
            "init": spec.init,
            "backbone": spec.backbone,
        }
        for domain in DOMAINS
        for name in method_names(domain)
    ]


def models() -> list[dict[str, Any]]:
    """Return the models that judge condensed data, families too, with what they can be asked."""
    return [
        {
            "model": model,
            "domain": domain.name,
            "tasks": [
                task
                for task, spec in domain.tasks.items()
                if model in (*spec.models, *spec.families)
            ],
        }
        for domain in DOMAINS.values()
        for model in (*domain.models, *domain.families)
    ]


def grids() -> list[dict[str, Any]]:
    """Return the grids with their sizes."""
    return [{"grid": name, "configurations": len(grid(name))} for name in GRIDS]
