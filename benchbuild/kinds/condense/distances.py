"""How far what is learnt on synthetic data is from what is learnt on real data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import torch
from torch import Tensor

Distance = Callable[[Sequence[Tensor], Sequence[Tensor]], Tensor]
"""From two lists of gradients, each with a first dimension of classes, to one number a class."""
DistanceSlopes = Callable[[Sequence[Tensor], Sequence[Tensor]], tuple[Tensor, list[Tensor | None]]]
"""The same, and its slopes at the first list; None where it has none."""


def cosine_distance(synthetic: Sequence[Tensor], real: Sequence[Tensor]) -> Tensor:
    r"""Return :math:`\sum_W \sum_j 1 - \cos(\nabla W_j, \nabla W'_j)` over weight matrices.

    The rows j belong to the outputs of a layer. Biases don't count, as in GCond.
    """
    total = torch.zeros(len(real[0]), device=real[0].device, dtype=real[0].dtype)
    for ours, theirs in zip(synthetic, real, strict=True):
        if ours.dim() == 3:
            norms = ours.norm(dim=2) * theirs.norm(dim=2)
            total = total + (1 - (ours * theirs).sum(dim=2) / (norms + 1e-6)).sum(dim=1)
    return total


def squared_distance(synthetic: Sequence[Tensor], real: Sequence[Tensor]) -> Tensor:
    """Return the squared Euclidean distance of all gradients, biases included."""
    parts = [
        (ours - theirs).square().flatten(1).sum(dim=1)
        for ours, theirs in zip(synthetic, real, strict=True)
    ]
    return torch.stack(parts).sum(dim=0)


DISTANCES: Mapping[str, Distance] = MappingProxyType(
    {"cosine": cosine_distance, "mse": squared_distance}
)


def cosine_slopes(
    synthetic: Sequence[Tensor], real: Sequence[Tensor]
) -> tuple[Tensor, list[Tensor | None]]:
    """Return `cosine_distance` and its slopes at the synthetic side; None where it has none."""
    total = torch.zeros(len(real[0]), device=real[0].device, dtype=real[0].dtype)
    slopes: list[Tensor | None] = []
    for ours, theirs in zip(synthetic, real, strict=True):
        if ours.dim() != 3:
            slopes.append(None)
            continue
        along = (ours * theirs).sum(dim=2)
        norm, other = ours.norm(dim=2), theirs.norm(dim=2)
        below = norm * other + 1e-6
        total += (1 - along / below).sum(dim=1)
        own = torch.where(norm > 0, along * other / (norm * below.square()), 0)
        slopes.append((ours * own[:, :, None]).addcmul_(theirs, -1 / below[:, :, None]))
    return total, slopes


def squared_slopes(
    synthetic: Sequence[Tensor], real: Sequence[Tensor]
) -> tuple[Tensor, list[Tensor | None]]:
    """Return `squared_distance` and its slopes at the synthetic side."""
    slopes = [2 * (ours - theirs) for ours, theirs in zip(synthetic, real, strict=True)]
    return squared_distance(synthetic, real), list(slopes)


SLOPES: Mapping[str, DistanceSlopes] = MappingProxyType(
    {"cosine": cosine_slopes, "mse": squared_slopes}
)


def matching_loss(
    reached: Sequence[Tensor], start: Sequence[Tensor], target: Sequence[Tensor]
) -> Tensor:
    """Return how far a student is from its target, relative to how far it was at first."""
    return _between(reached, target) / _between(start, target)


def _between(left: Sequence[Tensor], right: Sequence[Tensor]) -> Tensor:
    pairs = zip(left, right, strict=True)
    return torch.stack([(one - other).square().sum() for one, other in pairs]).sum()
