r"""The models whose gradients or embeddings are matched.

=============  ==================================================================
SGC            :math:`\hat{A}^L X W + b`
GCN            :math:`\hat{A} \cdots \mathrm{relu}(\hat{A} X W_1 + b_1) \cdots W_L + b_L`
Transformer    attention among neighbours with a gated skip connection, layer norm and
               relu between layers (Shi et al., "Masked label prediction", 2021)
=============  ==================================================================

Weights are a plain list of tensors, drawn anew many times, and every model is a function of
weights and a `View`. No dropout: matching compares two graphs at one and the same function.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain, islice, pairwise

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.kinds.condense.nodes.views import Hop, View
from benchquery.kinds.condensed.config import CondenseConfig

Weights = list[Tensor]


class Backbone(ABC):
    """A model.

    Attributes:
        layers: How many propagations it has.
        aggregated: How many of them come before its first weights.
    """

    layers: int
    aggregated: int

    @abstractmethod
    def draw(self, generator: torch.Generator, device: torch.device) -> Weights:
        """Return fresh weights."""

    @abstractmethod
    def outputs(self, weights: Weights, view: View) -> tuple[Tensor, Tensor]:
        """Return embeddings and logits of the target nodes."""

    def gradients(
        self, weights: Weights, view: View, labels: Tensor, shares: Tensor
    ) -> list[Tensor]:
        """Return the gradients of several losses for the weights.

        They can be differentiated themselves, unless gradients are disabled.

        Args:
            weights: Where to take them.
            view: The graph.
            labels: (targets,) classes; of a stack of views, (losses, targets) and a view for each.
            shares: (losses, targets) how much the cross-entropy of a node counts in a loss.

        Returns:
            One tensor for each weight, with a first dimension of the losses.
        """
        again = torch.is_grad_enabled()
        with torch.enable_grad():
            leaves = [weight.detach().requires_grad_() for weight in weights]
            _, logits = self.outputs(leaves, view)
            return _slopes(logits, labels, shares, leaves, again=again)


class Convolutional(Backbone):
    r"""SGC and GCN: linear maps with propagation before each and relu between.

    Gradients are written out, which is several times as fast as to differentiate twice. With
    :math:`U_l` the input of a linear map and :math:`D_l` the gradient at its output,

    .. math:: D_L = \operatorname{diag}(s) (P - Y), \quad \nabla W_l = D_l^\top U_l, \quad
        D_{l-1} = \mathrm{relu}'(Z_{l-1}) \odot \hat{A}^\top D_l W_l.

    Args:
        widths: Of the input, of every hidden layer and of the output.
        layers: How many propagations there are in all.
    """

    def __init__(self, widths: Sequence[int], layers: int) -> None:
        self.widths = tuple(widths)
        self.layers = layers
        self.aggregated = layers - len(widths) + 2

    def draw(self, generator: torch.Generator, device: torch.device) -> Weights:
        """See the base class."""
        return linear_weights(self.widths, generator, device)

    def outputs(self, weights: Weights, view: View) -> tuple[Tensor, Tensor]:
        """See the base class. The embedding of SGC is its output, as in GC-Bench."""
        _, inputs, logits = self._forward(weights, view)
        return (inputs[-1] if inputs else logits), logits

    def gradients(
        self, weights: Weights, view: View, labels: Tensor, shares: Tensor
    ) -> list[Tensor]:
        """See the base class."""
        hidden, inputs, logits = self._forward(weights, view)
        error = logits.softmax(dim=-1) - functional.one_hot(labels, logits.shape[-1])
        delta = shares[:, :, None] * error
        found: list[Tensor] = []
        for layer in reversed(range(len(inputs))):
            found = [delta.mT @ inputs[layer], delta.sum(dim=1), *found]
            into = view.hops[layer].after((delta @ weights[2 * layer + 2]).mT).mT
            delta = into * (hidden[layer] > 0)
        return [view.features.after(delta.mT), delta.sum(dim=1), *found]

    def _forward(self, weights: Weights, view: View) -> tuple[list[Tensor], list[Tensor], Tensor]:
        """Return the hidden layers, what the linear map after each is given, and the logits."""
        hidden, inputs = [], []
        out = view.features.times(weights[0].T) + weights[1]
        for hop, weight, bias in zip(view.hops, weights[2::2], weights[3::2], strict=True):
            hidden.append(out.relu())
            inputs.append(hop.times(hidden[-1]))
            out = inputs[-1] @ weight.T + bias
        return hidden, inputs, out


class Transformer(Backbone):
    """A graph transformer with one head, as in GC-Bench.

    Args:
        widths: Of the input, of every hidden layer and of the output.
    """

    aggregated = 0
    _MAPS = 4
    """How many maps of its inputs a layer has: to queries, keys, values and what skips it."""
    _PER_LAYER = 11

    def __init__(self, widths: Sequence[int]) -> None:
        self.widths = tuple(widths)
        self.layers = len(widths) - 1

    def draw(self, generator: torch.Generator, device: torch.device) -> Weights:
        """See the base class."""
        weights: Weights = []
        for width, out in pairwise(self.widths):
            for _ in ("query", "key", "value", "skip"):
                weights += linear_weights((width, out), generator, device)
            weights.append(linear_weights((3 * out, 1), generator, device)[0])
            weights += [torch.ones(out, device=device), torch.zeros(out, device=device)]
        return weights[:-2]

    def outputs(self, weights: Weights, view: View) -> tuple[Tensor, Tensor]:
        """See the base class. The embedding is the last hidden layer of the targets."""
        return self._after(self._mapped(weights, view.features.times), weights, view)

    def gradients(
        self, weights: Weights, view: View, labels: Tensor, shares: Tensor
    ) -> list[Tensor]:
        """See the base class.

        Those of the first maps are written out: the features are wide and often sparse, so they
        are not differentiated through once for each loss.
        """
        again = torch.is_grad_enabled()
        with torch.enable_grad():
            leaves = [weight.detach().requires_grad_() for weight in weights]
            mapped = self._mapped(leaves, view.features.times)
            _, logits = self._after(mapped, leaves, view)
            at = [*mapped, *leaves[2 * self._MAPS :]]
            found = _slopes(logits, labels, shares, at, again=again)
        first = [(view.features.after(delta.mT), delta.sum(dim=1)) for delta in found[: self._MAPS]]
        return [*chain.from_iterable(first), *found[self._MAPS :]]

    def _mapped(self, own: Weights, times: Callable[[Tensor], Tensor]) -> list[Tensor]:
        """Return queries, keys, values and what skips a layer, whose weights come first."""
        pairs = zip(own[::2], own[1::2], strict=False)
        return [times(weight.T) + bias for weight, bias in islice(pairs, self._MAPS)]

    def _after(
        self, mapped: Sequence[Tensor], weights: Weights, view: View
    ) -> tuple[Tensor, Tensor]:
        """Return embeddings and logits, given what the first layer's maps give."""
        out = self._attended(mapped, weights[2 * self._MAPS], view.hops[0])
        if self.layers == 1:
            eye = torch.eye(self.widths[0], dtype=out.dtype, device=out.device)
            return view.features.times(eye)[: view.targets], out
        for layer, hop in enumerate(view.hops[1:], start=1):
            gain, shift, *own = weights[self._PER_LAYER * layer - 2 :]
            hidden = functional.layer_norm(out, out.shape[1:], gain, shift).relu()
            out = self._attended(self._mapped(own, hidden.matmul), own[2 * self._MAPS], hop)
        return hidden[: view.targets], out

    @staticmethod
    def _attended(mapped: Sequence[Tensor], gate: Tensor, hop: Hop) -> Tensor:
        """Return a layer's outputs, given what its maps give."""
        query, key, value, skip = mapped
        skip = skip[: hop.targets]
        heard = hop.attend(query[: hop.targets], key, value)
        share = (torch.cat([heard, skip, heard - skip], dim=1) @ gate.T).sigmoid()
        return share * skip + (1 - share) * heard


def linear_weights(
    widths: Sequence[int], generator: torch.Generator, device: torch.device
) -> Weights:
    r"""Return (out, in) weights and (out) biases of linear maps in a row.

    Both are drawn from :math:`\mathcal{U}(-1, 1) / \sqrt{\mathrm{in}}`.
    """
    weights: Weights = []
    for width, out in pairwise(widths):
        for shape in ((out, width), (out,)):
            drawn = torch.rand(shape, generator=generator) * 2 - 1
            weights.append((drawn / math.sqrt(width)).to(device))
    return weights


def _slopes(
    logits: Tensor, labels: Tensor, shares: Tensor, at: Sequence[Tensor], *, again: bool
) -> list[Tensor]:
    """Return the gradients of `Backbone.gradients` for some tensors, given what a model says."""
    entropy = functional.cross_entropy(logits, labels, reduction="none")
    each = [
        torch.autograd.grad(share @ entropy, at, retain_graph=True, create_graph=again)
        for share in shares
    ]
    return [torch.stack(of_tensor) for of_tensor in zip(*each, strict=True)]


def make_backbone(config: CondenseConfig, num_features: int, num_classes: int) -> Backbone:
    """Return the model that a configuration names."""
    layers = config.count("layers")
    hidden = (config.count("hidden"),) * (layers - 1)
    match config.backbone:
        case "sgc":
            return Convolutional((num_features, num_classes), layers)
        case "gcn":
            return Convolutional((num_features, *hidden, num_classes), layers)
        case _:
            return Transformer((num_features, *hidden, num_classes))
