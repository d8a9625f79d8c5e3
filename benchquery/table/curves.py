"""Learning curves: the figures of every epoch, seed by seed.

``curves.h5`` holds ``hash`` (n), ``seed`` (s) and ``curves`` (n, s, epochs, 7), the last
axis in the order of `schema.CURVE_COLUMNS`. In tables that are not of architectures the hash is
the position of the row in the summary, from 0, and in a condensed one the seeds are those of the
evaluation; where a row has fewer seeds or epochs than the file, the rest is NaN. A chunk is one
row of the table, so a curve is one read. Every chunk and all of HDF5's own structures carry
checksums, so damage is noticed when it is read, however large the file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchquery._imports import LazyModule
from benchquery.errors import CorruptTableError, QueryError, UnknownHashError
from benchquery.table.hdf5 import CHECKED, dataset, new_hdf5, open_hdf5, read_chunk, reading
from benchquery.table.schema import CURVE_COLUMNS

if TYPE_CHECKING:
    import h5py
    import numpy as np

    from benchquery._typing import Array, Ints
else:
    h5py = LazyModule("h5py", extra="curves")
    np = LazyModule("numpy")

Seed = int | Literal["mean"]

_SHOWN = 60


@contextlib.contextmanager
def new_curves(path: Path, hashes: Ints, seeds: Ints, epochs: int) -> Iterator[h5py.Dataset]:
    """Make a file of learning curves and give its dataset to fill, row by row.

    Rows that are not filled are NaN and take no room.

    Args:
        path: The file to write.
        hashes: The architectures, ascending; in a condensed table, the rows.
        seeds: The seeds.
        epochs: The number of epochs.
    """
    shape = (len(seeds), epochs, len(CURVE_COLUMNS))
    with new_hdf5(path) as file:
        for name, values in (("hash", hashes), ("seed", seeds)):
            file.create_dataset(name, data=values, dtype="int32", chunks=values.shape, **CHECKED)
        yield file.create_dataset(
            "curves",
            (len(hashes), *shape),
            dtype="float32",
            fillvalue=float("nan"),
            chunks=(1, *shape),
            **CHECKED,
        )


class Curves:
    """The learning curves of a table.

    Args:
        path: The ``curves.h5`` of the table.

    Raises:
        CorruptTableError: If the file is not such a file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with reading(f"{path} is no file of learning curves"):
            self._file = open_hdf5(path)
            if (names := sorted(self._file)) != ["curves", "hash", "seed"]:
                raise ValueError(f"it holds {', '.join(names)[:_SHOWN]}")
            hashes, seeds = (
                read_chunk(dataset(self._file, name)).tolist() for name in ("hash", "seed")
            )
            self._data = dataset(self._file, "curves", chunk=1)
            shape, kind = self._data.shape, self._data.dtype
        if kind != np.float32 or any(type(number) is not int for number in (*hashes, *seeds)):
            raise CorruptTableError(f"{path} holds curves of the type {kind}, or keys of another")
        self.seeds: tuple[int, ...] = tuple(seeds)
        self._row = {number: row for row, number in enumerate(hashes)}
        once = (len(self._row), len(set(seeds)))
        wanted = (len(hashes), len(seeds), len(CURVE_COLUMNS))
        if once != wanted[:2] or (*shape[:2], *shape[3:]) != wanted:
            raise CorruptTableError(
                f"{path} holds curves of shape {shape} for {len(self._row)} architectures and "
                f"{len(set(seeds))} seeds, of which it names {len(hashes)} and {len(seeds)}"
            )
        self.epochs: int = shape[2]

    @property
    def numbers(self) -> Collection[int]:
        """The hashes of the architectures that have a curve; in other tables, the rows."""
        return self._row.keys()

    def check(self) -> None:
        """Read every curve, each by its checksum.

        Raises:
            CorruptTableError: If the file is damaged.
        """
        for number in self._row:
            self.block(number)

    def block(self, number: int) -> Array:
        """Return the figures of every seed and epoch: (seeds, epochs, 7).

        Args:
            number: The hash of an architecture; in a condensed table, the row.

        Raises:
            UnknownHashError: If there is no such curve.
            CorruptTableError: If the file is damaged there.
        """
        if number not in self._row:
            raise UnknownHashError(f"{self._path} has no curve of {number!r}")
        with reading(f"{self._path} is damaged at {number}"):
            return read_chunk(self._data, self._row[number])

    def known(self, number: int) -> tuple[tuple[int, ...], Array]:
        """Return the seeds that have a figure, and theirs of every epoch up to the last known.

        Args:
            number: The hash of an architecture; in other tables, the row.

        Returns:
            The seeds, and (seeds, epochs, 7) with the columns as `CURVE_COLUMNS`.

        Raises:
            UnknownHashError: If there is no such curve.
            CorruptTableError: If the file is damaged there.
        """
        block = self.block(number)
        there = np.flatnonzero(~np.isnan(block).all(axis=(1, 2)))
        return tuple(self.seeds[seed] for seed in there), known_epochs(block[there])

    def curve(self, number: int, seed: Seed = "mean") -> Array:
        """Return the figures of every epoch: (epochs, 7), columns as `CURVE_COLUMNS`.

        Args:
            number: The hash of an architecture.
            seed: A seed, or ``mean`` for the mean over all of them.

        Raises:
            UnknownHashError: If there is no curve of this architecture.
            QueryError: If there is no such seed.
            CorruptTableError: If the file is damaged there.
        """
        self.check_seed(seed)
        curves = self.block(number)
        curve: Array = curves.mean(axis=0) if seed == "mean" else curves[self.seeds.index(seed)]
        return curve

    def check_seed(self, seed: Seed) -> None:
        """Refuse a seed that is not there.

        Raises:
            QueryError: If there is no such seed.
        """
        if seed != "mean" and seed not in self.seeds:
            known = ", ".join(map(str, self.seeds))
            raise QueryError(f"there is no seed {seed!r}; allowed: mean, {known}")


def known_epochs(curves: Array) -> Array:
    """Return (seeds, epochs, 7) without the epochs at the end that have no figure."""
    known = np.flatnonzero(~np.isnan(curves).all(axis=(0, 2)))
    return curves[:, : 1 + int(known[-1])] if known.size else curves[:, :0]
