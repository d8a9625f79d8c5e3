"""Node classification: train a model on a condensed graph, try it on the original one.

In the transductive setting validation and test nodes lie in the whole graph; in the inductive
setting each set is a graph of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from benchbuild.compute.objective import Objective
from benchbuild.datasets import Graph
from benchbuild.errors import DatasetError
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.evaluate.operands import Operands, condensed_operands
from benchbuild.kinds.evaluate.trial import run_trial
from benchquery.kinds.condensed.config import EvalConfig


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Some nodes of a graph with their labels."""

    graph: Operands
    rows: Tensor
    labels: Tensor

    def logits(self, model: nn.Module) -> Tensor:
        """Return what a model says of them."""
        out: Tensor = model(self.graph)[self.rows]
        return out


@dataclass(frozen=True, eq=False)
class _Exam:
    """What a model is tried on.

    Attributes:
        graph: A graph that holds both sets.
        rows: The validation nodes, then the test nodes.
        labels: Those of the two sets.
    """

    graph: Operands
    rows: Tensor
    labels: tuple[Tensor, Tensor]


class _Student:
    """A model with what it learns on and what it is tried on."""

    def __init__(self, model: nn.Module, lesson: _Nodes, exam: _Exam) -> None:
        self._model = model
        self._lesson = lesson
        self._exam = exam

    def training_logits(self) -> Tensor:
        """Return the logits of the training nodes, with dropout."""
        self._model.train()
        return self._lesson.logits(self._model)

    @torch.no_grad()
    def evaluation_logits(self) -> Tensor:
        """Return the logits of the training, validation and test nodes, in that order."""
        self._model.eval()
        out: Tensor = self._model(self._exam.graph)
        same = self._lesson.graph is self._exam.graph
        first = out[self._lesson.rows] if same else self._lesson.logits(self._model)
        return torch.cat([first, out[self._exam.rows]])


class NodeClassification:
    """The task of naming the class of nodes.

    Args:
        graph: The dataset.
        device: Where to compute.

    Raises:
        DatasetError: If its nodes have several tasks instead of one class.
    """

    def __init__(self, graph: Graph, device: torch.device) -> None:
        if graph.y.dim() != 1:
            raise DatasetError(f"{graph.name}: its nodes have no classes, so it can't be condensed")
        self._graph = graph
        self._device = device

    def evaluate(self, condensed: CondensedGraph, config: EvalConfig) -> Evaluation:
        """Train a model on a condensed graph; try it on validation and test nodes."""
        return self._run(self._lesson(condensed, config), self._exam, config)

    def judge(self, condensed: CondensedGraph, config: EvalConfig) -> float:
        """Return the validation metric of a model trained on a condensed graph.

        Validation nodes take the place of the test nodes: those are not looked at.
        """
        return self._run(self._lesson(condensed, config), self._blind_exam, config).valid_perf

    def full(self, config: EvalConfig) -> Evaluation:
        """Train the same model on the original graph."""
        return self._run(self._full_lesson, self._exam, config)

    def _run(self, lesson: _Nodes, exam: _Exam, config: EvalConfig) -> Evaluation:
        objective = Objective("accuracy", (lesson.labels, *exam.labels))
        return run_trial(
            config,
            exam.graph,
            self._graph.num_classes,
            objective,
            lambda model: _Student(model, lesson, exam),
        )

    def _lesson(self, condensed: CondensedGraph, config: EvalConfig) -> _Nodes:
        """Make a condensed graph ready."""
        operands = condensed_operands(condensed, config.number("threshold"), self._device)
        rows = torch.arange(operands.num_nodes, device=self._device)
        return _Nodes(operands, rows, condensed.y.to(self._device))

    @cached_property
    def _whole(self) -> Operands:
        return Operands(self._graph.x, self._graph.edge_index, None, self._device)

    @cached_property
    def _exam(self) -> _Exam:
        return self._make_exam(self._graph.valid_mask, self._graph.test_mask)

    @cached_property
    def _blind_exam(self) -> _Exam:
        return self._make_exam(self._graph.valid_mask, self._graph.valid_mask)

    def _make_exam(self, valid: Tensor, test: Tensor) -> _Exam:
        graph = self._graph
        nodes = [mask.nonzero().view(-1) for mask in (valid, test)]
        labels = graph.y[nodes[0]].to(self._device), graph.y[nodes[1]].to(self._device)
        if not graph.inductive:
            return _Exam(self._whole, torch.cat(nodes).to(self._device), labels)
        seen = valid | test
        place = seen.cumsum(0) - 1
        edges = graph.edge_index
        within = (valid[edges[0]] & valid[edges[1]]) | (test[edges[0]] & test[edges[1]])
        operands = Operands(
            graph.x.index_select(0, seen.nonzero().view(-1)),
            place[edges[:, within]],
            None,
            self._device,
        )
        return _Exam(operands, place[torch.cat(nodes)].to(self._device), labels)

    @cached_property
    def _full_lesson(self) -> _Nodes:
        graph = self._graph
        if not graph.inductive:
            rows = graph.train_mask.nonzero().view(-1)
            return _Nodes(self._whole, rows.to(self._device), graph.y[rows].to(self._device))
        own = graph.induced(graph.train_mask)
        operands = Operands(own.x, own.edge_index, None, self._device)
        rows = torch.arange(operands.num_nodes, device=self._device)
        return _Nodes(operands, rows, own.y.to(self._device))
