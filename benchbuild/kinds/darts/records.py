"""What a search leaves behind, and what it derives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from benchbuild.pipeline.records import OK, JobRecord, column
from benchquery.errors import AllSkipError
from benchquery.kinds.architectures.arch import LINKS, NODES, Arch

LINK_NAMES: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {"".join(map(str, link)): link for link in LINKS}
)
"""The nine link lists by name, as in ``0012``."""

NO_ARCH = -1
"""What is derived if all four operations of largest weight are skips."""

HISTORY_WIDTH = 3
"""Figures of an epoch; see `benchbuild.kinds.darts.search.HISTORY`."""


class DartsKey(NamedTuple):
    """A link list by name, and a seed."""

    link: str
    seed: int


@dataclass(frozen=True, eq=False)
class DartsRecord(JobRecord):
    """The search of one link list with one seed.

    Attributes:
        link: The link list by name.
        seed: The seed of initial weights, of initial architecture parameters and of dropout.
        epochs_done: Epochs with finite losses.
        derived: Hash of the architecture with the operations of largest weight; `NO_ARCH` if all
            are skips, or the search did not end well.
        valid_perf: Validation metric of the mixture at the end.
        params: Parameters of the supernet.
        weights: (epochs, nodes of the cell, operations), flattened: the mixture of every epoch.
        history: (epochs, 3), flattened; see `benchbuild.kinds.darts.search.HISTORY`.
        train_time: Seconds of the search.
        peak_memory: Highest memory in bytes.
        environment: Device, threads and library versions, as JSON.
    """

    link: str = column("string", "key")
    seed: int = column("int32", "key")
    epochs_done: int = column("int32", "figure")
    derived: int = column("int32", "figure")
    valid_perf: float = column("float64", "figure")
    params: int = column("int64", "figure")
    weights: np.ndarray = column("float32[]", "figure")
    history: np.ndarray = column("float32[]", "figure")
    train_time: float = column("float64", "measurement")
    peak_memory: int = column("int64", "measurement")
    environment: str = column("string", "measurement")

    def final_weights(self, ops: Sequence[str]) -> np.ndarray | None:
        """Return the weights (nodes, operations) at the end; None unless it ended well."""
        if self.status != OK:
            return None
        mixtures = np.asarray(self.weights, dtype=np.float32).reshape(-1, NODES, len(ops))
        final: np.ndarray = mixtures[-1]
        return final


def derive(link: str, ops: Sequence[str], weights: np.ndarray) -> int:
    """Return the hash of the architecture with the operations of largest weight.

    Args:
        link: The link list by name.
        ops: The operations that were mixed.
        weights: (nodes, operations).

    Returns:
        Its hash; `NO_ARCH` if all four are skips.
    """
    chosen = [ops[best] for best in weights.argmax(axis=1).tolist()]
    try:
        return Arch(LINK_NAMES[link], chosen).valid_hash()
    except AllSkipError:
        return NO_ARCH
