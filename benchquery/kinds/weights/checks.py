"""What must hold of the rows of a table of operation weights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import CorruptTableError
from benchquery.kinds.architectures.arch import LINKS, NODES, OPS
from benchquery.kinds.weights.table import WeightTable
from benchquery.table.manifest import SUMMARY

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

_CLOSE = 1e-5
"""How far from 1 the weights of a node may add up to: they are softmaxes in single precision."""


def check_weights(table: WeightTable, folder: Path) -> None:
    """Check every row: its key is one there can be, and the weights of a node add up to 1.

    Raises:
        CorruptTableError: If something does not fit; the message names it.
    """
    where = folder / SUMMARY
    links = {"".join(map(str, link)) for link in LINKS}
    sums: dict[tuple[str, int, int], float] = {}
    if len(set(table)) != table.num_rows:
        raise CorruptTableError(f"{where} has an operation of a node twice")
    for key, weight, status in zip(
        table, table.column("weight").tolist(), table.column("status"), strict=True
    ):
        link, seed, position, op = key
        if link not in links or position not in range(1, NODES + 1) or op not in OPS:
            raise CorruptTableError(f"{where} has a row that no search can have: {key}")
        if status == "ok":
            node = (link, seed, position)
            sums[node] = sums.get(node, 0.0) + weight
    for node, total in sums.items():
        if not np.isclose(total, 1.0, rtol=0, atol=_CLOSE):
            raise CorruptTableError(f"{where}: the weights of {node} add up to {total}, not to 1")
