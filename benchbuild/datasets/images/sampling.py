"""Which images of a source are used: a validation part of its training images, and samples.

A tenth of the training images of every class is set aside for validation, so that nothing is ever
chosen by test images. A name may ask for fewer images, as in ``mnist:train=5000,test=1000``; they
are drawn so that every class keeps its share. Seeds are fixed and numpy's RandomState has a frozen
stream: a name always means the same images.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchbuild.datasets.size import SPLIT_SEED
from benchbuild.errors import DatasetError
from benchquery._imports import LazyModule
from benchquery.naming import whole_number

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

VALIDATION, TEST = 10, 5
"""One in so many images of a class is set aside: of training images for validation; for testing
where the source has no test images."""
VALIDATION_SPLIT = (
    f"a tenth of the training images of every class for validation, drawn with seed {SPLIT_SEED}"
)
SPLIT = f"the source's test images; {VALIDATION_SPLIT}"


@dataclass(frozen=True)
class Sample:
    """How many images are used; None for all there are.

    Attributes:
        train: Training images.
        valid: Validation images.
        test: Test images.
    """

    train: int | None = None
    valid: int | None = None
    test: int | None = None

    @classmethod
    def of(cls, name: str, parameters: Mapping[str, str]) -> Sample:
        """Return the sample that the parameters in a dataset's name describe.

        Raises:
            DatasetError: If a parameter does not exist or is not allowed.
        """
        known = [field.name for field in dataclasses.fields(cls)]
        values = {}
        for key, text in parameters.items():
            if key not in known:
                raise DatasetError(f"{name}: unknown parameter {key!r}; known: {', '.join(known)}")
            if not (number := whole_number(text)):
                raise DatasetError(f"{name}: {key}={text} is not a whole number from 1 up")
            values[key] = number
        return cls(**values)

    @property
    def asked(self) -> dict[str, int]:
        """What is not all there is, by the name of the part."""
        return {part: count for part, count in dataclasses.asdict(self).items() if count}

    def named(self, base: str, **others: str) -> str:
        """Return a dataset's name that gives this very sample, after its other parameters."""
        text = ",".join(f"{key}={value}" for key, value in (others | self.asked).items())
        return f"{base}:{text}" if text else base

    def told(self, split: str) -> str:
        """Return how the images are chosen, in words."""
        drawn = " and ".join(f"{count:,} {part}" for part, count in self.asked.items())
        return f"{split}; of these {drawn} images, every class with its share" if drawn else split


def kept_out(images: int, classes: int, one_in: int) -> int:
    """Return how many images are set aside: one in so many, and one of every class at least."""
    return max(images // one_in, classes)


def stratified(labels: np.ndarray, count: int, seed: int = SPLIT_SEED) -> np.ndarray:
    """Draw places of a list of classes so that each class keeps its share.

    What is left after rounding down goes to the classes that lost most by it; every class has one
    place at least.

    Args:
        labels: Classes.
        count: How many places to draw.
        seed: Seed of the draw.

    Returns:
        The places in ascending order.

    Raises:
        DatasetError: If there are fewer, or more classes than that.
    """
    _, member, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if not len(sizes) <= count <= len(labels):
        raise DatasetError(
            f"{count} images can't be drawn from {len(labels)} of {len(sizes)} classes"
        )
    quota = count * sizes / len(labels)
    taken = np.maximum(np.floor(quota).astype(np.int64), 1)
    by_loss = np.argsort(taken - quota, kind="stable")
    while (left := count - int(taken.sum())) != 0:
        for place in by_loss if left > 0 else by_loss[::-1]:
            step = int(np.sign(count - taken.sum()))
            if 1 <= taken[place] + step <= sizes[place]:
                taken[place] += step
    random = np.random.RandomState(seed)
    drawn = [
        random.permutation(np.flatnonzero(member == place))[:number]
        for place, number in enumerate(taken)
    ]
    return np.sort(np.concatenate(drawn))


def split_images(
    name: str, labels: np.ndarray, trained: int, sample: Sample
) -> dict[str, np.ndarray]:
    """Choose the images of the three parts.

    Args:
        name: The dataset, for messages.
        labels: Classes of all images of the source, training images first.
        trained: How many training images the source has.
        sample: How many of each part are used.

    Returns:
        Places in ascending order by part: train, valid, test.

    Raises:
        DatasetError: If there are too few images.
    """
    try:
        classes = len(np.unique(labels[:trained]))
        valid = stratified(labels[:trained], kept_out(trained, classes, VALIDATION))
        rest = np.setdiff1d(np.arange(trained), valid)
        parts = {"train": rest, "valid": valid, "test": np.arange(trained, len(labels))}
        for part, count in sample.asked.items():
            parts[part] = parts[part][stratified(labels[parts[part]], count)]
    except DatasetError as error:
        raise DatasetError(f"{name}: {error}") from None
    return parts
