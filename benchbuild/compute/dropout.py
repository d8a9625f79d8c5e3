r"""Dropout, :math:`\mathbf{y} = \mathbf{m} \odot \mathbf{x} / (1 - p)`, from cheap random bits.

``F.dropout`` draws a 24-bit number per entry, which costs more than the matrix product that
follows it. Here every 64-bit draw gives four entries 16 bits each, so the keep probability is
exact to one in 65,536.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from benchbuild.compute.stacks import join

LEVELS = 1 << 16


class Dropout:
    """A source of dropout masks with its own generator, so that nothing else disturbs it.

    Attributes:
        generators: That generator.
    """

    def __init__(self, p: float, seed: int, device: torch.device) -> None:
        """Keep entries with probability 1 - p; the seed fixes all masks."""
        self.p = p
        self.scale = 1.0 / (1.0 - p)
        self._device = device
        self._kept_levels = round((1.0 - p) * LEVELS)
        self.generators = [torch.Generator(device).manual_seed(seed)]

    def mask(self, shape: torch.Size) -> Tensor:
        """Return a mask of independent entries, true where an entry is kept."""
        return self._masks(shape).view(shape)

    def __call__(self, x: Tensor) -> Tensor:
        """Drop entries of a tensor that needs no gradient."""
        return x if self.p == 0.0 else (x * self.mask(x.shape)).mul_(self.scale)

    def _masks(self, shape: torch.Size) -> Tensor:
        """Return a mask from each of the generators."""
        count, entries = len(self.generators), shape.numel()
        draws = torch.empty(count, (entries + 3) // 4, dtype=torch.int64, device=self._device)
        for part, generator in zip(draws, self.generators, strict=True):
            part.random_(-(2**63), None, generator=generator)
        levels = draws.view(torch.int16)[:, :entries].view(count, *shape)
        return levels < self._kept_levels - LEVELS // 2

    def after_relu(self, y: Tensor) -> Tensor:
        """``mask * relu(y)``, in place; the caller has scaled ``y`` by ``scale`` already.

        ReLU commutes with a positive factor, so the factor can be part of what comes before. The
        gradient passes where the result is positive: one pass instead of two.
        """
        mask = self.mask(y.shape) if self.p else None
        return cast(Tensor, _MaskedRelu.apply(y, mask))  # type: ignore[no-untyped-call]


class StackedDropout(Dropout):
    """Dropout of several trainings at once, each with the masks that it has alone.

    Rows have the features of all trainings; see `benchbuild.compute.stacks`. What is shared before
    it is dropped, such as raw features, comes back once for each training.
    """

    def __init__(self, p: float, seeds: Sequence[int], device: torch.device) -> None:
        """See `Dropout`; one seed for each training."""
        super().__init__(p, seeds[0], device)
        self.generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]

    def mask(self, shape: torch.Size) -> Tensor:
        """See the base class."""
        rows, width = shape
        return join(self._masks(torch.Size((rows, width // len(self.generators)))))

    def __call__(self, x: Tensor) -> Tensor:
        """See the base class."""
        return x if self.p == 0.0 else (x * self._masks(x.shape)).mul_(self.scale)


class _MaskedRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, y: Tensor, mask: Tensor | None) -> Tensor:
        ctx.mark_dirty(y)
        y.relu_()
        if mask is not None:
            y.mul_(mask)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (out,) = ctx.saved_tensors
        return torch.ops.aten.threshold_backward(grad, out, 0.0), None
