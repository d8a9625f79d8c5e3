"""The real datasets, where they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchbuild.datasets import dataset_spec
from benchbuild.datasets.root import ROOT_VARIABLE, data_root


def real_root(name: str) -> Path:
    """The folder that holds a real dataset; skips the test where there is none."""
    if not os.environ.get(ROOT_VARIABLE):
        pytest.skip(f"set {ROOT_VARIABLE} to a folder with the real datasets")
    if not dataset_spec(name).on_disk():
        pytest.skip(f"{name} is not in {ROOT_VARIABLE}")
    return data_root()
