"""Damaged files that are kept or offered: parsed graphs in a cache, and registries of tables.

A parsed graph that is damaged counts as *detected* where it is not taken: it is parsed anew.
"""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

from scipy.sparse import csr_matrix

from benchbuild.datasets import load
from benchbuild.datasets.npz import sparse_features
from benchbuild.datasets.parsed import FACTS, read_parsed, write_parsed
from benchbuild.errors import DatasetError
from benchbuild.fuzzing.judging import fuzz_folders
from benchbuild.fuzzing.outcome import Outcome
from benchquery.remote import offers
from benchquery.table.offers import REGISTRY
from benchquery.table.store import BUNDLED

_DATASET = "karate"


def fuzz(trials: int, seed: int, folder: Path) -> Outcome:
    """Damage parsed graphs and registries, and read them; see `fuzz_folders`."""
    graph, samples = load(_DATASET), folder / "samples"
    registry, dense, sparse = (samples / name for name in ("registry", "dense", "sparse"))
    registry.mkdir(parents=True)
    shutil.copy(BUNDLED / REGISTRY, registry)
    write_parsed(graph, dense)
    wide = sparse_features(csr_matrix(graph.x.numpy()))
    write_parsed(dataclasses.replace(graph, x=wide), sparse)
    return fuzz_folders([registry, dense, sparse], (_read,), trials, seed, folder)


def _read(folder: Path) -> Any:
    """Return all that a folder says."""
    if (folder / REGISTRY).exists():
        return offers(folder)
    graph = read_parsed(folder)
    if graph is None:
        raise DatasetError(f"{folder} is not taken")
    return graph.facts, [getattr(graph, fact) for fact in FACTS]
