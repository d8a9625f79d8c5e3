"""Training: one job trains one architecture on one graph with one seed."""

from benchbuild.compute.result import CURVE_COLUMNS, TrainResult
from benchbuild.kinds.train.training.trainer import train

__all__ = ["CURVE_COLUMNS", "TrainResult", "train"]
