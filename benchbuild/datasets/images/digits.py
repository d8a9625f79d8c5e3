"""The 8 x 8 digits of scikit-learn, which need no file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.images.family import Choice, Facts, Raw, image_factory
from benchbuild.datasets.images.sampling import VALIDATION_SPLIT, stratified
from benchbuild.datasets.size import SPLIT_SEED
from benchbuild.datasets.spec import SpecFactory
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

TESTED = 360
BRIGHTEST = 16

DIGITS = Facts(
    "digits",
    (1, 8, 8),
    10,
    1_797 - TESTED,
    TESTED,
    "CC BY 4.0 (UCI)",
    "UCI's optical recognition of handwritten digits, embedded in scikit-learn",
    split=f"a fifth of every class for testing, drawn with seed {SPLIT_SEED}; {VALIDATION_SPLIT}",
)


def _read(_root: Path) -> Raw:
    """Read them, with 0 to 16 stretched to 0 to 255 and the test images put last."""
    from sklearn.datasets import load_digits

    found = load_digits()
    tested = stratified(found.target, TESTED)
    order = np.concatenate([np.setdiff1d(np.arange(len(found.target)), tested), tested])
    pixels = np.rint(found.images[order] * (255 / BRIGHTEST)).astype(np.uint8)
    return Raw(pixels[:, None], found.target[order], len(order) - TESTED)


FACTORIES: dict[str, SpecFactory] = {"digits": image_factory(DIGITS, (Choice((), _read),))}
