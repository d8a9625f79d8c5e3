r"""What makes synthetic graphs alike to real ones for a network with given weights.

.. math:: \mathcal{L} = \sum_c D\bigl( \nabla_\theta \ell_c(S), \nabla_\theta \ell_c(T_c) \bigr),
    \qquad D(g, r) = \frac{\| g - r \|^2}{\| r \|^2}

:math:`\ell_c` is the mean cross-entropy of the graphs of a class, and :math:`T_c` are some of its
training graphs, drawn anew every time. With ``joint``, :math:`\ell` is that of all classes at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from benchbuild.kinds.condense.distances import cosine_distance, squared_distance
from benchbuild.kinds.condense.graphs.gcn import GraphGcn, Weights
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.graphs.views import DenseView, RealGraphs
from benchquery.kinds.condensed.config import CondenseConfig

TINY = 1e-30


def relative_distance(synthetic: Sequence[Tensor], real: Sequence[Tensor]) -> Tensor:
    """Return the squared distance of all gradients, relative to the size of the real ones."""
    size = squared_distance([torch.zeros_like(each) for each in real], real)
    return squared_distance(synthetic, real) / size.clamp(min=TINY)


class GraphMatching:
    """The loss of gradient matching.

    Args:
        problem: The set that is condensed.
        config: Says ``distance``, ``batch`` and ``joint``, and the protocol: ``as-released``, the
            squared distance is not relative (fault G2).
        network: The network.
        labels: The classes of the synthetic graphs, ascending.
        generator: The source of everything random.
    """

    def __init__(
        self,
        problem: GraphsProblem,
        config: CondenseConfig,
        network: GraphGcn,
        labels: Tensor,
        generator: torch.Generator,
    ) -> None:
        self._network = network
        self._generator = generator
        self._graphs = problem.graphs
        self._real = RealGraphs(problem.graphs, network.layers)
        self._labels = labels
        self._batch = config.count("batch")
        members = [problem.members(label) for label in range(problem.num_classes)]
        self._groups = [members] if config["joint"] else [[each] for each in members]
        if config["distance"] == "cosine":
            self._distance = cosine_distance
        elif config.protocol == "as-released":
            self._distance = squared_distance
        else:
            self._distance = relative_distance

    def __call__(self, weights: Weights, x: Tensor, adjacency: Tensor) -> Tensor:
        """Return the loss of synthetic graphs.

        Args:
            weights: Of the network.
            x: (graphs, nodes, features).
            adjacency: (graphs, nodes, nodes) edge weights: symmetric, zero on the diagonal.
        """
        count = len(self._labels) // len(self._groups)
        parts = (torch.split(each, count) for each in (x, adjacency, self._labels))
        ours = [
            self._network.gradients(weights, DenseView.of(features, edges), labels)
            for features, edges, labels in zip(*parts, strict=True)
        ]
        theirs = [self._of_real(weights, group) for group in self._groups]
        return self._distance(_by_weight(ours), _by_weight(theirs)).sum()

    @torch.no_grad()
    def _of_real(self, weights: Weights, group: Sequence[Tensor]) -> list[Tensor]:
        """Return the gradients on some training graphs of each class of a group."""
        drawn = torch.cat([self._drawn(members) for members in group])
        parts = [
            [
                len(part) / len(drawn) * gradient
                for gradient in self._network.gradients(
                    weights, self._real.view(part), self._graphs.y[part]
                )
            ]
            for part in self._real.parts(drawn)
        ]
        return [torch.stack(of_weight).sum(dim=0) for of_weight in zip(*parts, strict=True)]

    def _drawn(self, members: Tensor) -> Tensor:
        order = torch.randperm(len(members), generator=self._generator)[: self._batch]
        return members[order.to(members.device)]


def _by_weight(gradients: Sequence[Sequence[Tensor]]) -> list[Tensor]:
    return [torch.stack(of_weight) for of_weight in zip(*gradients, strict=True)]
