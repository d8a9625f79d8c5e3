r"""Tangent kernels of infinitely wide networks on images, as KIP regresses with.

Weights have the variance :math:`\sigma^2` over the number of inputs, biases :math:`\beta^2`. With
K the covariance of a layer's outputs for two inputs and :math:`\Theta` the tangent kernel, a linear
map and a ReLU do

.. math::
    K \leftarrow \sigma^2 K + \beta^2, \quad
    \Theta \leftarrow \sigma^2 \Theta + K, \qquad
    K \leftarrow \tfrac12 \sqrt{q q'} \, \kappa_1(u), \quad
    \Theta \leftarrow \tfrac12 \kappa_0(u) \, \Theta, \quad
    u = \frac{K}{\sqrt{q q'}},

where q and q' are the variances of the two inputs themselves and

.. math::
    \kappa_0(u) = \frac{\pi - \arccos u}{\pi}, \qquad
    \kappa_1(u) = \frac{u \, (\pi - \arccos u) + \sqrt{1 - u^2}}{\pi}.

At the input K is the inner product by the number of features, or of channels for each pair of
pixels. A 3 x 3 convolution, with zero around the image, takes for K and :math:`\Theta` of two
pixels the mean over the nine pairs that lie beside them in the same way, and then acts as a linear
map. The output is linear in all units of the last layer.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from benchbuild.errors import HyperParameterError
from benchquery.naming import unknown

WEIGHT, BIAS = 2.0, 0.01
"""Variances of weights and biases; KIP's, whose deviations are the roots of 2 and 0.1."""
MEMORY = 1 << 28
_COPIES = 64
"""How many numbers are held at a time for one of a covariance, with those for gradients."""

Pooling = Literal["none", "average", "global"]
"""What a network does beside convolution and ReLU.

none
    Nothing. Only covariances of one and the same pixel of two images are needed, which is as many
    times faster as there are pixels.
average
    2 x 2 average pooling after every ReLU, as the ConvNet.
global
    The mean over all pixels, before the output.
"""
POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


@dataclass(frozen=True)
class TangentKernel(ABC):
    """A tangent kernel.

    Attributes:
        depth: Number of ReLU layers.
        weight: Variance of the weights, times the number of inputs.
        bias: Variance of the biases.
        dtype: What is computed with, and given.
        memory: How many bytes a computation may take beside its result, about.
    """

    depth: int = 3
    weight: float = WEIGHT
    bias: float = BIAS
    dtype: torch.dtype = torch.float64
    memory: int = MEMORY

    def __post_init__(self) -> None:
        """Check that there is such a network.

        Raises:
            HyperParameterError: If there is not.
        """
        for name, least in (("depth", 1), ("weight", 0), ("bias", 0)):
            if not least <= getattr(self, name) < math.inf:
                raise HyperParameterError(
                    f"tangent kernel: {name}={getattr(self, name)} must be from {least} up"
                )

    @abstractmethod
    def __call__(self, left: Tensor, right: Tensor) -> Tensor:
        """Return (left, right) the kernel between two lists of images; differentiable, once.

        Args:
            left: (images, channels, height, width).
            right: Images of the same shape.
        """

    def _linear(self, covariance: Tensor, tangent: Tensor) -> tuple[Tensor, Tensor]:
        """Go through a linear map."""
        covariance = self.weight * covariance + self.bias
        return covariance, self.weight * tangent + covariance

    def _block(self, size: int) -> int:
        """Return how many covariances of so many numbers are computed at a time."""
        return max(self.memory // (_COPIES * size * self.dtype.itemsize), 1)


def _relu(
    covariance: Tensor, tangent: Tensor, left: Tensor, right: Tensor
) -> tuple[Tensor, Tensor]:
    """Go through a ReLU, with the variances of both inputs.

    Where two inputs are alike, the angle between them is 0 and has no derivative; it is taken as
    constant there, which it is where they are one and the same.
    """
    lengths = (left * right).sqrt()
    there = lengths > 0
    cosine = covariance / torch.where(there, lengths, 1.0)
    most = 1 - 4 * torch.finfo(cosine.dtype).eps
    between = cosine.abs() < most
    inner = torch.where(between, cosine, 0.0)
    outer = cosine.detach().sign()
    angle = torch.where(between, inner.arccos(), outer.arccos())
    sine = torch.where(between, (1 - inner.square()).sqrt(), 0.0)
    rest = 1 - angle / math.pi
    bent = torch.where(between, inner, outer) * rest + sine / math.pi
    return lengths * bent / 2, tangent * rest / 2


class _Recomputed(torch.autograd.Function):
    """A function of tensors that is computed again for its gradient, so that nothing is kept."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
        """Return what the function gives."""
        ctx.function = function
        ctx.save_for_backward(*inputs)
        return function(*inputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients for the inputs."""
        inputs = [
            part.detach().requires_grad_(needed)
            for part, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[1:], strict=True)
        ]
        with torch.enable_grad():
            out = ctx.function(*inputs)
        wanted = [part for part in inputs if part.requires_grad]
        found = iter(torch.autograd.grad(out, wanted, gradients[0]))
        return None, *(next(found) if part.requires_grad else None for part in inputs)


def _in_pieces(function: Callable[..., Tensor], *inputs: Tensor) -> Tensor:
    """Run a part of a computation so that nothing of it is kept for its gradient."""
    found: Tensor = _Recomputed.apply(function, *inputs)  # type: ignore[no-untyped-call]
    return found


@dataclass(frozen=True)
class FullyConnectedKernel(TangentKernel):
    """The kernel of linear maps with ReLU between them, on all pixels of an image."""

    def __call__(self, left: Tensor, right: Tensor) -> Tensor:
        """See the base class."""
        first, second = (part.to(self.dtype).flatten(1) for part in (left, right))
        rows = self._block(len(second))
        blocks = [first[start : start + rows] for start in range(0, len(first), rows)]
        return torch.cat([_in_pieces(self._rows, block, second) for block in blocks])

    def _rows(self, left: Tensor, right: Tensor) -> Tensor:
        features = left.shape[1]
        covariance = left @ right.T / features
        variances = [part.square().sum(dim=1) / features for part in (left, right)]
        tangent = torch.zeros_like(covariance)
        for _ in range(self.depth):
            covariance, tangent = self._linear(covariance, tangent)
            variances = [self.weight * variance + self.bias for variance in variances]
            first, second = variances
            covariance, tangent = _relu(covariance, tangent, first[:, None], second)
            variances = [variance / 2 for variance in variances]
        return self._linear(covariance, tangent)[1]


class _Pixels(ABC):
    """Covariances of the pixels of two images, for several pairs of images."""

    @staticmethod
    @abstractmethod
    def start(left: Tensor, right: Tensor) -> Tensor:
        """Return the covariances of images, pair by pair."""

    @staticmethod
    @abstractmethod
    def convolved(covariance: Tensor) -> Tensor:
        """Return the means over the nine neighbours."""

    @staticmethod
    @abstractmethod
    def variances(covariance: Tensor) -> Tensor:
        """Return (pairs, height, width) the covariance of each pixel with its like."""

    @staticmethod
    @abstractmethod
    def spread(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        """Return variances of pixels of both images in the form of covariances."""


class _SamePixel(_Pixels):
    """Covariances of a pixel with the same pixel of the other image: (pairs, height, width)."""

    @staticmethod
    def start(left: Tensor, right: Tensor) -> Tensor:
        return (left * right).mean(dim=1)

    @staticmethod
    def convolved(covariance: Tensor) -> Tensor:
        return torch.nn.functional.avg_pool2d(covariance, 3, stride=1, padding=1)

    @staticmethod
    def variances(covariance: Tensor) -> Tensor:
        return covariance

    @staticmethod
    def spread(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        return left, right


class _AllPixels(_Pixels):
    """Covariances of all pixels with all of the other image.

    They have the shape (pairs, height, width, height, width).
    """

    @staticmethod
    def start(left: Tensor, right: Tensor) -> Tensor:
        pairs, channels, height, width = left.shape
        inner = left.flatten(2).transpose(1, 2) @ right.flatten(2) / channels
        return inner.view(pairs, height, width, height, width)

    @staticmethod
    def convolved(covariance: Tensor) -> Tensor:
        """Sum over neighbours above and below, then left and right: both pixels go alike."""
        total = covariance.clone()
        total[:, 1:, :, 1:] += covariance[:, :-1, :, :-1]
        total[:, :-1, :, :-1] += covariance[:, 1:, :, 1:]
        whole = total.clone()
        whole[:, :, 1:, :, 1:] += total[:, :, :-1, :, :-1]
        whole[:, :, :-1, :, :-1] += total[:, :, 1:, :, 1:]
        return whole / 9

    @staticmethod
    def variances(covariance: Tensor) -> Tensor:
        pairs, height, width = covariance.shape[:3]
        square = covariance.reshape(pairs, height * width, height * width)
        return square.diagonal(dim1=1, dim2=2).reshape(pairs, height, width)

    @staticmethod
    def spread(left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        return left[:, :, :, None, None], right[:, None, None]


def _pooled(covariance: Tensor) -> Tensor:
    """Return the covariances after 2 x 2 average pooling of both images."""
    pairs, height, width = covariance.shape[:3]
    pool = torch.nn.functional.avg_pool2d
    right = pool(covariance.reshape(pairs, height * width, height, width), 2)
    half = right.shape[2:]
    left = pool(right.flatten(2).transpose(1, 2).reshape(pairs, -1, height, width), 2)
    return left.flatten(2).transpose(1, 2).reshape(pairs, *half, *half)


@dataclass(frozen=True)
class ConvKernel(TangentKernel):
    """The kernel of blocks of 3 x 3 convolution and ReLU.

    Attributes:
        pooling: What else there is.
    """

    pooling: Pooling = "average"

    def __post_init__(self) -> None:
        """See the base class."""
        super().__post_init__()
        if self.pooling not in POOLINGS:
            raise HyperParameterError(unknown("pooling", self.pooling, POOLINGS))

    def __call__(self, left: Tensor, right: Tensor) -> Tensor:
        """See the base class.

        Raises:
            HyperParameterError: If the blocks would pool the images away.
        """
        height, width = left.shape[2:]
        if self.pooling == "average" and min(height, width) >> self.depth < 1:
            raise HyperParameterError(
                f"tangent kernel: {self.depth} blocks pool images of {height} x {width} pixels away"
            )
        first, second = left.to(self.dtype), right.to(self.dtype)
        block = self._block((height * width) ** (1 if self.pooling == "none" else 2))
        own_first, own_second = self._own(first, block), self._own(second, block)
        columns = min(block, len(second))
        rows = max(block // columns, 1)
        return torch.cat(
            [
                torch.cat(
                    [
                        _in_pieces(
                            self._pairs,
                            *_slice([first, *own_first], start, rows),
                            *_slice([second, *own_second], other, columns),
                        )
                        for other in range(0, len(second), columns)
                    ],
                    dim=1,
                )
                for start in range(0, len(first), rows)
            ]
        )

    @property
    def _pixels(self) -> type[_Pixels]:
        return _SamePixel if self.pooling == "none" else _AllPixels

    def _own(self, images: Tensor, block: int) -> list[Tensor]:
        """Return for each layer the variances of the pixels of all images, before its ReLU."""
        parts = [
            _in_pieces(self._variances, images[start : start + block])
            for start in range(0, len(images), block)
        ]
        sizes = self._sizes(images)
        layers = torch.split(torch.cat(parts), [h * w for h, w in sizes], dim=1)
        return [layer.reshape(-1, *size) for layer, size in zip(layers, sizes, strict=True)]

    def _sizes(self, images: Tensor) -> list[tuple[int, int]]:
        """Return height and width of what each ReLU is given."""
        height, width = images.shape[2:]
        halved = range(self.depth) if self.pooling == "average" else [0] * self.depth
        return [(height >> times, width >> times) for times in halved]

    def _variances(self, images: Tensor) -> Tensor:
        """Return the variances of all layers side by side, (images, pixels of all layers)."""
        pixels = self._pixels
        covariance = pixels.start(images, images)
        found = []
        for _ in range(self.depth):
            covariance = self.weight * pixels.convolved(covariance) + self.bias
            own = pixels.variances(covariance)
            found.append(own.flatten(1))
            covariance, _ = _relu(covariance, covariance, *pixels.spread(own, own))
            covariance = _pooled(covariance) if self.pooling == "average" else covariance
        return torch.cat(found, dim=1)

    def _pairs(self, *parts: Tensor) -> Tensor:
        """Return the kernel of some images with some: of both the images and their variances."""
        pixels = self._pixels
        half = len(parts) // 2
        rows, columns = len(parts[0]), len(parts[half])
        left = [part.repeat_interleave(columns, dim=0) for part in parts[:half]]
        right = [part.repeat(rows, *[1] * (part.dim() - 1)) for part in parts[half:]]
        covariance = pixels.start(left[0], right[0])
        tangent = torch.zeros_like(covariance)
        for first, second in zip(left[1:], right[1:], strict=True):
            covariance, tangent = self._linear(
                pixels.convolved(covariance), pixels.convolved(tangent)
            )
            covariance, tangent = _relu(covariance, tangent, *pixels.spread(first, second))
            if self.pooling == "average":
                covariance, tangent = _pooled(covariance), _pooled(tangent)
        if self.pooling == "global":
            ends = [part.mean(dim=(1, 2, 3, 4)) for part in (covariance, tangent)]
        else:
            ends = [pixels.variances(part).mean(dim=(1, 2)) for part in (covariance, tangent)]
        return self._linear(*ends)[1].view(rows, columns)


def _slice(parts: Sequence[Tensor], start: int, count: int) -> list[Tensor]:
    return [part[start : start + count] for part in parts]
