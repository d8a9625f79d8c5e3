"""The networks by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from torch import nn

from benchbuild.errors import ArchitectureError
from benchbuild.kinds.condense.images.networks import ConvNet, Shape
from benchbuild.kinds.evaluate.images.mlp import MLP
from benchbuild.kinds.evaluate.images.resnet import resnet18, resnet152
from benchbuild.kinds.evaluate.images.vit import ViT
from benchquery.naming import unknown

NETWORKS: Mapping[str, Callable[..., nn.Module]] = MappingProxyType(
    {"convnet": ConvNet, "mlp": MLP, "resnet18": resnet18, "resnet152": resnet152, "vit": ViT}
)
"""By name: makes the network of a shape of images and a number of classes, with fresh weights."""


SIZES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"convnet": ("width", "depth"), "mlp": ("width",)}
)
"""By network: what of its size may be chosen."""


def make_network(name: str, shape: Shape, num_classes: int, **sizes: int) -> nn.Module:
    """Return a network with weights drawn from torch's own generator.

    Args:
        name: Its name.
        shape: Shape of the images.
        num_classes: Number of classes.
        sizes: What is not as usual of its size: ``width``, ``depth``.

    Raises:
        ArchitectureError: If there is no network of this name, or not of this size, or it can't
            take such images.
    """
    if name not in NETWORKS:
        raise ArchitectureError(unknown("network", name, NETWORKS))
    for size in sizes:
        if size not in SIZES.get(name, ()):
            raise ArchitectureError(
                f"the {size} of {name} can't be chosen; what can be: "
                f"{', '.join(SIZES.get(name, ())) or 'nothing'}"
            )
    return NETWORKS[name](shape, num_classes, **sizes)
