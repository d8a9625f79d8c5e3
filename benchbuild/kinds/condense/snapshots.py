"""How many snapshots a method gives: what judging it takes depends on that."""

from __future__ import annotations

from benchquery.kinds.condensed.config import CondenseConfig


def snapshots(config: CondenseConfig) -> int:
    """Return how many snapshots a condensation gives, the first one included."""
    if not {"evaluate_every", "epochs"} <= config.hyperparameters.keys():
        return 1
    return 1 + config.count("epochs") // max(config.count("evaluate_every"), 1)
