r"""The tangent kernel of an infinitely wide GCN of two layers, and ridge regression with it.

.. math::
    \Theta = \hat{A} \, \mathrm{T}(\hat{A} X, \hat{A}' X') \, \hat{A}'^\top, \qquad
    \mathrm{T}(z, z') = \lVert z \rVert \lVert z' \rVert \, \kappa_1(u)
    + z^\top z' \, \kappa_0(u), \quad u = \cos(z, z'),

.. math::
    \kappa_0(u) = \frac{\pi - \arccos u}{\pi}, \qquad
    \kappa_1(u) = \frac{u \, (\pi - \arccos u) + \sqrt{1 - u^2}}{\pi}

This is SFGC's own way to choose among snapshots: fit the synthetic nodes in closed form, predict
the validation nodes, take the squared error. Here it is recorded and chooses nothing.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.sparse import sparse_matrix
from benchbuild.datasets import Graph
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.condense.nodes.scaling import dense

RIDGE = 1.0
"""Weight of the ridge, relative to the mean of the kernel's diagonal; as published."""


def tangent_kernel(left: Tensor, right: Tensor) -> Tensor:
    """Return T between the rows of two matrices of propagated features."""
    inner = left @ right.T
    lengths = torch.outer(left.norm(dim=1), right.norm(dim=1))
    cosine = (inner / lengths.clamp(min=torch.finfo(inner.dtype).tiny)).clamp(-1, 1)
    angle = math.pi - cosine.arccos()
    return (lengths * (cosine * angle + (1 - cosine.square()).sqrt()) + inner * angle) / math.pi


def ridge_regression(kernel: Tensor, cross: Tensor, targets: Tensor, ridge: float) -> Tensor:
    """Return what kernel ridge regression predicts.

    Args:
        kernel: (n, n) between the nodes that are fitted.
        cross: (m, n) between those that are predicted and them.
        targets: (n, c) of those that are fitted.
        ridge: Weight of the ridge, relative to the mean of the kernel's diagonal.
    """
    weight = ridge * kernel.diagonal().mean()
    eye = torch.eye(len(kernel), dtype=kernel.dtype, device=kernel.device)
    fitted: Tensor = torch.linalg.solve(kernel + weight * eye, targets)
    return cross @ fitted


class ValidationScore:
    """How well a condensed graph without edges explains the validation nodes.

    Args:
        graph: The dataset; in the inductive setting the validation nodes are a graph of their own.
        device: Where to compute.
    """

    def __init__(self, graph: Graph, device: torch.device) -> None:
        whole = graph.induced(graph.valid_mask) if graph.inductive else graph
        matrix = propagation_matrix("gcn", whole.edge_index, int(whole.x.shape[0]))
        nodes = graph.valid_mask.nonzero().view(-1)
        outer = matrix if graph.inductive else matrix[nodes.numpy()]
        reached = np.unique(outer.indices)
        self._outer = sparse_matrix(outer[:, reached], device)
        self._inner = torch.from_numpy(matrix[reached] @ dense(whole.x).numpy()).to(device)
        self._targets = self._centred(graph.y[nodes].to(device), graph.num_classes)

    def __call__(self, condensed: CondensedGraph) -> float:
        """Return half the mean squared error of the classes' indicators."""
        x = condensed.x
        cross = self._outer @ tangent_kernel(self._inner, x)
        targets = self._centred(condensed.y, self._targets.shape[1])
        parts = (tangent_kernel(x, x).double(), cross.double(), targets)
        predicted = ridge_regression(*parts, RIDGE)
        return float((predicted - self._targets).square().mean() / 2)

    @staticmethod
    def _centred(y: Tensor, classes: int) -> Tensor:
        """Return classes, or probabilities of them, with zero mean in every row."""
        indicators = functional.one_hot(y, classes) if y.dim() == 1 else y
        return indicators.double() - 1 / classes
