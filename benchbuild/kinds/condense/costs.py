"""What a condensation is expected to take, worked out without torch or the data.

Rough: a method takes so many steps; a step takes a constant, which grows with the graph where the
backbone runs on all of it, and something for every pair of synthetic nodes. Wider features make all
of it longer, though less than in proportion. `STEPS`, `BACKBONES` and `WIDER` follow the times in
the bundled tables of cora and citeseer, on one core; GCond has become quicker since, so its step
lies between those and what `python benchmarks/costs.py --condense` measures. Shards need only the
proportions between configurations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchbuild.datasets.registry import dataset_spec
from benchbuild.datasets.size import GraphSize
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.graphs import costs as of_graphs
from benchbuild.kinds.condense.images import costs as of_images
from benchbuild.kinds.condense.snapshots import snapshots
from benchbuild.kinds.train.costs import held_memory
from benchbuild.kinds.train.memory import FLOAT, is_sparse
from benchbuild.pipeline.jobs import Cost
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig

PREDICT: Mapping[str, Callable[[CondenseConfig, Evaluations], Cost]] = MappingProxyType(
    {"graphs": of_graphs.predict, "images": of_images.predict}
)
SECONDS: Mapping[str, Callable[[CondenseConfig, Evaluations], float]] = MappingProxyType(
    {"graphs": of_graphs.evaluation_seconds, "images": of_images.evaluation_seconds}
)
"""By domain of sets: what predicts in the stead of the functions below."""
LABELLED = 0.05
"""Share of the nodes that is taken to be labelled, where the ratio is one of those."""

MODELS: Mapping[str, float] = MappingProxyType(
    {
        "gcn": 0.2,
        "sgc": 0.3,
        "sage": 1.5,
        "appnp": 1.1,
        "cheby": 1.4,
        "mlp": 0.8,
        "transformer": 8,
        "daegc": 0.3,
        "k-means": 0.05,
        "dominant": 0.3,
    }
)
"""What an epoch of each model takes, relative to a GCN's in the loop that serves all models; the
GCN's own is written out: `benchmarks/condense.py` and `benchmarks/costs.py` measure it."""

EMBEDDING = 0.66
"""What an epoch of the GCN that embeds nodes for a choice takes, in the same measure."""


@dataclass(frozen=True)
class Step:
    """Seconds of one step of a method's outer loop, its usual inner steps included.

    Attributes:
        fixed: Whatever the size of the condensed graph.
        pair: For each pair of its nodes.
    """

    fixed: float
    pair: float


STEPS: Mapping[str, Step] = MappingProxyType(
    {
        "gcond": Step(3.8e-3, 1.02e-6),
        "doscond": Step(1.9e-2, 2.0e-6),
        "sgdd": Step(5.9e-3, 2.4e-6),
        "gcdm": Step(1.2e-2, 1.8e-6),
        "dm": Step(1.9e-3, 1.1e-6),
        "sfgc": Step(1.45e-2, 2.5e-6),
        "geom": Step(1.8e-2, 2.7e-6),
    }
)
"""By method that learns, with the backbone that it has unless another one is asked for; others are
taken to be like GCond."""
BACKBONES: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "gradient": {"sgc": 1.0, "gcn": 4.5, "transformer": 23.0},
        "distribution": {"sgc": 1.0, "gcn": 1.4, "transformer": 4.0},
        "trajectory": {"sgc": 1.6, "gcn": 1.0, "transformer": 70.0},
    }
)
"""How long a step takes with each backbone, by the family of a method; only proportions count."""
WIDER = 0.35
"""To what power of the features' number a step grows; citeseer has 2.6 times as many as cora."""


def predict(config: CondenseConfig, evaluations: Evaluations) -> Cost:
    """Predict the time and memory of one job, evaluation included.

    Experts, which jobs share, are not counted, nor are trainings on the original graph.

    Args:
        config: What is condensed, and how.
        evaluations: How the result is judged.
    """
    if config.domain.name in PREDICT:
        return PREDICT[config.domain.name](config, evaluations)
    size = dataset_spec(config.dataset).size
    nodes = synthetic_nodes(config, size)
    seconds = evaluation_seconds(config, evaluations)
    seconds += snapshots(config) * training_seconds(evaluations.judge, size, nodes)
    synthetic = FLOAT * nodes * (4 * size.features + 400 * nodes)
    return Cost(seconds + method_seconds(config, size, nodes), held_memory(size) + synthetic)


def evaluation_seconds(config: CondenseConfig, evaluations: Evaluations) -> float:
    """Predict the time of all evaluations of one condensed graph."""
    if config.domain.name in SECONDS:
        return SECONDS[config.domain.name](config, evaluations)
    size = dataset_spec(config.dataset).size
    nodes = synthetic_nodes(config, size)
    once = sum(training_seconds(one, size, nodes) for one in evaluations.configs)
    return len(evaluations.seeds) * once


def synthetic_nodes(config: CondenseConfig, size: GraphSize) -> int:
    """Return about how many nodes a condensed graph has."""
    whole = size.nodes if config["ratio_of"] == "nodes" else size.nodes * LABELLED
    return max(round(config.ratio * whole), 1)


def method_seconds(config: CondenseConfig, size: GraphSize, nodes: int) -> float:
    """Predict the time of the method alone."""
    given = config.hyperparameters
    if config.spec.family == "core-set":
        gcn = EvalConfig(hidden=int(given.get("hidden", 1)), epochs=int(given.get("epochs", 1)))
        return EMBEDDING * gcn.count("epochs") * _epoch(gcn, size, size.trained)
    step = STEPS.get(config.method, STEPS["gcond"])
    on_graph = config.backbone != "sgc" and config.spec.family != "trajectory"
    cora = dataset_spec("cora").size
    grown = _pass(size, 1) / _pass(cora, 1) if on_graph else 1.0
    loops = int(given.get("epochs", 1)) * max(int(given.get("outer", 1)), 1)
    wider = math.pow(size.features / cora.features, WIDER)
    longer = _by_backbone(config) * wider
    return loops * longer * (step.fixed * grown + step.pair * nodes**2)


def _by_backbone(config: CondenseConfig) -> float:
    """Return how many times as long a step takes as with the method's own backbone."""
    known = BACKBONES.get(config.spec.family, {})
    return known.get(config.backbone, 1.0) / known.get(config.spec.backbone, 1.0)


def training_seconds(config: EvalConfig, size: GraphSize, nodes: int) -> float:
    """Predict the time of training a model on a condensed graph, tried in every epoch."""
    config.check_runnable()
    return config.count("epochs") * MODELS[config.model] * _epoch(config, size, nodes)


def _epoch(config: EvalConfig, size: GraphSize, nodes: int) -> float:
    """Predict the time of an epoch of a GCN that learns from so many nodes."""
    width = config.count("hidden")
    trained = (1e-10 * nodes + 3e-9) * size.features * width
    return 1.5e-3 + _pass(size, width) + trained


def _pass(size: GraphSize, width: int) -> float:
    """Predict the time of one forward pass of a GCN over the original graph."""
    dense = size.nodes * size.features
    features = 1.2e-10 * size.nonzeros if is_sparse(size) else 1.5e-11 * dense
    return width * (features + 1.2e-10 * size.edges + 4e-10 * size.nodes)
