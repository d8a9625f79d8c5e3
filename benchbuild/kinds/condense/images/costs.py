"""What condensing a set of images is expected to take, worked out without torch or the data.

Rough: a pass of an image through the ConvNet takes so many multiplications; training it, a forward
and a backward pass, takes three times as many. A method's step passes a batch of real images of
every class, judging passes the images it learns on and, every few epochs, all that it is tried on.
Shards need only the proportions between configurations.
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
from benchquery.kinds.condensed.domains.images import CELLS

WIDTH = 128
MULTIPLICATION = 8e-11
"""Seconds of a multiplication of a convolution, on one thread."""
TRAINED, DIFFERENTIATED = 3, 9
"""What a step of training, and one that is differentiated itself, take in forward passes."""
MODELS: Mapping[str, float] = MappingProxyType(
    {"convnet": 1.0, "mlp": 0.01, "resnet18": 11.0, "resnet152": 70.0, "vit": 12.0, CELLS: 2.0}
)
"""What a pass through each network, or one of a family, takes, relative to the ConvNet's."""
_ACTIVATIONS = 12
"""Tensors as large as the first block's output that are held for gradients."""


def predict(config: CondenseConfig, evaluations: Evaluations) -> Cost:
    """Predict the time and memory of one job, evaluation included.

    Experts, which jobs share, are not counted.

    Args:
        config: What is condensed, and how.
        evaluations: How the result is judged.
    """
    spec = dataset_spec(config.dataset)
    judged = snapshots(config) * _judged(config, evaluations.judge, spec)
    seconds = evaluation_seconds(config, evaluations) + judged + _method(config, spec)
    width = int(config.hyperparameters.get("width", WIDTH))
    held = _ACTIVATIONS * min(_synthetic(config, spec), 256) * _side(spec) ** 2 * width
    return Cost(seconds, BASE_MEMORY + (spec.num_items or 0) * _features(spec) + FLOAT * held)


def evaluation_seconds(config: CondenseConfig, evaluations: Evaluations) -> float:
    """Predict the time of all evaluations of one condensed set."""
    spec = dataset_spec(config.dataset)
    once = 0.0
    for one in evaluations.configs:
        one.check_runnable()
        tries = math.ceil(one.count("epochs") / one.count("tried_every"))
        examined = (spec.num_items or 0) - (spec.trained or 0)
        once += _learning(config, one, spec) + tries * examined * _pass(one, spec)
    return len(evaluations.seeds) * once


def _judged(config: CondenseConfig, judge: EvalConfig, spec: DatasetSpec) -> float:
    """Predict the time of judging a snapshot: learning on it, and one try."""
    return _learning(config, judge, spec) + (spec.trained or 0) / 9 * _pass(judge, spec)


def _learning(config: CondenseConfig, evaluation: EvalConfig, spec: DatasetSpec) -> float:
    trained = TRAINED * _synthetic(config, spec) * _pass(evaluation, spec)
    return evaluation.count("epochs") * (2e-3 + trained)


def _pass(evaluation: EvalConfig, spec: DatasetSpec) -> float:
    """Predict the time of passing an image through a network."""
    width = evaluation.count("width") or WIDTH
    return MODELS[evaluation.model.partition(":")[0]] * _convolved(width, spec)


def _convolved(width: int, spec: DatasetSpec) -> float:
    """Predict the time of passing an image through a ConvNet of three blocks."""
    pixels = _side(spec) ** 2
    kernels = 9 * width * (_features(spec) / pixels + width / 4 + width / 16)
    return pixels * kernels * MULTIPLICATION


def _method(config: CondenseConfig, spec: DatasetSpec) -> float:
    """Predict the time of the method alone."""
    given = config.hyperparameters
    steps = int(given.get("epochs", 0))
    once = _convolved(int(given.get("width", WIDTH)), spec)
    synthetic, real = _synthetic(config, spec), int(given.get("batch", 0)) * (spec.num_classes or 1)
    match config.spec.family:
        case "core-set":
            return steps * TRAINED * (spec.trained or 0) * once
        case "gradient":
            inner = steps * TRAINED * synthetic * once * int(given["inner"] or 1)
            outer = int(given["outer"] or min(max(config.count("per_class"), 1), 50))
            return outer * (steps * (TRAINED * real + DIFFERENTIATED * synthetic) * once + inner)
        case "distribution":
            return steps * (real + TRAINED * synthetic) * once
        case "trajectory":
            batch = min(int(given["batch_student"]), synthetic)
            return steps * int(given["steps"]) * DIFFERENTIATED * batch * once
        case _:
            pairs = synthetic * (synthetic + int(given.get("batch", 0)))
            return steps * pairs * _side(spec) ** 4 * 5e-8


def _synthetic(config: CondenseConfig, spec: DatasetSpec) -> int:
    return config.count("per_class") * (spec.num_classes or 1)


def _features(spec: DatasetSpec) -> int:
    return spec.num_features or 3 * 32**2


def _side(spec: DatasetSpec) -> int:
    """Return about how many pixels the side of an image has."""
    features = _features(spec)
    return math.isqrt(features if math.isqrt(features) ** 2 == features else features // 3)
