r"""SGDD: GCond's loss :math:`+ \, \lambda \, \mathrm{GW}_2(A', A_S)` with a graphon for A'.

The synthetic structure is held close to a sample of the real one by optimal transport (Yang et
al., "Does graph distillation see like vision dataset counterpart?", 2023).
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.graphon import Graphon
from benchbuild.kinds.condense.nodes.loop import match
from benchbuild.kinds.condense.nodes.matching import GradientMatching
from benchbuild.kinds.condense.nodes.problem import Problem
from benchquery.kinds.condensed.config import CondenseConfig


def condense(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Iterator[Snapshot]:
    """Yield synthetic graphs that match gradients and the real structure."""
    return match(problem, config, GradientMatching, Graphon)
