r"""DosCond: :math:`\min_S \mathbb{E}_{\theta, A' \sim \omega} D(\nabla \ell(S), \nabla \ell(T))`.

Synthetic graphs of one size, features X' and logits of edges, are learnt such that fresh networks
have the gradients on them that they have on real ones; edges are drawn from a relaxed Bernoulli
distribution that gets colder (Jin et al., "Condensing graphs via one-step gradient matching",
2022). Beside the matching loss there are

.. math::
    \mathcal{L}_{\text{sparsity}} = \mathrm{relu}(\overline{\sigma(\omega)} - \bar{A}_0), \qquad
    \mathcal{L}_{\text{bound}} = \frac{1}{\sqrt 2} \cdot \frac{3}{2 \sqrt{100}} \cdot
        \frac{C - 1}{C n} \| \operatorname{pool}(\hat{A}'^L X') \|_F.

The second is what the paper's bound on the loss of trained networks adds; its repository has it for
one dataset only.

Protocol ``as-released`` is GC-Bench's version: features begin as noise where edges are real (fault
G1), the squared distance is not divided by the real gradients' size (G2), it stops when the loss,
which is that of another network each time, has found no new minimum for 50 epochs (G3), and what it
keeps is a relaxed sample of which every entry above 0 is an edge (G4). Its loop prints figures of
other graphs than it keeps, those of the edges that are more probable than not: ``likely`` ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.graphs.gcn import GraphGcn, Weights
from benchbuild.kinds.condense.graphs.gumbel import probabilities, relaxed_sample, temperature
from benchbuild.kinds.condense.graphs.init import initial_graphs
from benchbuild.kinds.condense.graphs.matching import GraphMatching
from benchbuild.kinds.condense.graphs.payload import CondensedGraphs
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.graphs.views import DenseView
from benchbuild.kinds.condense.learning import Learner, mean_losses
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchquery.kinds.condensed.config import CondenseConfig

PATIENCE = 50
"""Epochs without a new minimum of the loss after which GC-Bench's version stops."""
DECAY = 0.1
"""What learning rates are multiplied with after the epoch that says so."""
_BOUND = 1 / math.sqrt(2) * 3 / 2 / math.sqrt(100)


def condense(
    problem: GraphsProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield synthetic graphs; those of epoch 0 are what it begins with.

    Raises:
        CondenseError: If a class has too few graphs, or too few that are small enough to begin
            with, or a network can't be had.
    """
    state = DosCondState(problem, config)
    epochs, every = config.count("epochs"), config.count("evaluate_every")
    stops = config.protocol == "as-released"
    yield Snapshot(0, state.graphs(), {})
    losses: list[dict[str, float]] = []
    best, best_epoch = math.inf, 0
    for epoch in range(1, epochs + 1):
        losses.append(state.epoch(epoch, state.drawn_weights()))
        if losses[-1]["matching"] < best:
            best, best_epoch = losses[-1]["matching"], epoch
        last = epoch == epochs or (stops and epoch - best_epoch >= PATIENCE)
        if last or epoch % every == 0:
            yield Snapshot(epoch, state.graphs(), mean_losses(losses))
            losses.clear()
        if last:
            return


class DosCondState:
    """Synthetic graphs that are being learnt, with all that learning them needs.

    Args:
        problem: The set that is condensed.
        config: All hyper-parameters.

    Attributes:
        x: (graphs, nodes, features).
        logits: (graphs, nodes, nodes) of edges.
        labels: (graphs,) classes, ascending.
    """

    def __init__(self, problem: GraphsProblem, config: CondenseConfig) -> None:
        self._config = config
        self._device = problem.device
        self._generator = torch.Generator().manual_seed(config.seed)
        self._classes = problem.num_classes
        self._network = network(problem, config)
        begun = initial_graphs(problem, config, self._generator)
        self.x, self.logits, self._density = begun.x.clone(), begun.logits, begun.density
        self.labels = problem.synthetic_labels(config)
        self._objective = GraphMatching(
            problem, config, self._network, self.labels, self._generator
        )
        self._sample: Tensor | None = None
        self._begin(1.0)

    def _begin(self, scale: float) -> None:
        """Begin with new optimisers, their learning rates multiplied with a number."""
        self._features = Learner([self.x], scale * self._config.number("lr_feat"))
        self._edges = Learner([self.logits], scale * self._config.number("lr_adj"))

    def drawn_weights(self) -> Weights:
        """Return fresh weights of the network."""
        return self._network.draw(self._generator, self._device)

    def epoch(self, epoch: int, weights: Weights) -> dict[str, float]:
        """Make an update and return the losses before it.

        Args:
            epoch: Its number, from 1.
            weights: Of the network that is matched.
        """
        adjacency = relaxed_sample(self.logits, temperature(epoch - 1), self._generator)
        losses = {
            "matching": self._objective(weights, self.x, adjacency),
            "sparsity": self._sparsity(),
        }
        if self._config.number("bound"):
            losses["bound"] = self._config.number("bound") * self._bound(adjacency)
        total = torch.stack(list(losses.values())).sum()
        of_x, of_logits = torch.autograd.grad(total, [self.x, self.logits])
        self._features.step([of_x])
        self._edges.step([of_logits])
        self._sample = adjacency.detach()
        if epoch == self._config.count("decay_after"):
            self._begin(DECAY)
        return {name: float(value.detach()) for name, value in losses.items()}

    def _sparsity(self) -> Tensor:
        dense = (self.logits.sigmoid().mean() - self._density).relu()
        return self._config.number("sparsity") * dense

    def _bound(self, adjacency: Tensor) -> Tensor:
        view = DenseView.of(self.x, adjacency)
        rows = view.features
        for layer in range(self._network.layers - 1):
            rows = view.propagate(layer, rows)
        pooled = view.pool(rows)
        if self._network.pooling == "mean":
            pooled = pooled / view.sizes
        share = (self._classes - 1) / self._classes / len(self.labels)
        norm: Tensor = torch.linalg.vector_norm(pooled)
        return _BOUND * share * norm

    @torch.no_grad()
    def graphs(self) -> CondensedGraphs:
        """Return a copy of the graphs as they are."""
        edges = probabilities(self.logits)
        likely = self._config["edges"] == "likely"
        if self._config.protocol == "as-released" and self._sample is not None and not likely:
            edges = (self._sample > 0).float()
        elif self._config["edges"] != "soft":
            edges = (edges > 0.5).float()
        return CondensedGraphs.from_dense(self.x, edges, self.labels).detach()


def network(problem: GraphsProblem, config: CondenseConfig) -> GraphGcn:
    """Return the network whose gradients are matched.

    Raises:
        CondenseError: If there is no such network.
    """
    if config.backbone != "gcn":
        raise CondenseError(f"doscond matches gradients of a gcn, not of {config.backbone!r}")
    outputs = problem.num_classes
    if config["loss"] == "logistic":
        if outputs != 2:
            raise CondenseError(f"the logistic loss needs two classes, not {outputs}; use softmax")
        outputs = 1
    hidden = (config.count("hidden"),) * config.count("layers")
    return GraphGcn((problem.graphs.num_features, *hidden), outputs, str(config["pooling"]))
