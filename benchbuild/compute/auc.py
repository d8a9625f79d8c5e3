r"""The area under the ROC curve from ranks, exact and without leaving the device.

.. math::
    \mathrm{AUC} = \frac{\sum_{i \in P} r_i - |P| (|P| + 1) / 2}{|P| \, |N|}

where :math:`r_i` is the rank of the score of a positive among all scores, and equal scores share
the mean of their ranks. Twice a rank is a whole number, so everything up to the division is exact.
"""

from __future__ import annotations

import torch
from torch import Tensor


def mean_auc(scores: Tensor, y: Tensor) -> Tensor:
    """Return the area under the ROC curve, averaged over the tasks that have both classes.

    It is what ogb's evaluator gives, up to the last bits, and NaN where that refuses: if a score
    is not finite, or no task has both classes.

    Args:
        scores: (items, tasks) the greater, the likelier the item is a positive.
        y: (items, tasks) 1 for positives, 0 for negatives.
    """
    columns, order = scores.t().contiguous().sort(dim=1)
    below = torch.searchsorted(columns, columns)
    not_above = torch.searchsorted(columns, columns, right=True)
    positive = y.t().gather(1, order).long()
    positives = positive.sum(dim=1)
    negatives = y.shape[0] - positives
    twice_ranks = ((below + not_above + 1) * positive).sum(dim=1)
    twice_area = (twice_ranks - positives * (positives + 1)).double()
    pairs = positives * negatives
    defined = pairs > 0
    areas = (twice_area / (2 * pairs)).masked_fill(~defined, 0.0)
    mean = areas.sum() / defined.sum()
    return mean.masked_fill(~scores.isfinite().all(), torch.nan)
