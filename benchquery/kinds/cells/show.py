"""A cell as text for people."""

from __future__ import annotations

from benchquery.kinds.cells.cell import Cell
from benchquery.kinds.cells.table import CellTable


def show_cell(table: CellTable, row: int) -> str:
    """Return the heading of a cell: its text, and every node with what comes into it."""
    text = str(table.column("architecture")[row])
    cell = Cell.parse(text)
    lines = []
    for node, group in enumerate(cell.groups, start=1):
        said = [f"{op}({source})" for source, op in enumerate(group) if op != "none"]
        lines.append(f"node {node} = {' + '.join(said) or 'nothing'}")
    lines.append(f"cells that compute the same, it included: {len(table.alike(cell))}")
    return "\n".join([f"{text} of {table.name}", "", *lines])
