"""MNIST and Fashion-MNIST from their idx files, compressed or not.

An idx file is a header of big-endian whole numbers (two zero bytes, the type of the entries, how
many dimensions there are, the size of each) and then the entries.
"""

from __future__ import annotations

import gzip
import math
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.images.archives import damaged
from benchbuild.datasets.images.family import Choice, Facts, Raw, image_factory
from benchbuild.datasets.spec import SpecFactory
from benchbuild.errors import DatasetError
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
SHAPE = (1, 28, 28)
UNSIGNED_BYTES = 8
"""The number by which an idx file says that its entries are bytes from 0 to 255."""

MNIST = Facts(
    "mnist", SHAPE, 10, 60_000, 10_000, "CC BY-SA 3.0", "LeCun, Cortes and Burges's MNIST"
)
FASHION_MNIST = Facts(
    "fashion-mnist", SHAPE, 10, 60_000, 10_000, "MIT", "zalandoresearch/fashion-mnist"
)


def idx_factory(facts: Facts, folder: str, url: str) -> SpecFactory:
    """Return the factory of a set of four idx files.

    Args:
        facts: What is known of it.
        folder: Where the files are below the data root.
        url: Where they are published, compressed.
    """
    plain = tuple(f"{folder}/{name}" for name in NAMES)
    packed = tuple(f"{file}.gz" for file in plain)
    return image_factory(
        facts,
        (Choice(plain, partial(_read, plain)), Choice(packed, partial(_read, packed))),
        partial(_fetch, packed, url),
    )


def _fetch(files: tuple[str, ...], url: str, root: Path) -> None:
    from torch_geometric.data import download_url

    for file in files:
        path = root / file
        download_url(f"{url}/{path.name}", str(path.parent), log=False)


def read_idx(path: Path, dimensions: int) -> np.ndarray:
    """Return the entries of an idx file of bytes, compressed if its name ends with ``.gz``.

    Args:
        path: The file.
        dimensions: How many dimensions it must have.

    Raises:
        DatasetError: If it is damaged, cut short or holds something else.
    """
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, error) from error
    if content[:4] != bytes((0, 0, UNSIGNED_BYTES, dimensions)):
        raise DatasetError(f"{path} is no idx file of bytes in {dimensions} dimensions")
    start = 4 + 4 * dimensions
    sizes = [int.from_bytes(content[at : at + 4], "big") for at in range(4, start, 4)]
    if len(content) != start + math.prod(sizes):
        raise DatasetError(
            f"{path} is damaged or cut short: it has {len(content) - start:,} entries, its header "
            f"says {' x '.join(map(str, sizes))}"
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(sizes)


def _read(files: tuple[str, ...], root: Path) -> Raw:
    parts = [read_idx(root / file, 1 if "labels" in file else 3) for file in files]
    for images, labels, file in zip(parts[::2], parts[1::2], files[1::2], strict=True):
        if len(images) != len(labels):
            raise DatasetError(f"{root / file} has {len(labels)} classes for {len(images)} images")
    pixels = np.concatenate(parts[::2])[:, None]
    return Raw(pixels, np.concatenate(parts[1::2]).astype(np.int64), len(parts[0]))


FACTORIES: dict[str, SpecFactory] = {
    "mnist": idx_factory(
        MNIST, "images/MNIST/raw", "https://ossci-datasets.s3.amazonaws.com/mnist"
    ),
    "fashion-mnist": idx_factory(
        FASHION_MNIST,
        "images/FashionMNIST/raw",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
    ),
}
