"""Learning curves: the figures of every epoch, seed by seed.

``curves.h5`` holds ``hash`` (n), ``seed`` (s) and ``curves`` (n, s, epochs, 7), the last
axis in the order of `schema.CURVE_COLUMNS`. A chunk is one architecture, so a curve is
one read, and carries a checksum, so damage is noticed when it is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from benchquery._imports import LazyModule
from benchquery.errors import CorruptTableError, QueryError, UnknownHashError
from benchquery.schema import CURVE_COLUMNS

if TYPE_CHECKING:
    import h5py
else:
    h5py = LazyModule("h5py", extra="curves")

Curve = npt.NDArray[Any]
Seed = int | Literal["mean"]


class Curves:
    """The learning curves of a table.

    Args:
        path: The ``curves.h5`` of the table.

    Raises:
        CorruptTableError: If the file is not such a file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = h5py.File(path, "r")
            self.seeds: tuple[int, ...] = tuple(self._file["seed"][:].tolist())
            hashes = self._file["hash"][:].tolist()
            self._data = self._file["curves"]
            shape = self._data.shape
        except (OSError, KeyError, TypeError, AttributeError) as error:
            raise CorruptTableError(f"{path} is no file of learning curves: {error}") from error
        if shape[:2] != (len(hashes), len(self.seeds)) or shape[3:] != (len(CURVE_COLUMNS),):
            raise CorruptTableError(
                f"{path} holds curves of shape {shape} for {len(hashes)} architectures "
                f"and {len(self.seeds)} seeds"
            )
        self._row = {number: row for row, number in enumerate(hashes)}
        self.epochs: int = shape[2]

    def curve(self, number: int, seed: Seed = "mean") -> Curve:
        """Return the figures of every epoch: (epochs, 7), columns as `CURVE_COLUMNS`.

        Args:
            number: The hash of an architecture.
            seed: A seed, or ``mean`` for the mean over all of them.

        Raises:
            UnknownHashError: If there is no curve of this architecture.
            QueryError: If there is no such seed.
            CorruptTableError: If the file is damaged there.
        """
        if number not in self._row:
            raise UnknownHashError(f"{self._path} has no curve of the architecture {number!r}")
        self.check_seed(seed)
        try:
            curves: Curve = self._data[self._row[number]]
        except OSError as error:
            raise CorruptTableError(
                f"{self._path} is damaged at architecture {number}: {error}"
            ) from error
        curve: Curve = curves.mean(axis=0) if seed == "mean" else curves[self.seeds.index(seed)]
        return curve

    def check_seed(self, seed: Seed) -> None:
        """Refuse a seed that is not there.

        Raises:
            QueryError: If there is no such seed.
        """
        if seed != "mean" and seed not in self.seeds:
            known = ", ".join(map(str, self.seeds))
            raise QueryError(f"there is no seed {seed!r}; allowed: mean, {known}")
