"""HDF5 files that can be written to a disk that gets full.

When HDF5 can't write what it still holds, it takes the whole process down as it ends. So it writes
through a file that accepts everything: the first error is kept, what comes after it is dropped, and
the error is raised when the file is closed.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import h5py
else:
    h5py = LazyModule("h5py", extra="curves")


class _Accepting(io.FileIO):
    """A file whose writes never fail; `error` is the first one that did."""

    error: OSError | None = None

    def write(self, content: Any, /) -> int:
        size = memoryview(content).nbytes
        if self.error is None:
            try:
                self._write_all(memoryview(content).cast("B"))
            except OSError as error:
                self.error = error
        return size

    def _write_all(self, rest: memoryview) -> None:
        while rest:
            rest = rest[super().write(rest) :]


@contextlib.contextmanager
def new_hdf5(path: Path) -> Iterator[h5py.File]:
    """Make an HDF5 file to fill.

    Raises:
        OSError: If the disk is full, or the like.
    """
    with _Accepting(path, "w+b") as raw:
        try:
            with h5py.File(raw, "w", libver="latest") as file:
                yield file
        finally:
            if raw.error is not None:
                raise raw.error
