"""Condensed data out of a table, ready to train on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery import condread
from benchquery.errors import UnknownHashError
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.table import store

if TYPE_CHECKING:
    from torch.utils.data import TensorDataset
    from torch_geometric.data import Data


def load(
    config: CondenseConfig | str, source: store.PathLike | None = None, *, threshold: float = 0.0
) -> Data | list[Data] | TensorDataset:
    """Return a condensed graph as PyG's Data, or a condensed set of graphs as a list of them.

    A condensed set of images is a dataset of normalised images and their classes, as torch's
    loaders take it. Each graph has ``x``, ``edge_index``, ``edge_weight`` and ``y``.

    Args:
        config: A configuration or its hash.
        source: A table, or a folder of tables; None for all that can be found.
        threshold: Edges with less weight are left out, as an evaluation leaves them out at 0.05 in
            one graph and at 0.5 in sets.

    Raises:
        UnknownHashError: If no table holds the graph.
        TableNotFoundError: If the source is no folder.
        CorruptTableError: If a file is damaged.
    """
    from benchbuild.kinds.condense.forms import payload_type

    number = config.valid_hash() if isinstance(config, CondenseConfig) else config
    for info in store.tables(source, "condensed"):
        table = condread(info.path)
        if number in table and number in table.graphs.configs:
            form = payload_type(table.graphs.form(number))
            return form.from_arrays(table.graph(number)).data(threshold)
    where = f"in {source}" if source is not None else "here"
    raise UnknownHashError(f"no table of condensed graphs {where} has the graph {number!r}")
