r"""KiDD-LR: kernel ridge regression on synthetic graphs of low rank, :math:`A' = U V`.

U and V begin as the singular vectors of a real graph's adjacency, each times the root of its
singular value, the largest ones. Nothing is propagated before the kernel's non-linear step, and a
graph is the sum over its nodes (Xu et al., "Kernel ridge regression-based graph dataset
distillation", 2023).

The published code propagates synthetic graphs once more than real ones, since its power of V U is
one too high. Protocol ``as-released`` keeps that.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.graphs.krr import distil
from benchbuild.kinds.condense.graphs.litegntk import EqualSide, Steps, low_rank_side
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchquery.kinds.condensed.config import CondenseConfig


def condense(
    problem: GraphsProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield synthetic graphs of low rank."""
    return distil(problem, config, LowRank)


class LowRank:
    """Edges where U V is above one half.

    Args:
        adjacency: (graphs, nodes, nodes) that it begins as.
        config: Says the ``rank`` and the ``layers`` of the kernel.
        generator: Nothing is random here.

    Raises:
        CondenseError: If the rank is larger than the graphs.
    """

    def __init__(
        self, adjacency: Tensor, config: CondenseConfig, generator: torch.Generator
    ) -> None:
        rank, nodes = config.count("rank"), adjacency.shape[1]
        if rank > nodes:
            raise CondenseError(
                f"rank {rank} is more than the {nodes} nodes of a synthetic graph; allowed: 1 to "
                f"{nodes}"
            )
        left, values, right = torch.linalg.svd(adjacency)
        root = values[:, :rank].sqrt()
        self.tensors = [left[:, :, :rank] * root[:, None], root[:, :, None] * right[:, :rank]]
        self.steps = Steps(before=0, after=config.count("layers") - 1, mean=False)
        self._after = self.steps.after + (config.protocol == "as-released")

    def side(self, x: Tensor, chosen: Tensor, update: int) -> EqualSide:
        """Return some of the graphs as one side of the kernel."""
        u, v = self.tensors
        return low_rank_side(x, u[chosen], v[chosen], self._after)

    def updated(self) -> None:
        """Leave U and V as they are: they have no bounds."""

    @torch.no_grad()
    def edges(self) -> Tensor:
        """Return where there are edges."""
        u, v = self.tensors
        return torch.gt(u @ v, 0.5).to(u.dtype)
