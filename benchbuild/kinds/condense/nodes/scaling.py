r"""Features as GC-Bench gives them to every method and to every model that judges one.

=========================  ================================================================
cora, citeseer, pubmed     bags of words: every row is divided by its sum
ogbn-arxiv, flickr,        :math:`(x - \mu) / \sigma` with the mean and deviation of the
reddit                     training nodes
others                     as they are
=========================  ================================================================

Learning rates of features only mean something on one scale. Scaling twice changes nothing.
"""

from __future__ import annotations

import dataclasses

import torch
from torch import Tensor

from benchbuild.compute.features import to_scipy
from benchbuild.datasets import Graph
from benchbuild.datasets.registry import dataset_spec
from benchbuild.errors import UnknownDatasetError


def scaled(graph: Graph) -> Graph:
    """Return a graph with its features scaled as its dataset's are; others as they are."""
    try:
        scaling = dataset_spec(graph.name).scaling
    except UnknownDatasetError:
        return graph
    if scaling == "rows":
        return dataclasses.replace(graph, x=_by_row(graph.x))
    if scaling == "columns":
        return dataclasses.replace(graph, x=_by_column(dense(graph.x), graph.train_mask))
    return graph


def dense(x: Tensor) -> Tensor:
    """Return features, which may be sparse, as an ordinary matrix."""
    return x.to_dense() if x.is_sparse_csr else x


def dense_rows(x: Tensor, rows: Tensor) -> Tensor:
    """Return some rows of features, which may be sparse, as an ordinary matrix."""
    if not x.is_sparse_csr:
        return x[rows]
    chosen = to_scipy(x.cpu())[rows.cpu().numpy()].toarray()
    return torch.from_numpy(chosen).to(x.device)


def _by_row(x: Tensor) -> Tensor:
    if not x.is_sparse_csr:
        return x / x.sum(dim=1, keepdim=True).clamp(min=1.0)
    sums = torch.segment_reduce(x.values(), "sum", offsets=x.crow_indices(), axis=0, initial=0.0)
    values = x.values() / sums.clamp(min=1.0).repeat_interleave(x.crow_indices().diff())
    return torch.sparse_csr_tensor(
        x.crow_indices(), x.col_indices(), values, x.shape, check_invariants=False
    )


def _by_column(x: Tensor, train_mask: Tensor) -> Tensor:
    known = x[train_mask]
    deviation = known.std(dim=0, correction=0)
    return (x - known.mean(dim=0)) / torch.where(deviation > 0, deviation, 1.0)
