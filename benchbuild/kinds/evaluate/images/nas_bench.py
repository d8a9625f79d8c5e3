"""Networks of NAS-Bench-201.

A node of a cell is the sum of what its operations make of the nodes before it. Three stages of the
same cell, with 16, 32 and 64 channels, are joined by residual blocks that halve the side.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from benchbuild.kinds.condense.images.networks import Shape
from benchquery.kinds.cells.cell import CHANNELS, REPEATED, STAGES, Cell


def _convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.ReLU(),
        nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False),
        nn.BatchNorm2d(outputs),
    )


def _operation(name: str, channels: int) -> nn.Module:
    match name:
        case "skip_connect":
            return nn.Identity()
        case "avg_pool_3x3":
            return nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)
        case _:
            return _convolution(channels, channels, int(name[-1]))


class CellBlock(nn.Module):
    """A cell as part of a network; an operation that gives nothing is left out.

    Args:
        cell: The cell.
        channels: Channels of input and output.
    """

    def __init__(self, cell: Cell, channels: int) -> None:
        super().__init__()
        self._sources = [
            [source for source, name in enumerate(names) if name != "none"] for names in cell.groups
        ]
        self.operations = nn.ModuleList(
            nn.ModuleList(_operation(name, channels) for name in names if name != "none")
            for names in cell.groups
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the last node."""
        nodes = [x]
        for sources, operations in zip(self._sources, self.operations, strict=True):
            assert isinstance(operations, nn.ModuleList)
            node = torch.zeros_like(x)
            for source, operation in zip(sources, operations, strict=True):
                node = node + operation(nodes[source])
            nodes.append(node)
        return nodes[-1]


class Reduction(nn.Module):
    """A residual block that halves the side and changes the channels."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            _convolution(inputs, outputs, 3, stride=2), _convolution(outputs, outputs, 3)
        )
        self.shortcut = nn.Sequential(
            nn.AvgPool2d(2, ceil_mode=True), nn.Conv2d(inputs, outputs, 1, bias=False)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the output."""
        out: Tensor = self.layers(x) + self.shortcut(x)
        return out


class CellNetwork(nn.Module):
    """A network of NAS-Bench-201.

    Args:
        cell: What its stages repeat.
        shape: Shape of the images.
        num_classes: Number of classes.
        channels: Channels of the first stage; 16 in the benchmark.
        cells: Cells of each stage; 5 in the benchmark.
    """

    def __init__(
        self,
        cell: Cell,
        shape: Shape,
        num_classes: int,
        *,
        channels: int = CHANNELS,
        cells: int = REPEATED,
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = [
            nn.Conv2d(shape[0], channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        ]
        for stage in range(STAGES):
            width = channels << stage
            if stage:
                layers.append(Reduction(width // 2, width))
            layers += [CellBlock(cell, width) for _ in range(cells)]
        layers += [nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(width, num_classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits of images."""
        out: Tensor = self.classifier(self.features(images))
        return out
