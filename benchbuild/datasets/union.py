"""Many graphs laid one after another as one that falls apart, from what people have of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import coalesce, cumsum, degree, remove_self_loops

from benchbuild.datasets.size import DEGREES
from benchbuild.errors import DatasetError

GraphLike: TypeAlias = Data | Sequence[Any]
"""A graph: torch-geometric's ``Data``, or features, edges and a class."""


class Parts(NamedTuple):
    """What a `benchbuild.datasets.GraphBatch` is first made of; see there for the parts."""

    x: Tensor
    edge_index: Tensor
    node_ptr: Tensor
    y: Tensor
    edge_attr: Tensor | None


def degree_features(edge_index: Tensor, num_nodes: int) -> Tensor:
    """Return the degree of every node as a one-hot row of `DEGREES` columns."""
    found = degree(edge_index[0], num_nodes, dtype=torch.int64).clamp(max=DEGREES - 1)
    return one_hot(found[:, None], [DEGREES])


def constant_features(_edge_index: Tensor, num_nodes: int) -> Tensor:
    """Return a one for every node."""
    return torch.ones(num_nodes, 1)


FEATURES: Mapping[str, Callable[[Tensor, int], Tensor]] = MappingProxyType(
    {"degree": degree_features, "constant": constant_features}
)
"""What nodes without features can be given, by name: from the edges and the number of nodes."""


def one_hot(fields: Tensor, widths: Sequence[int]) -> Tensor:
    """Return the one-hot rows of several fields side by side, as float32.

    Args:
        fields: (rows, fields) int64, each from 0 to below its width.
        widths: How many values each field has.
    """
    offsets = cumsum(torch.tensor(widths))
    rows = torch.zeros(fields.shape[0], int(offsets[-1]))
    return rows.scatter_(1, fields + offsets[:-1], 1.0)


def tidied(
    name: str, edge_index: Tensor, edge_attr: Tensor | None, num_nodes: int
) -> tuple[Tensor, Tensor | None]:
    """Return edges each one once, sorted and without self-loops, which networks add themselves.

    Args:
        name: The dataset, for the message.
        edge_index: (2, edges) int64.
        edge_attr: (edges, fields) int64; None for none.
        num_nodes: Number of nodes.

    Raises:
        DatasetError: If an edge comes twice with different labels.
    """
    edge_index, edge_attr = remove_self_loops(edge_index, edge_attr)
    if edge_attr is None:
        return coalesce(edge_index, num_nodes=num_nodes), None
    edges, lowest = coalesce(edge_index, edge_attr, num_nodes, reduce="min")
    if edges.shape[1] < edge_index.shape[1]:
        _, highest = coalesce(edge_index, edge_attr, num_nodes, reduce="max")
        if not torch.equal(lowest, highest):
            raise DatasetError(f"{name}: an edge is there twice, with different labels")
    return edges, lowest


def united(name: str, graphs: Iterable[GraphLike], features: str | None) -> Parts:
    """Lay graphs one after another.

    Args:
        name: The dataset, for messages.
        graphs: The graphs.
        features: Name of the features that nodes are given instead of their own; None to keep
            those.

    Raises:
        DatasetError: If a graph is not what it has to be, or all are not alike.
    """
    if features is not None and features not in FEATURES:
        raise DatasetError(f"{name}: features {features!r}; allowed: {', '.join(FEATURES)}")
    parts = [_parts(f"{name}: graph {at}", graph, features) for at, graph in enumerate(graphs)]
    if not parts:
        raise DatasetError(f"{name}: there is no graph")
    sizes, rows, edges, labels, fields = zip(*parts, strict=True)
    node_ptr = cumsum(torch.tensor(sizes))
    shifted = [one + first for one, first in zip(edges, node_ptr[:-1].tolist(), strict=True)]
    edge_index, edge_attr = tidied(
        name, torch.cat(shifted, dim=1), _joined(name, "edge_attr", fields), int(node_ptr[-1])
    )
    if features is not None:
        x = FEATURES[features](edge_index, int(node_ptr[-1]))
    else:
        x = _joined(name, "x", rows)
    return Parts(x, edge_index, node_ptr, torch.tensor(labels), edge_attr)


class _One(NamedTuple):
    """A graph's number of nodes, features, edges, class and labels of its edges."""

    size: int
    x: Tensor | None
    edge_index: Tensor
    label: int
    edge_attr: Tensor | None


def _parts(whose: str, graph: GraphLike, features: str | None) -> _One:
    """Take a graph apart and check what can be said of it alone."""
    if isinstance(graph, Data):
        x, edges, y, edge_attr = graph.x, graph.edge_index, graph.y, graph.edge_attr
        size = graph.num_nodes if x is None else len(x)
    else:
        if len(graph) != 3:
            raise DatasetError(f"{whose} has {len(graph)} parts; give features, edges and a class")
        x, edges, y = graph
        edge_attr, size = None, None if x is None else len(x)
    if edges is None or y is None:
        raise DatasetError(f"{whose} has no {'edge_index' if edges is None else 'y'}")
    edges = torch.as_tensor(edges, dtype=torch.int64).reshape(2, -1)
    if x is None and features is None:
        raise DatasetError(
            f"{whose} has no node features; features='degree' or 'constant' gives it some"
        )
    if size is None:
        size = int(edges.max()) + 1 if edges.numel() else 0
    if not size:
        raise DatasetError(f"{whose} has no nodes; leave it out")
    if edges.numel() and not 0 <= int(edges.min()) <= int(edges.max()) < size:
        raise DatasetError(f"{whose} has an edge to a node that is not there; it has {size}")
    rows = None if features is not None else torch.as_tensor(x, dtype=torch.float32)
    if rows is not None and rows.dim() != 2:
        raise DatasetError(f"{whose}: x has the shape {tuple(rows.shape)}; it is a row a node")
    return _One(size, rows, edges, _label(whose, y), _fields(whose, edge_attr, edges))


def _label(whose: str, y: Any) -> int:
    """Return a class as a whole number."""
    label = torch.as_tensor(y)
    if label.numel() != 1:
        raise DatasetError(f"{whose}: y has {label.numel()} entries; a graph has one class")
    value = float(label.item())
    if not value.is_integer():
        raise DatasetError(f"{whose} has the label {value:g}; classes are whole numbers from 0")
    return int(value)


def _fields(whose: str, edge_attr: Tensor | None, edges: Tensor) -> Tensor | None:
    """Return the labels of the edges as whole numbers, a row an edge."""
    if edge_attr is None:
        return None
    fields = edge_attr.reshape(edges.shape[1], -1).long()
    if not torch.equal(fields.to(edge_attr.dtype), edge_attr.reshape(fields.shape)):
        raise DatasetError(
            f"{whose}: edge_attr has other than whole numbers; labels of edges are discrete"
        )
    return fields


def _joined(name: str, part: str, given: Sequence[Tensor | None]) -> Any:
    """Join a part of all graphs; None if none has it."""
    found = [one for one in given if one is not None]
    if not found:
        return None
    if len(found) < len(given):
        without = next(at for at, one in enumerate(given) if one is None)
        raise DatasetError(f"{name}: graph {without} has no {part}, others have")
    for at, one in enumerate(found):
        if one.shape[1] != found[0].shape[1]:
            raise DatasetError(
                f"{name}: {part} of graph {at} has {one.shape[1]} columns, that of graph 0 "
                f"{found[0].shape[1]}"
            )
    return torch.cat(found)
