r"""K-Center: :math:`s_{i+1} = \arg\max_f \min_{j \le i} \| f - s_j \|`.

Greedy farthest points, the first being the node nearest to the mean of its class, so that no node
is far from a selected one (Sener and Savarese, "Active learning for convolutional neural networks:
a core-set approach", 2018).
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.coreset import core_set, embedding
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.selection import farthest
from benchquery.kinds.condensed.config import CondenseConfig


def condense(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Iterator[Snapshot]:
    """Yield the graph of the nodes that K-Center selects."""
    return core_set(problem, config, embedding(problem, config), farthest)
