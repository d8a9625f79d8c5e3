"""What the network of an architecture looks like, worked out once and without torch.

The reference network, the fast trainer, the parameter count and ``inspect`` all read it here, so
that none of them can disagree about which node sees the raw input or which one is a leaf.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchbuild.errors import ArchitectureError
from benchbuild.hyperparameters import HyperParameters
from benchquery.kinds.architectures.arch import Arch


@dataclass(frozen=True)
class Node:
    """One computing node of the cell.

    Attributes:
        op: Name of its operation.
        parent: Node its input comes from, counted from 1; 0 is the cell's input.
        raw: Whether its input is the raw features: then no BatchNorm, ReLU or dropout precede it.
        leaf: Whether no other node reads it: then it is part of the cell's output.
        in_width: Width of its input.
        out_width: Width of its output.
    """

    op: str
    parent: int
    raw: bool
    leaf: bool
    in_width: int
    out_width: int


@dataclass(frozen=True)
class Wiring:
    """The whole network of one architecture on one dataset.

    Attributes:
        nodes: The four computing nodes, each after its parent.
        num_features: Width of the raw input.
        num_classes: Width of the output.
        hp: The hyper-parameters, which fix the layers around the cell.
    """

    nodes: tuple[Node, ...]
    num_features: int
    num_classes: int
    hp: HyperParameters

    @property
    def leaves(self) -> tuple[int, ...]:
        """The nodes whose outputs are concatenated, counted from 1."""
        return tuple(k for k, node in enumerate(self.nodes, start=1) if node.leaf)

    @property
    def cell_width(self) -> int:
        """Width of the concatenation of the leaves."""
        return sum(self.nodes[k - 1].out_width for k in self.leaves)


def wire(arch: Arch, num_features: int, num_classes: int, hp: HyperParameters) -> Wiring:
    """Lay out the network of an architecture, always from its canonical form.

    Args:
        arch: The architecture, canonical or not.
        num_features: Features per node of the dataset.
        num_classes: Classes (or tasks) of the dataset.
        hp: Hyper-parameters.

    Raises:
        ArchitectureError: If a leaf would hand the raw features on unchanged (all nodes are skips).
    """
    form = arch.canonical()
    nodes: list[Node] = []
    for k, (parent, op) in enumerate(zip(form.link, form.ops, strict=True), start=1):
        above = nodes[parent - 1] if parent else None
        raw = (above.raw and above.op == "skip") if above else hp.pre == 0
        leaf = k not in form.link
        in_width = num_features if raw else hp.hidden
        if raw and leaf and op == "skip":
            raise ArchitectureError(f"{arch!r} only hands its input on: there is nothing to train")
        out_width = in_width if op == "skip" else hp.hidden
        nodes.append(Node(op, parent, raw, leaf, in_width, out_width))
    return Wiring(tuple(nodes), num_features, num_classes, hp)
