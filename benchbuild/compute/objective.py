"""What is minimised and what is measured: the loss and the metric of a graph's task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.compute.auc import mean_auc
from benchbuild.datasets.graph import Graph
from benchquery.table.schema import CURVE_COLUMNS

MEASURED = tuple(column.name for column in CURVE_COLUMNS if column.name != "best_perf")
"""What is measured in every epoch, in the order of the curves: all but what follows from it."""

SPLITS = ("train", "valid", "test")


def accuracy(logits: Tensor, y: Tensor) -> Tensor:
    """Return the share of nodes whose greatest logit is that of their class, or the likeliest."""
    classes = y if y.dim() == 1 else y.argmax(dim=1)
    return (logits.argmax(dim=-1) == classes).double().mean(dim=-1)


def rocauc(logits: Tensor, y: Tensor) -> Tensor:
    """Return the area under the ROC curve, averaged over the tasks as ogb does; NaN if undefined.

    On a CPU it is ogb's own evaluator, whose last bits all tables have. It would take longer than
    most trainings on a GPU, and waits for it six times an epoch.
    """
    if logits.device.type != "cpu":
        return mean_auc(logits, y)
    from ogb.nodeproppred import Evaluator

    if not bool(logits.isfinite().all()):
        return torch.tensor(torch.nan, dtype=torch.float64)
    evaluator = Evaluator("ogbn-proteins")
    evaluator.num_tasks = y.shape[1]
    value = evaluator.eval({"y_true": y.numpy(), "y_pred": logits.detach().numpy()})
    return torch.tensor(value["rocauc"], dtype=torch.float64)


Figure = Callable[[Tensor, Tensor], Tensor]
"""A loss or a metric, from logits and labels."""


def of_each(figure: Figure) -> Figure:
    """Return a loss or metric that also takes (trainings, nodes, classes), training by training."""

    def of(logits: Tensor, y: Tensor) -> Tensor:
        if logits.dim() == 2:
            return figure(logits, y)
        return torch.stack([figure(one, y) for one in logits.contiguous().unbind()])

    return of


_LOSSES: dict[str, Figure] = {
    "accuracy": of_each(functional.cross_entropy),
    "rocauc": of_each(functional.binary_cross_entropy_with_logits),
}
_METRICS: dict[str, Figure] = {"accuracy": accuracy, "rocauc": of_each(rocauc)}


@dataclass(frozen=True)
class Objective:
    """Loss and metric, with the labels of the training, validation and test nodes.

    Attributes:
        metric: "accuracy" (with cross-entropy) or "rocauc" (with binary cross-entropy).
        labels: Labels of the three sets, each in the order of their nodes; for "accuracy" classes
            or probabilities of the classes.
    """

    metric: str
    labels: tuple[Tensor, Tensor, Tensor]

    @classmethod
    def of(cls, graph: Graph, device: torch.device) -> Objective:
        """Return the objective of a graph."""
        masks = (graph.train_mask, graph.valid_mask, graph.test_mask)
        train, valid, test = (graph.y[mask].to(device) for mask in masks)
        return cls(graph.metric, (train, valid, test))

    def loss(self, training_logits: Tensor) -> Tensor:
        """Return the loss on the training nodes; that of several trainings is their sum."""
        loss = _LOSSES[self.metric](training_logits, self.labels[0])
        return loss.sum() if loss.dim() else loss

    def measure(self, logits: Tensor) -> Tensor:
        """Return the metric and loss on each of the three sets, in the order of `MEASURED`.

        Args:
            logits: (nodes, classes), or of several trainings (trainings, nodes, classes).
        """
        parts = torch.split(logits, [labels.shape[0] for labels in self.labels], dim=-2)
        pairs = list(zip(parts, self.labels, strict=True))
        perfs = [_METRICS[self.metric](part, y) for part, y in pairs]
        losses = [_LOSSES[self.metric](part, y).double() for part, y in pairs]
        return in_order(perfs, losses)


def in_order(perfs: Sequence[Tensor], losses: Sequence[Tensor]) -> Tensor:
    """Return the metrics and the losses of the three sets in the order of `MEASURED`, last."""
    found = {f"{split}_perf": perf for split, perf in zip(SPLITS, perfs, strict=True)}
    found |= {f"{split}_loss": loss for split, loss in zip(SPLITS, losses, strict=True)}
    return torch.stack([found[name] for name in MEASURED], dim=-1)
