"""Networks of NAS-Bench-201, built from the text that names an architecture.

``|nor_conv_3x3~0|+|none~0|skip_connect~1|+|...|`` has a group for each node of the cell but the
first; an entry is an operation and the node that it comes from, and a node is the sum of its
entries. Three stages of the same cell, with 16, 32 and 64 channels, are joined by residual blocks
that halve the side.
"""

from __future__ import annotations

import re

import torch
from torch import Tensor, nn

from benchbuild.errors import ArchitectureError
from benchbuild.kinds.condense.images.networks import Shape

OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
NODES = 4
CHANNELS, CELLS, STAGES = 16, 5, 3

Operations = tuple[tuple[str, ...], ...]
"""For each node but the first: the operations from every node before it."""


def parse_architecture(text: str) -> Operations:
    """Return the operations that a text names.

    Raises:
        ArchitectureError: If it is no architecture of NAS-Bench-201.

    Example:
        >>> parse_architecture("|none~0|+|none~0|none~1|+|none~0|none~1|skip_connect~2|")[2]
        ('none', 'none', 'skip_connect')
    """
    groups = text.split("+")
    found = []
    for node, group in enumerate(groups, start=1):
        entries = re.findall(r"([a-z0-9_]+)~([0-9]+)\|", group)
        written = "|" + "".join(f"{name}~{source}|" for name, source in entries)
        right = [source for _, source in entries] == [str(source) for source in range(node)]
        if written != group or not right or any(name not in OPERATIONS for name, _ in entries):
            raise ArchitectureError(
                f"{text!r} is no architecture of NAS-Bench-201: group {node} is {group!r}; it must "
                f"have an entry for each of the {node} nodes before, as |{OPERATIONS[1]}~0|, of "
                f"{', '.join(OPERATIONS)}"
            )
        found.append(tuple(name for name, _ in entries))
    if len(groups) != NODES - 1:
        raise ArchitectureError(
            f"{text!r} is no architecture of NAS-Bench-201: it has {len(groups)} groups, not "
            f"{NODES - 1}"
        )
    return tuple(found)


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


class Cell(nn.Module):
    """A cell; an operation that gives nothing is left out.

    Args:
        operations: Its operations.
        channels: Channels of input and output.
    """

    def __init__(self, operations: Operations, channels: int) -> None:
        super().__init__()
        self._sources = [
            [source for source, name in enumerate(names) if name != "none"] for names in operations
        ]
        self.operations = nn.ModuleList(
            nn.ModuleList(_operation(name, channels) for name in names if name != "none")
            for names in operations
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
        architecture: The text that names it.
        shape: Shape of the images.
        num_classes: Number of classes.
        channels: Channels of the first stage; 16 in the benchmark.
        cells: Cells of each stage; 5 in the benchmark.

    Raises:
        ArchitectureError: If the text names none.
    """

    def __init__(
        self,
        architecture: str,
        shape: Shape,
        num_classes: int,
        *,
        channels: int = CHANNELS,
        cells: int = CELLS,
    ) -> None:
        super().__init__()
        operations = parse_architecture(architecture)
        layers: list[nn.Module] = [
            nn.Conv2d(shape[0], channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        ]
        for stage in range(STAGES):
            width = channels << stage
            if stage:
                layers.append(Reduction(width // 2, width))
            layers += [Cell(operations, width) for _ in range(cells)]
        layers += [nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(width, num_classes)

    def forward(self, images: Tensor) -> Tensor:
        """Return the logits of images."""
        out: Tensor = self.classifier(self.features(images))
        return out
