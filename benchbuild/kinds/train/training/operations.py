r"""The operations of the space on a block, from the parameters of PyG's layers.

Every operation but attention and the identity is one formula,

.. math::
    \mathbf{Y} = \sigma(\mathbf{M} \mathbf{X} \mathbf{W}_1^\top + \mathbf{X} \mathbf{W}_2^\top
    + \mathbf{b})

with its own matrix :math:`\mathbf{M}` (see ``adjacency``). Hidden features are propagated first
and multiplied with the weights on the targets only; raw features are multiplied first, because
they are sparse or wide and the product is narrow.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch_geometric.nn import (
    ARMAConv,
    ChebConv,
    GATConv,
    GCNConv,
    GINConv,
    GraphConv,
    SAGEConv,
)

from benchbuild.compute.features import Features
from benchbuild.compute.rows import Rows
from benchbuild.compute.stacks import add_product, linear, spread
from benchbuild.kinds.train.training.blocks import Block


@dataclass(frozen=True)
class Terms:
    """The parameters of the formula; weights are (width, input width), or a stack of them."""

    neighbours: Tensor | None
    root: Tensor | None
    bias: Tensor
    relu: bool


def terms(layer: nn.Module) -> Terms:
    """Find the parameters of the formula in a layer."""
    neighbours: Tensor | None = None
    root: Tensor | None = None
    match layer:
        case GCNConv():
            neighbours, bias = layer.lin.weight, layer.bias
        case GINConv():
            neighbours, bias = layer.nn.weight, layer.nn.bias
        case ChebConv():
            neighbours, root, bias = layer.lins[1].weight, layer.lins[0].weight, layer.bias
        case SAGEConv():
            neighbours, root, bias = layer.lin_l.weight, layer.lin_r.weight, layer.lin_l.bias
        case ARMAConv():
            neighbours = layer.init_weight.squeeze(-3).mT
            root, bias = layer.root_weight.squeeze((-4, -3)).mT, layer.bias.squeeze((-4, -3, -2))
        case GraphConv():
            neighbours, root, bias = layer.lin_rel.weight, layer.lin_root.weight, layer.lin_rel.bias
        case nn.Linear():
            root, bias = layer.weight, layer.bias
        case _:
            raise TypeError(f"{type(layer).__name__} is not of the form M X W1 + X W2 + b")
    return Terms(neighbours, root, bias, relu=isinstance(layer, ARMAConv))


def on_hidden(op: str, layer: nn.Module, z: Tensor, block: Block) -> Tensor:
    """Output of an operation on the targets of a block.

    Args:
        op: Name of the operation.
        layer: PyG's layer for it.
        z: Features of the block's sources.
        block: The block.
    """
    if op == "skip":
        return block.own(z)
    if isinstance(layer, GATConv):
        return _attention(layer, linear(z, layer.lin.weight), block)
    part = terms(layer)
    bias: Tensor | None = part.bias
    out: Tensor | None = None
    if part.neighbours is not None:
        out, bias = linear(block.matrix(op) @ z, part.neighbours, bias), None
    if part.root is not None:
        own = block.own(z)
        out = linear(own, part.root, bias) if out is None else add_product(out, own, part.root)
    assert out is not None
    return out.relu_() if part.relu else out


def on_raw(op: str, layer: nn.Module, x: Features, block: Block) -> Tensor:
    """Return the same on raw features; ``x`` holds those of all nodes."""
    if isinstance(layer, GATConv):
        return _attention(layer, x.times(layer.lin.weight.mT, block.sources), block)
    part = terms(layer)
    products: list[Tensor] = []
    if part.root is not None:
        products.append(x.times(part.root.mT, block.targets))
    if part.neighbours is not None:
        products.append(block.matrix(op) @ x.times(part.neighbours.mT, block.sources))
    out = sum(products[1:], start=products[0])
    out.add_(spread(part.bias, len(out)))
    return out.relu_() if part.relu else out


def _attention(layer: GATConv, h: Tensor, block: Block) -> Tensor:
    """Attention with a score per node and head: its features times the head's vector.

    The heads of several trainings are as many heads more.
    """
    heads, width = layer.heads, layer.out_channels
    vectors = torch.cat([_by_head(layer.att_src), _by_head(layer.att_dst)], dim=-1)
    scores = linear(h, vectors.mT).view(len(h), -1, 2, heads)
    out = block.attention(h.shape[1] // width).attend(
        h.view(-1, width),
        scores[:, :, 0].reshape(-1),
        block.own(scores)[:, :, 1].reshape(-1),
    )
    return out.view(-1, h.shape[1]) + spread(layer.bias, len(out) * width // h.shape[1])


def _by_head(vectors: Tensor) -> Tensor:
    """Vectors of shape (1, heads, width) as the columns of a (heads * width, heads) matrix."""
    return torch.diag_embed(vectors.squeeze(-3).mT, dim1=-3, dim2=-1).flatten(-3, -2)


def own_rows(op: str, block: Block) -> Rows:
    """Return the rows an operation reads: the targets' alone if it looks at no neighbour."""
    return block.targets if op in ("fc", "skip") else block.sources


def store_by_column(layer: nn.Module, dimensions: int = 2) -> None:
    """Store the weight matrices of a layer column by column.

    The sparse product walks along rows of the transposed weights. Only the strides change.

    Args:
        layer: The layer.
        dimensions: Those of a weight matrix: one more where the weights of several are stacked.
    """
    with torch.no_grad():
        for weight in layer.parameters():
            if weight.dim() == dimensions:
                weight.data = weight.data.mT.contiguous().mT
