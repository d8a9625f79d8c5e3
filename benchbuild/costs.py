"""What training one architecture is expected to take, worked out without torch or the data.

One epoch is a sum of simple terms: multiplications of dense matrices, sums over edges, work on
every entry of a layer's output. `RATES` holds the seconds of each term, and says how they were
found. They are rough, and mean nothing on a GPU; shards need only the proportions between
architectures. Memory is that of a worker on a CPU, in the same spirit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from functools import lru_cache
from types import MappingProxyType

from benchbuild.errors import DatasetError
from benchbuild.hyperparameters import HyperParameters
from benchbuild.jobs import Cost
from benchbuild.models.wiring import wire
from benchquery.arch import NODES, OPS, Arch

FLOAT = 4
BASE_MEMORY = 470e6
"""Bytes of a worker that has only imported its libraries."""
HELD_NONZEROS, HELD_EDGES = 6, 12
"""Numbers that are held of every nonzero feature and of every edge."""
HELD_ENTRIES, HELD_ATTENTION = 4, 2
"""Numbers that are held of every entry of a layer, and of every one that attention weighs."""


@dataclass(frozen=True)
class GraphSize:
    """How large a dataset is.

    Attributes:
        nodes: Nodes that are used.
        edges: Directed edges.
        features: Features of a node.
        nonzeros: Entries of the feature matrix that are not zero.
        classes: Classes, or tasks.
    """

    nodes: int
    edges: int
    features: int
    nonzeros: int
    classes: int


SIZES: Mapping[str, GraphSize] = MappingProxyType(
    {
        "cora": GraphSize(2_708, 10_556, 1_433, 49_216, 7),
        "citeseer": GraphSize(3_327, 9_104, 3_703, 105_165, 6),
        "pubmed": GraphSize(19_717, 88_648, 500, 988_031, 3),
        "cs": GraphSize(18_333, 163_788, 6_805, 1_092_079, 15),
        "physics": GraphSize(34_493, 495_924, 8_415, 1_137_311, 5),
        "photo": GraphSize(7_487, 238_086, 745, 1_950_178, 8),
        "computers": GraphSize(13_381, 491_556, 767, 3_607_444, 10),
        "arxiv": GraphSize(169_343, 2_315_598, 128, 21_675_904, 40),
        "proteins": GraphSize(132_534, 79_122_504, 8, 1_060_272, 112),
        "acm": GraphSize(11_246, 34_852, 1_902, 1_229_306, 3),
        "dblp": GraphSize(26_128, 239_566, 4_231, 530_010, 4),
        "flickr": GraphSize(89_250, 899_756, 500, 44_625_000, 7),
        "reddit": GraphSize(232_965, 114_615_892, 602, 140_244_930, 41),
        "karate": GraphSize(34, 156, 34, 34, 4),
        "csbm": GraphSize(500, 3_914, 32, 16_000, 4),
    }
)
"""By dataset. Read off the loaded graphs; arxiv, proteins, flickr and reddit as their publishers
state them, with dense features."""

TYPICAL = GraphSize(nodes=10_000, edges=100_000, features=500, nonzeros=5_000_000, classes=10)
"""What is assumed of a dataset that does not state its sizes."""


def size_of(dataset: str) -> GraphSize:
    """Return the size of a dataset without loading it.

    A dataset that is not in `SIZES` is asked what it states of itself; its features count as
    dense, its degree is that of `TYPICAL`, as is everything that it does not state.

    Raises:
        UnknownDatasetError: If there is no such dataset.
        DatasetError: If its name has wrong parameters.
    """
    if dataset in SIZES:
        return SIZES[dataset]
    from benchbuild.datasets import dataset_spec

    spec = dataset_spec(dataset)
    nodes = spec.num_nodes or TYPICAL.nodes
    features = spec.num_features or TYPICAL.features
    return GraphSize(
        nodes=nodes,
        edges=nodes * TYPICAL.edges // TYPICAL.nodes,
        features=features,
        nonzeros=nodes * features,
        classes=spec.num_classes or TYPICAL.classes,
    )


def stated_size(dataset: str) -> GraphSize:
    """Return the size of a dataset that decides what its networks look like; nothing is assumed.

    Raises:
        UnknownDatasetError: If there is no such dataset.
        DatasetError: If its name has wrong parameters, or it does not state its sizes.
    """
    if dataset not in SIZES:
        from benchbuild.datasets import dataset_spec

        spec = dataset_spec(dataset)
        if spec.num_features is None or spec.num_classes is None:
            raise DatasetError(
                f"dataset {dataset!r} does not state how many features and classes it has; "
                "docs/adding-a-dataset.md says how it can"
            )
    return size_of(dataset)


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

    def seconds(self, rates: Work) -> float:
        """Return the time that it takes at some seconds a term."""
        return (
            self.layers * rates.layers
            + self.products * rates.products
            + self.sums * rates.sums
            + self.entries * rates.entries
            + self.attention * rates.attention
        )


RATES = Work(layers=1.0e-3, products=3.1e-11, sums=5.6e-10, entries=3.9e-10, attention=5.0e-9)
"""Seconds of each term on one core of a cloud machine that was busy with other work.

Fitted to the CPU seconds an epoch of 33 trainings: 14 on cora, 5 each on citeseer, photo and
pubmed, 4 on computers; the term of `layers` to 6 on karate, where there is little else. On the 33
the error is 16% in the median and 68% at most; photo and computers come out a third too low. cs,
physics, arxiv and proteins were not measured.
"""

PRODUCTS: Mapping[str, int] = MappingProxyType(
    {"gat": 1, "gcn": 1, "gin": 1, "cheb": 2, "sage": 2, "arma": 2, "graph": 2, "fc": 1, "skip": 0}
)
"""By operation: how often its input is multiplied with a weight matrix."""

NEIGHBOUR_SUMS = ("gcn", "gin", "cheb", "sage", "arma", "graph")
"""Operations that sum over the edges of a node with a fixed weight each."""

SPARSE_BELOW = 0.1
"""Share of nonzero features below which the trainer multiplies with the nonzeros only."""


class CostModel:
    """Predicts what training takes on one dataset. Work adds up over the nodes of a cell.

    Args:
        size: How large the dataset is.
        hp: Hyper-parameters.
    """

    def __init__(self, size: GraphSize, hp: HyperParameters) -> None:
        self._size = size
        self._hp = hp
        self._nodes = {(op, raw): self.node_work(op, raw) for op in OPS for raw in (True, False)}
        self._seconds = {key: work.seconds(RATES) for key, work in self._nodes.items()}
        self._bytes = {key: self._memory(work) for key, work in self._nodes.items()}
        self._frames = {leaves: self.frame_work(leaves) for leaves in range(1, NODES + 1)}
        data = FLOAT * (HELD_NONZEROS * size.nonzeros + HELD_EDGES * size.edges)
        self._fixed_memory = BASE_MEMORY + data

    def node_work(self, op: str, raw: bool) -> Work:
        """Return the work of one computing node.

        Args:
            op: Its operation.
            raw: Whether it reads the raw features.
        """
        size, width = self._size, self._hp.hidden
        if raw and op == "skip":
            return Work()
        products = sums = 0.0
        if raw and size.nonzeros < SPARSE_BELOW * size.nodes * size.features:
            sums += PRODUCTS[op] * size.nonzeros * width
        else:
            in_width = size.features if raw else width
            products += PRODUCTS[op] * size.nodes * in_width * width
        if op in NEIGHBOUR_SUMS:
            sums += size.edges * width
        attention = (size.edges + size.nodes) * width if op == "gat" else 0.0
        entries = size.nodes * width * (1 if raw else 3)
        return Work(1, products, sums, entries, attention)

    def frame_work(self, leaves: int) -> Work:
        """Return the work around the cell.

        Args:
            leaves: How many nodes the output is made of.
        """
        size, hp = self._size, self._hp
        products = hp.pre * size.nodes * size.features * hp.hidden
        products += hp.post * size.nodes * leaves * hp.hidden * hp.hidden
        return Work(1 + hp.pre + hp.post, products, 0.0, size.nodes * leaves * hp.hidden)

    def work(self, arch: Arch) -> Work:
        """Return the work of one epoch."""
        nodes, leaves = self._layout(arch)
        parts = [self.frame_work(leaves), *(self._nodes[node] for node in nodes)]
        return Work(*(sum(terms) for terms in zip(*map(astuple, parts), strict=True)))

    def cost(self, arch: Arch) -> Cost:
        """Predict the time and memory of one training."""
        nodes, leaves = self._layout(arch)
        frame = self._frames[leaves]
        seconds, memory = frame.seconds(RATES), self._fixed_memory + self._memory(frame)
        for node in nodes:
            seconds += self._seconds[node]
            memory += self._bytes[node]
        return Cost(self._hp.epochs * seconds, memory)

    def _layout(self, arch: Arch) -> tuple[Iterable[tuple[str, bool]], int]:
        """Return the nodes of an architecture as (operation, raw), and how many are leaves."""
        form = arch.canonical()
        raw, leaves = _pattern(form.link, tuple(op == "skip" for op in form.ops), self._hp.pre)
        return zip(form.ops, raw, strict=True), leaves

    def _memory(self, work: Work) -> float:
        """Return the bytes that are held for the backward pass."""
        return FLOAT * (HELD_ENTRIES * work.entries + HELD_ATTENTION * work.attention)


@lru_cache
def _pattern(
    link: tuple[int, ...], skips: tuple[bool, ...], pre: int
) -> tuple[tuple[bool, ...], int]:
    """Tell which nodes read the raw features, and count the leaves.

    Both hang only on the links and on where the skips are, so all 26,206 architectures share a
    few patterns.
    """
    ops = ["skip" if skip else "fc" for skip in skips]
    hp = HyperParameters(pre, 0, 1, 0.0, "sgd", 1.0, 0.0, 1, heads=1)
    wiring = wire(Arch(link, ops), 1, 1, hp)
    return tuple(node.raw for node in wiring.nodes), len(wiring.leaves)
