r"""Blocks of the ConvNet by formula: forward, backward, and both along a change of the weights.

Of a block, with the mean :math:`\langle\cdot\rangle` over the pixels of an image and its channel,

.. math::
    \bar{A} = r \odot (A - \langle A \rangle), \quad
    r = \big(\langle (A - \langle A \rangle)^2 \rangle + \epsilon\big)^{-1/2}, \qquad
    \frac{\partial \mathcal{L}}{\partial A} = g r \odot \Big( D - \langle D \rangle -
    \bar{A} \, \langle D \odot \bar{A} \rangle \Big),

where A is what its convolution gives and D the slope at :math:`g \odot \bar{A} + s`. The slopes of
the gain and the shift are the sums of :math:`D \odot \bar{A}` and of D, and that of the bias is 0,
because the norm takes it away. When the weights move, A and D do so too; what is called moved is
the derivative along that, of the same formulas.

`WideBlock` is that. `PatchBlock` is for images of few channels, whose patches P, centred, are much
smaller than what the convolution makes of them. There the norm becomes a part of the kernel,

.. math::
    g \odot \bar{A} = P K, \quad K = W \operatorname{diag}(g r), \quad
    r = (\operatorname{diag}(W^\top S W) + \epsilon)^{-1/2}, \quad S = \langle P^\top P \rangle,

and what is as large as A is multiplied, cut off at 0 and pooled, and looked at no more.

Positive gains and shifts of 0, as weights are drawn, may come after pooling instead,

.. math:: \operatorname{pool}(\operatorname{relu}(g r \odot A)) =
    g r \odot \operatorname{pool}(\operatorname{relu}(A)),

where there is a quarter of the pixels.

Large tensors are changed in place, since new memory takes longer than the sums in it. Channels come
last: means over pixels and pooling then are sums of rows, and convolutions take their images as
they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.compute.products import linear

_SIDE, _POOL = 3, 2
_EPSILON = 1e-5
"""That of torch's own norms."""
_FEW = 8
"""Channels of images up to which a block is made of patches."""
_CACHED = 2**19
"""Numbers of a tensor up to which a copy stays in the cache, or nearly so."""


@dataclass(frozen=True)
class Change:
    """What the weights of a block move by, class by class; gains and shifts may stay.

    Attributes:
        kernel: (classes, out, 3 * 3 * in), channels last.
        gain: (classes, out).
        shift: (classes, out).
    """

    kernel: Tensor
    gain: Tensor | None
    shift: Tensor | None


class Block(Protocol):
    """A block that images have passed. What it says further is asked for in this order.

    Attributes:
        pooled: (images, height, width, out) what it made of them.
    """

    pooled: Tensor

    def back(self, slope: Tensor, *, further: bool) -> Tensor | None:
        """Return the slopes at the images, if they are asked for; `slope` is that at `pooled`."""

    def gradients(self, counts: Sequence[int]) -> list[Tensor]:
        """Return those of each class, which have so many images each, of the four weights."""

    def moved(self, change: Change, counts: Sequence[int], images: Tensor | None) -> Tensor:
        """Return what `pooled` moves by when weights move, and images; None if these stay."""

    def moved_back(self, slope: Tensor) -> Tensor:
        """Return what the slopes at the images move by when those at `pooled` do so, too."""


class WideBlock:
    """A block with a convolution of many channels.

    Args:
        weights: Its kernel, bias, gain and shift.
        padding: Of its convolution.
        images: (images, height, width, channels).
    """

    def __init__(self, weights: Sequence[Tensor], padding: int, images: Tensor) -> None:
        kernel, bias, self._gain, shift = weights
        self._kernel = kernel.contiguous(memory_format=torch.channels_last)
        self._padding = padding
        self._images = images
        self._centred = self._convolved(images, self._kernel, bias)
        self._centred.sub_(_mean(self._centred))
        self._lit = self._centred.square()
        self._scale = _mean(self._lit).add_(_EPSILON).rsqrt_()
        factor = self._scale * self._gain
        if _only_scales(self._gain, shift):
            torch.clamp_min(self._centred, 0, out=self._lit)
            self.pooled = _pooled(self._lit).mul_(factor)
        else:
            torch.addcmul(shift, self._centred, factor, out=self._lit).relu_()
            self.pooled = _pooled(self._lit)

    def back(self, slope: Tensor, *, further: bool) -> Tensor | None:
        """Return the slopes at the images, if they are asked for; `slope` is that at `pooled`."""
        self._at_pooled = slope
        at = _unpooled(slope, self._lit)
        self._total = _mean(at)
        self._along = _mean(at * self._normed)
        at.sub_(self._total).addcmul_(self._normed, self._along, value=-1)
        self._slope = at.mul_(self._scale * self._gain)
        return self._convolved_back(at, self._kernel) if further else None

    def gradients(self, counts: Sequence[int]) -> list[Tensor]:
        """Return those of each class, which have so many images each, of the four weights."""
        slopes, images = (
            torch.split(_first(part), list(counts)) for part in (self._slope, self._images)
        )
        kernels = [
            torch.ops.aten.convolution_backward(
                *(_at_hand(slope), _at_hand(given), self._kernel, None),
                *([1, 1], [self._padding] * 2, [1, 1]),
                *(False, [0, 0], 1, [False, True, False]),
            )[1]
            .permute(0, 2, 3, 1)
            .flatten(1)
            for slope, given in zip(slopes, images, strict=True)
        ]
        pixels = self._slope[0, :, :, 0].numel()
        ends = [_by_class(part.flatten(1) * pixels, counts) for part in (self._along, self._total)]
        return [torch.stack(kernels), torch.zeros_like(ends[0]), *ends]

    def moved(self, change: Change, counts: Sequence[int], images: Tensor | None) -> Tensor:
        """Return what `pooled` moves by when weights move, and images; None if these stay."""
        self._counts = list(counts)
        self._changes = [
            _first(kernel.view(len(kernel), _SIDE, _SIDE, -1)) for kernel in change.kernel
        ]
        self._change = change
        parts = zip(torch.split(self._images, self._counts), self._changes, strict=True)
        now = torch.cat([self._convolved(given, kernel) for given, kernel in parts])
        if images is not None:
            now += self._convolved(images, self._kernel)
        turned = _mean(now * self._normed)
        now.sub_(_mean(now)).addcmul_(self._normed, turned, value=-1)
        self._moved_normed = now.mul_(self._scale)
        self._moved_scale = -turned * self._scale.square()
        lit = self._moved_normed * self._gain
        if change.gain is not None:
            lit.addcmul_(self._normed, self._each(change.gain))
        if change.shift is not None:
            lit += self._each(change.shift)
        return _pooled(_cut(lit, self._lit))

    def moved_back(self, slope: Tensor) -> Tensor:
        """Return what the slopes at the images move by when those at `pooled` do so, too."""
        scale, moved_scale = self._scale, self._moved_scale
        along = self._along * self._gain
        moved_along = _mean(self._slope * self._moved_normed) / scale
        moved_along -= _EPSILON * scale * moved_scale * along
        at = _unpooled(slope, self._lit).mul_(self._gain)
        if self._change.gain is not None:
            at.addcmul_(_unpooled(self._at_pooled, self._lit), self._each(self._change.gain))
        moved_along += _mean(at * self._normed)
        at.sub_(_mean(at)).addcmul_(self._normed, moved_along, value=-1)
        at.addcmul_(self._moved_normed, along, value=-1).mul_(scale)
        at.addcmul_(self._slope, moved_scale / scale)
        into = self._convolved_back(at, self._kernel)
        parts = zip(torch.split(self._slope, self._counts), self._changes, strict=True)
        return into.add_(torch.cat([self._convolved_back(*part) for part in parts]))

    @cached_property
    def _normed(self) -> Tensor:
        """What the convolution gives, normalised: in place of what it was before."""
        return self._centred.mul_(self._scale)

    def _each(self, change: Tensor) -> Tensor:
        """Return for every image what its class has."""
        return _by_image(change, self._counts)[:, None, None]

    def _convolved(self, images: Tensor, kernel: Tensor, bias: Tensor | None = None) -> Tensor:
        out = functional.conv2d(_first(images), kernel, bias, padding=self._padding)
        return _last(out)

    def _convolved_back(self, slope: Tensor, kernel: Tensor) -> Tensor:
        given = self._images[: len(slope)]
        into = torch.ops.aten.convolution_backward(
            *(_first(slope), _first(given), kernel, None, [1, 1], [self._padding] * 2, [1, 1]),
            *(False, [0, 0], 1, [True, False, False]),
        )[0]
        return _last(into)


class PatchBlock:
    """The first block, of images of few channels.

    Args:
        weights: Its kernel, bias, gain and shift.
        padding: Of its convolution.
        images: (images, height, width, channels).
    """

    def __init__(self, weights: Sequence[Tensor], padding: int, images: Tensor) -> None:
        kernel, _, self._gain, shift = weights
        self._padding = padding
        self._size = images.shape[1:3]
        height, width = (side + 2 * padding - _SIDE + 1 for side in self._size)
        patches = functional.unfold(_first(images), _SIDE, padding=padding)
        patches = patches.view(len(images), images.shape[3], _SIDE**2, -1).permute(0, 3, 2, 1)
        patches = patches.flatten(2)
        self._patches = patches - patches.mean(dim=1, keepdim=True)
        self._pixels = height * width
        rows = kernel.permute(0, 2, 3, 1).flatten(1)
        self._kernel = rows.T
        squares = self._patches.mT @ self._patches / self._pixels
        self._spread = squares @ self._kernel
        along = (self._spread * self._kernel).sum(dim=1, keepdim=True)
        self._scale = along.clamp_min_(0).add_(_EPSILON).rsqrt_()
        self._factor = self._scale * self._gain
        plain = _only_scales(self._gain, shift)
        out = linear(self._patches.flatten(0, 1), rows, relu=plain)
        self._lit = out.view(len(images), height, width, len(kernel))
        factor = self._factor[:, None]
        if plain:
            self.pooled = _pooled(self._lit).mul_(factor)
        else:
            self._lit.mul_(factor).add_(shift).relu_()
            self.pooled = _pooled(self._lit)

    def back(self, slope: Tensor, *, further: bool) -> Tensor | None:
        """Return the slopes at the images, if they are asked for; `slope` is that at `pooled`."""
        self._at = _unpooled(slope, self._lit).flatten(1, 2)
        self._met = self._patches.mT @ self._at
        self._along = (self._kernel * self._met).sum(dim=1, keepdim=True)
        if not further:
            return None
        self._turn = self._gain * self._scale**3 * self._along / -self._pixels
        into = self._through(self._at * self._factor)
        return self._folded(into + self._patches @ (self._kernel * self._turn @ self._kernel.T))

    def gradients(self, counts: Sequence[int]) -> list[Tensor]:
        """Return those of each class, which have so many images each, of the four weights."""
        turned = self._scale.square() * self._along
        kernels = torch.addcmul(self._met, turned, self._spread, value=-1).mul_(self._factor)
        shifts = _by_class(self._at.sum(dim=1), counts)
        gains = _by_class((self._scale * self._along)[:, 0], counts)
        return [_by_class(kernels, counts).mT, torch.zeros_like(shifts), gains, shifts]

    def moved(self, change: Change, counts: Sequence[int], images: Tensor | None) -> Tensor:
        """Return what `pooled` moves by when weights move; the first images stay."""
        self._change = _by_image(change.kernel.mT, counts)
        turned = (self._spread * self._change).sum(dim=1, keepdim=True)
        self._moved_scale = -(self._scale**3) * turned
        self._moved_kernel = self._kernel * self._moved_scale + self._change * self._scale
        self._moved_kernel *= self._gain
        self._moved_gain = None
        if change.gain is not None:
            self._moved_gain = _by_image(change.gain, counts)[:, None]
            self._moved_kernel += self._kernel * (self._scale * self._moved_gain)
        lit = self._patches @ self._moved_kernel
        if change.shift is not None:
            lit += _by_image(change.shift, counts)[:, None]
        return _pooled(_cut(lit.view(self._lit.shape), self._lit))

    def moved_back(self, slope: Tensor) -> Tensor:
        """Return what the slopes at the images move by when those at `pooled` do so, too."""
        at = _unpooled(slope, self._lit).flatten(1, 2)
        met = self._patches.mT @ at
        scale, gain = self._scale, self._gain
        along = (self._change * self._met + self._kernel * met).sum(dim=1, keepdim=True)
        turn = gain * (3 * scale.square() * self._moved_scale * self._along + scale**3 * along)
        if self._moved_gain is not None:
            turn += self._moved_gain * scale**3 * self._along
        half = self._change * self._turn @ self._kernel.T
        inner = self._kernel * (turn / -self._pixels) @ self._kernel.T + half + half.mT
        into = self._through(at.mul_(self._factor))
        into += self._at @ self._moved_kernel.mT
        return self._folded(into + self._patches @ inner)

    def _through(self, slope: Tensor) -> Tensor:
        """Return the slopes at the patches by those at what the kernels make of them."""
        return linear(slope.flatten(0, 1), self._kernel).view(self._patches.shape)

    def _folded(self, slope: Tensor) -> Tensor:
        """Return the slopes at the images by those at their centred patches."""
        centred = slope - slope.mean(dim=1, keepdim=True)
        columns = centred.view(len(slope), self._pixels, _SIDE**2, -1).permute(0, 3, 2, 1)
        into = functional.fold(
            columns.flatten(1, 2), tuple(self._size), _SIDE, padding=self._padding
        )
        return _last(into)


def passed(weights: Sequence[Tensor], padding: int, images: Tensor, *, first: bool) -> Block:
    """Return the block of some weights that images, channels last, have passed."""
    kind = PatchBlock if first and images.shape[3] <= _FEW else WideBlock
    return kind(weights, padding, images)


def _only_scales(gain: Tensor, shift: Tensor) -> bool:
    """Return whether gains and shifts only scale, and leave every sign as it is."""
    return not bool(shift.any()) and bool((gain > 0).all())


def _first(images: Tensor) -> Tensor:
    """Return images with channels first, as torch has them."""
    return images.permute(0, 3, 1, 2)


def _last(images: Tensor) -> Tensor:
    """Return images with channels last, in memory too."""
    return images.permute(0, 2, 3, 1).contiguous()


def _mean(values: Tensor) -> Tensor:
    """Return the means over pixels, (images, 1, 1, channels)."""
    images, height, width, channels = values.shape
    return values.reshape(images, height * width, channels).mean(dim=1)[:, None, None]


def _by_class(values: Tensor, counts: Sequence[int]) -> Tensor:
    """Return the sums over the images of each class."""
    return torch.stack([part.sum(dim=0) for part in torch.split(values, list(counts))])


def _by_image(values: Tensor, counts: Sequence[int]) -> Tensor:
    """Return for every image what its class has."""
    return values.repeat_interleave(torch.tensor(list(counts), device=values.device), dim=0)


def _pooled(values: Tensor) -> Tensor:
    return _last(functional.avg_pool2d(_first(values), _POOL))


def _cut(values: Tensor, lit: Tensor) -> Tensor:
    """Make values 0 where `lit` is; return them."""
    torch.ops.aten.threshold_backward.grad_input(values, lit, 0, grad_input=values)
    return values


def _unpooled(slope: Tensor, lit: Tensor) -> Tensor:
    """Return the slopes before pooling and before negative numbers became 0."""
    before: Tensor = torch.ops.aten.avg_pool2d_backward(
        *(_first(slope).contiguous(memory_format=torch.channels_last), _first(lit)),
        *([_POOL, _POOL], [_POOL, _POOL], [0, 0], False, True, None),
    )
    return _cut(_last(before), lit)


def _at_hand(values: Tensor) -> Tensor:
    """Return a copy where that stays in the cache of a CPU.

    Slopes of kernels read what they are given in strides, and where that is not in the cache yet it
    takes longer than the copy.
    """
    near = values.device.type == "cpu" and values.numel() <= _CACHED
    return values.clone() if near else values
