"""The MLP of DC-Bench: three linear maps with ReLU between, 128 wide."""

from __future__ import annotations

import math

from torch import nn

from benchbuild.kinds.condense.images.networks import WIDTH, Shape


class MLP(nn.Sequential):
    """The MLP.

    Args:
        shape: Shape of the images.
        num_classes: Number of classes.
        width: Units of each hidden layer.
    """

    def __init__(self, shape: Shape, num_classes: int, *, width: int = WIDTH) -> None:
        super().__init__(
            nn.Flatten(),
            nn.Linear(math.prod(shape), width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, num_classes),
        )
