"""Changing colours of pixels from 0 to 255, for each image its own way.

Images are uint8; a strength is one number an image. They agree with Pillow's and torchvision's
operations of the same names.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

BRIGHTEST = 255
_GREY = (0.2989, 0.587, 0.114)
_ALMOST = 256 - 1e-3
"""What pixels from 0 to 1 are multiplied by before they are cut off to whole numbers."""


def _blend(images: Tensor, others: Tensor, share: Tensor) -> Tensor:
    """Mix images with others; a share above 1 goes away from the others."""
    mine, theirs = (part.float().view(-1, 1, 1, 1) for part in (share, 1 - share))
    return (mine * images + theirs * others).clamp(0, BRIGHTEST).to(torch.uint8)


def grey(images: Tensor) -> Tensor:
    """Return (images, 1, height, width) how bright pixels are."""
    if images.shape[1] == 1:
        return images
    red, green, blue = (weight * images[:, channel] for channel, weight in enumerate(_GREY))
    return (red + green + blue).to(torch.uint8)[:, None]


def brightness(images: Tensor, strength: Tensor) -> Tensor:
    """Make images brighter, or darker below 1."""
    return _blend(images, torch.zeros_like(images), strength)


def contrast(images: Tensor, strength: Tensor) -> Tensor:
    """Move pixels away from the mean brightness of their image, or towards it below 1."""
    mean = grey(images).float().mean(dim=(1, 2, 3), keepdim=True)
    return _blend(images, mean, strength)


def saturation(images: Tensor, strength: Tensor) -> Tensor:
    """Move colours away from grey, or towards it below 1."""
    return images if images.shape[1] == 1 else _blend(images, grey(images), strength)


def sharpness(images: Tensor, strength: Tensor) -> Tensor:
    """Move pixels away from the mean of their neighbourhood, or towards it below 1."""
    kernel = torch.ones(3, 3, device=images.device)
    kernel[1, 1] = 5
    each = (kernel / kernel.sum()).expand(images.shape[1], 1, 3, 3)
    blurred = images.float()
    inner = functional.conv2d(blurred, each, groups=images.shape[1]).round()
    blurred[:, :, 1:-1, 1:-1] = inner
    return _blend(images, blurred, strength)


def hue(images: Tensor, turn: Tensor) -> Tensor:
    """Turn colours by a share of the colour wheel."""
    if images.shape[1] == 1:
        return images
    values = images.float() / BRIGHTEST
    red, green, blue = values.unbind(dim=1)
    highest, lowest = values.amax(dim=1), values.amin(dim=1)
    spread = highest - lowest
    safe = torch.where(spread == 0, 1.0, spread)
    sixth = torch.where(
        highest == red,
        (green - blue) / safe,
        torch.where(highest == green, 2 + (blue - red) / safe, 4 + (red - green) / safe),
    )
    turned = sixth + 6 * turn.float().view(-1, 1, 1)
    channels = []
    for offset in (5, 3, 1):
        place = (turned + offset).remainder(6)
        channels.append(highest - spread * torch.minimum(place, 4 - place).clamp(0, 1))
    return (torch.stack(channels, dim=1) * _ALMOST).to(torch.uint8)


def posterise(images: Tensor, bits: Tensor) -> Tensor:
    """Keep the highest bits of pixels."""
    mask = 256 - 2 ** (8 - bits.long())
    return images & mask.to(torch.uint8).view(-1, 1, 1, 1)


def solarise(images: Tensor, threshold: Tensor) -> Tensor:
    """Invert pixels from a threshold up."""
    return torch.where(images >= threshold.float().view(-1, 1, 1, 1), BRIGHTEST - images, images)


def invert(images: Tensor, _strength: Tensor) -> Tensor:
    """Invert pixels."""
    return BRIGHTEST - images


def auto_contrast(images: Tensor, _strength: Tensor) -> Tensor:
    """Stretch each channel so that its darkest pixel is 0 and its brightest 255."""
    lowest, highest = (
        extreme(images, dim=(2, 3), keepdim=True).float() for extreme in (torch.amin, torch.amax)
    )
    flat = lowest == highest
    scale = torch.where(flat, 1.0, BRIGHTEST / (highest - lowest))
    return ((images - torch.where(flat, 0.0, lowest)) * scale).clamp(0, BRIGHTEST).to(torch.uint8)


def equalise(images: Tensor, _strength: Tensor) -> Tensor:
    """Map the pixels of each channel so that all values are about as frequent."""
    rows = images.flatten(2).flatten(0, 1).long()
    first = BRIGHTEST + 1
    counts = torch.zeros(len(rows), first, dtype=torch.int64, device=images.device)
    counts.scatter_add_(1, rows, torch.ones_like(rows))
    brightest = rows.amax(dim=1, keepdim=True)
    step = (rows.shape[1] - counts.gather(1, brightest)) // BRIGHTEST
    safe = step.clamp(min=1)
    below = counts.cumsum(dim=1) - counts
    table = ((below + safe // 2) // safe).clamp(max=BRIGHTEST)
    found = torch.where(step == 0, rows, table.gather(1, rows))
    return found.to(torch.uint8).view_as(images)
