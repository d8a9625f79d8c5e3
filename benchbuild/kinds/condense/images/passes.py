r"""Passes of images through the ConvNet by formula, without a graph.

.. math::
    H_l = \operatorname{block}_l(H_{l-1}), \quad Z = H_L W^\top + b, \quad
    \mathcal{L}_c = \sum_{i \in c} w_i \operatorname{CE}(Z_i, y_i)

What methods of matching want of real images are embeddings :math:`H_L` and the gradients of each
class; of synthetic ones the slopes at the images, of something that depends on those. If it depends
on gradients and has the slopes V there, then

.. math:: \nabla_X \sum_c \langle V_c, \nabla_\theta \mathcal{L}_c \rangle =
    \frac{d}{d\epsilon} \nabla_X \sum_c \mathcal{L}_c(\theta + \epsilon V_c) \Big|_0,

which is how the slopes at the images move when the weights do. That is one more pass, forward and
backward, and no gradient is differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from benchbuild.kinds.condense.images.blocks import Block, Change, passed

_BLOCK = 4


class Pass:
    """Images that have passed the blocks, those of a class one after another.

    Args:
        weights: Of every block the kernel, its bias, gains and shifts; then the linear map and its
            bias.
        paddings: Of each convolution.
        images: (images, channels, height, width).

    Attributes:
        embedded: (images, embedded) in the order of channels, which the linear map takes.
    """

    @torch.no_grad()
    def __init__(self, weights: Sequence[Tensor], paddings: Sequence[int], images: Tensor) -> None:
        self._linear, self._bias = weights[-2:]
        self._blocks: list[Block] = []
        now = images.detach().permute(0, 2, 3, 1)
        for number, padding in enumerate(paddings):
            own = weights[_BLOCK * number : _BLOCK * (number + 1)]
            block = passed(own, padding, now, first=number == 0)
            self._blocks.append(block)
            now = block.pooled
        self.embedded = _flat(now)

    @torch.no_grad()
    def slopes(self, at: Tensor) -> Tensor:
        """Return the slopes at the images, by those at what they are embedded as."""
        slope = self._back(at, further=True)
        assert slope is not None
        return slope.permute(0, 3, 1, 2)

    @torch.no_grad()
    def gradients(self, labels: Tensor, sizes: Tensor, *, further: bool = False) -> list[Tensor]:
        """Return the gradients of each class's mean cross-entropy.

        Args:
            labels: (images,) their classes.
            sizes: (all classes,) how many images each has. Where some of them were passed
                elsewhere, the gradients are to be added up.
            further: Whether `moved_slopes` is asked for next.

        Returns:
            Those of all weights, in their order, with a first dimension of the classes that there
            are. Kernels are matrices of what comes out and, channels last, what goes in.
        """
        self._counts = torch.unique_consecutive(labels, return_counts=True)[1].tolist()
        self._shares = (1 / sizes.to(self.embedded.dtype))[labels, None]
        self._likely = (self.embedded @ self._linear.T + self._bias).softmax(dim=1)
        self._slope = self._likely.clone()
        self._slope[torch.arange(len(labels), device=labels.device), labels] -= 1
        self._slope *= self._shares
        self._back(self._slope @ self._linear, further=further)
        slopes = torch.split(self._slope, self._counts)
        rows = torch.split(self.embedded, self._counts)
        return [
            *(part for block in self._blocks for part in block.gradients(self._counts)),
            torch.stack([slope.T @ some for slope, some in zip(slopes, rows, strict=True)]),
            torch.stack([slope.sum(dim=0) for slope in slopes]),
        ]

    @torch.no_grad()
    def moved_slopes(self, changes: Sequence[Tensor | None]) -> Tensor:
        """Return what the slopes at the images move by when the weights do.

        Args:
            changes: Of each of the gradients what its weights move by; None if they stay. Biases
                of convolutions cancel.
        """
        now = None
        for number, block in enumerate(self._blocks):
            kernel, _, gain, shift = changes[_BLOCK * number : _BLOCK * (number + 1)]
            assert kernel is not None
            now = block.moved(Change(kernel, gain, shift), self._counts, now)
        assert now is not None
        linear, bias = changes[-2:]
        assert linear is not None
        rows = torch.split(self.embedded, self._counts)
        moved = _flat(now) @ self._linear.T
        moved += torch.cat([some @ one.T for some, one in zip(rows, linear, strict=True)])
        if bias is not None:
            moved += bias.repeat_interleave(moved.new_tensor(self._counts, dtype=torch.long), dim=0)
        moved -= (self._likely * moved).sum(dim=1, keepdim=True)
        moved *= self._likely * self._shares
        slopes = torch.split(self._slope, self._counts)
        at = moved @ self._linear
        at += torch.cat([some @ one for some, one in zip(slopes, linear, strict=True)])
        slope = self._unflat(at)
        for block in reversed(self._blocks):
            slope = block.moved_back(slope)
        return slope.permute(0, 3, 1, 2)

    def _back(self, at: Tensor, *, further: bool) -> Tensor | None:
        """Return the slopes at the images, channels last, if they are asked for."""
        slope: Tensor | None = self._unflat(at)
        for number, block in reversed(list(enumerate(self._blocks))):
            assert slope is not None
            slope = block.back(slope, further=further or number > 0)
        return slope

    def _unflat(self, rows: Tensor) -> Tensor:
        """Return rows in the shape of what the last block gives."""
        images, height, width, channels = self._blocks[-1].pooled.shape
        return rows.view(images, channels, height, width).permute(0, 2, 3, 1)


def _flat(pooled: Tensor) -> Tensor:
    return pooled.permute(0, 3, 1, 2).flatten(1)
