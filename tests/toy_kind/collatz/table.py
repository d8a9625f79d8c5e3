"""benchquery's side: what a table of numbers is."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from benchquery import Column, Picture, TableKind


def draw_steps(table: Any) -> Any:
    """Draw the steps of every number."""
    from benchquery.figures.style import COLOURS, finish, label, new_figure, title

    figure = new_figure()
    axes = figure.subplots()
    axes.plot(table.column("number"), table.column("steps"), "o", color=COLOURS[0])
    axes.set(xlabel=label(table, "number"), ylabel=label(table, "steps"))
    finish(axes, title(table, "Steps to 1"))
    return figure


TABLE = TableKind(
    name="numbers",
    one="number",
    many="numbers",
    columns=(
        Column("number", "int64", "Where the sequence begins: the key."),
        Column("parity", "string", "Whether that is odd or even."),
        Column("steps", "int64", "Steps until the sequence reaches 1.", "1", None, "higher"),
        Column("peak", "int64", "The largest number on the way.", "1", None, "lower"),
        Column("status", "string", "How the job ended."),
        Column("reason", "string", "Why the status is not ok; empty if it is."),
    ),
    key=("number",),
    brief=("number", "parity", "steps", "peak", "status"),
    ranked_by="steps",
    expense="peak",
    pictures=MappingProxyType(
        {"steps": Picture("collatz.table:draw_steps", "how many steps numbers take")}
    ),
)
