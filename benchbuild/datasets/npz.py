"""Reader of the gnn-benchmark ``.npz`` layout: adjacency, attributes and labels as CSR arrays.

Read straight from the raw file, so a read-only data root works and wide features never become
dense; nothing in the file is unpickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from benchbuild.datasets.csr import csr_tensor


@dataclass(frozen=True)
class NpzGraph:
    """What such a file holds: binary attributes, undirected edges without loops, classes."""

    attributes: csr_matrix
    adjacency: csr_matrix
    labels: np.ndarray

    @property
    def edge_index(self) -> Tensor:
        """Both directions of every edge, as (source, target) columns."""
        edges = self.adjacency.tocoo()
        return torch.from_numpy(np.stack([edges.row, edges.col]).astype(np.int64))

    def restrict(self, nodes: np.ndarray) -> NpzGraph:
        """Return the graph induced by some nodes, in the order they are given."""
        return NpzGraph(self.attributes[nodes], self.adjacency[nodes][:, nodes], self.labels[nodes])


def read_npz(path: Path) -> NpzGraph:
    """Read one file; counts become 0/1 attributes, as in torch-geometric."""
    with np.load(path, allow_pickle=False) as file:
        attributes = _csr(file, "attr")
        adjacency = _csr(file, "adj")
        labels = file["labels"].astype(np.int64)
    attributes.data = (attributes.data > 0).astype(np.float32)
    attributes.eliminate_zeros()
    adjacency = ((adjacency + adjacency.T) != 0).tolil()
    adjacency.setdiag(False)
    return NpzGraph(attributes, adjacency.tocsr(), labels)


def _csr(file: np.lib.npyio.NpzFile, prefix: str) -> csr_matrix:
    parts = tuple(file[f"{prefix}_{part}"] for part in ("data", "indices", "indptr"))
    return csr_matrix(parts, shape=tuple(file[f"{prefix}_shape"]))


def sparse_features(attributes: csr_matrix) -> Tensor:
    """Attributes as a float32 sparse CSR tensor, columns in ascending order."""
    ordered = attributes.sorted_indices()
    return csr_tensor(
        torch.from_numpy(ordered.indptr.astype(np.int64)),
        torch.from_numpy(ordered.indices.astype(np.int64)),
        torch.from_numpy(ordered.data.astype(np.float32)),
        ordered.shape,
    )
