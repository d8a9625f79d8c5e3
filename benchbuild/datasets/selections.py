"""Training graphs that the authors of KiDD chose and published, list by list.

A list says which training graphs of each class are to be kept, by their places in the training part
of the split: all of the first class, then all of the next. How they were chosen is not published;
docs/graph-level.md says what can be told.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from benchbuild.errors import DatasetError

FOLDER = "kidd_splits"
WAYS: Mapping[str, str] = MappingProxyType(
    {"random": "RandomSelect", "herding": "HerdingSelect", "k-center": "KCenterSelect"}
)
"""Folders of the lists by what chose."""
Selections = Mapping[tuple[str, int], tuple[int, ...]]
"""Places of training graphs by what chose them and how many of each class."""


def read_selections(root: Path, stem: str, graphs: int, classes: int) -> Selections:
    """Return the published lists of a dataset that there are; nothing where there are none.

    Args:
        root: The data root.
        stem: What the authors call the dataset.
        graphs: How many training graphs there are.
        classes: How many classes.

    Raises:
        DatasetError: If a file is not such a list.
    """
    found = {}
    for way, folder in WAYS.items():
        infix = folder.removesuffix("Select").lower()
        for path in sorted((root / FOLDER / folder).glob(f"{stem}_{infix}_*.txt")):
            count = path.stem.rpartition("_")[2]
            words = path.read_text(encoding="ascii", errors="replace").split()
            if not count.isdecimal() or not all(word.isdecimal() for word in words):
                raise DatasetError(f"{path} is damaged: it is to hold whole numbers")
            places, wanted = tuple(map(int, words)), int(count) * classes
            if len(places) != wanted or max(places, default=graphs) >= graphs:
                raise DatasetError(
                    f"{path} is damaged: it is to hold {wanted} numbers below {graphs}"
                )
            found[way, int(count)] = places
    return found
