"""What tables of cell networks tell the rest of the house."""

from __future__ import annotations

from types import MappingProxyType

from benchquery.kinds.cells.columns import COLUMNS
from benchquery.table.kind import Picture, TableKind

_HERE = "benchquery.kinds.cells"

TABLE = TableKind(
    name="cells",
    one="cell network",
    many="cell networks",
    columns=COLUMNS,
    key=("architecture",),
    brief=("architecture", "cifar10", "cifar100", "imagenet16", "parameters"),
    ranked_by="cifar10",
    expense="parameters",
    table=f"{_HERE}.table:CellTable",
    check=f"{_HERE}.checks:check_cells",
    show=f"{_HERE}.show:show_cell",
    pictures=MappingProxyType(
        {"accuracies": Picture(f"{_HERE}.figures:accuracies", "test accuracy by size")}
    ),
    commands=(f"{_HERE}.command",),
    analyses=MappingProxyType({"search_agreement": f"{_HERE}.analysis:search_agreement"}),
    foreign=f"{_HERE}.foreign:write_nats_bench",
)
