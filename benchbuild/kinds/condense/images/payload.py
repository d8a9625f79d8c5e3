"""Condensed sets of images: the payload of methods that make or choose images.

Chosen images are kept as the pixels that they are, made ones in half precision and normalised as
networks are given them: they need not stay within the range of pixels. The mean and the deviation
that lead from one to the other are kept too, so that a table can draw its images.

Torch is needed only to compute with a set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchbuild.kinds.condense.arrays import pack, unpack

if TYPE_CHECKING:
    from torch import Tensor
    from torch.utils.data import TensorDataset

BLANK: Mapping[str, int | float] = MappingProxyType({"items": 0, "graph_bytes": 0})
"""What tables say of a set that there is none of."""


@dataclass(frozen=True, eq=False)
class CondensedImages:
    """A small set of images.

    Attributes:
        x: (images, channels, height, width), normalised.
        y: (images,) classes, or (images, classes) probabilities of them.
        mean: (channels,) mean that images are normalised with, of pixels from 0 to 1.
        std: (channels,) standard deviation of the same.
        chosen: Whether they are images of the dataset, so that pixels keep them exactly.
    """

    x: Tensor
    y: Tensor
    mean: Tensor
    std: Tensor
    chosen: bool = False

    def detach(self) -> CondensedImages:
        """Return a copy that later optimisation steps don't change."""
        parts = ("x", "y", "mean", "std")
        copies = {part: getattr(self, part).detach().clone() for part in parts}
        return CondensedImages(**copies, chosen=self.chosen)

    def stored(self) -> StoredImages:
        """Return the set rounded to what is kept of it."""
        import torch

        x = self.x.half()
        if self.chosen:
            pixels = self.x * self.std.view(-1, 1, 1) + self.mean.view(-1, 1, 1)
            x = (pixels * 255).round().clamp(0, 255).to(torch.uint8)
        y = self.y.float() if self.y.is_floating_point() else self.y.long()
        parts = (x, y, self.mean.float(), self.std.float())
        return StoredImages(*(part.cpu().numpy() for part in parts))


@dataclass(frozen=True, eq=False)
class StoredImages:
    """A condensed set of images in plain arrays.

    Attributes:
        x: (images, channels, height, width) uint8 pixels, or float16 normalised.
        y: (images,) int64 classes, or (images, classes) float32 probabilities.
        mean: (channels,) float32.
        std: (channels,) float32.
    """

    x: np.ndarray
    y: np.ndarray
    mean: np.ndarray
    std: np.ndarray

    form: ClassVar[str] = "images"
    blank: ClassVar[Mapping[str, int | float]] = BLANK

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> StoredImages:
        """Read the set out of the arrays of a table's file."""
        return cls(arrays["x"], arrays["y"], arrays["mean"], arrays["std"])

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a table's file keeps, by name."""
        return {"x": self.x, "y": self.y, "mean": self.mean, "std": self.std}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> StoredImages | None:
        """Read the set in a record of a run; None if it has none."""
        return cls.from_arrays(unpack(record["payload"])) if len(record["payload"]) else None

    def to_record(self) -> dict[str, Any]:
        """Return what a record keeps of it."""
        return {"form": self.form, "payload": pack(self.to_arrays())}

    def payload(self) -> CondensedImages:
        """Return the set in single precision, for computing with."""
        import torch

        x, y, mean, std = (torch.tensor(array) for array in self.to_arrays().values())
        chosen = x.dtype == torch.uint8
        if chosen:
            x = (x.float() / 255 - mean.view(-1, 1, 1)) / std.view(-1, 1, 1)
        return CondensedImages(x.float(), y, mean, std, chosen)

    def data(self, threshold: float) -> TensorDataset:
        """Return the images, normalised, with their classes, as torch's loaders take them.

        Args:
            threshold: Of edges, which images have none of.
        """
        from torch.utils.data import TensorDataset

        images = self.payload()
        return TensorDataset(images.x, images.y)

    def columns(self, threshold: float) -> dict[str, Any]:
        """Return what a table says of the set: ``items``, its images, and ``graph_bytes``.

        Args:
            threshold: Of edges, which images have none of.
        """
        return {"items": len(self.x), "graph_bytes": self.bytes}

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite in half precision."""
        return all(bool(np.isfinite(array).all()) for array in self.to_arrays().values())

    @property
    def bytes(self) -> int:
        """The size of the arrays."""
        return sum(array.nbytes for array in self.to_arrays().values())
