"""Judges condensed graphs of one dataset, by whatever task an evaluation names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType

import torch

from benchbuild.datasets import Graph
from benchbuild.errors import EvaluationError
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.evaluate.anomalies import (
    AnomalyDetection,
    inject_contextual,
    inject_structural,
)
from benchbuild.kinds.evaluate.clustering import NodeClustering
from benchbuild.kinds.evaluate.controls import controlled, uncontrolled
from benchbuild.kinds.evaluate.gntk import ValidationScore
from benchbuild.kinds.evaluate.link_prediction import LinkPrediction
from benchbuild.kinds.evaluate.node_classification import NodeClassification
from benchbuild.kinds.evaluate.trial import Task
from benchquery.kinds.condensed.config import EvalConfig
from benchquery.naming import unknown

TASKS: Mapping[str, Callable[[Graph, torch.device], Task]] = MappingProxyType(
    {
        "node-classification": NodeClassification,
        "link-prediction": LinkPrediction,
        "node-clustering": NodeClustering,
        "node-clustering-pretrained": NodeClustering,
        "structural-anomaly-detection": partial(AnomalyDetection, inject=inject_structural),
        "contextual-anomaly-detection": partial(AnomalyDetection, inject=inject_contextual),
    }
)
"""The tasks by name; `benchquery.kinds.condensed.domains.nodes` has the same names."""
Diagnostic = Callable[[CondensedGraph], float]
DIAGNOSTICS: Mapping[str, Callable[[Graph, torch.device], Diagnostic]] = MappingProxyType(
    {"gntk": ValidationScore}
)
"""What `MethodSpec.diagnostics` may name."""


def _find_task(name: str) -> Callable[[Graph, torch.device], Task]:
    if name not in TASKS:
        raise EvaluationError(
            f"task {name!r} can't be tried on one graph; allowed: {', '.join(TASKS)}"
        )
    return TASKS[name]


class GraphEvaluator:
    """Tries models on one graph with labelled nodes; see `benchbuild.kinds.condense.evaluator`.

    Args:
        graph: The dataset, with its features scaled as the problem's are.
        device: Where to compute.

    Raises:
        DatasetError: If its nodes have several tasks instead of one class.
    """

    def __init__(self, graph: Graph, device: torch.device) -> None:
        self._nodes = NodeClassification(graph, device)
        self._task = cache(lambda name: _find_task(name)(graph, device))
        self._diagnostic = cache(lambda name: DIAGNOSTICS[name](graph, device))
        self._full = cache(lambda config: self._task(config.task).full(config))

    def evaluate(self, payload: CondensedGraph, config: EvalConfig) -> Evaluation:
        """Train a model on a condensed graph; try it on the original one.

        Raises:
            EvaluationError: If the graph or the task can't be tried so.
        """
        return self._task(config.task).evaluate(controlled(payload, config), config)

    def judge(self, payload: CondensedGraph, config: EvalConfig) -> float:
        """Return the validation metric of a model trained to classify nodes; no test is seen."""
        return self._nodes.judge(payload, config)

    def full(self, config: EvalConfig) -> Evaluation:
        """Train the same model on the original graph; worked out once."""
        return self._full(uncontrolled(config))

    def diagnose(self, name: str, payload: CondensedGraph) -> float:
        """Return a figure of a condensed graph that needs the validation labels.

        Raises:
            EvaluationError: If there is no such figure.
        """
        if name not in DIAGNOSTICS:
            raise EvaluationError(unknown("diagnostic", name, DIAGNOSTICS))
        return self._diagnostic(name)(payload)
