"""Moving pixels about: affine maps, crops and flips, for each image its own."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

Sampling = Literal["nearest", "bilinear"]


def affine(images: Tensor, matrix: Tensor, sampling: Sampling) -> Tensor:
    """Return images whose pixels come from elsewhere; what comes from outside is zero.

    Args:
        images: Images; uint8 stays uint8.
        matrix: (images, 2, 3) takes the place of a pixel, (x, y) from the centre in pixels, to
            the place where it comes from.
        sampling: How a place between pixels is read.
    """
    values = images if images.is_floating_point() else images.float()
    height, width = images.shape[2:]
    x, y = (
        torch.arange(side, dtype=values.dtype, device=images.device) - (side - 1) / 2
        for side in (width, height)
    )
    places = torch.stack(
        [x.expand(height, -1), y[:, None].expand(-1, width), torch.ones_like(x).expand(height, -1)],
        dim=-1,
    )
    halves = torch.tensor([width / 2, height / 2], dtype=values.dtype, device=images.device)
    come_from = matrix.to(values).transpose(1, 2) / halves
    grid = (places.view(1, -1, 3) @ come_from).view(len(images), height, width, 2)
    found = functional.grid_sample(values, grid, mode=sampling, align_corners=False)
    return found.to(images.dtype)


def matrices(*entries: Tensor | float, count: int) -> Tensor:
    """Return (count, 2, 3) matrices of six entries, row by row, each a number or one an image."""
    device = next(entry.device for entry in entries if isinstance(entry, Tensor))
    columns = [
        torch.as_tensor(entry, dtype=torch.float64, device=device).expand(count)
        for entry in entries
    ]
    return torch.stack(columns, dim=1).view(count, 2, 3)


def rotation(degrees: Tensor) -> Tensor:
    """Return the matrices that turn images clockwise by so many degrees, about their centre."""
    angle = degrees * (math.pi / 180)
    cosine, sine = angle.cos(), angle.sin()
    return matrices(cosine, sine, 0.0, -sine, cosine, 0.0, count=len(degrees))


def crop(images: Tensor, down: Tensor, right: Tensor, most: int) -> Tensor:
    """Return the windows of images that lie lower and further right by whole pixels.

    Args:
        images: The images; around them all is zero.
        down: How much lower, for each image; from -most to most.
        right: How much further right.
        most: The most that a window is moved.
    """
    height, width = images.shape[2:]
    padded = functional.pad(images, [most] * 4)
    rows = (down + most)[:, None] + torch.arange(height, device=images.device)
    columns = (right + most)[:, None] + torch.arange(width, device=images.device)
    picked = padded.gather(
        2, rows[:, None, :, None].expand(-1, images.shape[1], -1, width + 2 * most)
    )
    return picked.gather(3, columns[:, None, None, :].expand(-1, images.shape[1], height, -1))


def flip(images: Tensor, which: Tensor) -> Tensor:
    """Return images of which some are mirrored, left to right."""
    return torch.where(which.view(-1, 1, 1, 1), images.flip(3), images)
