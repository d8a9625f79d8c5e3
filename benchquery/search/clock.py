"""A simulated clock for published tables: training times estimated from those that were measured.

A published table has no training times. The tables that were built of the same datasets have
some, of a sample of architectures on one thread of a CPU. From these the logarithm of the time is
predicted by a sum over the nodes: so much for each operation, other amounts on the input than
deeper down (ridge regression). How much is shrunk is what predicts each architecture best from the
others; that may be all of it, so that every training takes the same time. The error is that of
these predictions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.errors import QueryError, TableNotFoundError
from benchquery.kinds.architectures.arch import LINKS, OPS
from benchquery.kinds.architectures.encoding import link_indices, op_indices
from benchquery.kinds.architectures.reading import lightread
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")

_TIME = "train_time"
_FEWEST = 8
_PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, math.inf)


@dataclass(frozen=True, eq=False)
class Clock:
    """Training times of the architectures of a table: estimated, never measured.

    Attributes:
        hashes: The architectures.
        seconds: The estimated time of a whole training of each.
        measured: On how many measured architectures the estimate rests.
        error: The mean absolute error to expect, as a share of the mean time; each measured one was
            predicted from the others.
        spread: The same if every training were said to take the same time: what the estimate must
            beat to know anything.
    """

    hashes: Ints
    seconds: Floats
    measured: int
    error: float
    spread: float


def estimate_times(table: ArchTable, measured: ArchTable | None = None) -> Clock:
    """Estimate how long the trainings of a table's architectures take.

    Args:
        table: The table.
        measured: A table of the same dataset with training times; None for the one that was built
            of its dataset and comes with GraphTab.

    Raises:
        QueryError: If no training of the dataset was timed, or too few were.

    Example:
        >>> clock = estimate_times(lightread("cora"))
        >>> clock.measured, round(clock.error, 2), round(clock.spread, 2)
        (200, 0.23, 0.37)
    """
    if measured is None:
        try:
            measured = lightread(f"{table.dataset}-built")
        except TableNotFoundError as error:
            raise QueryError(
                f"no training of {table.dataset!r} was timed, so times can't be estimated; give a "
                "budget of queries, or a share (2%)"
            ) from error
    known = known_part(measured, _TIME, least=_FEWEST)
    times, inputs = known.column(_TIME), _operations(known.hashes)
    penalty = min(_PENALTIES, key=lambda one: _error(_left_out(inputs, times, one), times))
    everyone = _weights(inputs, penalty)
    centred = _operations(table.hashes) - inputs.mean(axis=0)
    logs = np.log(times)
    seconds = np.exp(logs.mean() + centred @ (everyone @ (logs - logs.mean())))
    low, high = times.min(), times.max()
    return Clock(
        table.hashes,
        np.clip(seconds, low, high),
        len(known),
        _error(_left_out(inputs, times, penalty), times),
        _error(_left_out(inputs, times, math.inf), times),
    )


def _operations(hashes: Ints) -> Floats:
    """Return how often each operation stands on the input, and how often deeper: (n, 18)."""
    deeper = (np.array(LINKS) > 0)[link_indices(hashes)]
    chosen = np.eye(len(OPS))[op_indices(hashes)]
    return np.concatenate(
        [(chosen * place[..., None]).sum(axis=1) for place in (~deeper, deeper)], axis=1
    )


def _weights(inputs: Floats, penalty: float) -> Floats:
    """Return what makes coefficients of centred figures; zeros for an infinite penalty."""
    centred = inputs - inputs.mean(axis=0)
    if math.isinf(penalty):
        return np.zeros_like(centred.T)
    weights: Floats = np.linalg.solve(
        centred.T @ centred + penalty * np.eye(centred.shape[1]), centred.T
    )
    return weights


def _left_out(inputs: Floats, times: Floats, penalty: float) -> Floats:
    """Return the time of each, predicted from the others: the classical shortcut of ridge."""
    logs = np.log(times)
    hat = (inputs - inputs.mean(axis=0)) @ _weights(inputs, penalty)
    rest = logs - logs.mean() - hat @ (logs - logs.mean())
    predicted: Floats = np.exp(logs - rest / (1 - np.diag(hat) - 1 / len(times)))
    return predicted


def _error(predicted: Floats, times: Floats) -> float:
    """Return the mean absolute error, as a share of the mean."""
    return float(np.abs(predicted - times).mean() / times.mean())
