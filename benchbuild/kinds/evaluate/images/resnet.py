"""ResNets for small images, with instance normalisation, as in DC-Bench.

The stem is one 3 x 3 convolution without pooling. Four stages of 64, 128, 256 and 512 channels
follow; each but the first halves the side, as long as it is above 4 pixels: smaller ones would
leave instance normalisation a single pixel, of which it leaves nothing.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from torch import Tensor, nn

from benchbuild.kinds.condense.images.networks import Shape, instance_norm

STEM = 64
SMALLEST = 4


def _convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> list[nn.Module]:
    return [
        nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False),
        instance_norm(outputs),
    ]


class Block(nn.Module, ABC):
    """A residual block: what its layers make of the input is added to the input.

    Attributes:
        expansion: How many times the channels of a stage it gives.
        layers: Its layers.
    """

    expansion: ClassVar[int]
    layers: nn.Sequential

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(*_convolution(inputs, outputs, 1, stride))

    def forward(self, x: Tensor) -> Tensor:
        """Return the output."""
        out: Tensor = (self.layers(x) + self.shortcut(x)).relu()
        return out


class Basic(Block):
    """Two 3 x 3 convolutions."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__(inputs, width, stride)
        self.layers = nn.Sequential(
            *_convolution(inputs, width, 3, stride), nn.ReLU(), *_convolution(width, width, 3)
        )


class Bottleneck(Block):
    """A 3 x 3 convolution between two 1 x 1 ones, of which the last widens."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        outputs = self.expansion * width
        super().__init__(inputs, outputs, stride)
        self.layers = nn.Sequential(
            *_convolution(inputs, width, 1),
            nn.ReLU(),
            *_convolution(width, width, 3, stride),
            nn.ReLU(),
            *_convolution(width, outputs, 1),
        )


class ResNet(nn.Module):
    """A ResNet.

    Args:
        shape: Shape of the images.
        num_classes: Number of classes.
        block: The sort of its blocks.
        stages: How many blocks each of the four stages has.
    """

    def __init__(
        self,
        shape: Shape,
        num_classes: int,
        block: type[Basic] | type[Bottleneck],
        stages: tuple[int, int, int, int],
    ) -> None:
        super().__init__()
        channels, *sides = shape
        layers = [*_convolution(channels, STEM, 3), nn.ReLU()]
        inputs, side = STEM, min(sides)
        for stage, count in enumerate(stages):
            stride = 2 if stage and side > SMALLEST else 1
            side = -(-side // stride)
            for number in range(count):
                layers.append(block(inputs, STEM << stage, 1 if number else stride))
                inputs = block.expansion * (STEM << stage)
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.classifier = nn.Linear(inputs, num_classes)

    def embed(self, images: Tensor) -> Tensor:
        """Return (images, channels) the mean of the last stage."""
        out: Tensor = self.features(images)
        return out

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits of images."""
        out: Tensor = self.classifier(self.embed(images))
        return out


def resnet18(shape: Shape, num_classes: int) -> ResNet:
    """Return a ResNet-18."""
    return ResNet(shape, num_classes, Basic, (2, 2, 2, 2))


def resnet152(shape: Shape, num_classes: int) -> ResNet:
    """Return a ResNet-152."""
    return ResNet(shape, num_classes, Bottleneck, (3, 8, 36, 3))
