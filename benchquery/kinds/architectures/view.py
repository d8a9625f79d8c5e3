"""How the explorer shows tables of architectures."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.explorer.catalogue import is_metric, shown_columns
from benchquery.explorer.view import KindFile, PairFiles, View
from benchquery.explorer.wire import stream
from benchquery.kinds.architectures.arch import LINKS, NODES, OPS, RAW_LINKS, Arch, raw_hashes
from benchquery.kinds.architectures.kind import TABLE
from benchquery.kinds.architectures.table import ArchTable
from benchquery.text import to_json

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")


def _facts() -> Mapping[str, Any]:
    """Return the operations, and the link lists with their drawings."""
    return {"ops": OPS, "links": [_describe_link(index) for index in range(len(LINKS))]}


def _describe_link(index: int) -> dict[str, Any]:
    """Describe one of the nine link lists, with a drawing to write operations into.

    Four different operations in ascending order are in canonical form on every link
    list, so the drawing's boxes are the input, the nodes in order, and the output.
    """
    digits = "".join(map(str, range(NODES)))
    arch = Arch.from_hash(int(f"{index}{digits}"))
    return {
        "name": "".join(map(str, arch.link)),
        "link": arch.link,
        "depth": arch.depth,
        "svg": arch.to_svg(),
    }


def _forms() -> bytes:
    """Return the hash of every raw form: what the page finds neighbours with.

    There is one row for each pair of `RAW_LINKS` and `RAW_OPS`, the operations running
    fastest; four skips have no hash and are -1.
    """
    hashes = [np.append(np.asarray(raw_hashes(link)), np.int32(-1)) for link in RAW_LINKS]
    return stream({"hash": np.concatenate(hashes)})


def _comparison(first: ArchTable, second: ArchTable) -> bytes:
    """Return how alike two tables rank, by each metric that both have, as JSON.

    There is no row of a metric by which the tables have too little in common.
    """
    from benchquery.kinds.architectures.analysis.agreement import agreement

    metrics = [
        {column.name for column in shown_columns(table.manifest) if is_metric(column, TABLE.key)}
        for table in (first, second)
    ]
    rows = []
    for by in sorted(set.intersection(*metrics)):
        with contextlib.suppress(QueryError):
            rows.append(agreement(first, second, by))
    return f"[{', '.join(map(to_json, rows))}]".encode()


VIEW = View(
    choices=(),
    curves_by="hash",
    facts=_facts,
    files=MappingProxyType(
        {
            "forms": KindFile(".arrow.gz", _forms),
            "comparisons": PairFiles(".json", _comparison),
        }
    ),
    page="benchquery.kinds.architectures:page",
)
