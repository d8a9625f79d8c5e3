"""The domains of condensation: for each sort of data what it takes, in one value."""

from __future__ import annotations

from benchbuild.datasets.graphset import GraphSet
from benchbuild.kinds.condense.domains import Domain
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.scaling import scaled
from benchbuild.kinds.evaluate.evaluator import GraphEvaluator
from benchbuild.kinds.evaluate.graphs.evaluator import GraphSetEvaluator


def _as_it_is(data: GraphSet) -> GraphSet:
    return data


NODES = Domain(
    name="nodes",
    prepare=scaled,
    make_problem=Problem.of,
    make_evaluator=GraphEvaluator,
)
GRAPHS = Domain(
    name="graphs",
    prepare=_as_it_is,
    make_problem=GraphsProblem.of,
    make_evaluator=GraphSetEvaluator,
)
