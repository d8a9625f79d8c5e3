r"""Herding: :math:`s_{i+1} = \arg\min_f \| (i + 1) \mu_c - \sum_{j \le i} s_j - f \|`.

Graphs are taken one by one so that the mean embedding of those taken follows the mean of the class
(Welling, "Herding dynamical weights to learn", 2009).
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from benchbuild.kinds.condense.graphs.coreset import choice, core_set
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.selection import herd
from benchquery.kinds.condensed.config import CondenseConfig


def condense(
    problem: GraphsProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield the training graphs that herding chooses.

    Under the protocol ``as-released`` they are chosen by GC-Bench's recurrence (fault G6).
    """
    select = herd_released if config.protocol == "as-released" else herd
    return core_set(problem, config, choice(problem, config, select))


def herd_released(members: Tensor, count: int) -> Tensor:
    r"""Return the rows that GC-Bench takes for herding's, in its order.

    After the first, it looks for the row nearest to :math:`\mu - \frac{1}{i} \sum_{j \le i} s_j`,
    which is near 0 whatever the class looks like, instead of :math:`i` times that and the mean.
    """
    mean = members.mean(dim=0)
    left = torch.ones(len(members), dtype=torch.bool, device=members.device)
    wanted, taken = mean, []
    for _ in range(count):
        distance = (wanted - members).norm(dim=1).where(left, torch.inf)
        taken.append(distance.argmin())
        left[taken[-1]] = False
        wanted = mean - members[~left].mean(dim=0)
    return torch.stack(taken)
