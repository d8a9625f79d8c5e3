"""What training an architecture needs on a GPU, worked out without torch, the data or the GPU.

Memory is a sum of what is held: of every feature, of every edge and head, of every entry of a
layer's output. Which tensors are alive when most of them are follows from how the trainer computes,
so the numbers here are counts, not fits. tests/benchbuild/test_predicted_memory.py holds them
against the bytes that the pretend GPU counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchbuild.compute import thresholds
from benchbuild.datasets.size import GraphSize
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.network.size import OP_SIZE
from benchquery.kinds.architectures.arch import OPS

FLOAT, INT, LONG = 4, 4, 8

NodeKind = tuple[str, bool, bool]
"""A computing node as far as costs go: its operation, whether it is raw, whether it is a leaf."""

LOOPED = ("gcn", "gin", "gat")
"""Operations whose matrices have entries for the nodes themselves, all in the same places, as those
of the others that look at neighbours are."""
ROOTED = ("cheb", "sage", "arma", "graph", "fc")
"""Operations that multiply a node's own features with a weight matrix."""
GRAPH_FREE = ("fc", "skip")
"""Operations that look at no neighbour."""

LIKE: Mapping[str, str] = MappingProxyType({"gin": "gcn", "cheb": "sage", "graph": "sage"})
"""Operations that need as much as others, but for the values of their matrices."""

STATES: Mapping[str, int] = MappingProxyType({"sgd": 0, "adam": 2})
"""By optimiser: numbers that it keeps of every parameter."""

ENTRY_HELD, ENTRY_CUT = 16, 4
"""Bytes that attention holds of an entry, an edge times a head, beside one order; and how many more
of one that leads to some of the nodes only."""
ENTRY_SAVED, ENTRY_BACKWARD = 8, 17
"""Bytes of an entry that are kept for the backward pass, and that this takes itself."""
ENTRY_FORWARD = 16
"""Bytes of an entry that the forward pass takes."""
SLAB_ENTRY = 45
"""Bytes of an entry while its slab is computed."""
RANKED = 49
"""Bytes of a node and task while an area under the ROC curve is computed."""


def is_sparse(size: GraphSize) -> bool:
    """Tell whether the trainer multiplies with the nonzero features only."""
    return size.nonzeros < thresholds.SPARSE_BELOW * size.nodes * size.features


def attention_memory(size: GraphSize, hp: HyperParameters) -> float:
    """Return the bytes of the entries of one attention on all nodes, forward and backward."""
    entries = hp.heads * (size.edges + size.nodes)
    if entries > thresholds.ATTENTION_WHOLE:
        return SLAB_ENTRY * thresholds.ATTENTION_SLAB
    return (ENTRY_HELD + INT + ENTRY_SAVED + ENTRY_BACKWARD) * entries


@dataclass(frozen=True)
class Rows:
    """The rows that an operation is computed for, and those that it reads.

    Attributes:
        name: What they are for; that of all rows if they are no fewer.
        targets: How many it is computed for.
        sources: How many it reads.
        edges: How many edges lead from the ones to the others.
    """

    name: str
    targets: float
    sources: float
    edges: float

    @classmethod
    def of(cls, name: str, size: GraphSize, wanted: int) -> Rows:
        """Return those of some nodes; their neighbours are taken to be spread evenly."""
        share = wanted / size.nodes
        if share >= thresholds.WHOLE_FROM:
            return cls("whole", size.nodes, size.nodes, size.edges)
        lonely = math.exp(-share * size.edges / size.nodes)
        around = (size.nodes - wanted) * (1 - lonely)
        return cls(name, wanted, wanted + around, share * size.edges)

    @property
    def cut(self) -> bool:
        """Whether they are fewer than all."""
        return self.name != "whole"

    def read(self, op: str) -> float:
        """Return how many rows an operation reads."""
        return self.targets if op in GRAPH_FREE else self.sources

    def entries(self, op: str) -> float:
        """Return how many entries the matrix of an operation has."""
        return self.edges + (self.targets if op in LOOPED else 0.0)

    def pattern(self, op: str) -> float:
        """Return the bytes of their places and those of the transpose, which all nodes share."""
        numbers = (3 if self.cut else 2) * self.entries(op) + self.targets + self.sources
        return INT * numbers


class GpuMemory:
    """Predicts how many bytes the tensors of a training take on a GPU at most.

    Args:
        size: How large the dataset is.
        hp: Hyper-parameters.
        metric: What is measured in every epoch.
    """

    def __init__(self, size: GraphSize, hp: HyperParameters, metric: str) -> None:
        self._size, self._hp, self._metric = size, hp, metric
        self._row = FLOAT * hp.hidden
        self._sparse = is_sparse(size)
        self._whole = Rows.of("whole", size, size.nodes)
        self._train = Rows.of("train", size, size.trained)
        self._evaluate = Rows.of("evaluate", size, size.labelled)
        both = (True, False)
        kinds = [(op, raw, leaf) for op in OPS for raw in both for leaf in both]
        self._held = {kind: self._node_held(*kind) for kind in kinds}
        self._params = {kind: self._node_params(*kind[:2]) for kind in kinds}
        self._saved = {kind: self._node_saved(*kind) for kind in kinds}
        self._backward = {kind: self._node_backward(*kind) for kind in kinds}
        self._around = self._frame_held()
        self._alike = {(op, raw, leaf): (LIKE.get(op, op), raw, leaf) for op, raw, leaf in kinds}
        self._held_by: dict[frozenset[NodeKind], float] = {}
        self._stages_by: dict[tuple[NodeKind, ...], float] = {}

    def peak(self, nodes: Sequence[NodeKind]) -> float:
        """Predict it for an architecture, as its computing nodes."""
        kinds, alike = frozenset(nodes), tuple(map(self._alike.__getitem__, nodes))
        if kinds not in self._held_by:
            held = dict(self._around)
            for node in kinds:
                held |= self._held[node]
            self._held_by[kinds] = math.fsum(held.values())
        if alike not in self._stages_by:
            self._stages_by[alike] = self._stages(alike)
        return self._held_by[kinds] + self._stages_by[alike]

    def _stages(self, nodes: Sequence[NodeKind]) -> float:
        """Return the bytes that come and go, in the stage of a training that takes most."""
        params = self._frame_params(nodes) + sum(self._params[node] for node in nodes)
        states = 2 + STATES[self._hp.optimizer]
        return max(
            params + self._latency(nodes),
            (states - 1) * params + self._training(nodes),
            states * params + self._evaluation(nodes),
        )

    def _frame_held(self) -> dict[str, float]:
        """Return what is held whatever the architecture, by name: data and labels."""
        size = self._size
        label = LONG if self._metric == "accuracy" else FLOAT * size.classes
        values = size.nonzeros if self._sparse else size.nodes * size.features
        held: dict[str, float] = {"labels": label * size.labelled, "features": FLOAT * values}
        for name, rows in (("train", self._train), ("evaluate", self._evaluate)):
            chosen = rows.targets + rows.sources if rows.cut else size.labelled
            held[f"rows {name}"] = LONG * chosen
        if self._hp.pre:
            held |= self._features_held(self._whole, 1.0)
        return held

    def _features_held(self, rows: Rows, share: float) -> dict[str, float]:
        """Return the places of the nonzeros of some rows, by name."""
        if not self._sparse:
            return {}
        return {f"nonzeros {rows.name} {share}": 4 * INT * share * self._size.nonzeros}

    def _node_held(self, op: str, raw: bool, leaf: bool) -> dict[str, float]:
        """Return the matrices that a node needs, by name: nodes and operations share some.

        The latency is measured on all nodes, so what leads to all of them is always there.
        """
        held: dict[str, float] = {}
        for rows in (self._whole, self._train, self._evaluate) if leaf else (self._whole,):
            if raw and op != "skip":
                share = rows.read(op) / self._size.nodes
                held |= self._features_held(rows, share)
                if op in ROOTED:
                    held |= self._features_held(rows, rows.targets / self._size.nodes)
            if op in GRAPH_FREE:
                continue
            if op != "gat":
                held[f"{op} {rows.name}"] = FLOAT * rows.entries(op)
                held[f"pattern {op in LOOPED} {rows.name}"] = rows.pattern(op)
            elif self._in_slabs(rows):
                shared = "sorted" if rows.cut else "True"
                held[f"pattern {shared} {rows.name}"] = rows.pattern(op)
            else:
                bytes_ = ENTRY_HELD + INT + (ENTRY_CUT if rows.cut else 0)
                held[f"gat {rows.name}"] = bytes_ * self._entries(rows)
        return held

    def _entries(self, rows: Rows) -> float:
        return self._hp.heads * rows.entries("gat")

    def _in_slabs(self, rows: Rows) -> bool:
        return self._entries(rows) > thresholds.ATTENTION_WHOLE

    def _node_params(self, op: str, raw: bool) -> float:
        """Return the bytes of a node's parameters."""
        width = self._hp.hidden
        read = self._size.features if raw else width
        product, single, square = OP_SIZE[op]
        return FLOAT * (product * read * width + (single + 2) * width + square * width * width)

    def _frame_params(self, nodes: Sequence[NodeKind]) -> float:
        """Return the bytes of the parameters around the cell, folded ones included."""
        hp, classes = self._hp, self._size.classes
        cell = sum(leaf for *_, leaf in nodes) * hp.hidden
        post = cell * hp.hidden + hp.hidden * classes if hp.post else 0
        return FLOAT * (hp.pre * self._size.features * hp.hidden + post + cell * classes)

    def _node_saved(self, op: str, raw: bool, leaf: bool) -> float:
        """Return the bytes of a node that are kept for the backward pass, its output included."""
        rows, row = self._train if leaf else self._whole, self._row
        if raw and op == "skip":
            return 0.0
        saved = 0.0 if leaf or op == "skip" else rows.targets * row
        if op == "arma" and leaf:
            saved += rows.targets * row
        if op == "gat":
            saved += (rows.targets + rows.sources) * row
            saved += 0.0 if self._in_slabs(rows) else ENTRY_SAVED * self._entries(rows)
        if not raw:
            saved += rows.read(op) * row
            saved += 0.0 if op in (*GRAPH_FREE, "gat") else rows.targets * row
        elif rows.cut and not self._sparse:
            width = FLOAT * self._size.features
            saved += rows.targets * width if op in ROOTED else 0.0
            saved += 0.0 if op == "fc" else rows.sources * width
        return saved

    def _node_backward(self, op: str, raw: bool, leaf: bool) -> float:
        """Return the bytes that the backward pass of a node takes beside what is kept.

        The gradient of its output is where the output was.
        """
        rows, row = self._train if leaf else self._whole, self._row
        if raw and op == "skip":
            return 0.0
        within = (rows.targets + rows.read(op)) * row
        if op == "gat":
            entries = self._entries(rows)
            slab = SLAB_ENTRY * min(entries, thresholds.ATTENTION_SLAB)
            within += slab if self._in_slabs(rows) else ENTRY_BACKWARD * entries
        elif op in ROOTED and not raw:
            within += rows.sources * row if op != "fc" else 0.0
        return within

    def _training(self, nodes: Sequence[NodeKind]) -> float:
        """Return the bytes that a step takes beside parameters.

        The backward pass goes from the leaves up; what it has passed is free again.
        """
        size, hp = self._size, self._hp
        dropped = FLOAT * (size.nonzeros if self._sparse else size.nodes * size.features)
        saved = (dropped if hp.dropout else 0.0) + hp.pre * size.nodes * self._row
        norm, most = 2 * size.nodes * self._row, 0.0
        for node in nodes:
            if not node[2]:
                saved += self._saved[node]
                most = max(most, saved + self._backward[node], saved + (0.0 if node[1] else norm))
        leaves = [node for node in nodes if node[2]]
        saved += sum(self._saved[node] for node in leaves)
        joined = len(leaves) * self._train.targets * self._row
        logits = FLOAT * self._train.targets * size.classes
        return max(
            most,
            saved + 3 * joined + logits,
            saved + joined + max(self._backward[node] for node in leaves),
            saved + (joined if len(leaves) > 1 else 0.0) + (0.0 if leaves[0][1] else norm),
        )

    def _pass(self, nodes: Sequence[NodeKind], rows: Rows) -> float:
        """Return the bytes of a pass that keeps the outputs of nodes and no more."""
        held, most = float(self._hp.pre * self._size.nodes * self._row), 0.0
        for op, raw, leaf in nodes:
            own = rows if leaf else self._whole
            read = 0.0 if raw else own.read(op) * self._row
            out = 0.0 if op == "skip" else own.targets * self._row
            within = 0.0 if op in GRAPH_FREE else own.sources * self._row
            if op == "gat":
                entries = self._entries(own)
                slab = SLAB_ENTRY * min(entries, thresholds.ATTENTION_SLAB)
                within += slab if self._in_slabs(own) else ENTRY_FORWARD * entries
            most = max(most, held + read + out + within)
            held += out if op != "skip" else read
        joined = sum(leaf for *_, leaf in nodes) * rows.targets * self._row
        return max(most, held + read + joined)

    def _latency(self, nodes: Sequence[NodeKind]) -> float:
        """Return the bytes of a pass over all nodes, layer by layer."""
        size, hp = self._size, self._hp
        last = size.nodes * (hp.post * self._row + FLOAT * size.classes)
        return self._pass(nodes, self._whole) + last

    def _evaluation(self, nodes: Sequence[NodeKind]) -> float:
        """Return the bytes of evaluating."""
        size = self._size
        logits = FLOAT * self._evaluate.targets * size.classes
        measured = RANKED * size.trained * size.classes if self._metric == "rocauc" else 0.0
        return logits + max(self._pass(nodes, self._evaluate), measured)
