r"""KiDD-D: kernel ridge regression on synthetic graphs with an edge or none between any two nodes.

.. math:: A' \sim \operatorname{RelaxedBernoulli}(\operatorname{sigmoid} L, \tau)

L begins as 5 where a real graph has an edge and -5 elsewhere, and the temperature falls from 1 to
0.01 in 200 updates. Nodes take from their neighbours once before the kernel's non-linear step, and
a graph is the mean over its nodes (Xu et al., "Kernel ridge regression-based graph dataset
distillation", 2023).

The published code cuts L off at 0 and 1 after every update: from the second one on, half of the
pairs without an edge are drawn as edges. Protocol ``as-released`` keeps that.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from benchbuild.kinds.condense.graphs.gumbel import probabilities, relaxed_sample, temperature
from benchbuild.kinds.condense.graphs.krr import distil
from benchbuild.kinds.condense.graphs.litegntk import EqualSide, Steps, dense_side
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchquery.kinds.condensed.config import CondenseConfig

_CERTAIN = 5.0


def condense(
    problem: GraphsProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield synthetic graphs whose edges are drawn while they are learnt."""
    return distil(problem, config, Drawn)


class Drawn:
    """Edges that are more probable than not.

    Args:
        adjacency: (graphs, nodes, nodes) that it begins as.
        config: Says the ``layers`` of the kernel.
        generator: The source of everything random.
    """

    def __init__(
        self, adjacency: Tensor, config: CondenseConfig, generator: torch.Generator
    ) -> None:
        self.tensors = [2 * _CERTAIN * adjacency - _CERTAIN]
        self.steps = Steps(before=1, after=config.count("layers") - 1, mean=True)
        self._generator = generator
        self._bounded = config.protocol == "as-released"

    def side(self, x: Tensor, chosen: Tensor, update: int) -> EqualSide:
        """Return some of the graphs, with edges drawn for them, as one side of the kernel."""
        logits, heat = self.tensors[0][chosen], temperature(update)
        return dense_side(x, relaxed_sample(logits, heat, self._generator), self.steps)

    @torch.no_grad()
    def updated(self) -> None:
        """Cut L off if the published code's faults are kept."""
        if self._bounded:
            self.tensors[0].clamp_(0.0, 1.0)

    @torch.no_grad()
    def edges(self) -> Tensor:
        """Return where there are edges."""
        return (probabilities(self.tensors[0]) > 0.5).to(self.tensors[0].dtype)
