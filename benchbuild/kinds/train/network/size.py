"""The size of a network in closed form: no torch, no training, no dataset on disk.

With i the width of an operation's input and D the hidden width, an operation has
``a * i * D + b * D + c * D * D`` parameters; the three numbers of each are in ``OP_SIZE``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.network.wiring import Node, wire
from benchquery.kinds.architectures.arch import Arch

OP_SIZE: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {
        "gat": (1, 3, 0),
        "gcn": (1, 1, 0),
        "gin": (1, 1, 0),
        "cheb": (2, 1, 0),
        "sage": (2, 1, 0),
        "arma": (2, 1, 1),
        "graph": (2, 1, 0),
        "fc": (1, 1, 0),
        "skip": (0, 0, 0),
    }
)
"""By operation: weights per i*D, per D and per D*D. The D*D of ARMA is unused by its defaults."""

OP_LAYER: Mapping[str, str] = MappingProxyType(
    {
        "gat": "GATConv",
        "gcn": "GCNConv",
        "gin": "GINConv",
        "cheb": "ChebConv",
        "sage": "SAGEConv",
        "arma": "ARMAConv",
        "graph": "GraphConv",
        "fc": "Linear",
        "skip": "Identity",
    }
)
"""By operation: the PyG or torch layer behind it."""


@dataclass(frozen=True)
class Layer:
    """One line of a network's description.

    Attributes:
        name: Where it is: "pre", "node 1" to "node 4", "post", "head".
        layer: The layer, as in ``GCNConv(1433, 256)``.
        reads: What it reads, with what is done to it first.
        params: Its parameters, a node's BatchNorm included.
    """

    name: str
    layer: str
    reads: str
    params: int


def describe(
    arch: Arch, num_features: int, num_classes: int, hp: HyperParameters
) -> tuple[Layer, ...]:
    """Return the layers of a network, from input to output.

    Args:
        arch: The architecture.
        num_features: Features per node of the dataset.
        num_classes: Classes (or tasks) of the dataset.
        hp: Hyper-parameters.
    """
    wiring = wire(arch, num_features, num_classes, hp)
    layers: list[Layer] = []
    if hp.pre:
        layers.append(_linear("pre", num_features, hp.hidden, "dropout(x)"))
    for k, node in enumerate(wiring.nodes, start=1):
        layers.append(_node_layer(k, node, hp))
    width = wiring.cell_width
    reads = f"relu(concatenation of {', '.join(f'node {k}' for k in wiring.leaves)})"
    if hp.post:
        layers.append(_linear("post", width, hp.hidden, reads))
        width, reads = hp.hidden, "post"
    layers.append(_linear("head", width, num_classes, reads))
    return tuple(layers)


def count_parameters(arch: Arch, num_features: int, num_classes: int, hp: HyperParameters) -> int:
    """Return the number of parameters; it equals the published ``para`` times a million."""
    return sum(layer.params for layer in describe(arch, num_features, num_classes, hp))


def _linear(name: str, in_width: int, out_width: int, reads: str) -> Layer:
    params = in_width * out_width + out_width
    return Layer(name, f"Linear({in_width}, {out_width})", reads, params)


def _node_layer(k: int, node: Node, hp: HyperParameters) -> Layer:
    width = hp.hidden
    per_product, per_width, per_square = OP_SIZE[node.op]
    batch_norm = 2 * width
    params = per_product * node.in_width * width + per_width * width + per_square * width * width
    source = f"node {node.parent}" if node.parent else ("pre" if hp.pre else "dropout(x)")
    reads = source if node.raw else f"dropout(relu(BatchNorm({source})))"
    layer = f"{OP_LAYER[node.op]}({node.in_width}, {node.out_width})"
    return Layer(f"node {k}", layer, reads, params + batch_norm)
