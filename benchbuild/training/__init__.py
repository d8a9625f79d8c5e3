"""Training: one job trains one architecture on one graph with one seed."""

from benchbuild.training.result import CURVE_COLUMNS, TrainResult
from benchbuild.training.trainer import train

__all__ = ["CURVE_COLUMNS", "TrainResult", "train"]
