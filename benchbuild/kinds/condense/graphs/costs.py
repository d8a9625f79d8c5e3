"""What condensing a set of graphs is expected to take, worked out without torch or the data.

Rough, as for one graph: judging is a pass over all validation and test graphs whenever a model is
tried, and a method's step a pass over a batch of training graphs. The figures are those of the
bundled tables of NCI1, molbace and molbbbp; a test holds what a method takes to these. Shards need
only the proportions between configurations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from benchbuild.datasets.registry import dataset_spec
from benchbuild.datasets.spec import DatasetSpec
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.snapshots import snapshots
from benchbuild.kinds.train.costs import BASE_MEMORY
from benchbuild.kinds.train.memory import FLOAT
from benchbuild.pipeline.jobs import Cost
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig

MODELS: Mapping[str, float] = MappingProxyType({"gcn": 1.0, "gin": 1.6})
"""What an epoch of each model takes, relative to a GCN's."""
NODE = 6e-11
"""Seconds of passing a node through a layer, for each pair of its widths; equal nodes pass once."""
EXAMINED = 0.2
"""Share of the graphs that are validation and test graphs."""
STEPS: Mapping[str, float] = MappingProxyType(
    {"doscond": 0.05, "kidd-lr": 0.025, "kidd-d": 0.03, "mirage": 0.2}
)
"""Seconds of one step of a method; of all others a step is a pass over the training graphs."""
WIDTH, LAYERS = 128, 3
"""The network that core-sets embed graphs by."""


def predict(config: CondenseConfig, evaluations: Evaluations) -> Cost:
    """Predict the time and memory of one job, evaluation included.

    Args:
        config: What is condensed, and how.
        evaluations: How the result is judged.
    """
    spec = dataset_spec(config.dataset)
    judged = snapshots(config) * _training(evaluations.judge, spec)
    memory = BASE_MEMORY + FLOAT * spec.size.nodes * (spec.size.features + 3 * 128)
    return Cost(evaluation_seconds(config, evaluations) + judged + method_seconds(config), memory)


def method_seconds(config: CondenseConfig) -> float:
    """Predict the time of a method alone."""
    said = config.hyperparameters
    if config.method == "random" or said.get("embedding", "gcn") != "gcn":
        return 0.0
    one_pass = (1 - EXAMINED) * _forward(dataset_spec(config.dataset), WIDTH, LAYERS)
    return int(said.get("epochs", 1)) * STEPS.get(config.method, one_pass)


def evaluation_seconds(config: CondenseConfig, evaluations: Evaluations) -> float:
    """Predict the time of all evaluations of one condensed set."""
    spec = dataset_spec(config.dataset)
    once = sum(_training(one, spec) for one in evaluations.configs)
    return len(evaluations.seeds) * once


def _training(config: EvalConfig, spec: DatasetSpec) -> float:
    """Predict the time of training a model on a condensed set, tried every few epochs."""
    config.check_runnable()
    examined = EXAMINED * _forward(spec, config.count("hidden"), config.count("layers"))
    epochs, every = config.count("epochs"), config.count("tried_every")
    return MODELS[config.model] * (epochs * 4e-3 + math.ceil(epochs / every) * examined)


def _forward(spec: DatasetSpec, width: int, layers: int) -> float:
    """Predict the time of passing all graphs of a dataset through a network."""
    widths = width * (spec.size.features + (layers - 1) * width)
    return spec.size.nodes * widths * NODE
