"""A check of pickled arrays: a pickle may run any code when it is loaded, these must not.

The citation graphs come as pickles, which torch-geometric loads as they are. They are read here
first, by a machine that knows matrices, arrays and dictionaries of lists and refuses all else. It
also looks at the numbers: a matrix whose indices point outside of it would have scipy write
anywhere. Batches of images are pickles too; of these the machine gives the content itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchbuild.errors import DatasetError
from benchquery.errors import UnsafePickleError
from benchquery.pickles.arrays import CONSTRUCTORS
from benchquery.pickles.budget import Budget
from benchquery.pickles.machine import Constructor, Machine, Name, StandIn

_ARRAYS = (
    ("numpy", "dtype"), ("numpy", "ndarray"), ("numpy.core.multiarray", "_reconstruct"),
)  # fmt: skip
_MATRIX_PARTS = frozenset(
    {
        "format", "_shape", "indptr", "indices", "data", "maxprint",
        "_cs_matrix__has_sorted_indices", "_cs_matrix__has_canonical_format",
    }
)  # fmt: skip
_MOST_CELLS = 1 << 27
"""How large a matrix may be when it is written out in full, which torch-geometric does."""


class Matrix(StandIn):
    """Stands in for a sparse matrix."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: dict[str, Any] = {}

    def build(self, state: Any, budget: Budget) -> Matrix:
        """Take its parts."""
        if self._parts or type(state) is not dict or not state.keys() <= _MATRIX_PARTS:
            raise UnsafePickleError("it has a matrix with unknown parts")
        self._parts = dict(state)
        return self

    def check(self) -> None:
        """Refuse a matrix whose parts don't belong together.

        Raises:
            ValueError: If they don't.
        """
        rows, columns = self._parts["_shape"]
        bounds, indices, data = (self._parts[name] for name in ("indptr", "indices", "data"))
        if not (type(rows) is int and type(columns) is int) or not (
            rows > 0 and columns > 0 and rows * columns <= _MOST_CELLS
        ):
            raise ValueError(f"its matrix has {rows} rows and {columns} columns")
        for numbers in (bounds, indices, data):
            _check_numbers(numbers, dimensions=1)
        if bounds.dtype.kind != "i" or indices.dtype.kind != "i":
            raise ValueError("the indices of its matrix are no whole numbers")
        if len(bounds) != rows + 1 or bounds[0] != 0 or {bounds[-1], len(data)} != {len(indices)}:
            raise ValueError("the parts of its matrix differ in length")
        if (np.diff(bounds) < 0).any() or (indices < 0).any() or (indices >= columns).any():
            raise ValueError("an index of its matrix is out of range")


def _check_numbers(values: Any, dimensions: int) -> None:
    """Refuse what is no array that torch can take."""
    if type(values) is not np.ndarray or values.ndim != dimensions:
        raise ValueError(f"an array is not of {dimensions} dimensions")
    if not values.dtype.isnative or values.dtype.itemsize > 8:
        raise ValueError(f"it has an array of type {values.dtype}")


def _check_neighbours(graph: Mapping[Any, Any]) -> None:
    """Refuse a dictionary that is not one of lists of neighbours."""
    for node, neighbours in graph.items():
        if type(node) is not int or type(neighbours) is not list:
            raise ValueError("it is no dictionary of lists of neighbours")
        if not set(map(type, neighbours)) <= {int}:
            raise ValueError(f"a neighbour of {node} is no whole number")
        if node < 0 or min(neighbours, default=0) < 0:
            raise ValueError(f"node {node}, or a neighbour of it, is negative")


def _make_matrix(args: tuple[Any, ...], budget: Budget) -> Matrix:
    if args:
        raise UnsafePickleError("it makes a matrix in an unknown way")
    return Matrix()


def _make_lists(args: tuple[Any, ...], budget: Budget) -> dict[Any, Any]:
    """Make a dictionary whose values are lists by default."""
    (kind,) = args
    if type(kind) is not Name or (kind.module, kind.name) != ("__builtin__", "list"):
        raise UnsafePickleError("it makes a dictionary in an unknown way")
    return {}


_FUNCTIONS: Mapping[tuple[str, str], Constructor | None] = {
    **{name: CONSTRUCTORS[name] for name in _ARRAYS},
    ("__builtin__", "list"): None,
    ("collections", "defaultdict"): _make_lists,
}
_CLASSES: Mapping[tuple[str, str], Constructor] = {
    ("scipy.sparse.csr", "csr_matrix"): _make_matrix,
}


def check_pickle(path: Path) -> None:
    """Refuse a pickle that is damaged or does more than hold arrays.

    Raises:
        DatasetError: If it is or does.
    """
    try:
        value = Machine(path.read_bytes(), _FUNCTIONS, _CLASSES, (Matrix,)).run()
        if type(value) is Matrix:
            value.check()
        elif type(value) is dict:
            _check_neighbours(value)
        else:
            _check_numbers(value, dimensions=2)
    except UnsafePickleError as error:
        raise DatasetError(
            f"{path} is not loaded: {error}, which arrays don't need. Delete it to have it "
            "downloaded again"
        ) from None
    except Exception as error:
        raise DatasetError(
            f"{path} is damaged or no pickle: {type(error).__name__}: {error}. Delete it to have "
            "it downloaded again"
        ) from error


def read_plain(content: bytes, where: str) -> Any:
    """Return what a pickle of plain data and arrays holds; Python's own loader is not used.

    Args:
        content: The pickle.
        where: What it is called in messages.

    Raises:
        DatasetError: If it is damaged, or asks for anything else.
    """
    try:
        return Machine(content, CONSTRUCTORS).run()
    except UnsafePickleError as error:
        raise DatasetError(f"{where} is not loaded: {error}, which arrays don't need") from None
    except Exception as error:
        raise DatasetError(
            f"{where} is damaged or no pickle: {type(error).__name__}: {error}"
        ) from error
