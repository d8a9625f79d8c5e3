"""What tasks share that learn without labels: no label chooses an epoch, the last one is reported.

A curve has the loss of every epoch; the figures are those of the last.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from benchbuild.compute.features import to_scipy
from benchbuild.errors import EvaluationError
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.evaluate.operands import Operands
from benchbuild.pipeline.records import DIVERGED, OK
from benchquery.kinds.condensed.config import EvalConfig
from benchquery.table.schema import CURVE_COLUMNS, curve_index

MOST_NODES = 10_000
"""Nodes of a graph all of whose pairs are looked at."""


def check_pairs(num_nodes: int) -> None:
    """Refuse a graph with too many pairs of nodes.

    Raises:
        EvaluationError: If it has.
    """
    if num_nodes > MOST_NODES:
        raise EvaluationError(
            f"the graph has {num_nodes:,} nodes: all pairs of at most {MOST_NODES:,} fit in memory"
        )


def joined(graph: Operands) -> Tensor:
    """Return (nodes, nodes) the weights of a graph's edges, 1 from each node to itself."""
    source, target, weight = graph.edges
    matrix = torch.zeros((graph.num_nodes, graph.num_nodes), device=graph.device)
    matrix[target, source] = weight
    return matrix


def dense_features(x: Tensor) -> np.ndarray:
    """Return features, which may be sparse, as a dense matrix."""
    dense: np.ndarray = to_scipy(x.cpu()).toarray() if x.is_sparse_csr else x.cpu().numpy()
    return dense


def reported(
    config: EvalConfig,
    losses: Sequence[float],
    figures: tuple[float, float],
    more: tuple[float, ...] = (),
) -> Evaluation:
    """Return what a training came to, by its last epoch.

    Args:
        config: The evaluation.
        losses: The loss of every epoch; none for what is not trained in epochs.
        figures: The validation and the test figure.
        more: Further test figures.
    """
    curve = np.full((config.count("epochs"), len(CURVE_COLUMNS)), np.nan)
    curve[: len(losses), curve_index("train_loss")] = losses
    valid, test = figures
    known = np.isfinite(losses)
    if not known.all():
        epoch = int(np.flatnonzero(~known)[0])
        reason = f"the loss was not finite in epoch {epoch} of the evaluation"
        return Evaluation(DIVERGED, reason, np.nan, np.nan, -1, curve)
    for name, value in (("valid_perf", valid), ("test_perf", test), ("best_perf", test)):
        curve[-1, curve_index(name)] = value
    return Evaluation(OK, "", valid, test, len(curve) - 1, curve, more=more)
