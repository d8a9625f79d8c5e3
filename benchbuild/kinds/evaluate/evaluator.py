"""Judges condensed graphs of one dataset, by whatever task an evaluation names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import torch

from benchbuild.datasets import Graph
from benchbuild.kinds.condense.nodes.problem import CondensedGraph
from benchbuild.kinds.evaluate.link_prediction import LinkPrediction
from benchbuild.kinds.evaluate.node_classification import NodeClassification
from benchbuild.kinds.evaluate.trial import Evaluation, Task
from benchquery.kinds.condensed.config import EvalConfig

TASKS: Mapping[str, Callable[[Graph, torch.device], Task]] = MappingProxyType(
    {"node-classification": NodeClassification, "link-prediction": LinkPrediction}
)
"""The tasks by name; `benchquery.kinds.condensed.config.TASKS` has the same names."""


class Evaluator:
    """Tries models on one dataset.

    Args:
        graph: The dataset.
        device: Where to compute.

    Raises:
        DatasetError: If its nodes have several tasks instead of one class.
    """

    def __init__(self, graph: Graph, device: torch.device) -> None:
        self._nodes = NodeClassification(graph, device)
        self._task = cache(lambda name: TASKS[name](graph, device))
        self.full = cache(self._full)

    def evaluate(self, condensed: CondensedGraph, config: EvalConfig) -> Evaluation:
        """Train a model on a condensed graph; try it on the original one."""
        return self._task(config.task).evaluate(condensed, config)

    def judge(self, condensed: CondensedGraph, config: EvalConfig) -> float:
        """Return the validation metric of a model trained to classify nodes; no test is seen."""
        return self._nodes.judge(condensed, config)

    def _full(self, config: EvalConfig) -> Evaluation:
        """Train the same model on the original graph; worked out once."""
        return self._task(config.task).full(config)
