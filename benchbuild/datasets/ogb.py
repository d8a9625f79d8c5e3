"""ogbn-arxiv and ogbn-proteins, with their official splits.

The raw tables are read directly. ogb's own cache is a pickle that current torch refuses to open,
and reading the tables works on a read-only data root too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchbuild.datasets.download import ensure_files
from benchbuild.datasets.size import GraphSize
from benchbuild.datasets.spec import DatasetSpec, SpecFactory, fixed
from benchbuild.datasets.tables import read_chunks, read_table
from benchbuild.hyperparameters import HyperParameters
from benchquery._imports import LazyModule

if TYPE_CHECKING:
    import numpy as np
    import torch
    from torch import Tensor

    from benchbuild.datasets.graph import Graph
else:
    np = LazyModule("numpy")
    torch = LazyModule("torch", extra="build")

SERVER = "http://snap.stanford.edu/ogb/data"
PROTEIN_TASKS = 112


def _files(name: str, split: str, *tables: str) -> tuple[str, ...]:
    raw = [f"ogb/ogbn_{name}/raw/{table}.csv.gz" for table in ("edge", "node-label", *tables)]
    splits = [f"ogb/ogbn_{name}/split/{split}/{part}.csv.gz" for part in ("train", "valid", "test")]
    return (*raw, *splits)


ARXIV_FILES = _files("arxiv", "time", "node-feat")
PROTEINS_FILES = _files("proteins", "species", "edge-feat")


def fetch(archive: str, name: str, root: Path) -> None:
    """Download and unpack one dataset with ogb's own helpers.

    Args:
        archive: Where on ogb's server it is, without the ending.
        name: What its folder is called afterwards.
        root: Data root.
    """
    from ogb.utils.url import download_url, extract_zip

    folder = root / "ogb"
    folder.mkdir(parents=True)
    extract_zip(download_url(f"{SERVER}/{archive}.zip", str(folder)), str(folder))
    (folder / Path(archive).name).rename(folder / name)


def _masks(folder: Path, num_nodes: int) -> tuple[Tensor, Tensor, Tensor]:
    from torch_geometric.utils import index_to_mask

    train, valid, test = (
        index_to_mask(torch.from_numpy(read_table(folder / f"{part}.csv.gz")).flatten(), num_nodes)
        for part in ("train", "valid", "test")
    )
    return train, valid, test


def mean_edge_features(
    edge_index: np.ndarray, features: Sequence[np.ndarray], num_nodes: int
) -> Tensor:
    """Return the features of a node: the mean of the features of its edges, zero if it has none.

    Args:
        edge_index: Undirected edges, each one once, as (2, edges).
        features: Features of these edges, (edges, features), as chunks of rows in their order.
        num_nodes: Number of nodes.
    """
    degree = np.bincount(edge_index.reshape(-1), minlength=num_nodes)
    width = features[0].shape[1]
    sums = np.stack([_sums(edge_index, features, column, num_nodes) for column in range(width)], 1)
    return torch.from_numpy(sums / np.maximum(degree, 1)[:, None]).float()


def _sums(
    edge_index: np.ndarray, features: Sequence[np.ndarray], column: int, num_nodes: int
) -> np.ndarray:
    """Sum one feature up for every node: first over edges that begin there, then those that end.

    The sum so far is the first thing that is counted of a chunk, so that chunks do not change it.
    """
    every = np.arange(num_nodes)
    sums: np.ndarray = np.zeros(num_nodes)
    for ends in edge_index:
        begin = 0
        for chunk in features:
            part = ends[begin : begin + len(chunk)]
            begin += len(chunk)
            values = np.concatenate([sums, chunk[:, column]])
            sums = np.bincount(np.concatenate([every, part]), values, minlength=num_nodes)
    return sums


def undirected(source: np.ndarray, target: np.ndarray, num_nodes: int) -> Tensor:
    """Return edges in both directions, each one once, in row-major order.

    It is what PyG's function of that name returns, in less than half of the memory.
    """
    pairs = ((source, target), (target, source))
    keys = np.concatenate([one.astype(np.int64) * num_nodes + other for one, other in pairs])
    keys.sort()
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if keys.size else keys
    edges = np.empty((2, keys.size), dtype=np.int64)
    np.floor_divide(keys, num_nodes, out=edges[0])
    np.remainder(keys, num_nodes, out=edges[1])
    return torch.from_numpy(edges)


def _load_arxiv(root: Path) -> Graph:
    from torch_geometric.utils import to_undirected

    from benchbuild.datasets.graph import Graph

    ensure_files("arxiv", root, ARXIV_FILES, partial(fetch, "nodeproppred/arxiv", "ogbn_arxiv"))
    folder = root / "ogb" / "ogbn_arxiv"
    x = torch.from_numpy(read_table(folder / "raw" / "node-feat.csv.gz")).float()
    edges = torch.from_numpy(read_table(folder / "raw" / "edge.csv.gz").T.copy())
    y = torch.from_numpy(read_table(folder / "raw" / "node-label.csv.gz")).flatten()
    return Graph.build(
        "arxiv",
        x,
        to_undirected(edges, num_nodes=x.shape[0]),
        y,
        _masks(folder / "split" / "time", x.shape[0]),
        num_classes=40,
        split="official split by time",
    )


def _load_proteins(root: Path) -> Graph:
    from benchbuild.datasets.graph import Graph

    ensure_files(
        "proteins", root, PROTEINS_FILES, partial(fetch, "nodeproppred/proteins", "ogbn_proteins")
    )
    folder = root / "ogb" / "ogbn_proteins"
    y = torch.from_numpy(read_table(folder / "raw" / "node-label.csv.gz")).float()
    edges = np.concatenate([*read_chunks(folder / "raw" / "edge.csv.gz", np.int32)]).T
    features = [*read_chunks(folder / "raw" / "edge-feat.csv.gz", np.float64)]
    x = mean_edge_features(edges, features, y.shape[0])
    del features
    return Graph.build(
        "proteins",
        x,
        undirected(edges[0], edges[1], y.shape[0]),
        y,
        _masks(folder / "split" / "species", y.shape[0]),
        num_classes=PROTEIN_TASKS,
        metric="rocauc",
        split="official split by species",
    )


FACTORIES: dict[str, SpecFactory] = {
    "arxiv": fixed(
        DatasetSpec(
            name="arxiv",
            **GraphSize(
                169_343, 2_315_598, 128, 21_675_904, 40, trained=90_941, labelled=169_343
            ).stated,
            metric="accuracy",
            split="official split by time",
            licence="ODC-BY",
            source="Open Graph Benchmark, ogbn-arxiv",
            files=ARXIV_FILES,
            loader=_load_arxiv,
            hyperparameters=HyperParameters(0, 1, 128, 0.2, "adam", 0.002, 0.0, 500),
            scaling="columns",
        )
    ),
    "proteins": fixed(
        DatasetSpec(
            name="proteins",
            **GraphSize(
                132_534, 79_122_504, 8, 1_060_272, PROTEIN_TASKS, trained=86_619, labelled=132_534
            ).stated,
            metric="rocauc",
            split="official split by species",
            licence="CC0",
            source="Open Graph Benchmark, ogbn-proteins",
            files=PROTEINS_FILES,
            loader=_load_proteins,
            hyperparameters=HyperParameters(1, 1, 256, 0.0, "adam", 0.01, 5e-4, 500),
            space="proteins",
        )
    ),
}
