r"""Herding: :math:`s_{i+1} = \arg\min_f \| (i + 1) \mu_c - \sum_{j \le i} s_j - f \|`.

Nodes are taken one by one so that the mean of those taken follows the mean of the class (Welling,
"Herding dynamical weights to learn", 2009).
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
    """Yield the graph of the nodes that herding selects."""
    return core_set(problem, config, embedding(problem, config), herd)


def herd(members: Tensor, count: int) -> Tensor:
    """Return the rows that herding takes, in its order."""
    mean = members.mean(dim=0)
    wanted = mean
    left = torch.ones(len(members), dtype=torch.bool, device=members.device)
    taken = []
    for _ in range(count):
        distance = (wanted - members).norm(dim=1).where(left, torch.inf)
        taken.append(distance.argmin())
        left[taken[-1]] = False
        wanted = wanted + mean - members[taken[-1]]
    return torch.stack(taken)
