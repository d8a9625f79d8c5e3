"""What a method can reach: no label of a validation or test node, whatever it holds on to."""

from __future__ import annotations

import ast
import dataclasses
import gc
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from benchbuild.datasets import Graph, load
from benchbuild.errors import EvaluationError
from benchbuild.kinds import condense
from benchbuild.kinds.condense import process
from benchbuild.kinds.condense.domains import find_domain
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.process import Condensation, run_condensation
from benchbuild.kinds.condense.registry import condenser
from benchbuild.kinds.evaluate.evaluator import GraphEvaluator
from benchbuild.kinds.evaluate.gntk import ValidationScore
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig
from tests.benchbuild.condensing import CPU, SMALL, settings

pytestmark = pytest.mark.usefixtures("one_thread")

JUDGE = EvalConfig(epochs=4, hidden=8)


def reachable(start: object) -> Iterator[object]:
    """Give all that can be reached from a value: what it refers to, attributes, bases of views.

    Modules and classes are shared by all code and hold no data, so the walk ends there; of a
    function it takes what it closes over and its defaults, not the names of its module.
    """
    seen: dict[int, object] = {}
    ahead = [start]
    while ahead:
        value = ahead.pop()
        if id(value) in seen or isinstance(value, (types.ModuleType, type)):
            continue
        seen[id(value)] = value
        yield value
        if isinstance(value, types.FunctionType):
            ahead += [value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__]
        else:
            ahead += gc.get_referents(value)
            ahead += [getattr(value, "__dict__", None), getattr(value, "_base", None)]


def marked(inductive: bool) -> Graph:
    """A graph whose labels of validation and test nodes can be told from all other numbers."""
    graph = load(SMALL)
    classes = 10_000
    y = graph.y.clone()
    y[graph.valid_mask] += 7_000
    y[graph.test_mask] += 8_000
    return dataclasses.replace(graph, y=y, num_classes=classes, inductive=inductive)


def numbers(value: object) -> np.ndarray | None:
    """The numbers of a tensor's whole storage or of an array; None for other things."""
    if isinstance(value, Tensor) and value.layout == torch.strided:
        whole = torch.empty(0, dtype=value.dtype).set_(value.untyped_storage())
        return whole.numpy()
    return value if isinstance(value, np.ndarray) and value.dtype.kind in "iuf" else None


def holds_other_labels(value: object) -> bool:
    found = numbers(value)
    return found is not None and bool(((found >= 7_000) & (found < 9_000)).any())


@pytest.mark.parametrize("inductive", [False, True])
def test_no_label_of_other_nodes_can_be_reached_from_a_problem(inductive: bool) -> None:
    graph = marked(inductive)
    assert any(holds_other_labels(value) for value in reachable(graph))
    domain = find_domain(graph.sort)
    problem = domain.make_problem(domain.prepare(graph), CPU)
    assert isinstance(problem, Problem)
    problem.checksum  # noqa: B018  (what it keeps is looked at too)
    found = list(reachable(problem))
    assert any(value is problem.train_labels for value in found)
    assert not [value for value in found if isinstance(value, Graph)]
    assert not [value for value in found if holds_other_labels(value)]
    held = {field.name for field in dataclasses.fields(problem)}
    assert held == {
        "x", "edge_index", "train_nodes", "train_labels", "num_classes", "inductive"
    }  # fmt: skip


def test_a_method_that_looks_for_other_labels_finds_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The method that averaged test nodes and ran as ok now ends where it asks for the graph."""

    def cheating(
        problem: Problem, config: CondenseConfig, workspace: Workspace
    ) -> Iterator[Snapshot]:
        graph = problem.graph  # type: ignore[attr-defined]
        yield Snapshot(0, CondensedGraph(graph.x[graph.test_mask], graph.y, None), {})

    monkeypatch.setattr(process, "condenser", lambda name: cheating)
    with pytest.raises(AttributeError, match="graph"):
        run(settings("random"), load(SMALL), tmp_path)


def run(config: CondenseConfig, graph: Graph, scratch: Path) -> Condensation:
    domain = find_domain(graph.sort)
    prepared = domain.prepare(graph)
    problem = domain.make_problem(prepared, CPU)
    return run_condensation(problem, config, domain.make_evaluator(prepared, CPU), JUDGE, scratch)


@pytest.mark.parametrize("inductive", [False, True])
def test_the_trace_has_the_diagnostics_of_a_method(inductive: bool, tmp_path: Path) -> None:
    """SFGC's error on validation nodes is that of the graphs it made, worked out by the judge."""
    graph = dataclasses.replace(load(SMALL), inductive=inductive)
    config = settings("sfgc")
    done = run(config, graph, tmp_path)
    score = ValidationScore(graph, CPU)
    made = condenser(config)(Problem.of(graph, CPU), config, Workspace(tmp_path, {}))
    expected = [score(snapshot.payload) for snapshot in made]  # type: ignore[arg-type]
    assert done.trace["gntk"].tolist() == np.array(expected, np.float32).tolist()
    assert list(run(settings("geom"), graph, tmp_path).trace) == [
        "epoch", "matching", "knowledge", "valid_perf", "seconds"
    ]  # fmt: skip


def test_a_diagnostic_that_there_is_not_is_named() -> None:
    evaluator = GraphEvaluator(load(SMALL), CPU)
    nothing = CondensedGraph(torch.ones(1, 12), torch.zeros(1, dtype=torch.long), None)
    with pytest.raises(EvaluationError, match="unknown diagnostic 'gtnk'; did you mean 'gntk'"):
        evaluator.diagnose("gtnk", nothing)


def test_condensing_imports_nothing_of_evaluating() -> None:
    """Lazily neither: it finds who judges through the domain of the data."""
    for path in Path(condense.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            assert not [name for name in names if name.startswith("benchbuild.kinds.evaluate")], (
                path
            )
