r"""Random: :math:`S_c \sim \mathcal{U}\{S \subseteq V_c : |S| = n_c\}`.

Training nodes of each class drawn without replacement: what every other method has to beat.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.coreset import core_set
from benchbuild.kinds.condense.nodes.problem import Problem
from benchquery.kinds.condensed.config import CondenseConfig


def condense(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Iterator[Snapshot]:
    """Yield the graph of randomly selected training nodes."""
    generator = torch.Generator().manual_seed(config.seed)

    def select(members: Tensor, count: int) -> Tensor:
        return torch.randperm(len(members), generator=generator)[:count].to(members.device)

    return core_set(problem, config, problem.train_nodes, select)
