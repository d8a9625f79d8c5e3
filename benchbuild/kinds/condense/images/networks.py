"""The network that images are condensed with: blocks of convolution, norm, ReLU and pooling.

It is the ConvNet of DC, DSA, DM and trajectory matching: three blocks of a 3 x 3 convolution of 128
channels, instance normalisation, ReLU and 2 x 2 average pooling, then a linear map; four blocks
for images of 64 pixels. Images of 28 pixels are padded to 32, as there.
"""

from __future__ import annotations

from torch import Tensor, nn

from benchbuild.errors import ArchitectureError

WIDTH, DEPTH, LARGE_DEPTH = 128, 3, 4
LARGE = 64
"""The side from which images are large: they get a block more."""
_MNIST_SIDE, _MNIST_PADDING = 28, 3

Shape = tuple[int, int, int]
"""Channels, height and width of an image."""


def instance_norm(channels: int) -> nn.Module:
    """Return a layer that normalises each channel of each image, with a gain and a shift."""
    return nn.GroupNorm(channels, channels)


class ConvNet(nn.Module):
    """The ConvNet.

    Args:
        shape: Shape of the images.
        num_classes: Number of classes.
        width: Channels of each block.
        depth: Number of blocks; None for 3, or 4 for large images.

    Raises:
        ArchitectureError: If the blocks would pool the images away.
    """

    def __init__(
        self, shape: Shape, num_classes: int, *, width: int = WIDTH, depth: int | None = None
    ) -> None:
        super().__init__()
        channels, *sides = shape
        blocks = default_depth(shape) if depth is None else depth
        if width < 1 or blocks < 1 or min(sides) >> blocks < 1:
            raise ArchitectureError(
                f"a ConvNet of {blocks} blocks of width {width} can't take images of {sides[0]} x "
                f"{sides[1]} pixels: it needs a block at least, and every block halves them"
            )
        layers: list[nn.Module] = []
        for block in range(blocks):
            small = block == 0 and sides == [_MNIST_SIDE, _MNIST_SIDE]
            padding = _MNIST_PADDING if small else 1
            layers += [
                nn.Conv2d(channels, width, kernel_size=3, padding=padding),
                instance_norm(width),
                nn.ReLU(),
                nn.AvgPool2d(2),
            ]
            channels = width
            sides = [(side + 2 * (padding - 1)) // 2 for side in sides]
        self.features = nn.Sequential(*layers)
        self.embedded = width * sides[0] * sides[1]
        self.classifier = nn.Linear(self.embedded, num_classes)

    def embed(self, images: Tensor) -> Tensor:
        """Return (images, embedded) what the blocks make of images."""
        out: Tensor = self.features(images).flatten(1)
        return out

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits of images."""
        out: Tensor = self.classifier(self.embed(images))
        return out


def default_depth(shape: Shape) -> int:
    """Return how many blocks the ConvNet has for images of a shape.

    They are the papers' for images of 28 pixels and more. Smaller ones get fewer: each block halves
    what it is given, and normalisation over four pixels leaves next to nothing of them.
    """
    side = min(shape[1:])
    return LARGE_DEPTH if side >= LARGE else min(DEPTH, max(side.bit_length() - 2, 1))
