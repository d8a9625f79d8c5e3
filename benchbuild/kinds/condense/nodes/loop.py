r"""The loop that gradient and distribution matching share.

.. math:: \min_{X', \phi} \; \mathbb{E}_{\theta_0} \sum_{t < \text{outer}}
    \mathcal{L}(X', A'_\phi(X'); \theta_t), \qquad
    \theta_{t+1} = \text{inner steps of Adam on the synthetic graph from } \theta_t

Every epoch begins with fresh weights. Of every ``adj_steps + feat_steps`` epochs, the first
``adj_steps`` update the structure, the others the features, once every outer step.

The published code computes A' twice an outer step: to match, and after the update to train the
model. The second one is the first one of the next step, so it is computed once here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, cast

import torch
from torch import Tensor

from benchbuild.kinds.condense.learning import Learner, mean_losses
from benchbuild.kinds.condense.method import Snapshot
from benchbuild.kinds.condense.nodes.backbones import Backbone, Weights, make_backbone
from benchbuild.kinds.condense.nodes.init import initial_features
from benchbuild.kinds.condense.nodes.linear import LinearTraining
from benchbuild.kinds.condense.nodes.matching import Objective
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.structure import PairwiseMlp, Structure
from benchbuild.kinds.condense.nodes.views import DenseMatrix, Propagated, View, synthetic_view
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.domains.spec import AS_RELEASED
from benchquery.kinds.condensed.faults import keeps


class MakeObjective(Protocol):
    """Makes a loss; see `benchbuild.kinds.condense.nodes.matching`."""

    def __call__(
        self,
        problem: Problem,
        config: CondenseConfig,
        backbone: Backbone,
        labels: Tensor,
        generator: torch.Generator,
    ) -> Objective:
        """Return the loss of synthetic graphs with these labels."""


MakeStructure = Callable[[Problem, CondenseConfig, torch.Generator], Structure]
LINEAR = 2
"""How many tensors the weights of a linear model are: a matrix and a bias."""


def features_frozen(problem: Problem, config: CondenseConfig) -> bool:
    """Return whether the published code never updates X' under a configuration.

    Its optimiser holds the tensor from before it was wrapped as a parameter, in distribution
    matching and in the inductive setting. Protocol ``as-released`` keeps that.
    """
    affected = config.spec.family == "distribution" or problem.inductive
    return config.protocol == AS_RELEASED and affected


def match(
    problem: Problem,
    config: CondenseConfig,
    make_objective: MakeObjective,
    make_structure: MakeStructure = PairwiseMlp,
) -> Iterator[Snapshot]:
    """Yield synthetic graphs on the way to one that a model can't tell from the real one.

    Args:
        problem: The graph that is condensed.
        config: The loop's ``epochs``, ``outer``, ``inner``, ``adj_steps``, ``feat_steps``,
            ``lr_adj``, ``lr_feat``, ``lr_model`` and ``evaluate_every``.
        make_objective: Makes the loss.
        make_structure: Makes the function from X' to A'.
    """
    state = MatchingState(problem, config, make_objective, make_structure)
    epochs, every = config.count("epochs"), config.count("evaluate_every")
    yield Snapshot(0, state.graph(), {})
    losses: list[dict[str, float]] = []
    for epoch in range(1, epochs + 1):
        losses += state.epoch(epoch, state.drawn_weights())
        if epoch % every == 0 or epoch == epochs:
            yield Snapshot(epoch, state.graph(), mean_losses(losses))
            losses.clear()


class MatchingState:
    """A synthetic graph that is being learnt, with all that learning it needs.

    Args:
        problem: The graph that is condensed.
        config: As for `match`.
        make_objective: Makes the loss.
        make_structure: Makes the function from X' to A'.

    Attributes:
        x: (n, f) features.
        labels: (n,) classes.
        structure: The function from X' to A'.
    """

    def __init__(
        self,
        problem: Problem,
        config: CondenseConfig,
        make_objective: MakeObjective,
        make_structure: MakeStructure,
    ) -> None:
        self._generator = torch.Generator().manual_seed(config.seed)
        self._config = config
        self._device = problem.device
        self.labels = problem.synthetic_labels(config)
        self.x = initial_features(problem, config, self.labels, self._generator).clone()
        self.structure = make_structure(problem, config, self._generator)
        self._backbone = make_backbone(config, int(problem.x.shape[1]), problem.num_classes)
        self._objective = make_objective(
            problem, config, self._backbone, self.labels, self._generator
        )
        self._frozen = features_frozen(problem, config)
        self._normalises = not keeps(config, "N5")
        self._teaches_means = keeps(config, "N6")
        self._always_pays = config.protocol == AS_RELEASED
        self._features = Learner([self.x], config.number("lr_feat"))
        self._edges = Learner(self.structure.weights, config.number("lr_adj"))

    def graph(self) -> CondensedGraph:
        """Return a copy of the graph as it is."""
        with torch.no_grad():
            adjacency = self.structure(self.x)
        return CondensedGraph(self.x, self.labels, adjacency).detach()

    def drawn_weights(self) -> Weights:
        """Return fresh weights of the backbone."""
        return self._backbone.draw(self._generator, self._device)

    def epoch(self, epoch: int, weights: Weights) -> Iterator[dict[str, float]]:
        """Make an epoch's updates and yield the losses before each.

        Args:
            epoch: Its number, from 1; it decides what is updated.
            weights: The weights of the backbone to begin with; they are trained.
        """
        adj_steps = self._config.count("adj_steps")
        on_edges = (epoch - 1) % (adj_steps + self._config.count("feat_steps")) < adj_steps
        learner = self._edges if on_edges else None if self._frozen else self._features
        for one in (self._edges, self._features):
            one.rest(one is not learner)
        outer = self._config.count("outer")
        train = self._training(weights)
        adjacency = self.structure(self.x)
        for step in range(1, outer + 1):
            view = self._view(self.x, adjacency, normalise=self._normalises)
            loss = self._objective(weights, view)
            losses = {"matching": loss}
            pays = on_edges or self._always_pays
            penalty = self.structure.penalty(adjacency) if pays else None
            if penalty is not None:
                losses["structure"] = penalty
                loss = loss + penalty
            if learner is not None:
                learner.step(torch.autograd.grad(loss, learner.tensors))
            yield {name: float(value.detach()) for name, value in losses.items()}
            if step < outer:
                adjacency = self.structure(self.x)
                train(self._view(self.x.detach(), adjacency.detach()))

    def _view(self, x: Tensor, adjacency: Tensor, *, normalise: bool = True) -> View:
        layers, aggregated = self._backbone.layers, self._backbone.aggregated
        return synthetic_view(x, adjacency, layers, aggregated, normalise=normalise)

    def _training(self, weights: Weights) -> Callable[[View], None]:
        """Return what trains a model by some steps on the synthetic graph, as it then is."""
        rate, steps = self._config.number("lr_model"), self._config.count("inner")
        if len(weights) == LINEAR and not self._teaches_means:
            linear = LinearTraining(weights, rate)
            return lambda view: linear.run(
                cast(DenseMatrix | Propagated, view.features).matrix, self.labels, steps
            )
        model = Learner(weights, rate)

        def train(view: View) -> None:
            for _ in range(steps):
                model.step(self._lesson(weights, view))

        return train

    def _lesson(self, weights: Weights, view: View) -> Sequence[Tensor]:
        """Return the gradients of what a model is to learn: classes; as released, class means."""
        if self._teaches_means:
            loss = self._objective(weights, view)
            return torch.autograd.grad(loss, weights, materialize_grads=True)
        shares = torch.full((1, view.targets), 1 / view.targets, device=self._device)
        with torch.no_grad():
            gradients = self._backbone.gradients(weights, view, self.labels, shares)
        return [gradient[0] for gradient in gradients]
