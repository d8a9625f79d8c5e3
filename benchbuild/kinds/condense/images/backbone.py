r"""The ConvNet as a function of its weights, and its passes by formula.

.. math::
    A_l = W_l * H_{l-1} + b_l, \quad
    B_l = g_l \odot \operatorname{norm}(A_l) + s_l, \quad
    H_l = \operatorname{pool}(\operatorname{relu}(B_l)), \qquad
    Z = H_L W^\top + b

`embed` and `logits` are for autograd, which training needs. Where only images are learnt, what
`passed` returns is faster, by formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.kinds.condense.images.networks import ConvNet, Shape
from benchbuild.kinds.condense.images.passes import Pass
from benchquery.kinds.condensed.config import CondenseConfig

Weights = list[Tensor]
"""Of every block the kernel, its bias, the gains and the shifts of the norm; then the linear map
and its bias: in the order of the ConvNet's own."""

_BLOCK = 4
PIXELS = 16 * 32**2
"""Pixels of images that are passed at a time at most, or those of one image or class: what the
widest block makes of more leaves the cache, and needs more memory."""


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

    def passed(self, weights: Weights, images: Tensor) -> Pass:
        """Pass images through the network by formula, without a graph."""
        return Pass(weights, self.paddings, images)

    def logits(self, weights: Weights, images: Tensor) -> Tensor:
        """Return (images, classes)."""
        return functional.linear(self.embed(weights, images), *weights[-2:])


def together(images: Tensor) -> int:
    """Return how many images like some are passed through the network at a time."""
    return max(PIXELS // images[0, 0].numel(), 1)
