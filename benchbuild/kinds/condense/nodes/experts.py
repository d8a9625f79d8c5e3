r"""Expert trajectories: the weights of models on their way through training on the real graph.

.. math:: \theta_{t+1} = \theta_t - \eta\, \nabla_\theta \mathcal{L}_t(\theta_t), \qquad
    \theta_0, \theta_k, \theta_{2k}, \ldots \text{ are kept}

An expert is one HDF5 file with a row of weights for every checkpoint. Rows are written as they come
and read one at a time, so memory doesn't depend on how many there are. A file is written aside and
renamed when it is whole: a killed run keeps its finished experts. Its name is a digest of all it
depends on, so all ratios and later runs share it.

Features are multiplied with ``feature_scale`` before anything else. Gradient descent moves the
first layer in proportion to its square: at 1, on features whose rows sum to 1, experts need
thousands of epochs; at 16 a hundred.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.features import to_scipy
from benchbuild.compute.meters import Stopwatch
from benchbuild.compute.thresholds import SPARSE_BELOW
from benchbuild.kinds.condense.method import Workspace
from benchbuild.kinds.condense.nodes.backbones import Backbone, Weights, make_backbone
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.views import DenseMatrix, Matrix, SparseHop, SparseTimes, View
from benchbuild.pipeline.files import locked, make_folder, remove_leftovers, written_aside
from benchquery.allowed import Value
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.table.hdf5 import new_hdf5

FORMAT = 1
"""Version of the files and of how they are made; part of their names."""
CHECKPOINTS = "checkpoints"
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


class Experts:
    """Some experts on disk; those that are missing are trained when this is made.

    Args:
        problem: The graph.
        config: The backbone, ``expert_epochs`` of training, ``expert_interval`` between
            checkpoints, ``expert_lr``, ``feature_scale`` and the seed.
        count: How many.
        scratch: The folder of their files.
        curriculum: The lessons; None if all are on all training nodes.

    Attributes:
        files: One an expert.
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
        make_folder(scratch)
        name = _name(problem, config, curriculum)
        self.files = [scratch / f"{name}-{number:03d}.h5" for number in range(count)]
        self.backbone = make_backbone(config, int(problem.x.shape[1]), problem.num_classes)
        self._device = problem.device
        self._shapes = [weight.shape for weight in _drawn(self.backbone, config, 0, problem)]
        watch = Stopwatch(problem.device)
        if not all(file.exists() for file in self.files):
            self._train(problem, config, curriculum)
        self._seconds_here = watch.seconds()

    def _train(
        self, problem: Problem, config: CondenseConfig, curriculum: Curriculum | None
    ) -> None:
        """Train what is missing: first what no other process is at, then wait for the others."""
        view = real_view(problem, config, self.backbone, problem.train_nodes)
        for wait in (False, True):
            for number, file in enumerate(self.files):
                with locked(file.with_suffix(".lock"), wait=wait) as held:
                    if held is None or file.exists():
                        continue
                    remove_leftovers(file.parent, file.stem)
                    weights = _drawn(self.backbone, config, number, problem)
                    rows = trajectory(
                        problem, config, self.backbone, view, weights=weights, curriculum=curriculum
                    )
                    _write(file, config, rows, problem.device)

    def __len__(self) -> int:
        """Return how many experts there are."""
        return len(self.files)

    def checkpoint(self, expert: int, row: int) -> Weights:
        """Read the weights of an expert: row 0 is before training, -1 the end of it."""
        with h5py.File(self.files[expert], "r") as file:
            flat = torch.from_numpy(file[CHECKPOINTS][row]).to(self._device)
        parts = torch.split(flat, [shape.numel() for shape in self._shapes])
        return [part.view(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def add_costs(self, workspace: Workspace) -> None:
        """Add the seconds of their training, whenever that was, and the bytes of their files.

        ``expert_seconds_here`` are those that this process spent on it, waiting included.
        """
        costs = workspace.costs
        costs["expert_seconds_here"] = costs.get("expert_seconds_here", 0.0) + self._seconds_here
        for path in self.files:
            with h5py.File(path, "r") as file:
                seconds = float(file.attrs["seconds"])
            costs["expert_seconds"] = costs.get("expert_seconds", 0.0) + seconds
            costs["expert_bytes"] = costs.get("expert_bytes", 0.0) + path.stat().st_size


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
    yield _flat_copy(weights)
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
            yield _flat_copy(weights)


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
    digest = hashlib.sha256(f"expert {config.seed} {expert}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:4], "big"))
    return backbone.draw(generator, problem.device)


def _name(problem: Problem, config: CondenseConfig, curriculum: Curriculum | None) -> str:
    """Return what files of experts begin with: a digest of all that they depend on."""
    facts = {
        "format": FORMAT,
        "device": problem.device.type,
        "graph": problem.checksum,
        "curriculum": dict(curriculum.key) if curriculum else None,
        **{name: config[name] for name in _SETTINGS},
    }
    text = json.dumps(facts, sort_keys=True)
    return f"expert-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _flat_copy(weights: Weights) -> Tensor:
    """Return the weights in one new vector, which later steps of training don't change."""
    return torch.cat([weight.detach().reshape(-1) for weight in weights]).cpu()


def _write(
    file: Path, config: CondenseConfig, rows: Iterator[Tensor], device: torch.device
) -> None:
    """Write the checkpoints of an expert as they come, with the time that they took.

    Raises:
        WriteError: If the disk is full, the folder is read-only, or the like.
    """
    count = config.count("expert_epochs") // config.count("expert_interval") + 1
    with written_aside(file, file.stem) as aside, new_hdf5(aside) as store:
        watch = Stopwatch(device)
        for number, row in enumerate(rows):
            shape = (count, len(row))
            table = store.require_dataset(CHECKPOINTS, shape, "float32", chunks=(1, len(row)))
            table[number] = row.numpy()
        store.attrs["seconds"] = watch.seconds()
