"""TinyImageNet: 200 classes of ImageNet at 64 x 64 pixels, from its folder or its archive.

The classes of its own test images were never published. The labelled validation images of the
source are the test images here, as in DC-Bench.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.images.archives import open_zip
from benchbuild.datasets.images.family import Choice, Facts, Raw, image_factory
from benchbuild.datasets.images.jpeg import JpegImages
from benchbuild.datasets.images.sampling import VALIDATION_SPLIT
from benchbuild.datasets.spec import SpecFactory
from benchbuild.errors import DatasetError
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

URL = "http://cs231n.stanford.edu/tiny-imagenet-200.zip"
PLACE = "images/TinyImageNet"
FOLDER = "tiny-imagenet-200"
NEEDED = ("wnids.txt", "train", "val/val_annotations.txt")

TINY_IMAGENET = Facts(
    "tinyimagenet",
    (3, 64, 64),
    200,
    100_000,
    10_000,
    "not stated",
    f"Stanford's CS231n, {URL}",
    split=f"the labelled validation images of the source as test images; {VALIDATION_SPLIT}",
)


def folder_factory(facts: Facts) -> SpecFactory:
    """Return the factory of a set in the layout of TinyImageNet."""
    file = f"{PLACE}/{FOLDER}.zip"
    return image_factory(
        facts,
        (
            Choice(
                tuple(f"{PLACE}/{FOLDER}/{name}" for name in NEEDED),
                lambda root: _read(facts, root / PLACE / FOLDER),
            ),
            Choice((file,), lambda root: _read(facts, open_zip(root / file, FOLDER))),
        ),
        partial(_fetch, file),
    )


def _fetch(file: str, root: Path) -> None:
    from torch_geometric.data import download_url

    download_url(URL, str((root / file).parent), log=False)


def _read(facts: Facts, folder: Path | zipfile.Path) -> Raw:
    """Read the images named by the lists; every class has as many training images."""
    names = _text(folder / "wnids.txt").split()
    if len(names) != facts.classes or len(set(names)) != facts.classes:
        raise DatasetError(
            f"{facts.name}: {folder / 'wnids.txt'} names {len(names)} classes, not {facts.classes}"
        )
    for name in names:
        if not re.fullmatch("n[0-9]+", name):
            raise DatasetError(f"{facts.name}: {folder / 'wnids.txt'} has the class {name!r}")
    place = {name: number for number, name in enumerate(names)}
    per_class = facts.trained // facts.classes
    files = [f"train/{n}/images/{n}_{i}.JPEG" for n in names for i in range(per_class)]
    labels = [number for number in range(facts.classes) for _ in range(per_class)]
    for line in _text(folder / "val" / "val_annotations.txt").splitlines():
        file, name, *_ = (*line.split("\t"), "")
        if name not in place or Path(file).name != file:
            raise DatasetError(
                f"{facts.name}: {folder / 'val' / 'val_annotations.txt'} has the line {line!r}"
            )
        files.append(f"val/images/{file}")
        labels.append(place[name])

    def read(place: int) -> tuple[bytes, str]:
        path = folder / files[place]
        return _bytes(path), str(path)

    pixels = JpegImages(len(files), facts.shape, read)
    return Raw(pixels, np.array(labels, np.int64), facts.classes * per_class)


def _bytes(path: Path | zipfile.Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise DatasetError(f"{path} can't be read: {type(error).__name__}: {error}") from error


def _text(path: Path | zipfile.Path) -> str:
    try:
        return _bytes(path).decode()
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} is no text: {error}") from error


FACTORIES: dict[str, SpecFactory] = {"tinyimagenet": folder_factory(TINY_IMAGENET)}
