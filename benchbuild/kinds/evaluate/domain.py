"""Condensing one graph with labelled nodes: what it takes, in one value."""

from __future__ import annotations

from benchbuild.kinds.condense.domains import Domain
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.scaling import scaled
from benchbuild.kinds.evaluate.evaluator import GraphEvaluator

NODES = Domain(
    name="nodes",
    prepare=scaled,
    make_problem=Problem.of,
    make_evaluator=GraphEvaluator,
)
