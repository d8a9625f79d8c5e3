r"""The network of the search space, written plainly with PyG's layers: the reference.

.. math::
    \mathbf{y} = \mathrm{head}\big(\mathrm{relu}\big(\Vert_{k \in \mathrm{leaves}}
    \mathbf{h}_k\big)\big), \qquad
    \mathbf{h}_k = \mathrm{op}_k\big(\mathrm{dropout}(\mathrm{relu}(\mathrm{BN}_k(
    \mathbf{h}_{\mathrm{parent}(k)})))\big)

where a node on the raw input takes it as it is. The input is dropped out once, before everything
else. Nothing here is tuned for speed; the trainer runs the same module in a faster way and is
tested against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import (
    ARMAConv,
    ChebConv,
    GATConv,
    GCNConv,
    GINConv,
    GraphConv,
    SAGEConv,
)

from benchbuild.compute.stacks import chain, linear, side_by_side
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.network.wiring import Node, Wiring, wire
from benchquery.kinds.architectures.arch import Arch

GRAPH_FREE_OPS = ("fc", "skip")
"""Operations that look at no neighbour."""


OPERATIONS: Mapping[str, Callable[[int, HyperParameters], nn.Module]] = MappingProxyType(
    {
        "gat": lambda width, hp: GATConv(width, hp.hidden // hp.heads, heads=hp.heads),
        "gcn": lambda width, hp: GCNConv(width, hp.hidden),
        "gin": lambda width, hp: GINConv(nn.Linear(width, hp.hidden)),
        "cheb": lambda width, hp: ChebConv(width, hp.hidden, K=2),
        "sage": lambda width, hp: SAGEConv(width, hp.hidden),
        "arma": lambda width, hp: ARMAConv(width, hp.hidden),
        "graph": lambda width, hp: GraphConv(width, hp.hidden),
        "fc": lambda width, hp: nn.Linear(width, hp.hidden),
        "skip": lambda width, hp: nn.Identity(),
    }
)
"""How each operation is made from the width of its input."""


def make_operation(op: str, in_width: int, hp: HyperParameters) -> nn.Module:
    """One operation of the space: PyG's layer with its defaults and initialisation."""
    return OPERATIONS[op](in_width, hp)


class CellNode(nn.Module):
    """One computing node: BatchNorm, ReLU and dropout (unless its input is raw), its operation."""

    def __init__(self, node: Node, hp: HyperParameters) -> None:
        """Make the layers. The BatchNorm is there, and counted, even where it is not used."""
        super().__init__()
        self.node = node
        self.dropout = hp.dropout
        self.norm = nn.BatchNorm1d(hp.hidden)
        self.op = make_operation(node.op, node.in_width, hp)

    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        """Output of the node for its parent's output ``h``."""
        if not self.node.raw:
            h = functional.dropout(functional.relu(self.norm(h)), self.dropout, self.training)
        out = self.op(h) if self.node.op in GRAPH_FREE_OPS else self.op(h, edge_index)
        return cast(Tensor, out)


class CellNetwork(nn.Module):
    """The whole network: optional pre-process layer, four nodes, output layers."""

    def __init__(self, wiring: Wiring) -> None:
        """Make all layers, drawing their weights from torch's global generator."""
        super().__init__()
        hp = wiring.hp
        self.wiring = wiring
        self.pre = nn.Linear(wiring.num_features, hp.hidden) if hp.pre else None
        self.nodes = nn.ModuleList(CellNode(node, hp) for node in wiring.nodes)
        self.post = nn.Linear(wiring.cell_width, hp.hidden) if hp.post else None
        self.head = nn.Linear(hp.hidden if hp.post else wiring.cell_width, wiring.num_classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return the logits of every node of the graph."""
        if self.training:
            x = functional.dropout(x, self.wiring.hp.dropout)
        outputs = [x if self.pre is None else self.pre(x)]
        for cell_node in self.nodes:
            assert isinstance(cell_node, CellNode)
            outputs.append(cell_node(outputs[cell_node.node.parent], edge_index))
        return self.output([outputs[k] for k in self.wiring.leaves])

    @property
    def count(self) -> int:
        """How many networks it is: see `benchbuild.kinds.train.network.stack`."""
        return len(self.head.weight) if self.head.weight.dim() == 3 else 1

    def output(self, leaves: list[Tensor]) -> Tensor:
        """Return the logits from the outputs of the leaves."""
        h = side_by_side(leaves, self.count)
        if self.post is not None:
            h = linear(h, self.post.weight, self.post.bias)
        return linear(h, self.head.weight, self.head.bias)

    def folded_output(self, leaves: list[Tensor]) -> Tensor:
        """Return the same from one small matrix: there is nothing between the last two layers."""
        if self.post is None:
            return self.output(leaves)
        weight = chain(self.head.weight, self.post.weight)
        bias = chain(self.head.weight, self.post.bias) + self.head.bias
        return linear(side_by_side(leaves, self.count), weight, bias)


def build_network(
    arch: Arch, num_features: int, num_classes: int, hp: HyperParameters, seed: int
) -> CellNetwork:
    """Build the network of an architecture with the initial weights of a seed.

    Torch's global generator is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return CellNetwork(wire(arch, num_features, num_classes, hp))
