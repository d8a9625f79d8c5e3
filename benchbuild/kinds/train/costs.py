"""What training one architecture is expected to take, worked out without torch or the data.

One epoch is a sum of simple terms: multiplications of dense matrices, sums over nonzero features
and edges, work on every entry of a layer's output. Nodes of the cell that others read are computed
for all nodes of the graph; leaves only for those with a label. `RATES` holds the seconds of each
term, and says how they were found. They mean nothing on a GPU; shards need only the proportions
between architectures. The memory of tensors is worked out in `benchbuild.kinds.train.memory`; what
a worker needs beside them is here, rather too much than too little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from types import MappingProxyType

from benchbuild.compute.thresholds import WHOLE_FROM
from benchbuild.datasets.size import GraphSize
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.memory import FLOAT, GpuMemory, NodeKind, is_sparse
from benchbuild.kinds.train.network.wiring import wire
from benchbuild.pipeline.jobs import Cost
from benchquery.kinds.architectures.arch import NODES, OPS, Arch

BASE_MEMORY = 470e6
"""Bytes of a worker that has only imported its libraries."""
HELD_NONZEROS, HELD_EDGES = 6, 12
"""Numbers that are held of every nonzero feature and of every edge."""
HELD_ENTRIES = 4
"""Numbers that are held of every entry of a layer."""
HELD_TENSORS = 1.7
"""Bytes that the system's allocator holds of every byte of tensors on a CPU; with it, predictions
are from 0.78 to 1.23 times the figures of the bundled tables."""
LOADING_EDGE = 100
"""Bytes of an edge while a dataset is loaded and its matrices are made; benchmarks/host_memory.py
measures them."""

PASSES_TRAINING, PASSES_EVALUATION = 3, 1
"""Passes over the graph in an epoch: forward, backward (which takes two), evaluation."""


def held_memory(size: GraphSize) -> float:
    """Return the bytes of a worker that has loaded a dataset."""
    data = HELD_NONZEROS * size.nonzeros + HELD_EDGES * size.edges
    return BASE_MEMORY + FLOAT * data


def loading_memory(size: GraphSize) -> float:
    """Return the bytes of main memory of a worker that computes on a GPU, at most."""
    return BASE_MEMORY + LOADING_EDGE * size.edges + HELD_NONZEROS * FLOAT * size.nonzeros


def leaf_rows(size: GraphSize) -> float:
    """Return the rows that an epoch computes for a leaf, relative to those for any other node."""
    return _of_passes(size, size.trained, size.labelled)


def leaf_sources(size: GraphSize) -> float:
    """Return the same of the rows that it reads, with neighbours, which are taken to be others."""
    around = 1 + size.edges / size.nodes
    return _of_passes(size, size.trained * around, size.labelled * around)


def _of_passes(size: GraphSize, trained: float, evaluated: float) -> float:
    """Return the mean share of all rows over the passes of an epoch."""
    shares = [min(count / size.nodes, 1.0) for count in (trained, evaluated)]
    train, evaluate = (1.0 if share >= WHOLE_FROM else share for share in shares)
    total = PASSES_TRAINING * train + PASSES_EVALUATION * evaluate
    return total / (PASSES_TRAINING + PASSES_EVALUATION)


@dataclass(frozen=True)
class Work:
    """What one epoch, forward and backward, adds up to.

    Attributes:
        layers: Layers that are called at all.
        products: Multiplications of dense matrices, in multiply-adds.
        sums: Multiplications with sparse features and sums over edges, in multiply-adds.
        entries: Entries of layer outputs that are normalised, activated or dropped out.
        attention: Entries that attention weighs: edges times width.
    """

    layers: float = 0.0
    products: float = 0.0
    sums: float = 0.0
    entries: float = 0.0
    attention: float = 0.0

    @classmethod
    def total(cls, parts: Iterable[Work]) -> Work:
        """Return the sum of some work."""
        return cls(*(sum(terms) for terms in zip(*map(astuple, parts), strict=True)))

    def seconds(self, rates: Work) -> float:
        """Return the time that it takes at some seconds a term."""
        return (
            self.layers * rates.layers
            + self.products * rates.products
            + self.sums * rates.sums
            + self.entries * rates.entries
            + self.attention * rates.attention
        )

    @property
    def held_memory(self) -> float:
        """Bytes of the entries that are held for the backward pass."""
        return FLOAT * HELD_ENTRIES * self.entries


RATES = Work(layers=6.0e-4, products=8.8e-11, sums=2.5e-10, entries=1.9e-9, attention=3.0e-9)
"""Seconds of each term on one core of a cloud machine.

Fitted by benchmarks/costs.py to the trainings in the bundled tables, and some on karate. It says
how far off they are: about a tenth in the median, on computers a third too low, for single
architectures more than half. cs, physics, arxiv and proteins were not measured.
"""

PRODUCTS: Mapping[str, int] = MappingProxyType(
    {"gat": 1, "gcn": 1, "gin": 1, "cheb": 2, "sage": 2, "arma": 2, "graph": 2, "fc": 1, "skip": 0}
)
"""By operation: how often its input is multiplied with a weight matrix."""

NEIGHBOUR_SUMS = ("gcn", "gin", "cheb", "sage", "arma", "graph")
"""Operations that sum over the edges of a node with a fixed weight each."""

METRIC_RATES: Mapping[str, float] = MappingProxyType({"accuracy": 0.0, "rocauc": 4.1e-7})
"""By metric: seconds of measuring it on a labelled node and class. That of accuracy is among the
rest; an area under the ROC curve needs the ranks of all nodes, and takes 6.1 seconds an epoch on
proteins, more than a small network."""


class CostModel:
    """Predicts what training takes on one dataset. Work adds up over the nodes of a cell.

    Args:
        size: How large the dataset is.
        hp: Hyper-parameters.
        metric: What is measured in every epoch.
    """

    def __init__(self, size: GraphSize, hp: HyperParameters, metric: str = "accuracy") -> None:
        self._size = size
        self._hp = hp
        self._metric = METRIC_RATES[metric] * size.labelled * size.classes
        self._is_sparse, self._held = is_sparse(size), held_memory(size)
        self._loading, self._gpu = loading_memory(size), GpuMemory(size, hp, metric)
        self._leaf_rows, self._leaf_sources = leaf_rows(size), leaf_sources(size)
        both = (True, False)
        kinds = [(op, raw, leaf) for op in OPS for raw in both for leaf in both]
        self._seconds = {kind: self.node_work(*kind).seconds(RATES) for kind in kinds}
        self._frames = {leaves: self.frame_work(leaves) for leaves in range(1, NODES + 1)}

    def node_work(self, op: str, raw: bool, leaf: bool = False) -> Work:
        """Return the work of one computing node; see `operation_work`."""
        work = self.operation_work(op, raw, leaf)
        return work if raw else Work.total([work, self.activation_work()])

    def activation_work(self) -> Work:
        """Return the work before a node's operation: BatchNorm, and ReLU with dropout."""
        return Work(entries=2 * self._size.nodes * self._hp.hidden)

    def operation_work(self, op: str, raw: bool, leaf: bool = False) -> Work:
        """Return the work of the operation of a computing node.

        Args:
            op: Its operation.
            raw: Whether it reads the raw features.
            leaf: Whether no other node reads it, so that only rows with a label are computed.
        """
        size, width = self._size, self._hp.hidden
        if raw and op == "skip":
            return Work()
        looks_around = op in NEIGHBOUR_SUMS or op == "gat"
        rows = self._leaf_rows if leaf else 1.0
        sources = self._leaf_sources if leaf and looks_around else rows
        products, sums = self._times_features(PRODUCTS[op] * sources) if raw else (0.0, 0.0)
        if not raw:
            products = PRODUCTS[op] * sources * size.nodes * width * width
        if op in NEIGHBOUR_SUMS:
            sums += rows * size.edges * width
        attention = rows * (size.edges + size.nodes) * width if op == "gat" else 0.0
        return Work(1, products, sums, rows * size.nodes * width, attention)

    def frame_work(self, leaves: int) -> Work:
        """Return the work around the cell.

        Args:
            leaves: How many nodes the output is made of.
        """
        size, hp = self._size, self._hp
        products, sums = self._times_features(hp.pre)
        outputs = self._leaf_rows * size.nodes * leaves * hp.hidden
        return Work(1 + hp.pre, products + outputs * size.classes, sums, outputs)

    def _times_features(self, matrices: float) -> tuple[float, float]:
        """Return the products and the sums of multiplying the features with weight matrices."""
        size, width = self._size, self._hp.hidden
        if self._is_sparse:
            return 0.0, matrices * size.nonzeros * width
        return matrices * size.nodes * size.features * width, 0.0

    def work(self, arch: Arch) -> Work:
        """Return the work of one epoch."""
        nodes, leaves = self._layout(arch)
        return Work.total([self.frame_work(leaves), *(self.node_work(*node) for node in nodes)])

    def cost(self, arch: Arch) -> Cost:
        """Predict the time and memory of one training."""
        nodes, leaves = self._layout(arch)
        seconds = self._metric + self._frames[leaves].seconds(RATES)
        seconds += sum(self._seconds[node] for node in nodes)
        tensors = self._gpu.peak(nodes)
        memory = max(self._loading, self._held + HELD_TENSORS * tensors)
        return Cost(self._hp.epochs * seconds, memory, tensors, self._loading)

    def _layout(self, arch: Arch) -> tuple[Sequence[NodeKind], int]:
        """Return the nodes of an architecture, and how many are leaves."""
        form = arch.canonical()
        raw, leaf = _pattern(form.link, tuple(op == "skip" for op in form.ops), self._hp.pre)
        return tuple(zip(form.ops, raw, leaf, strict=True)), sum(leaf)


@lru_cache
def _pattern(
    link: tuple[int, ...], skips: tuple[bool, ...], pre: int
) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """Tell which nodes read the raw features, and which are leaves.

    Both hang only on the links and on where the skips are, so all 26,206 architectures share a
    few patterns.
    """
    ops = ["skip" if skip else "fc" for skip in skips]
    hp = HyperParameters(pre, 0, 1, 0.0, "sgd", 1.0, 0.0, 1, heads=1)
    nodes = wire(Arch(link, ops), 1, 1, hp).nodes
    return tuple(node.raw for node in nodes), tuple(node.leaf for node in nodes)
