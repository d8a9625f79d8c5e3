"""Images of one's own, from an ``.npz``: ``own-images:file=shoes`` reads ``images/shoes.npz``.

It holds ``x``, (images, height, width) with or without channels before or after these two, as uint8
or as floats from 0 to 1, and ``y``, the classes from 0. Test images are ``x_test`` and ``y_test``;
if there are none, a fifth of every class is taken for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.images.archives import damaged
from benchbuild.datasets.images.family import Raw, image_set
from benchbuild.datasets.images.sampling import TEST, VALIDATION_SPLIT, Sample, kept_out, stratified
from benchbuild.datasets.spec import DatasetSpec, SpecFactory
from benchbuild.errors import DatasetError, DatasetMissingError
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np

    from benchbuild.datasets.images.image_set import ImageSet
else:
    np = LazyModule("numpy")

BASE = "own-images"
DEFAULT = "own"
OWN_SPLIT = f"the file's test images, or a fifth of every class if it has none; {VALIDATION_SPLIT}"


def _spec(parameters: Mapping[str, str]) -> DatasetSpec:
    stem = parameters.get("file", DEFAULT)
    if not re.fullmatch(r"[A-Za-z0-9_-]+", stem):
        raise DatasetError(
            f"{BASE}: file={stem} must be the name of a file in images/ without its .npz, of "
            "letters, digits, - and _"
        )
    rest = {key: text for key, text in parameters.items() if key != "file"}
    sample = Sample.of(BASE, rest)
    name = sample.named(BASE, **({} if stem == DEFAULT else {"file": stem}))
    file = f"images/{stem}.npz"
    return DatasetSpec(
        name=name,
        num_nodes=None,
        num_features=None,
        num_classes=None,
        metric="accuracy",
        split=sample.told(OWN_SPLIT),
        licence="the file's own",
        source=f"{file}, a file of one's own",
        files=(file,),
        loader=partial(_load, name, file, sample),
        sort="images",
    )


def _load(name: str, file: str, sample: Sample, root: Path) -> ImageSet:
    path = root / file
    if not path.exists():
        raise DatasetMissingError(BASE, path, "it is a file of one's own")
    raw = read_npz(path)
    classes = len(np.unique(raw.labels))
    return image_set(name, raw, sample, classes, split=sample.told(OWN_SPLIT))


def read_npz(path: Path) -> Raw:
    """Read a file of images; nothing in it is unpickled.

    Raises:
        DatasetError: If it is damaged, or its parts are not what they have to be.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            parts = {key: file[key] for key in ("x", "y", "x_test", "y_test") if key in file}
    except Exception as error:
        raise damaged(path, error) from error
    if not {"x", "y"} <= parts.keys() or ("x_test" in parts) != ("y_test" in parts):
        raise DatasetError(f"{path} must hold x and y, and x_test and y_test or neither")
    pixels, labels = _pixels(path, parts["x"]), _classes(path, parts["y"], len(parts["x"]))
    if "x_test" in parts:
        tested = _pixels(path, parts["x_test"])
        if tested.shape[1:] != pixels.shape[1:]:
            raise DatasetError(
                f"{path}: images of x have the shape {pixels.shape[1:]}, those of x_test "
                f"{tested.shape[1:]}"
            )
        more = _classes(path, parts["y_test"], len(tested))
        return Raw(np.concatenate([pixels, tested]), np.concatenate([labels, more]), len(pixels))
    last = stratified(labels, kept_out(len(labels), len(np.unique(labels)), TEST))
    order = np.concatenate([np.setdiff1d(np.arange(len(labels)), last), last])
    return Raw(pixels[order], labels[order], len(labels) - len(last))


def _pixels(path: Path, x: np.ndarray) -> np.ndarray:
    """Return images as uint8 with channels first."""
    if x.ndim == 3:
        x = x[:, None]
    elif x.ndim == 4 and x.shape[1] not in (1, 3) and x.shape[3] in (1, 3):
        x = x.transpose(0, 3, 1, 2)
    if x.dtype == np.uint8:
        return x
    if x.dtype.kind != "f" or not x.size or not bool(((x >= 0) & (x <= 1)).all()):
        raise DatasetError(
            f"{path}: pixels are of type {x.dtype}"
            + (f" from {x.min():g} to {x.max():g}" if x.size and x.dtype.kind in "iuf" else "")
            + "; allowed are uint8, or floats from 0 to 1"
        )
    rounded: np.ndarray = np.rint(x * 255).astype(np.uint8)
    return rounded


def _classes(path: Path, y: np.ndarray, images: int) -> np.ndarray:
    if y.dtype.kind not in "iu" or y.shape != (images,) or (images and int(y.min()) < 0):
        raise DatasetError(
            f"{path}: classes are {y.dtype} of the shape {y.shape}; they must be whole numbers "
            f"from 0 of the shape {(images,)}"
        )
    return y.astype(np.int64)


FACTORIES: dict[str, SpecFactory] = {BASE: _spec}
