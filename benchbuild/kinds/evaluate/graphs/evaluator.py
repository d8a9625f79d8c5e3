"""Judges condensed sets of graphs: models that learn on them are tried on original graphs."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Protocol

import torch
from torch import Tensor

from benchbuild.datasets.graphset import GraphBatch, GraphSet
from benchbuild.errors import EvaluationError
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.evaluate.graphs.folding import Exam
from benchbuild.kinds.evaluate.graphs.models import shape_of
from benchbuild.kinds.evaluate.graphs.objective import GraphObjective
from benchbuild.kinds.evaluate.graphs.operands import Lesson, Shape
from benchbuild.kinds.evaluate.graphs.trial import Trial
from benchquery.kinds.condensed.config import EvalConfig

TASK = "graph-classification"


class Payload(Protocol):
    """What a condensed set of graphs, of whatever form, tells a model."""

    @property
    def by_row(self) -> bool:
        """Whether the features of each node sum to 1, so that those of an exam must too."""

    def batch(self, threshold: float, device: torch.device) -> GraphBatch:
        """Return the graphs to learn on."""


class GraphSetEvaluator:
    """Tries models on one set of graphs; see `benchbuild.kinds.condense.evaluator`.

    What the exams take is worked out once for each shape of a model.

    Args:
        data: The dataset.
        device: Where to compute.
    """

    def __init__(self, data: GraphSet, device: torch.device) -> None:
        self._data = data
        self._device = device
        self._exam = cache(self._make_exam)
        self._whole = cache(self._make_whole)
        self._full = cache(self._train_on_all)

    def evaluate(self, payload: Payload, config: EvalConfig) -> Evaluation:
        """Train a model on a condensed set; try it on validation and test graphs.

        Raises:
            EvaluationError: If the set is empty or not of this dataset, or the task or the model
                is not one of graphs.
        """
        return self._try(payload, config, blind=False)

    def judge(self, payload: Payload, config: EvalConfig) -> float:
        """Return the validation metric of a model trained on a condensed set.

        Validation graphs take the place of the test graphs: those are not looked at.
        """
        return self._try(payload, config, blind=True).valid_perf

    def full(self, config: EvalConfig) -> Evaluation:
        """Train the same model on all training graphs; worked out once.

        Where there are more than ``full_graphs`` of them, nothing is trained, and there are no
        figures.
        """
        return self._full(config)

    def diagnose(self, name: str, payload: Payload) -> float:
        """Refuse: no method of this domain has such a figure.

        Raises:
            EvaluationError: Always.
        """
        raise EvaluationError(f"unknown diagnostic {name!r}; sets of graphs have none")

    def _try(self, payload: Payload, config: EvalConfig, *, blind: bool) -> Evaluation:
        shape = self._shape(config)
        graphs = payload.batch(config.number("threshold"), self._device)
        self._check(graphs)
        exam = self._exam(shape, by_row=payload.by_row, blind=blind)
        taught = Lesson(graphs, shape), Exam(graphs, shape)
        return self._trial(taught, exam, graphs.y, graphs.weight, blind=blind).run(config)

    def _train_on_all(self, config: EvalConfig) -> Evaluation:
        most = config.count("full_graphs")
        if len(self._data.train) > most:
            return Evaluation.nothing(
                config.count("epochs"),
                f"no model was trained on the whole set: its {len(self._data.train):,} training "
                f"graphs are more than full_graphs={most}",
            )
        shape = self._shape(config)
        taught, exam = self._whole(shape), self._exam(shape, by_row=False, blind=False)
        labels = self._data.graphs.y[self._data.train]
        return self._trial(taught, exam, labels, None, blind=False).run(config)

    def _trial(
        self,
        taught: tuple[Lesson, Exam],
        exam: Exam,
        labels: Tensor,
        weight: Tensor | None,
        *,
        blind: bool,
    ) -> Trial:
        data = self._data
        held = (data.valid, data.valid if blind else data.test)
        train, valid, test = (
            y.to(self._device) for y in (labels, *(data.graphs.y[part] for part in held))
        )
        objective = GraphObjective(data.metric, (train, valid, test), weight)
        return Trial(*taught, exam, objective, data.num_features, data.num_classes)

    def _make_exam(self, shape: Shape, *, by_row: bool, blind: bool) -> Exam:
        data = self._data
        graphs = self._graphs(data.valid if blind else torch.cat([data.valid, data.test]))
        if by_row:
            total = graphs.x.sum(dim=1, keepdim=True)
            graphs = dataclasses.replace(graphs, x=graphs.x / total.where(total != 0, 1.0))
        return Exam(graphs, shape)

    def _make_whole(self, shape: Shape) -> tuple[Lesson, Exam]:
        graphs = self._graphs(self._data.train)
        return Lesson(graphs, shape), Exam(graphs, shape)

    def _graphs(self, numbers: Tensor) -> GraphBatch:
        return self._data.graphs.select(numbers).to(self._device)

    @staticmethod
    def _shape(config: EvalConfig) -> Shape:
        if config.task != TASK:
            raise EvaluationError(
                f"task {config.task!r} can't be tried on a set of graphs; allowed: {TASK}"
            )
        return shape_of(config)

    def _check(self, graphs: GraphBatch) -> None:
        name, data = self._data.name, self._data
        if not len(graphs):
            raise EvaluationError("the condensed set has no graphs to learn on")
        if graphs.num_features != data.num_features:
            raise EvaluationError(
                f"the condensed set has {graphs.num_features} features; {name} has "
                f"{data.num_features}"
            )
        if not 0 <= int(graphs.y.min()) <= int(graphs.y.max()) < data.num_classes:
            raise EvaluationError(
                f"the condensed set has classes from {int(graphs.y.min())} to "
                f"{int(graphs.y.max())}; those of {name} go from 0 to {data.num_classes - 1}"
            )
