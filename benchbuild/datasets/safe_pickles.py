"""A check of pickled arrays: a pickle may run any code when it is loaded, these must not.

The citation graphs come as pickles, which torch-geometric loads as they are. They are loaded here
first, by a reader that builds matrices, arrays and dictionaries of lists and refuses all else.
"""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

from benchbuild.errors import DatasetError

HARMLESS = frozenset(
    {
        ("__builtin__", "list"),
        ("collections", "defaultdict"),
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("scipy.sparse.csr", "csr_matrix"),
    }
)
"""Module and name of everything that may be built."""


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in HARMLESS:
            raise DatasetError(f"it asks for {module}.{name}, which arrays don't need")
        return super().find_class(module, name)


def check_pickle(path: Path) -> None:
    """Refuse a pickle that is damaged or does more than hold arrays.

    Raises:
        DatasetError: If it is or does.
    """
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            _Reader(file, encoding="latin1").load()
    except DatasetError as error:
        raise DatasetError(f"{path} is not loaded: {error}") from None
    except Exception as error:
        raise DatasetError(
            f"{path} is damaged or no pickle: {type(error).__name__}: {error}. Delete it to have "
            "it downloaded again"
        ) from error
