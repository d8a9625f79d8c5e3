r"""The models that are trained on a condensed graph to judge it.

Their parameters are those of PyG's layers; the products run on `Operands`, so that the adjacency
matrix is normalised once and sparse features stay sparse. All of them see
:math:`\mathbf{A} + \mathbf{I}` with the weights of its edges: GCN, SGC and APPNP normalise it
symmetrically, as :math:`\hat{\mathbf{A}}`; ChebyNet takes its scaled Laplacian, which is
:math:`-\hat{\mathbf{A}}`; GraphSAGE takes the weighted mean; the attention of the Graph Transformer
is in proportion to the weights. The MLP looks at no edge.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import ChebConv, GCNConv, SAGEConv, SGConv, TransformerConv
from torch_geometric.utils import softmax

from benchbuild.kinds.evaluate.operands import Operands
from benchquery.kinds.condensed.config import EvalConfig

HEADS = 4
"""Attention heads of the Graph Transformer, as far as they divide the width."""
CHEBYSHEV = 2
"""Polynomials of ChebyNet: the features themselves and one step of the Laplacian."""
APPNP_STEPS, APPNP_RESTART = 10, 0.1
"""Steps of APPNP and the share of the prediction that each returns to."""


class Model(nn.Module, ABC):
    """Layers with ReLU and dropout between them. Models differ in their layers.

    Args:
        sizes: Widths from the features over the hidden layers to the classes.
        dropout: Probability that a hidden entry is zeroed in training.
    """

    def __init__(self, sizes: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        self._dropout = dropout
        last = len(sizes) - 2
        self.layers = nn.ModuleList(
            self.layer(sizes[i], sizes[i + 1], last=i == last) for i in range(last + 1)
        )

    @abstractmethod
    def layer(self, inputs: int, outputs: int, *, last: bool) -> Any:
        """Make a layer."""

    @abstractmethod
    def apply_layer(self, layer: Any, graph: Operands, h: Tensor | None) -> Tensor:
        """Run a layer; `h` is None for the raw features."""

    def hidden(self, position: int, h: Tensor) -> Tensor:
        """Return what follows a hidden layer."""
        return functional.dropout(functional.relu(h), self._dropout, self.training)

    def forward(self, graph: Operands) -> Tensor:
        """Return the logits of every node."""
        h: Tensor | None = None
        for position, layer in enumerate(self.layers):
            out = self.apply_layer(layer, graph, h)
            h = self.hidden(position, out) if position < len(self.layers) - 1 else out
        assert h is not None
        return h


class MLP(Model):
    r"""Each node for itself: :math:`\mathbf{X} \mathbf{W}`. It never asks for an edge."""

    def layer(self, inputs: int, outputs: int, *, last: bool) -> Any:
        """Make a layer."""
        return nn.Linear(inputs, outputs)

    def apply_layer(self, layer: Any, graph: Operands, h: Tensor | None) -> Tensor:
        """Run a layer."""
        out: Tensor = graph.transform(h, layer.weight) + layer.bias
        return out


class GCN(Model):
    r"""Layers :math:`\hat{\mathbf{A}} \mathbf{X} \mathbf{W}`."""

    def layer(self, inputs: int, outputs: int, *, last: bool) -> Any:
        """Make a layer."""
        return GCNConv(inputs, outputs)

    def apply_layer(self, layer: Any, graph: Operands, h: Tensor | None) -> Tensor:
        """Run a layer."""
        out: Tensor = graph.propagate("gcn", h, layer.lin.weight) + layer.bias
        return out


class SAGE(Model):
    r"""Layers :math:`\mathbf{M} \mathbf{X} \mathbf{W}_1 + \mathbf{X} \mathbf{W}_2`; M averages."""

    def layer(self, inputs: int, outputs: int, *, last: bool) -> Any:
        """Make a layer."""
        return SAGEConv(inputs, outputs)

    def apply_layer(self, layer: Any, graph: Operands, h: Tensor | None) -> Tensor:
        """Run a layer."""
        own = graph.transform(h, layer.lin_r.weight)
        out: Tensor = graph.propagate("sage", h, layer.lin_l.weight) + layer.lin_l.bias + own
        return out


class Cheby(Model):
    r"""Layers :math:`\mathbf{X} \mathbf{W}_1 - \hat{\mathbf{A}} \mathbf{X} \mathbf{W}_2`."""

    def layer(self, inputs: int, outputs: int, *, last: bool) -> Any:
        """Make a layer."""
        return ChebConv(inputs, outputs, K=CHEBYSHEV)

    def apply_layer(self, layer: Any, graph: Operands, h: Tensor | None) -> Tensor:
        """Run a layer."""
        root, neighbours = layer.lins
        spread = graph.propagate("gcn", h, neighbours.weight)
        out: Tensor = graph.transform(h, root.weight) - spread + layer.bias
        return out


class APPNP(MLP):
    r"""An MLP whose logits H spread: :math:`Z \leftarrow (1 - a) \hat{\mathbf{A}} Z + a H`."""

    def forward(self, graph: Operands) -> Tensor:
        """Return the logits of every node."""
        own = super().forward(graph)
        out = own
        for _ in range(APPNP_STEPS):
            out = (1 - APPNP_RESTART) * graph.spread("gcn", out) + APPNP_RESTART * own
        return out


class SGC(nn.Module):
    r"""One layer on smoothed features: :math:`\hat{\mathbf{A}}^K \mathbf{X} \mathbf{W}`.

    Args:
        sizes: Widths from the features over as many hidden layers as there are steps less one to
            the classes; the hidden ones don't matter.
        dropout: Ignored: there is nothing to drop out.
    """

    def __init__(self, sizes: tuple[int, ...], dropout: float) -> None:
        super().__init__()
        self._steps = len(sizes) - 1
        self.layer = SGConv(sizes[0], sizes[-1], K=self._steps)

    def forward(self, graph: Operands) -> Tensor:
        """Return the logits of every node."""
        lin = self.layer.lin
        out: Tensor = graph.propagate("gcn", None, lin.weight, times=self._steps) + lin.bias
        return out


class Transformer(Model):
    """The Graph Transformer of UniMP: attention, gated residuals, layer normalisation."""

    def __init__(self, sizes: tuple[int, ...], dropout: float) -> None:
        super().__init__(sizes, dropout)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for size in sizes[1:-1])

    def layer(self, inputs: int, outputs: int, *, last: bool) -> Any:
        """Make a layer: heads side by side, or averaged in the last one."""
        heads = HEADS if last else math.gcd(HEADS, outputs)
        width = outputs if last else outputs // heads
        return TransformerConv(inputs, width, heads=heads, concat=not last, beta=True)

    def hidden(self, position: int, h: Tensor) -> Tensor:
        """Return what follows a hidden layer."""
        return super().hidden(position, self.norms[position](h))

    def apply_layer(self, layer: Any, graph: Operands, h: Tensor | None) -> Tensor:
        """Run a layer."""
        shape = (-1, layer.heads, layer.out_channels)
        query, key, value = (
            (graph.transform(h, lin.weight) + lin.bias).view(shape)
            for lin in (layer.lin_query, layer.lin_key, layer.lin_value)
        )
        source, target, weight = graph.edges
        asked, offered = query.index_select(0, target), key.index_select(0, source)
        scores = (asked * offered).sum(dim=-1) / math.sqrt(layer.out_channels)
        shares = softmax(scores + weight.log()[:, None], target, num_nodes=graph.num_nodes)
        given = value.index_select(0, source) * shares[..., None]
        attended = torch.zeros_like(value).index_add(0, target, given)
        out = attended.flatten(1) if layer.concat else attended.mean(dim=1)
        root = graph.transform(h, layer.lin_skip.weight) + layer.lin_skip.bias
        gate = layer.lin_beta(torch.cat([out, root, out - root], dim=-1)).sigmoid()
        mixed: Tensor = gate * root + (1 - gate) * out
        return mixed


_CLASSES: Mapping[str, Callable[[tuple[int, ...], float], nn.Module]] = MappingProxyType(
    {
        "gcn": GCN,
        "sgc": SGC,
        "sage": SAGE,
        "appnp": APPNP,
        "cheby": Cheby,
        "mlp": MLP,
        "transformer": Transformer,
    }
)


def build_model(config: EvalConfig, num_features: int, num_classes: int) -> nn.Module:
    """Make the model of an evaluation; its weights come from torch's global generator."""
    hidden = [config.count("hidden")] * (config.count("layers") - 1)
    sizes = (num_features, *hidden, num_classes)
    return _CLASSES[config.model](sizes, config.number("dropout"))
