"""The domains of condensation: for each sort of data what it takes, in one value."""

from __future__ import annotations

from typing import TypeVar

from benchbuild.kinds.condense.domains import Domain
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.scaling import scaled
from benchbuild.kinds.evaluate.evaluator import GraphEvaluator
from benchbuild.kinds.evaluate.graphs.evaluator import GraphSetEvaluator
from benchbuild.kinds.evaluate.images.evaluator import ImageEvaluator

T = TypeVar("T")


def _as_it_is(data: T) -> T:
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
IMAGES = Domain(
    name="images",
    prepare=_as_it_is,
    make_problem=ImagesProblem.of,
    make_evaluator=ImageEvaluator,
)
