"""The networks by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from torch import nn

from benchbuild.errors import ArchitectureError
from benchbuild.kinds.condense.images.networks import ConvNet, Shape
from benchbuild.kinds.evaluate.images.mlp import MLP
from benchbuild.kinds.evaluate.images.nas_bench import CellNetwork
from benchbuild.kinds.evaluate.images.resnet import resnet18, resnet152
from benchbuild.kinds.evaluate.images.vit import ViT
from benchquery.kinds.cells.cell import CHANNELS, REPEATED, Cell
from benchquery.kinds.condensed.domains.images import CELLS
from benchquery.naming import unknown

NETWORKS: Mapping[str, Callable[..., nn.Module]] = MappingProxyType(
    {"convnet": ConvNet, "mlp": MLP, "resnet18": resnet18, "resnet152": resnet152, "vit": ViT}
)
"""By name: makes the network of a shape of images and a number of classes, with fresh weights."""


SIZES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"convnet": ("width", "depth"), "mlp": ("width",), CELLS: ("width", "depth")}
)
"""By network or family: what of its size may be chosen."""


def _cell_network(
    text: str, shape: Shape, num_classes: int, *, width: int = CHANNELS, depth: int = REPEATED
) -> CellNetwork:
    """Make a cell network: its width are the channels of its first stage, its depth the cells."""
    return CellNetwork(Cell.parse(text), shape, num_classes, channels=width, cells=depth)


FAMILIES: Mapping[str, Callable[..., nn.Module]] = MappingProxyType({CELLS: _cell_network})
"""By family: the same of the text of a member."""


def make_network(name: str, shape: Shape, num_classes: int, **sizes: int) -> nn.Module:
    """Return a network with weights drawn from torch's own generator.

    Args:
        name: Its name; ``family:text`` for a member of a family.
        shape: Shape of the images.
        num_classes: Number of classes.
        sizes: What is not as usual of its size: ``width``, ``depth``.

    Raises:
        ArchitectureError: If there is no network of this name, or not of this size, or it can't
            take such images.
    """
    family, colon, text = name.partition(":")
    if family not in (FAMILIES if colon else NETWORKS):
        raise ArchitectureError(unknown("network", name, (*NETWORKS, *FAMILIES)))
    for size in sizes:
        if size not in SIZES.get(family, ()):
            raise ArchitectureError(
                f"the {size} of {family} can't be chosen; what can be: "
                f"{', '.join(SIZES.get(family, ())) or 'nothing'}"
            )
    if colon:
        return FAMILIES[family](text, shape, num_classes, **sizes)
    return NETWORKS[name](shape, num_classes, **sizes)
