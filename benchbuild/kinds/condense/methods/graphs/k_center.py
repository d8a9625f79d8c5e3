r"""K-Center: :math:`s_{i+1} = \arg\max_f \min_{j \le i} \| f - s_j \|`.

Greedy farthest points, the first being the graph nearest to the mean of its class, so that no graph
is far from a chosen one (Sener and Savarese, "Active learning for convolutional neural networks: a
core-set approach", 2018).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from benchbuild.kinds.condense.graphs.coreset import choice, core_set
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.selection import farthest
from benchquery.kinds.condensed.config import CondenseConfig


def condense(
    problem: GraphsProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield the training graphs that K-Center chooses.

    Under the protocol ``as-released`` the first is drawn at random, as GC-Bench does.
    """
    generator = torch.Generator().manual_seed(config.seed)

    def from_anywhere(members: Tensor, count: int) -> Tensor:
        first = torch.randint(len(members), (), generator=generator).to(members.device)
        return farthest(members, count, first)

    select = from_anywhere if config.protocol == "as-released" else farthest
    return core_set(problem, config, choice(problem, config, select))
