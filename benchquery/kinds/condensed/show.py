"""A condensed graph as text for people: how it was made, and everything it was judged by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.text import format_table

_BRIEF = (
    "evaluation", "task", "model", "eval_seeds", "valid_perf", "perf", "perf_std", "retained",
    "full_perf",
)  # fmt: skip


def show_configuration(table: CondensedTable, row: int) -> str:
    """Return how a graph was condensed, in a line."""
    config = CondenseConfig.from_text(table.column("config_text")[row])
    return f"{config!r} on {table.name} ({table.manifest.origin})"


def show_evaluations(table: CondensedTable, row: int) -> str:
    """Return the hyper-parameters of a condensation, and all evaluations of its graph."""
    config = CondenseConfig.from_text(table.column("config_text")[row])
    judged = table.evaluations(config.valid_hash()).records()
    rows = [{name: one[name] for name in _BRIEF} for one in judged]
    said = listed(config.hyperparameters) or "none"
    return f"hyper-parameters: {said}\n\n{format_table(rows)}"


def listed(values: Mapping[str, Any]) -> str:
    """Return values by name as text."""
    return ", ".join(f"{name}={value}" for name, value in values.items())
