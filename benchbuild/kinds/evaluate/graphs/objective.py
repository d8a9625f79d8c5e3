r"""What is minimised and what is measured of graphs that have a class each.

The loss is the cross-entropy. The metric is the accuracy or the area under the ROC curve,

.. math:: \mathrm{AUC} = \frac{\sum_{i : y_i = 1} r_i - p (p + 1) / 2}{p n}

with the rank :math:`r_i` of a graph's score, the mean rank of those of one score, and p graphs of
the second class and n of the first. The score is the logit of the second class less that of the
first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.compute.objective import accuracy, in_order


def rocauc(logits: Tensor, y: Tensor) -> Tensor:
    """Return the area under the ROC curve of the second of two classes.

    It is NaN where it is undefined: there are graphs of one class only, or of more than two, or a
    logit is not finite.
    """
    positive = y == 1
    found, others = positive.sum(), (y == 0).sum()
    defined = found * others > 0 and found + others == len(y) and logits.isfinite().all()
    if not bool(defined):
        return torch.tensor(torch.nan, dtype=torch.float64, device=logits.device)
    scores = logits[:, 1] - logits[:, 0]
    _, place, counts = torch.unique(scores, return_inverse=True, return_counts=True)
    ranks = counts.cumsum(0).double() - (counts - 1) / 2
    above: Tensor = ranks[place[positive]].sum() - found * (found + 1) / 2
    return above / (found * others)


METRICS: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = MappingProxyType(
    {"accuracy": accuracy, "rocauc": rocauc}
)


@dataclass(frozen=True, eq=False)
class GraphObjective:
    """Loss and metric, with the classes of the training, validation and test graphs.

    Attributes:
        metric: "accuracy" or "rocauc".
        labels: Classes of the three sets.
        weight: How much each training graph counts in the loss, a weighted mean; None if all count
            the same.
    """

    metric: str
    labels: tuple[Tensor, Tensor, Tensor]
    weight: Tensor | None = None

    def loss(self, logits: Tensor, numbers: Tensor | None = None) -> Tensor:
        """Return the loss on training graphs, by their numbers; None for all."""
        y, weight = self.labels[0], self.weight
        if numbers is not None:
            y, weight = y[numbers], None if weight is None else weight[numbers]
        if weight is None:
            return functional.cross_entropy(logits, y)
        return (functional.cross_entropy(logits, y, reduction="none") * weight).sum() / weight.sum()

    def measure(self, logits: Tensor) -> Tensor:
        """Return metric and loss of training, validation and test graphs, in `in_order`."""
        parts = torch.split(logits, [len(y) for y in self.labels])
        pairs = list(zip(parts, self.labels, strict=True))
        perfs = [METRICS[self.metric](part, y) for part, y in pairs]
        held = [functional.cross_entropy(part, y) for part, y in pairs[1:]]
        return in_order(perfs, [loss.double() for loss in (self.loss(parts[0]), *held)])

    def other(self, logits: Tensor) -> Tensor:
        """Return the figure of the test graphs by the metric that is not the dataset's."""
        name = "accuracy" if self.metric == "rocauc" else "rocauc"
        y = self.labels[2]
        return METRICS[name](logits[-len(y) :], y)
