"""What families of images share: the facts of a set, and from these its spec and its loading."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.images.jpeg import JpegImages
from benchbuild.datasets.images.sampling import SPLIT, VALIDATION, Sample, kept_out, split_images
from benchbuild.datasets.spec import DatasetSpec, SpecFactory
from benchbuild.errors import DatasetError
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np
    import torch

    from benchbuild.datasets.images.image_set import ImageSet
else:
    np = LazyModule("numpy")
    torch = LazyModule("torch", extra="build")

Files = tuple[str, ...]


@dataclass(frozen=True)
class Raw:
    """What a source holds.

    Attributes:
        pixels: uint8 (images, channels, height, width), training images first; what is still
            encoded is decoded when it is chosen.
        labels: Classes, whole numbers.
        trained: How many training images there are.
    """

    pixels: np.ndarray | JpegImages
    labels: np.ndarray
    trained: int


@dataclass(frozen=True)
class Facts:
    """What is known of a set of images.

    Attributes:
        name: Name it is asked for by.
        shape: Channels, height and width of an image.
        classes: Number of classes.
        trained: Training images of the source.
        tested: Test images of the source.
        licence: Licence as its source states it.
        source: Where it comes from.
        split: How images are split.
        provenance: In which way the pixels differ from the published ones.
    """

    name: str
    shape: tuple[int, int, int]
    classes: int
    trained: int
    tested: int
    licence: str
    source: str
    split: str = SPLIT
    provenance: str = ""

    def check(self, raw: Raw) -> None:
        """Refuse files that hold another number or size of images.

        Raises:
            DatasetError: If they do.
        """
        expected = (self.trained + self.tested, *self.shape)
        if raw.pixels.shape != expected or raw.trained != self.trained:
            raise DatasetError(
                f"{self.name}: its files hold images of the shape {raw.pixels.shape}, "
                f"{raw.trained} of them for training; it has {expected} with {self.trained} for "
                "training"
            )


@dataclass(frozen=True)
class Choice:
    """One form in which the files of a set may be there.

    Attributes:
        files: The files, relative to the data root.
        read: Reads them from a data root.
    """

    files: Files
    read: Callable[[Path], Raw]


Fetch = Callable[[Path], object]
"""Downloads the files of the last form of a set into a data root."""


def not_published(_root: Path) -> None:
    """Stand in for a download where there is none.

    Raises:
        OSError: Always.
    """
    raise OSError("nobody publishes it in this form")


def image_factory(
    facts: Facts, choices: tuple[Choice, ...], fetch: Fetch = not_published
) -> SpecFactory:
    """Return the factory of a set of images.

    Args:
        facts: What is known of it.
        choices: The forms its files may have, the one that is preferred first.
        fetch: Downloads the last of these.
    """

    def make(parameters: Mapping[str, str]) -> DatasetSpec:
        sample = Sample.of(facts.name, parameters)
        valid = kept_out(facts.trained, facts.classes, VALIDATION)
        there = {"train": facts.trained - valid, "valid": valid, "test": facts.tested}
        for part, count in sample.asked.items():
            if not facts.classes <= count <= there[part]:
                raise DatasetError(
                    f"{facts.name}: {part}={count} must be from {facts.classes} to {there[part]}"
                )
        used = there | sample.asked
        return DatasetSpec(
            name=sample.named(facts.name),
            num_nodes=None,
            num_features=math.prod(facts.shape),
            num_classes=facts.classes,
            metric="accuracy",
            split=sample.told(facts.split),
            licence=facts.licence,
            source=facts.source,
            files=choices[0].files,
            instead=tuple(choice.files for choice in choices[1:]),
            loader=partial(_load, facts, choices, fetch, sample),
            sort="images",
            num_items=sum(used.values()),
            trained=used["train"],
            labelled=sum(used.values()),
        )

    return make


def _load(
    facts: Facts, choices: tuple[Choice, ...], fetch: Fetch, sample: Sample, root: Path
) -> ImageSet:
    there = [c for c in choices if all((root / file).exists() for file in c.files)]
    if not there:
        ensure_files(facts.name, root, choices[-1].files, fetch)
    raw = (there or choices[-1:])[0].read(root)
    facts.check(raw)
    return image_set(
        sample.named(facts.name),
        raw,
        sample,
        facts.classes,
        split=sample.told(facts.split),
        provenance=facts.provenance,
    )


def image_set(
    name: str, raw: Raw, sample: Sample, classes: int, *, split: str, provenance: str = ""
) -> ImageSet:
    """Make a set of what a source holds.

    Args:
        name: Its name.
        raw: What the source holds.
        sample: How many images are used.
        classes: Number of classes.
        split: How images are split, in words.
        provenance: In which way the pixels differ from the published ones.

    Raises:
        DatasetError: If classes are missing or wrong, or images too few.
    """
    from benchbuild.datasets.images.image_set import ImageSet, check_labels, check_shape

    labels = raw.labels.astype(np.int64)
    check_shape(name, raw.pixels.shape)
    check_labels(name, torch.from_numpy(labels), classes)
    for part, held in (("training", labels[: raw.trained]), ("test", labels[raw.trained :])):
        missing = np.setdiff1d(np.arange(classes), held)
        if missing.size:
            raise DatasetError(f"{name}: no {part} image is of class {missing[0]}")
    parts = split_images(name, labels, raw.trained, sample)
    pixels = raw.pixels
    if sample.asked or not isinstance(pixels, np.ndarray):
        used = np.sort(np.concatenate(list(parts.values())))
        pixels, labels = pixels[used], labels[used]
        parts = {part: np.searchsorted(used, places) for part, places in parts.items()}
    train, valid, test = (torch.from_numpy(parts[part]) for part in ("train", "valid", "test"))
    return ImageSet(
        name,
        torch.from_numpy(np.ascontiguousarray(pixels)),
        torch.from_numpy(labels),
        train,
        valid,
        test,
        classes,
        split,
        provenance,
    )
