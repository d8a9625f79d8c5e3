r"""Views of the real graph, class by class.

With ``fanout`` ``full`` a node sees its whole neighbourhood, and propagation that no weights come
before, :math:`\hat{A}^p X`, is computed once. With numbers, as in ``10,5``, it sees at most that
many neighbours at the first and at the second hop, drawn anew every time (GraphSAGE's sampling, as
GCond uses it; weights are not rescaled).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.features import to_scipy
from benchbuild.compute.thresholds import SPARSE_BELOW
from benchbuild.kinds.condense.nodes.backbones import Backbone
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.views import (
    DenseMatrix,
    Matrix,
    SparseHop,
    SparseTimes,
    Stacked,
    View,
)
from benchquery.kinds.condensed.config import CondenseConfig

FULL = "full"
STACKED = 1 << 20
"""Up to how many features a stack has: of more, the products take longer than their calls."""


@dataclass(frozen=True)
class ClassStack:
    """The training nodes of all classes as views of equally many; zeros fill up smaller classes.

    Attributes:
        view: What is seen of them.
        labels: (classes, nodes) their classes.
        shares: (classes, nodes) one over the size of its class for each node, 0 for what fills up.
    """

    view: View
    labels: Tensor
    shares: Tensor


class ClassBatches:
    """A source of views of the training nodes of a class.

    Args:
        problem: The graph that is condensed.
        config: Says ``batch``, how many nodes a view has at most, and ``fanout``.
        backbone: Says how many propagations there are and which are done beforehand.
        generator: The source of everything random.

    Attributes:
        classes: Those that have training nodes, ascending.
    """

    def __init__(
        self,
        problem: Problem,
        config: CondenseConfig,
        backbone: Backbone,
        generator: torch.Generator,
    ) -> None:
        self.classes: list[int] = sorted(set(problem.train_labels.tolist()))
        self._device = problem.device
        self._random = np.random.default_rng(_seed(generator))
        self._batch = config.count("batch")
        self._fanout = _fanout(str(config["fanout"]))
        self._after = backbone.layers - backbone.aggregated
        nodes, labels = problem.train_nodes.cpu().numpy(), problem.train_labels.cpu().numpy()
        self._members = {label: nodes[labels == label] for label in self.classes}
        edges = problem.edge_index.cpu()
        self._propagation = propagation_matrix("gcn", edges, problem.num_nodes)
        self._place = np.zeros(problem.num_nodes, np.int64)
        self._inputs = _scipy_or_dense(problem.x)
        if self._fanout is None:
            for _ in range(backbone.aggregated):
                self._inputs = self._propagation @ self._inputs
        self._fixed: dict[int, View] = {}

    def view(self, label: int) -> View:
        """Return a view of training nodes of a class; the same one if nothing is left to chance."""
        if label in self._fixed:
            return self._fixed[label]
        members = self._members[label]
        all_of_them = len(members) <= self._batch
        if not all_of_them:
            members = self._random.permutation(members)[: self._batch]
        view = self._view(members)
        if all_of_them and self._fanout is None:
            self._fixed[label] = view
        return view

    def stack(self) -> ClassStack | None:
        """Return all training nodes at once, if they are few and nothing is left to do but weights.

        A view of each class means many small products, a stack two.
        """
        members = list(self._members.values())
        sizes = torch.tensor([len(nodes) for nodes in members])
        longest, width = int(sizes.max()), self._inputs.shape[1]
        drawn = self._fanout is not None or longest > self._batch
        if drawn or self._after or len(members) * longest * width > STACKED:
            return None
        features = np.zeros((len(members), longest, width), np.float32)
        for of_class, nodes in zip(features, members, strict=True):
            of_class[: len(nodes)] = _dense(self._inputs[nodes])
        counts = torch.arange(longest) < sizes[:, None]
        labels = torch.tensor(self.classes)[:, None].expand(-1, longest)
        return ClassStack(
            View(Stacked(torch.from_numpy(features).to(self._device)), (), counts.numel()),
            labels.to(self._device),
            (counts / sizes[:, None]).to(self._device),
        )

    def _view(self, targets: NDArray[np.int64]) -> View:
        hops: list[csr_matrix] = []
        nodes = targets
        for fanout in self._fanout or (None,) * self._after:
            hop, nodes = self._hop(nodes, fanout)
            hops.insert(0, hop)
        before = len(hops) - self._after
        features = self._inputs[nodes]
        for hop in hops[:before]:
            features = hop @ features
        remaining = tuple(SparseHop(hop, self._device) for hop in hops[before:])
        return View(self._matrix(features), remaining, len(targets))

    def _hop(
        self, targets: NDArray[np.int64], fanout: int | None
    ) -> tuple[csr_matrix, NDArray[np.int64]]:
        """Return what some nodes receive, and from whom; first of all from themselves."""
        rows = self._propagation[targets]
        if fanout is not None:
            rows = sampled(rows, fanout, self._random)
        others = np.setdiff1d(rows.indices, targets)
        sources = np.concatenate([targets, others])
        self._place[sources] = np.arange(len(sources))
        parts = (rows.data, self._place[rows.indices], rows.indptr)
        return csr_matrix(parts, shape=(len(targets), len(sources))), sources

    def _matrix(self, features: csr_matrix | NDArray[np.float32]) -> Matrix:
        numbers = features.shape[0] * features.shape[1]
        if isinstance(features, csr_matrix) and features.nnz < SPARSE_BELOW * numbers:
            return SparseTimes(features, self._device)
        return DenseMatrix(torch.from_numpy(_dense(features)).to(self._device))


def sampled(rows: csr_matrix, fanout: int, random: np.random.Generator) -> csr_matrix:
    """Return a matrix with at most `fanout` entries of each row, drawn without replacement."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((random.random(len(row)), row))
    rank = np.arange(len(row)) - rows.indptr[row]
    kept = order[rank < fanout]
    indptr = np.concatenate([[0], np.cumsum(np.minimum(np.diff(rows.indptr), fanout))])
    return csr_matrix((rows.data[kept], rows.indices[kept], indptr), shape=rows.shape)


def _dense(features: csr_matrix | NDArray[np.float32]) -> NDArray[np.float32]:
    return features.toarray() if isinstance(features, csr_matrix) else features


def _fanout(text: str) -> tuple[int, ...] | None:
    return None if text == FULL else tuple(int(part) for part in text.split(","))


def _seed(generator: torch.Generator) -> int:
    return int(torch.randint(2**62, (), generator=generator))


def _scipy_or_dense(x: Tensor) -> csr_matrix | NDArray[np.float32]:
    """Return features as what is cheaper to propagate."""
    nonzeros = int((x.values() if x.is_sparse_csr else x).count_nonzero())
    if x.is_sparse_csr or nonzeros < SPARSE_BELOW * x.numel():
        return to_scipy(x.cpu())
    return x.cpu().numpy()
