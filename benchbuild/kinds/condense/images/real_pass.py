r"""The ConvNet on real images: what it makes of them, and the gradients of its weights, by formula.

Nothing is learnt of real images, so no graph of them is kept. Of a block, with the mean
:math:`\langle\cdot\rangle` over the pixels of an image and its channel,

.. math::
    \frac{\partial \mathcal{L}}{\partial A} = g r \odot \Big( D - \langle D \rangle -
    \bar{A} \, \langle D \odot \bar{A} \rangle \Big), \qquad
    \bar{A} = r \odot (A - \langle A \rangle), \quad
    r = \big(\langle (A - \langle A \rangle)^2 \rangle + \epsilon\big)^{-1/2},

where D is the slope at :math:`g \odot \bar{A} + s`, and the slopes of the gain and the shift are
the sums of :math:`D \odot \bar{A}` and of D.

Large tensors are changed in place, since new memory takes longer than the sums in it. Channels come
last: means over pixels and pooling then are sums of rows, and convolutions take their
images as they are. Images of a single channel are multiplied as patches, because a convolution of
one channel takes as long as one of many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

_BLOCK = 4
_SIDE, _POOL = 3, 2
_EPSILON = 1e-5
"""That of torch's own norms."""


@dataclass(frozen=True)
class _Block:
    """What a block needs on the way back, channels last.

    Attributes:
        given: What its convolution was given: images, or (images, pixels, patch) of one channel.
        normed: What came out, normalised.
        scale: (images, 1, 1, channels) what it was multiplied with for that.
        lit: The same with gain and shift, negative numbers 0.
    """

    given: Tensor
    normed: Tensor
    scale: Tensor
    lit: Tensor


@torch.no_grad()
def embeddings(weights: Sequence[Tensor], paddings: Sequence[int], images: Tensor) -> Tensor:
    """Return (images, embedded) what the blocks make of images.

    Args:
        weights: Of every block the kernel, its bias, gains and shifts; then others.
        paddings: Of each convolution.
        images: (images, channels, height, width).
    """
    return _flat(_passed(weights, paddings, images)[1])


@torch.no_grad()
def gradients(
    weights: Sequence[Tensor], paddings: Sequence[int], images: Tensor, labels: Tensor
) -> list[Tensor]:
    """Return the gradients of the summed cross-entropy of images, in the order of the weights.

    Args:
        weights: Of every block the kernel, its bias, gains and shifts; then the linear map and its
            bias.
        paddings: Of each convolution.
        images: (images, channels, height, width).
        labels: (images,) their classes.
    """
    blocks, pooled = _passed(weights, paddings, images)
    embedded, (linear, bias) = _flat(pooled), weights[-2:]
    slope = functional.linear(embedded, linear, bias).softmax(dim=1)
    slope[torch.arange(len(labels), device=labels.device), labels] -= 1
    last = [slope.T @ embedded, slope.sum(dim=0)]
    back = (slope @ linear).view(pooled.permute(0, 3, 1, 2).shape).permute(0, 2, 3, 1)
    found: list[list[Tensor]] = []
    for number in reversed(range(len(blocks))):
        block, (kernel, _, gain, _) = blocks[number], _of_block(weights, number)
        back = _unpooled(back, block.lit)
        mean = _mean(back)
        along = _mean(torch.mul(back, block.normed, out=block.lit))
        pixels = back[0, :, :, 0].numel()
        ends = [(part.sum(dim=0) * pixels).flatten() for part in (along, mean)]
        back.sub_(mean).addcmul_(block.normed, along, value=-1).mul_(block.scale * gain)
        into, *firsts = _convolved_back(back, block.given, kernel, paddings[number], number > 0)
        found.append([*firsts, *ends])
        back = into
    return [*(part for parts in reversed(found) for part in parts), *last]


def _passed(
    weights: Sequence[Tensor], paddings: Sequence[int], images: Tensor
) -> tuple[list[_Block], Tensor]:
    """Pass images through the blocks; return what each leaves, and what comes out."""
    blocks = []
    now = images.permute(0, 2, 3, 1)
    for number, padding in enumerate(paddings):
        kernel, bias, gain, shift = _of_block(weights, number)
        given, normed = _convolved(now, kernel, bias, padding)
        normed.sub_(_mean(normed))
        lit = normed.square()
        scale = _mean(lit).add_(_EPSILON).rsqrt_()
        normed.mul_(scale)
        torch.addcmul(shift, normed, gain, out=lit).relu_()
        now = functional.avg_pool2d(lit.permute(0, 3, 1, 2), _POOL).permute(0, 2, 3, 1)
        blocks.append(_Block(given, normed, scale, lit))
    return blocks, now


def _of_block(weights: Sequence[Tensor], number: int) -> Sequence[Tensor]:
    return weights[_BLOCK * number : _BLOCK * (number + 1)]


def _mean(values: Tensor) -> Tensor:
    """Return the means over pixels, (images, 1, 1, channels)."""
    images, height, width, channels = values.shape
    return values.reshape(images, height * width, channels).mean(dim=1)[:, None, None]


def _flat(pooled: Tensor) -> Tensor:
    """Return (images, embedded) in the order of channels, which the linear map takes."""
    return pooled.permute(0, 3, 1, 2).flatten(1)


def _convolved(images: Tensor, kernel: Tensor, bias: Tensor, padding: int) -> tuple[Tensor, Tensor]:
    """Return what a convolution has to keep for the way back, and what it gives."""
    first = images.permute(0, 3, 1, 2)
    if images.shape[3] > 1:
        wide = kernel.contiguous(memory_format=torch.channels_last)
        out = functional.conv2d(first, wide, bias, padding=padding)
        return first, out.permute(0, 2, 3, 1).contiguous()
    patches = functional.unfold(first, _SIDE, padding=padding).mT.contiguous()
    height, width = (side + 2 * padding - _SIDE + 1 for side in first.shape[2:])
    out = torch.addmm(bias, patches.flatten(0, 1), kernel.flatten(1).T)
    return patches, out.view(len(images), height, width, len(kernel))


def _convolved_back(
    slope: Tensor, given: Tensor, kernel: Tensor, padding: int, further: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the slopes at what a convolution was given, if asked for, its kernel and its bias."""
    if given.dim() == 3:
        rows = slope.view(-1, len(kernel))
        return slope, (given.flatten(0, 1).T @ rows).T.reshape(kernel.shape), rows.sum(dim=0)
    into, *others = torch.ops.aten.convolution_backward(
        slope.permute(0, 3, 1, 2),
        given,
        kernel.contiguous(memory_format=torch.channels_last),
        [len(kernel)],
        *([1, 1], [padding, padding], [1, 1], False, [0, 0], 1),
        [further, True, True],
    )
    kernels, biases = others
    return into.permute(0, 2, 3, 1) if further else slope, kernels.contiguous(), biases


def _unpooled(slope: Tensor, lit: Tensor) -> Tensor:
    """Return the slopes before pooling and before negative numbers became 0."""
    before: Tensor = torch.ops.aten.avg_pool2d_backward(
        slope.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last),
        lit.permute(0, 3, 1, 2),
        *([_POOL, _POOL], [_POOL, _POOL], [0, 0], False, True, None),
    )
    out = before.permute(0, 2, 3, 1)
    torch.ops.aten.threshold_backward.grad_input(out, lit, 0, grad_input=out)
    return out
