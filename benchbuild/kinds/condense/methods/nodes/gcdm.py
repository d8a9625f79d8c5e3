r"""GCDM: :math:`\min_S \mathbb{E} \sum_{t, c} \| \mu_c(S; \theta_t) - \mu_c(T; \theta_t) \|^2`.

The mean embedding of every class shall be that on the real graph all along a model's training on
the synthetic one (Liu et al., "Graph condensation via receptive field distribution matching",
2022). A' is learnt too, as in GC-Bench.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.loop import match
from benchbuild.kinds.condense.nodes.matching import DistributionMatching
from benchbuild.kinds.condense.nodes.problem import Problem
from benchquery.kinds.condensed.config import CondenseConfig


def condense(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Iterator[Snapshot]:
    """Yield synthetic graphs that match mean embeddings."""
    return match(problem, config, DistributionMatching)
