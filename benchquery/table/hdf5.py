"""HDF5 files: written to a disk that may get full, read as if they came from an enemy.

When HDF5 can't write what it still holds, it takes the whole process down as it ends. So it writes
through a file that accepts everything: the first error is kept, what comes after it is dropped, and
the error is raised when the file is closed.

HDF5 can do much that tables never use, and that could show a file from outside the table or claim
any amount of memory: links, external and virtual storage, types of any make. So what is read is
first compared with what tables are made of: datasets of plain numbers that stand in the file
itself, in chunks that carry a checksum, no larger than so many bytes can hold.
"""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import CorruptTableError
from benchquery.table.files import check_regular

if TYPE_CHECKING:
    import h5py

    from benchquery._typing import Array
else:
    h5py = LazyModule("h5py", extra="curves")

CHECKED: Mapping[str, Any] = MappingProxyType(
    {"fletcher32": True, "compression": "gzip", "shuffle": True}
)
"""How datasets are stored: with checksums, compressed."""
MOST_PACKED = 1032
"""How many bytes one compressed byte can stand for, at most: DEFLATE's limit. A chunk that claims
more bytes than so many times the size of its file is refused before memory is taken for it."""
LARGEST_CHUNK = (1 << 32) - 1
"""How many bytes a chunk can have, at most."""

_UNPACKABLE = 16
"""Bytes that deflate may not make fewer, even if they are all zero."""
_UNREADABLE = (
    OSError, RuntimeError, KeyError, TypeError, ValueError, AttributeError, MemoryError,
    OverflowError, EOFError,
)  # fmt: skip
"""What h5py raises for files that are damaged, or made to do harm."""


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


@contextlib.contextmanager
def reading(message: str) -> Iterator[None]:
    """Turn what h5py raises into an error of a damaged table.

    Args:
        message: What the error begins with: the file, and where in it.

    Raises:
        CorruptTableError: If something can't be read.
    """
    try:
        yield
    except _UNREADABLE as error:
        said = getattr(error, "strerror", None) or error
        raise CorruptTableError(f"{message}: {said or type(error).__name__}") from error


def open_hdf5(path: Path) -> h5py.File:
    """Open an HDF5 file for reading, if it is a regular file.

    Raises:
        OSError: If it is not, or is damaged.
    """
    check_regular(path)
    return h5py.File(path, "r")


def member(group: h5py.Group, name: str) -> Any:
    """Return a member of a group that is in the group itself.

    Raises:
        ValueError: If there is none, or it is a link to elsewhere.
    """
    link = group.get(name, getlink=True)
    if not isinstance(link, h5py.HardLink):
        raise ValueError(f"{name} is not there, or a link to elsewhere")
    return group[name]


def dataset(group: h5py.Group, name: str, chunk: int | None = None) -> h5py.Dataset:
    """Return a dataset of a group after checking that it can be read without harm.

    Args:
        group: The group.
        name: The dataset.
        chunk: How many entries of the first axis a chunk must have; None for all of them.

    Raises:
        ValueError: If it is no dataset of plain numbers, or stored otherwise than tables are.
        OSError: If the file is not regular any more.
    """
    found = member(group, name)
    if not isinstance(found, h5py.Dataset) or not _is_plain(found.dtype):
        raise ValueError(f"{name} holds no plain numbers")
    stored = found.id.get_create_plist()
    if stored.get_layout() != h5py.h5d.CHUNKED or stored.get_external_count():
        raise ValueError(f"{name} is not stored in chunks in the file itself")
    filters = _filters(found)
    allowed = (h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_FLETCHER32)
    if set(filters) - set(allowed) or h5py.h5z.FILTER_FLETCHER32 not in filters:
        raise ValueError(f"{name} has no checksums, or is packed in another way")
    shape = (found.shape[0] if chunk is None else chunk, *found.shape[1:])
    if found.chunks != shape:
        raise ValueError(f"{name} has chunks of the shape {found.chunks}, not {shape}")
    size, most = math.prod(shape) * found.dtype.itemsize, check_regular(Path(found.file.filename))
    if size > min(MOST_PACKED * most, LARGEST_CHUNK):
        raise ValueError(f"{name} claims chunks of {size:,} bytes in a file of {most:,}")
    return found


def read_chunk(found: h5py.Dataset, row: int | None = None) -> Array:
    """Read one chunk of a dataset: all of it, or one entry of its first axis.

    Args:
        found: A dataset, as `dataset` gives it.
        row: The entry, where chunks have one each; None where one chunk is all.

    Raises:
        ValueError: If its checksum was left out, or it was overwritten with zeros.
        OSError: If it is damaged.
    """
    values: Array = found[()] if row is None else found[row]
    if found.size:
        _check_chunk(found, row or 0, values)
    values.flags.writeable = False
    return values


def _check_chunk(found: h5py.Dataset, row: int, values: Array) -> None:
    """Check that a chunk was stored as tables are, so that its checksum was compared.

    A chunk that was never written takes no room, and reads as what the file is filled with.

    Raises:
        ValueError: If its checksum was left out, or it was overwritten with zeros.
    """
    info = found.id.get_chunk_info_by_coord((row, *[0] * (found.ndim - 1)))
    if not info.size:
        return
    skipped = [name for bit, name in enumerate(_filters(found)) if info.filter_mask >> bit & 1]
    if h5py.h5z.FILTER_FLETCHER32 in skipped:
        raise ValueError("its checksum was left out")
    # Zeros are their own checksum, but what is nothing but zeros is always stored packed.
    zeros = h5py.h5z.FILTER_DEFLATE in skipped and not any(values.tobytes())
    if zeros and values.nbytes > _UNPACKABLE:
        raise ValueError("it was overwritten with zeros")


def _filters(found: h5py.Dataset) -> list[int]:
    """Name the filters that the chunks of a dataset pass through, in order."""
    stored = found.id.get_create_plist()
    return [stored.get_filter(number)[0] for number in range(stored.get_nfilters())]


def _is_plain(dtype: Any) -> bool:
    """Tell whether a type is one of numbers, or of named numbers."""
    if dtype.names is not None:
        return all(dtype[name].kind in "fiu" for name in dtype.names)
    return dtype.kind in "fiu"
