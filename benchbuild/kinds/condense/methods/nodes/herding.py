r"""Herding: :math:`s_{i+1} = \arg\min_f \| (i + 1) \mu_c - \sum_{j \le i} s_j - f \|`.

Nodes are taken one by one so that the mean of those taken follows the mean of the class (Welling,
"Herding dynamical weights to learn", 2009).
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.coreset import core_set, embedding
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.selection import herd
from benchquery.kinds.condensed.config import CondenseConfig


def condense(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Iterator[Snapshot]:
    """Yield the graph of the nodes that herding selects."""
    return core_set(problem, config, embedding(problem, config), herd)
