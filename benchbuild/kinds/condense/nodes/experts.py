r"""Expert trajectories: the weights of models on their way through training on the real graph.

.. math:: \theta_{t+1} = \theta_t - \eta\, \nabla_\theta \mathcal{L}_t(\theta_t), \qquad
    \theta_0, \theta_k, \theta_{2k}, \ldots \text{ are kept}

How they are kept, `benchbuild.kinds.condense.expert_files` says.

Features are multiplied with ``feature_scale`` before anything else. Gradient descent moves the
first layer in proportion to its square: at 1, on features whose rows sum to 1, experts need
thousands of epochs; at 16 a hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.features import to_scipy
from benchbuild.compute.thresholds import SPARSE_BELOW
from benchbuild.kinds.condense.expert_files import ExpertFiles, expert_generator, flat_copy
from benchbuild.kinds.condense.nodes.backbones import Backbone, Weights, make_backbone
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.views import DenseMatrix, Matrix, SparseHop, SparseTimes, View
from benchquery.allowed import Value
from benchquery.kinds.condensed.config import CondenseConfig

FORMAT = 1
"""Version of the files and of how they are made; part of their names."""
_SETTINGS = (
    "backbone",
    "layers",
    "hidden",
    "seed",
    "feature_scale",
    "expert_epochs",
    "expert_interval",
    "expert_lr",
)


@dataclass(frozen=True)
class Curriculum:
    """Which training nodes an epoch's loss is taken on, where that is not always all of them.

    Attributes:
        chosen: A mask of the training nodes for each epoch, counted from 0.
        key: What the masks depend on.
    """

    chosen: Callable[[int], Tensor]
    key: Mapping[str, Value]


class Experts(ExpertFiles):
    """Some experts on disk; those that are missing are trained when this is made.

    Args:
        problem: The graph.
        config: The backbone, ``expert_epochs`` of training, ``expert_interval`` between
            checkpoints, ``expert_lr``, ``feature_scale`` and the seed.
        count: How many.
        scratch: The folder of their files.
        curriculum: The lessons; None if all are on all training nodes.

    Attributes:
        backbone: The model.
    """

    def __init__(
        self,
        problem: Problem,
        config: CondenseConfig,
        count: int,
        scratch: Path,
        curriculum: Curriculum | None = None,
    ) -> None:
        self.backbone = make_backbone(config, int(problem.x.shape[1]), problem.num_classes)
        shapes = [weight.shape for weight in _drawn(self.backbone, config, 0, problem)]
        facts = _facts(problem, config, curriculum)
        super().__init__(scratch, facts, count, shapes, problem.device)

        @cache
        def view() -> View:
            return real_view(problem, config, self.backbone, problem.train_nodes)

        def train(number: int) -> Iterator[Tensor]:
            weights = _drawn(self.backbone, config, number, problem)
            return trajectory(
                problem, config, self.backbone, view(), weights=weights, curriculum=curriculum
            )

        self.complete(train, config.count("expert_epochs") // config.count("expert_interval") + 1)


def trajectory(
    problem: Problem,
    config: CondenseConfig,
    backbone: Backbone,
    view: View,
    *,
    weights: Weights,
    curriculum: Curriculum | None = None,
) -> Iterator[Tensor]:
    """Train a model: yield a copy of its weights, flat, at every checkpoint.

    Args:
        problem: The graph.
        config: The settings of `Experts`.
        backbone: The model.
        view: The training nodes as the model sees them.
        weights: Those it begins with; changed in place.
        curriculum: The lessons; None if all are on all training nodes.
    """
    labels, lr = problem.train_labels, config.number("expert_lr")
    everyone = torch.full((1, len(labels)), 1 / len(labels), device=problem.device)
    yield flat_copy(weights)
    for epoch in range(config.count("expert_epochs")):
        shares = everyone
        if curriculum is not None:
            chosen = curriculum.chosen(epoch).to(everyone)
            shares = (chosen / chosen.sum())[None]
        with torch.no_grad():
            gradients = backbone.gradients(weights, view, labels, shares)
            for weight, gradient in zip(weights, gradients, strict=True):
                weight.sub_(gradient[0], alpha=lr)
        if (epoch + 1) % config.count("expert_interval") == 0:
            yield flat_copy(weights)


def real_view(problem: Problem, config: CondenseConfig, backbone: Backbone, nodes: Tensor) -> View:
    """Return some nodes of the real graph as a model sees them, with scaled features."""
    matrix = propagation_matrix("gcn", problem.edge_index.cpu(), problem.num_nodes)
    rows = nodes.cpu().numpy()
    hops: list[SparseHop] = []
    for _ in range(backbone.layers - backbone.aggregated):
        received = matrix[rows]
        rows = np.concatenate([rows, np.setdiff1d(received.indices, rows)])
        hops.insert(0, SparseHop(received[:, rows], problem.device))
    left = csr_matrix(
        (
            np.full(len(rows), config.number("feature_scale"), np.float32),
            rows,
            range(len(rows) + 1),
        ),
        shape=(len(rows), problem.num_nodes),
    )
    for _ in range(backbone.aggregated):
        left = left @ matrix
    return View(_times_features(left, problem.x, problem.device), tuple(hops), len(nodes))


def _times_features(left: csr_matrix, x: Tensor, device: torch.device) -> Matrix:
    """Return a sparse matrix times the features, in the form that is the cheaper factor."""
    if x.is_sparse_csr or int(x.count_nonzero()) < SPARSE_BELOW * x.numel():
        product = left @ to_scipy(x.cpu())
        if product.nnz < SPARSE_BELOW * product.shape[0] * product.shape[1]:
            return SparseTimes(product, device)
        product = product.toarray()
    else:
        product = left @ x.cpu().numpy()
    return DenseMatrix(torch.from_numpy(product).to(device))


def _drawn(backbone: Backbone, config: CondenseConfig, expert: int, problem: Problem) -> Weights:
    """Return the weights that an expert begins with."""
    return backbone.draw(expert_generator(config.seed, expert), problem.device)


def _facts(
    problem: Problem, config: CondenseConfig, curriculum: Curriculum | None
) -> dict[str, Any]:
    """Return all that experts depend on."""
    return {
        "format": FORMAT,
        "device": problem.device.type,
        "graph": problem.checksum,
        "curriculum": dict(curriculum.key) if curriculum else None,
        **{name: config[name] for name in _SETTINGS},
    }
