"""The value that a set of graphs is loaded into: many small graphs, a class each, and a split."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from benchbuild.datasets.coding import compact_bytes, dense_bytes
from benchbuild.datasets.graph import METRICS, checksum_of
from benchbuild.datasets.selections import Selections
from benchbuild.datasets.union import GraphLike, united
from benchbuild.errors import DatasetError

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Some graphs with a class each, laid one after another as one graph that falls apart.

    Attributes:
        x: (nodes, features) float32 of all nodes.
        edge_index: (2, edges) from source to target, in numbers of the batch's nodes; an
            undirected edge is there twice.
        node_ptr: (graphs + 1,) where the nodes of each graph begin.
        y: (graphs,) int64 class of each graph.
        edge_attr: (edges, fields) int64 discrete labels of the edges; None if they have none.
        edge_weight: (edges,) float32; None if all are 1.
        pooled: (nodes,) bool: the nodes that a graph is read out from; None for all of them.
        weight: (graphs,) float32: how much each graph counts in a loss; None if all are 1.
    """

    x: Tensor
    edge_index: Tensor
    node_ptr: Tensor
    y: Tensor
    edge_attr: Tensor | None = None
    edge_weight: Tensor | None = None
    pooled: Tensor | None = None
    weight: Tensor | None = None

    def __len__(self) -> int:
        """Return how many graphs there are."""
        return len(self.y)

    @property
    def num_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return int(self.x.shape[0])

    @property
    def num_features(self) -> int:
        """Number of features per node."""
        return int(self.x.shape[1])

    @property
    def num_edges(self) -> int:
        """Number of directed edges of all graphs; an undirected one counts twice."""
        return int(self.edge_index.shape[1])

    @property
    def sizes(self) -> Tensor:
        """(graphs,) how many nodes each graph has."""
        return self.node_ptr.diff()

    @cached_property
    def graph_of(self) -> Tensor:
        """(nodes,) which graph each node is of."""
        numbers = torch.arange(len(self), device=self.node_ptr.device)
        return numbers.repeat_interleave(self.sizes, output_size=self.num_nodes)

    def to(self, device: torch.device) -> GraphBatch:
        """Return the same on a device."""
        parts = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        moved = {name: part.to(device) for name, part in parts.items() if part is not None}
        return GraphBatch(**moved)

    def select(self, graphs: Tensor) -> GraphBatch:
        """Return some graphs, in the order of their numbers given; one may come more than once."""
        nodes, node_ptr = gather(self.node_ptr, graphs)
        edges, edge_ptr = gather(self._edge_ptr, graphs)
        shift = node_ptr[:-1] - self.node_ptr[graphs]
        edge_index = self._edges_by_graph[edges]
        return GraphBatch(
            self.x[nodes],
            self.edge_index[:, edge_index]
            + shift.repeat_interleave(edge_ptr.diff(), output_size=len(edges)),
            node_ptr,
            self.y[graphs],
            None if self.edge_attr is None else self.edge_attr[edge_index],
            None if self.edge_weight is None else self.edge_weight[edge_index],
            None if self.pooled is None else self.pooled[nodes],
            None if self.weight is None else self.weight[graphs],
        )

    @cached_property
    def _edges_by_graph(self) -> Tensor:
        """The edges, those of the first graph first."""
        return self.graph_of[self.edge_index[0]].argsort(stable=True)

    @cached_property
    def _edge_ptr(self) -> Tensor:
        """Where the edges of each graph begin among `_edges_by_graph`."""
        counts = torch.bincount(self.graph_of[self.edge_index[0]], minlength=len(self))
        return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def gather(starts: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """Return the places of all entries of chosen groups, and where each group begins then.

    Args:
        starts: (groups + 1,) where each group begins.
        chosen: Numbers of groups.
    """
    counts = starts.diff()[chosen]
    begins = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    total = int(begins[-1])
    offset = (starts[chosen] - begins[:-1]).repeat_interleave(counts, output_size=total)
    return torch.arange(total, device=starts.device) + offset, begins


def _numbers(name: str, part: str, chosen: Tensor | Sequence[int]) -> Tensor:
    """Return the graphs that a part of the split names, by number or as a mask."""
    numbers = torch.as_tensor(chosen)
    if numbers.dtype == torch.bool:
        return numbers.nonzero().view(-1)
    if numbers.dim() != 1 or (numbers.is_floating_point() and len(numbers)):
        raise DatasetError(
            f"{name}: {part} is {numbers.dtype}{tuple(numbers.shape)}; it is a list of numbers of "
            "graphs, or a mask"
        )
    return numbers.long()


@dataclass(frozen=True, eq=False)
class GraphSet:
    """A set of graphs for graph classification. Never changed after it was made.

    Attributes:
        name: The dataset's name, parameters included.
        graphs: All graphs.
        train: Numbers of the graphs that are trained on.
        valid: Numbers of those that choose the epoch.
        test: Numbers of those that are reported.
        num_classes: Number of classes.
        metric: "accuracy", or "rocauc" of the second of two classes.
        split: How the three parts came about, in words; recorded with every table.
        selections: Lists of training graphs that others chose and published.
        sort: The sort of data that this is.
    """

    sort: ClassVar[str] = "graphs"
    name: str
    graphs: GraphBatch
    train: Tensor
    valid: Tensor
    test: Tensor
    num_classes: int
    metric: str
    split: str
    selections: Selections = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the parts belong together.

        Raises:
            DatasetError: If they don't.
        """
        if self.metric not in METRICS:
            raise DatasetError(f"{self.name}: metric {self.metric!r} is not one of {METRICS}")
        self._check_graphs()
        self._check_labels()
        for part in SPLITS:
            self._check_part(part)

    @classmethod
    def build(
        cls,
        name: str,
        graphs: Iterable[GraphLike],
        train: Tensor | Sequence[int],
        valid: Tensor | Sequence[int],
        test: Tensor | Sequence[int],
        *,
        split: str,
        num_classes: int | None = None,
        metric: str = "accuracy",
        features: str | None = None,
    ) -> GraphSet:
        """Make a set from single graphs: merge repeated edges, sort them and settle types.

        Args:
            name: The dataset's name.
            graphs: The graphs, each as torch-geometric's ``Data`` (x, edge_index, y and, if edges
                have discrete labels, edge_attr) or as (features, edges, class). An undirected edge
                is two; self-loops are left out.
            train: Numbers of the graphs that are trained on, or a mask.
            valid: Those that choose the epoch.
            test: Those that are reported.
            split: How the three came about, in words.
            num_classes: Number of classes; None for those that are there.
            metric: "accuracy", or "rocauc" of the second of two classes.
            features: What nodes without features are given, or all instead of their own:
                "degree", one-hot, or "constant".

        Raises:
            DatasetError: If a part is not what it has to be; it says which one.
        """
        batch = GraphBatch(*united(name, graphs, features))
        classes = int(batch.y.max()) + 1 if num_classes is None else num_classes
        return cls(
            name,
            batch,
            _numbers(name, "train", train),
            _numbers(name, "valid", valid),
            _numbers(name, "test", test),
            num_classes=classes,
            metric=metric,
            split=split,
        )

    def _check_graphs(self) -> None:
        graphs = self.graphs
        ends = graphs.node_ptr[0] == 0 and graphs.node_ptr[-1] == graphs.num_nodes
        if len(graphs.node_ptr) != len(graphs) + 1 or not bool(ends):
            raise DatasetError(f"{self.name}: node_ptr does not share the nodes out to the graphs")
        if bool((graphs.sizes <= 0).any()):
            empty = int((graphs.sizes <= 0).nonzero()[0])
            raise DatasetError(f"{self.name}: graph {empty} has no nodes; leave it out")
        if not graphs.num_features:
            raise DatasetError(
                f"{self.name}: nodes have no features; GraphSet.build can give them some, "
                "features='degree' or 'constant'"
            )
        if not bool(torch.stack(graphs.x.aminmax()).isfinite().all()):
            raise DatasetError(f"{self.name}: a feature is not a finite number")
        if not graphs.num_edges:
            return
        lowest, highest = int(graphs.edge_index.min()), int(graphs.edge_index.max())
        if lowest < 0 or highest >= graphs.num_nodes:
            raise DatasetError(
                f"{self.name}: an edge names node {lowest if lowest < 0 else highest}; there are "
                f"{graphs.num_nodes:,}"
            )
        source, target = graphs.graph_of[graphs.edge_index]
        if bool((source != target).any()):
            raise DatasetError(f"{self.name}: an edge joins two graphs")
        self._check_both_ways()

    def _check_both_ways(self) -> None:
        source, target = self.graphs.edge_index
        there = torch.unique(source * self.graphs.num_nodes + target)
        back = torch.unique(target * self.graphs.num_nodes + source)
        if not torch.equal(there, back):
            lone = int(there[~torch.isin(there, back)][0])
            ends = torch.tensor(divmod(lone, self.graphs.num_nodes))
            graph = int(self.graphs.graph_of[ends[0]])
            one, other = (ends - self.graphs.node_ptr[graph]).tolist()
            raise DatasetError(
                f"{self.name}: graph {graph} has an edge from node {one} to {other} and none back; "
                "an undirected edge is there twice"
            )

    def _check_labels(self) -> None:
        y = self.graphs.y
        if y.dim() != 1 or y.is_floating_point():
            raise DatasetError(
                f"{self.name}: y is {y.dtype}{tuple(y.shape)}; it is one whole number a graph"
            )
        if len(y) and not 0 <= int(y.min()) <= int(y.max()) < self.num_classes:
            raise DatasetError(
                f"{self.name}: y has labels from {int(y.min())} to {int(y.max())}; they go from 0 "
                f"to {self.num_classes - 1}"
            )
        if self.metric == "rocauc" and self.num_classes != 2:
            raise DatasetError(f"{self.name}: rocauc needs two classes, not {self.num_classes}")

    def _check_part(self, part: str) -> None:
        chosen: Tensor = getattr(self, part)
        if not len(chosen):
            raise DatasetError(f"{self.name}: {part} has no graph")
        if int(chosen.min()) < 0 or int(chosen.max()) >= len(self.graphs):
            raise DatasetError(f"{self.name}: {part} names a graph that is not there")
        if len(torch.unique(chosen)) < len(chosen):
            raise DatasetError(f"{self.name}: {part} names a graph twice")
        for other in SPLITS[: SPLITS.index(part)]:
            if bool(torch.isin(chosen, getattr(self, other)).any()):
                raise DatasetError(f"{self.name}: a graph is in both {other} and {part}")
        found = torch.bincount(self.graphs.y[chosen], minlength=self.num_classes)
        needed = part == "train" or self.metric == "rocauc"
        if needed and bool((found == 0).any()):
            missing = int((found == 0).nonzero()[0])
            raise DatasetError(f"{self.name}: {part} has no graph of class {missing}")
        if int((found > 0).sum()) < 2:
            raise DatasetError(
                f"{self.name}: all graphs of {part} are of class {int(found.argmax())}; there is "
                "nothing to tell apart"
            )

    @property
    def num_features(self) -> int:
        """Number of features per node."""
        return self.graphs.num_features

    @cached_property
    def facts(self) -> dict[str, str | int]:
        """What the figures of a table depend on, as its manifest says it.

        The two sizes in bytes are those of the training graphs; see `benchbuild.datasets.coding`.
        """
        trained = self.graphs.select(self.train)
        x, sizes, edges = (
            part.cpu().numpy() for part in (trained.x, trained.sizes, trained.edge_index)
        )
        return {
            "checksum": self.checksum,
            "metric": self.metric,
            "graphs": len(self.graphs),
            "nodes": self.graphs.num_nodes,
            "edges": self.graphs.num_edges,
            "features": self.num_features,
            "classes": self.num_classes,
            "bytes_dense": dense_bytes(sizes, x.shape[1]),
            "bytes_compact": compact_bytes(x, sizes, edges),
        }

    @cached_property
    def checksum(self) -> str:
        """sha256 over types, shapes and contents of all tensors; goes into every table."""
        graphs = self.graphs
        parts = [(name, getattr(graphs, name)) for name in ("x", "edge_index", "node_ptr", "y")]
        if graphs.edge_attr is not None:
            parts.append(("edge_attr", graphs.edge_attr))
        return checksum_of([*parts, *((part, getattr(self, part)) for part in SPLITS)])
