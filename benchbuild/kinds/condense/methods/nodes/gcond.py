r"""GCond: :math:`\min_S \mathbb{E} \sum_t D(\nabla \ell(S; \theta_t), \nabla \ell(T; \theta_t))`.

A model's gradients on the synthetic graph shall be those on the real graph all along its training
(Jin et al., "Graph condensation for graph neural networks", 2022).
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.loop import match
from benchbuild.kinds.condense.nodes.matching import GradientMatching
from benchbuild.kinds.condense.nodes.problem import Problem
from benchquery.kinds.condensed.config import CondenseConfig


def condense(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Iterator[Snapshot]:
    """Yield synthetic graphs that match gradients."""
    return match(problem, config, GradientMatching)
