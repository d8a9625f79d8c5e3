"""Records as text: tables for terminals and notebooks, JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

PLAIN = ("hash", "ratio", "seed")
"""Keys whose numbers are names: they are written as they are."""


def to_json(row: Mapping[str, Any]) -> str:
    """Return a row as a JSON object; what is no finite figure is null: JSON knows no other."""
    return json.dumps(to_plain(row))


def to_plain(value: Any) -> Any:
    """Return a value as JSON knows it: None for every NaN and infinity inside."""
    if isinstance(value, Mapping):
        return {name: to_plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def format_value(value: Any) -> str:
    """Return a value as people read it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4f}" if 0.001 <= abs(value) < 1e6 or value == 0 else f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def format_table(rows: Iterable[Mapping[str, Any]], plain: Sequence[str] = PLAIN) -> str:
    """Return rows with the same keys as lines of aligned columns.

    Args:
        rows: The rows.
        plain: Keys whose numbers are names, so written as they are.
    """
    rows = list(rows)
    if not rows:
        return "(no rows)"
    names = list(rows[0])
    cells = [names]
    cells += [
        [str(row[name]) if name in plain else format_value(row[name]) for name in names]
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [isinstance(rows[0][name], (int, float)) for name in names]
    lines = []
    for line in cells:
        padded = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, numeric, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def fitting(
    rows: Sequence[Mapping[str, Any]], width: int, kept: Collection[str]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Leave out columns, the last first, until the table of some rows is not wider than a width.

    Args:
        rows: Rows with the same keys.
        width: In characters.
        kept: Keys that are never left out.

    Returns:
        The rows without these columns, and the names of the columns in their order.
    """
    names = list(rows[0]) if rows else []
    left_out: list[str] = []
    for name in [name for name in reversed(names) if name not in kept]:
        shown = [{key: row[key] for key in names if key not in left_out} for row in rows]
        if max(map(len, format_table(shown).splitlines())) <= width:
            break
        left_out.insert(0, name)
    return [{key: row[key] for key in names if key not in left_out} for row in rows], left_out


def format_html(title: str, rows: Sequence[Mapping[str, Any]], total: int, source: str) -> str:
    """Return rows as a small HTML table, as notebooks show it.

    Args:
        title: What the table is.
        rows: The rows that are shown.
        total: How many there are.
        source: Where the figures come from.
    """
    import html

    names = list(rows[0]) if rows else []
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    cells = [
        [str(row[name]) if name in PLAIN else format_value(row[name]) for name in names]
        for row in rows
    ]
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in line)}</tr>" for line in cells
    )
    more = f"<p>{total - len(rows):,} more rows</p>" if total > len(rows) else ""
    return (
        f"<p><b>{html.escape(title)}</b><br>{html.escape(source)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    )
