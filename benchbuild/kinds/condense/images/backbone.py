r"""The ConvNet as a function of its weights, and the gradients of every class in one pass.

.. math::
    A_l = W_l * H_{l-1} + b_l, \quad
    B_l = g_l \odot \operatorname{norm}(A_l) + s_l, \quad
    H_l = \operatorname{pool}(\operatorname{relu}(B_l)), \qquad
    Z = H_L W^\top + b

Every image has its own path through the network, so one backward pass over the images of all
classes gives the derivatives :math:`\partial \mathcal{L}_c / \partial A_l` of each class's own loss
at its own images. The gradients of the weights then follow class by class,

.. math:: \nabla_{W_l} \mathcal{L}_c = \sum_{i \in c} \sum_p
    \frac{\partial \mathcal{L}_c}{\partial A_{l,i,p}} \, \operatorname{patch}_p(H_{l-1,i})^\top,

in one product of batches of matrices. A loop over classes makes as many small passes instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.images import real_pass
from benchbuild.kinds.condense.images.networks import ConvNet, Shape
from benchquery.kinds.condensed.config import CondenseConfig

Weights = list[Tensor]
"""Of every block the kernel, its bias, the gains and the shifts of the norm; then the linear map
and its bias: in the order of the ConvNet's own."""

_BLOCK = 4
AT_ONCE = 64
"""Real images that are passed through the network at a time at most: more are not faster, and need
more memory."""
PIXELS = 16 * 32**2
"""Pixels of images that are passed at a time at most, or those of one image or class: what the
widest block makes of more leaves the cache."""


@dataclass(frozen=True)
class _Pass:
    """What is known after images were passed through the network.

    Attributes:
        inputs: What each convolution is given.
        convolved: What each gives.
        normed: The same normalised.
        scaled: The same with gains and shifts.
        embedded: (images, embedded).
        logits: (images, classes).
    """

    inputs: list[Tensor]
    convolved: list[Tensor]
    normed: list[Tensor]
    scaled: list[Tensor]
    embedded: Tensor
    logits: Tensor


@dataclass(frozen=True)
class Backbone:
    """A ConvNet without weights of its own.

    Attributes:
        shapes: Of its weights.
        paddings: Of each convolution.
    """

    shapes: tuple[torch.Size, ...]
    paddings: tuple[int, ...]

    @classmethod
    def of(cls, config: CondenseConfig, shape: Shape, num_classes: int) -> Backbone:
        """Return the ConvNet of a configuration, of its ``width`` and ``depth``.

        Raises:
            ArchitectureError: If the blocks would pool the images away.
        """
        depth = config.count("depth") or None
        with torch.device("meta"):
            network = ConvNet(shape, num_classes, width=config.count("width"), depth=depth)
        paddings = tuple(
            int(layer.padding[0])
            for layer in network.features
            if isinstance(layer, torch.nn.Conv2d)
        )
        return cls(tuple(weight.shape for weight in network.parameters()), paddings)

    def draw(self, generator: torch.Generator, device: torch.device) -> Weights:
        r"""Return fresh weights, as torch draws them.

        Those of convolutions and of the linear map, biases too, are from
        :math:`\mathcal{U}(-1, 1) / \sqrt{\mathrm{inputs}}`; gains are 1 and shifts 0.
        """
        weights: Weights = []
        bound = 0.0
        for place, shape in enumerate(self.shapes):
            last = place >= _BLOCK * len(self.paddings)
            if len(shape) > 1:
                bound = 1 / math.sqrt(shape[1:].numel())
            if last or place % _BLOCK < 2:
                drawn = torch.rand(shape, generator=generator) * 2 * bound - bound
            else:
                drawn = torch.ones(shape) if place % _BLOCK == 2 else torch.zeros(shape)
            weights.append(drawn.to(device))
        return weights

    def embed(self, weights: Weights, images: Tensor) -> Tensor:
        """Return (images, embedded) what the blocks make of images."""
        for block, padding in enumerate(self.paddings):
            kernel, bias, gain, shift = weights[_BLOCK * block : _BLOCK * (block + 1)]
            images = functional.conv2d(images, kernel, bias, padding=padding)
            images = functional.group_norm(images, len(gain), gain, shift)
            images = functional.avg_pool2d(images.relu(), 2)
        return images.flatten(1)

    def embed_real(self, weights: Weights, images: Tensor) -> Tensor:
        """Return the same of images that nothing is learnt of, faster; a part at a time."""
        parts = torch.split(images, _together(images))
        return torch.cat([real_pass.embeddings(weights, self.paddings, part) for part in parts])

    def logits(self, weights: Weights, images: Tensor) -> Tensor:
        """Return (images, classes)."""
        return functional.linear(self.embed(weights, images), *weights[-2:])

    def gradients(self, weights: Weights, images: Tensor, labels: Tensor) -> Weights:
        """Return the gradients of the mean cross-entropy of some images, a part at a time.

        Args:
            weights: Where to take them.
            images: The images.
            labels: (images,) their classes.
        """
        totals = [torch.zeros_like(weight) for weight in weights]
        parts = (torch.split(part, _together(images)) for part in (images, labels))
        for some, classes in zip(*parts, strict=True):
            found = real_pass.gradients(weights, self.paddings, some, classes)
            for total, one in zip(totals, found, strict=True):
                total.add_(one, alpha=1 / len(images))
        return totals

    def class_gradients(
        self, weights: Weights, images: Tensor, labels: Tensor, *, differentiable: bool = True
    ) -> Weights:
        """Return the gradients of each class's mean cross-entropy.

        Args:
            weights: Where to take them.
            images: As many of each class, those of one class after another.
            labels: (images,) their classes.
            differentiable: Whether slopes for the images are wanted of the gradients.

        Returns:
            The gradients in the order of the weights, each with a first dimension of classes; those
            of kernels as matrices of what comes out and what goes in.

        Raises:
            CondenseError: If there are not as many images of each class.
        """
        counts = torch.unique_consecutive(labels, return_counts=True)[1]
        if len(counts.unique()) != 1:
            raise CondenseError("gradients by class are of as many images of each class")
        each = int(counts[0])
        found = self._passed(weights, images)
        loss = functional.cross_entropy(found.logits, labels, reduction="sum") / each
        ends = [*found.convolved, *found.scaled, found.logits]
        slopes = torch.autograd.grad(loss, ends, create_graph=differentiable)
        blocks = len(self.paddings)

        def by_class(part: Tensor) -> Tensor:
            return part.view(-1, each, *part.shape[1:])

        gradients: Weights = []
        for block, padding in enumerate(self.paddings):
            patches = functional.unfold(found.inputs[block], 3, padding=padding)
            slope = by_class(slopes[block].flatten(2))
            gradients += [
                torch.einsum("cnop,cnip->coi", slope, by_class(patches)),
                slope.sum(dim=(1, 3)),
            ]
            outer = slopes[blocks + block]
            gradients += [
                by_class(outer * found.normed[block]).sum(dim=(1, 3, 4)),
                by_class(outer).sum(dim=(1, 3, 4)),
            ]
        last = by_class(slopes[-1])
        return [*gradients, last.mT @ by_class(found.embedded), last.sum(dim=1)]

    def _passed(self, weights: Weights, images: Tensor) -> _Pass:
        """Pass images through the network, everything kept; no slope is taken at the weights."""
        images = images if images.requires_grad else images.detach().requires_grad_()
        inputs, convolved, normed, scaled = [], [], [], []
        for block, padding in enumerate(self.paddings):
            kernel, bias, gain, shift = weights[_BLOCK * block : _BLOCK * (block + 1)]
            inputs.append(images)
            convolved.append(functional.conv2d(images, kernel, bias, padding=padding))
            normed.append(functional.group_norm(convolved[-1], len(gain)))
            scaled.append(normed[-1] * gain.view(-1, 1, 1) + shift.view(-1, 1, 1))
            images = functional.avg_pool2d(scaled[-1].relu(), 2)
        embedded = images.flatten(1)
        logits = functional.linear(embedded, *weights[-2:])
        return _Pass(inputs, convolved, normed, scaled, embedded, logits)


def _together(images: Tensor) -> int:
    """Return how many real images are passed through the network at a time."""
    return min(AT_ONCE, max(PIXELS // images[0, 0].numel(), 1))


def as_matrices(gradients: Sequence[Tensor]) -> Weights:
    """Return gradients of one class as `Backbone.class_gradients` has those of several."""
    return [part.flatten(1)[None] if part.dim() > 1 else part[None] for part in gradients]
