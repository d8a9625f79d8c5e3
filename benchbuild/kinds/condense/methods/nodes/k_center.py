r"""K-Center: :math:`s_{i+1} = \arg\max_f \min_{j \le i} \| f - s_j \|`.

Greedy farthest points, the first being the node nearest to the mean of its class, so that no node
is far from a selected one (Sener and Savarese, "Active learning for convolutional neural networks:
a core-set approach", 2018).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.coreset import core_set, embedding
from benchbuild.kinds.condense.nodes.problem import Problem
from benchquery.kinds.condensed.config import CondenseConfig


def condense(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Iterator[Snapshot]:
    """Yield the graph of the nodes that K-Center selects."""
    return core_set(problem, config, embedding(problem, config), farthest)


def farthest(members: Tensor, count: int) -> Tensor:
    """Return the rows that K-Center takes, in its order; none twice."""
    taken = [(members - members.mean(dim=0)).norm(dim=1).argmin()]
    distance = torch.full((len(members),), torch.inf, device=members.device)
    for _ in range(count - 1):
        distance = torch.minimum(distance, (members - members[taken[-1]]).norm(dim=1))
        distance[taken[-1]] = -1.0
        taken.append(distance.argmax())
    return torch.stack(taken)
