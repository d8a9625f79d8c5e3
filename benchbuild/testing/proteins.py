"""Data of the shape of ogbn-proteins, made up, in the files that ogb publishes.

What it takes to build the largest table can be rehearsed with it, at a fraction of its size.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchbuild.datasets.ogb import PROTEIN_TASKS

NODES, EDGES, FEATURES = 132_534, 39_561_252, 8
"""Nodes, undirected edges and features of an edge of the dataset itself."""
SPLIT = {"train": 0.6536, "valid": 0.1602, "test": 0.1862}
"""Its shares of the nodes."""


def write_proteins(root: Path, share: float, seed: int = 0) -> tuple[int, int]:
    """Write the files of a dataset with a share of its nodes and edges, and all its tasks.

    Nodes have as many neighbours as there, in blocks that decide features and labels.

    Args:
        root: The data root to write to.
        share: How much of the nodes and of the edges; 1 for all.
        seed: Seed of the draw.

    Returns:
        How many nodes and undirected edges it has; edges that were drawn twice count once.
    """
    random = np.random.default_rng(seed)
    nodes, wanted = round(NODES * share), round(EDGES * share)
    blocks = random.integers(8, size=nodes)
    by_block = np.argsort(blocks, kind="stable")
    begins = np.searchsorted(blocks[by_block], np.arange(9))
    source = random.integers(nodes, size=wanted)
    sizes = np.diff(begins)[blocks[source]]
    near = by_block[begins[blocks[source]] + (random.random(wanted) * sizes).astype(np.int64)]
    target = np.where(random.random(wanted) < 0.5, near, random.integers(nodes, size=wanted))
    keys = np.unique(np.minimum(source, target) * nodes + np.maximum(source, target))
    edges = np.stack(np.divmod(keys, nodes), axis=1)
    edges = edges[edges[:, 0] != edges[:, 1]]
    raw, split = (root / "ogb" / "ogbn_proteins" / part for part in ("raw", "split/species"))
    raw.mkdir(parents=True)
    split.mkdir(parents=True)
    features = random.random((len(edges), FEATURES)) ** 3
    features[np.arange(len(edges)), blocks[edges[:, 0]] % FEATURES] += 0.2
    likely = random.random((8, PROTEIN_TASKS))
    labels = random.random((nodes, PROTEIN_TASKS)) < 0.1 + 0.4 * likely[blocks]
    _write(raw / "edge.csv.gz", edges, "%d")
    _write(raw / "edge-feat.csv.gz", features, "%.3f")
    _write(raw / "node-label.csv.gz", labels, "%d")
    bounds = np.round(np.cumsum(list(SPLIT.values())) * nodes).astype(int)
    for part, members in zip(SPLIT, np.split(random.permutation(nodes), bounds[:2]), strict=True):
        _write(split / f"{part}.csv.gz", np.sort(members)[:, None], "%d")
    return nodes, len(edges)


def _write(path: Path, table: np.ndarray, form: str) -> None:
    import pandas as pd

    number = None if form == "%d" else form
    pd.DataFrame(table if number else table.astype(np.int64)).to_csv(
        path,
        header=False,
        index=False,
        float_format=number,
        compression={"method": "gzip", "compresslevel": 1},
    )
