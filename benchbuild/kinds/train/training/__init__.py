"""Training: one job trains one architecture on one graph with one seed."""

from benchbuild.kinds.train.training.result import TrainResult
from benchbuild.kinds.train.training.trainer import train, train_together

__all__ = ["TrainResult", "train", "train_together"]
