"""Node classification: train a model on a condensed graph, try it on the original one.

In the transductive setting validation and test nodes lie in the whole graph; in the inductive
setting each set is a graph of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch import Tensor, nn

from benchbuild.compute.objective import Objective
from benchbuild.datasets import Graph
from benchbuild.errors import DatasetError
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.evaluate.gcn_judge import judge_gcn
from benchbuild.kinds.evaluate.gcn_training import GcnTask
from benchbuild.kinds.evaluate.gcn_trial import run_gcn_trial
from benchbuild.kinds.evaluate.operands import Factor, Operands, condensed_operands
from benchbuild.kinds.evaluate.trial import run_trial
from benchquery.kinds.condensed.config import EvalConfig


class Shortcut(NamedTuple):
    """How a model is trained in a shorter way than others, which gives the same.

    Attributes:
        evaluate: Gives all figures.
        judge: Gives the greatest validation metric alone.
    """

    evaluate: Callable[[EvalConfig, GcnTask], Evaluation]
    judge: Callable[[EvalConfig, GcnTask], float]


WRITTEN_OUT: Mapping[str, Shortcut] = MappingProxyType({"gcn": Shortcut(run_gcn_trial, judge_gcn)})
"""The models that have one."""


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
        graph: A graph that holds all of it.
        rows: The validation nodes, then the test nodes; none of those if the exam is a blind one.
        labels: Those of the two sets, or of the one.
    """

    graph: Operands
    rows: Tensor
    labels: tuple[Tensor, ...]

    @cached_property
    def in_two_sets(self) -> _Exam:
        """The same with the validation nodes in the place of test nodes, if those are missing."""
        if len(self.labels) > 1:
            return self
        return _Exam(self.graph, torch.cat([self.rows, self.rows]), self.labels * 2)

    @cached_property
    def factors(self) -> Callable[[int], tuple[Factor, ...]]:
        """What each layer of a GCN multiplies with, by the number of layers."""
        return cache(lambda layers: self.graph.factors_towards("gcn", self.rows, layers))


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
        lesson = self._lesson(condensed, config)
        if config.model not in WRITTEN_OUT:
            return self._run(lesson, self._exam, config)
        task = self._gcn_task(lesson, self._exam, config)
        return WRITTEN_OUT[config.model].evaluate(config, task)

    def judge(self, condensed: CondensedGraph, config: EvalConfig) -> float:
        """Return the validation metric of a model trained on a condensed graph.

        Validation nodes take the place of the test nodes: those are not looked at.
        """
        if config.model not in WRITTEN_OUT:
            return self.judge_by_loop(condensed, config)
        task = self._gcn_task(self._lesson(condensed, config), self._blind_exam, config)
        return WRITTEN_OUT[config.model].judge(config, task)

    def judge_by_loop(self, condensed: CondensedGraph, config: EvalConfig) -> float:
        """Return the same by the loop that serves all models, to check the shorter ways by."""
        lesson = self._lesson(condensed, config)
        return self._run(lesson, self._blind_exam.in_two_sets, config).valid_perf

    def full(self, config: EvalConfig) -> Evaluation:
        """Train the same model on the original graph."""
        return self._run(self._full_lesson, self._exam, config)

    def _gcn_task(self, lesson: _Nodes, exam: _Exam, config: EvalConfig) -> GcnTask:
        layers = config.count("layers")
        return GcnTask(
            lesson=lesson.graph.factors("gcn", layers),
            exam=exam.factors(layers),
            labels=(lesson.labels, *exam.labels),
            num_features=exam.graph.num_features,
            num_classes=self._graph.num_classes,
        )

    def _run(self, lesson: _Nodes, exam: _Exam, config: EvalConfig) -> Evaluation:
        valid, test = exam.labels
        objective = Objective("accuracy", (lesson.labels, valid, test))
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
        return self._make_exam(self._graph.valid_mask)

    def _make_exam(self, *sets: Tensor) -> _Exam:
        """Make an exam of sets of nodes, which are given as masks."""
        graph = self._graph
        nodes = [mask.nonzero().view(-1) for mask in sets]
        labels = tuple(graph.y[of_set].to(self._device) for of_set in nodes)
        if not graph.inductive:
            return _Exam(self._whole, torch.cat(nodes).to(self._device), labels)
        seen, (source, target) = torch.stack(sets).any(dim=0), graph.edge_index
        place = seen.cumsum(0) - 1
        within = torch.stack([mask[source] & mask[target] for mask in sets]).any(dim=0)
        operands = Operands(
            graph.x.index_select(0, seen.nonzero().view(-1)),
            place[graph.edge_index[:, within]],
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
