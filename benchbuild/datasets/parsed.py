"""Parsed graphs on the disk of a node, so that its workers read a large dataset once and share it.

Reading proteins from its tables takes 41 seconds of a core, and every worker would hold a copy.
Here the first worker writes the arrays of the graph; it and the others map them into memory, where
the system keeps one copy for all. The folder of a graph is named after the contents of the files
that it was read from, is written aside and renamed, and says what its checksum is. That is
compared whenever it is read: a record states the checksum of its data anyway. What else is said of
the graph has a checksum of its own. Whatever is wrong with a folder, the graph is parsed anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchbuild.datasets.csr import csr_tensor
from benchbuild.datasets.graph import Graph
from benchbuild.datasets.graphset import GraphSet
from benchbuild.datasets.images.image_set import ImageSet
from benchbuild.datasets.registry import dataset_spec, load_data
from benchbuild.datasets.root import data_root
from benchbuild.errors import WriteError
from benchbuild.pipeline.files import locked, make_folder, sync_folder
from benchquery.places import user_cache
from benchquery.table.files import check_regular, read_regular
from benchquery.table.sealed import parse_object, seal, unseal

CACHE_VARIABLE = "GRAPHTAB_CACHE"
KEPT_FROM = 32_000_000
"""Bytes of files from which on a dataset is kept: smaller ones are read quickly."""
FORM = "1"
"""Changes when the same files shall be parsed to something else."""

ABOUT = "graph.json"
TENSORS = ("x", "edge_index", "y", "train_mask", "valid_mask", "test_mask")
FACTS = ("name", "num_classes", "metric", "split", "inductive")
_PARTS = {
    "crow": Tensor.crow_indices,
    "col": Tensor.col_indices,
    "values": Tensor.values,
}


def cache_root() -> Path:
    """Return the folder of parsed graphs: what GRAPHTAB_CACHE names, or one in the user's cache.

    On a cluster a disk of the node itself is the best place.
    """
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named).expanduser() if named else user_cache() / "graphtab" / "parsed"


def load_shared(name: str, root: Path | str | None = None) -> Graph | GraphSet | ImageSet:
    """Load a dataset, a large graph from its arrays on this node if they are there.

    Arguments and errors are those of :func:`benchbuild.datasets.load`. A folder that can't be
    written to is no error: then nothing is kept.
    """
    key = _key(name, data_root(root))
    if key is None:
        return load_data(name, root)
    try:
        return _shared(name, root, cache_root() / key)
    except (WriteError, OSError):
        return load_data(name, root)


def _key(name: str, root: Path) -> str | None:
    """Return a name for what a dataset's files hold; None for one that is not kept."""
    spec = dataset_spec(name)
    paths = [root / file for file in spec.files]
    if spec.sort != Graph.sort or not all(path.exists() for path in paths):
        return None
    if sum(path.stat().st_size for path in paths) < KEPT_FROM:
        return None
    digest = hashlib.sha256(FORM.encode())
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"{spec.name}-{digest.hexdigest()[:32]}"


def _shared(name: str, root: Path | str | None, folder: Path) -> Graph | GraphSet | ImageSet:
    if (found := read_parsed(folder)) is not None:
        return found
    make_folder(folder.parent)
    with locked(folder.with_suffix(".lock"), wait=True):
        if (found := read_parsed(folder)) is not None:
            return found
        shutil.rmtree(folder, ignore_errors=True)
        graph = load_data(name, root)
        if isinstance(graph, Graph):
            write_parsed(graph, folder)
            return read_parsed(folder) or graph
        return graph


def write_parsed(graph: Graph, folder: Path) -> None:
    """Write a graph aside and rename it, so that it is there whole or not at all."""
    with tempfile.TemporaryDirectory(prefix=".parsed-", dir=folder.parent) as aside:
        scratch = Path(aside)
        for label, tensor in _arrays(graph):
            np.save(scratch / f"{label}.npy", tensor.numpy())
        about = {fact: getattr(graph, fact) for fact in FACTS}
        shape, checksum = list(graph.x.shape), graph.checksum
        body = seal({**about, "shape": shape, "checksum": checksum})
        (scratch / ABOUT).write_text(body, encoding="utf-8")
        for path in scratch.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        whole = scratch / "whole"
        whole.mkdir()
        for path in [path for path in scratch.iterdir() if path != whole]:
            path.rename(whole / path.name)
        whole.rename(folder)
    sync_folder(folder.parent)


def _arrays(graph: Graph) -> Iterator[tuple[str, Tensor]]:
    """Give the arrays of a graph by name: of sparse features the three that they consist of."""
    for name in TENSORS:
        tensor: Tensor = getattr(graph, name)
        if tensor.layout == torch.sparse_csr:
            yield from ((f"{name}.{part}", take(tensor)) for part, take in _PARTS.items())
        else:
            yield name, tensor


def read_parsed(folder: Path) -> Graph | None:
    """Map a graph into memory; None if it is not there, or is damaged."""
    with contextlib.suppress(Exception):
        about = unseal(parse_object(read_regular(folder / ABOUT)))
        arrays = {path.stem: _mapped(path) for path in folder.glob("*.npy")}
        if "x" not in arrays:
            crow, col, values = (arrays.pop(f"x.{part}") for part in _PARTS)
            shape = (int(about["shape"][0]), int(about["shape"][1]))
            arrays["x"] = csr_tensor(crow, col, values, shape)
        parts: dict[str, Any] = {**{fact: about[fact] for fact in FACTS}, **arrays}
        graph = Graph(**parts)
        if graph.checksum == about["checksum"]:
            return graph
    return None


def _mapped(path: Path) -> Tensor:
    check_regular(path)
    return torch.from_numpy(np.load(path, mmap_mode="c", allow_pickle=False))
