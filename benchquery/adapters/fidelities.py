"""Learning curves as benchmarks of many fidelities want them, for the adapters beside this.

Configurations are canonical forms: a choice for each link but the first, and for each operation.
Test figures are left out: a search must not see them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from benchquery._imports import LazyModule
from benchquery.kinds.architectures.arch import NODES
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.manifest import CURVES
from benchquery.table.schema import curve_index

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")

REWARD = "valid_perf"
"""What is to be maximised."""
ELAPSED = "elapsed_time"
"""Seconds of training until an epoch."""


class Epochs(NamedTuple):
    """Figures by epoch.

    Attributes:
        numbers: The epochs, from 1.
        rewards: By architecture, seed and epoch; a training that diverged keeps its last figure.
        seconds: Of training until then, in the same form.
    """

    numbers: Ints
    rewards: Floats
    seconds: Floats


def by_epoch(table: ArchTable) -> Epochs | None:
    """Return the figures of every epoch; None if the table has no learning curves."""
    if CURVES not in table.manifest.files:
        return None
    curves = table.curves
    place = curve_index(REWARD)
    rewards = np.stack([curves.block(number)[..., place] for number in table.hashes.tolist()])
    known = ~np.isnan(rewards)
    last = np.maximum.accumulate(np.where(known, np.arange(curves.epochs), 0), axis=2)
    filled = np.take_along_axis(rewards, last, axis=2)
    whole = np.stack([table.column(f"train_time_seed{seed}") for seed in curves.seeds], axis=1)
    share = (last + 1) / np.maximum(last[..., -1:] + 1, 1)
    return Epochs(np.arange(1, curves.epochs + 1), filled, whole[..., None] * share)


def forms(table: ArchTable) -> dict[str, list[Any]]:
    """Return the columns of the configurations: ``link1`` to ``op3``."""
    archs = table.archs()
    return {
        **{f"link{node}": [arch.link[node] for arch in archs] for node in range(1, NODES)},
        **{f"op{node}": [arch.ops[node] for arch in archs] for node in range(NODES)},
    }
