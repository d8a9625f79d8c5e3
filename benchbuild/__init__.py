"""benchbuild trains the architectures of a search space and writes the tables benchquery opens.

From Python, a run is described, run and merged as the commands do it::

    import benchbuild

    described = benchbuild.train_run("karate", sample=6, seeds=[0, 1])
    benchbuild.run(described, "runs/karate", workers=1, device="cpu", progress=True)
    benchbuild.merge("runs/karate", "tables/karate")

Names are imported when they are first used, so ``import benchbuild`` needs no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchbuild.api import build, merge, run
    from benchbuild.kinds.choose.kind import choose_run
    from benchbuild.kinds.condense.evaluations import Evaluations
    from benchbuild.kinds.condense.kind import condense_run
    from benchbuild.kinds.condense.loading import load as load_condensed
    from benchbuild.kinds.darts.kind import darts_run
    from benchbuild.kinds.evaluate.kind import evaluate_run
    from benchbuild.kinds.train.kind import train_run
    from benchbuild.kinds.tune.kind import tune_run

__all__ = [
    "Evaluations",
    "build",
    "choose_run",
    "condense_run",
    "darts_run",
    "evaluate_run",
    "load_condensed",
    "merge",
    "run",
    "train_run",
    "tune_run",
]

_HOMES = {
    "Evaluations": "kinds.condense.evaluations:Evaluations",
    "build": "api:build",
    "choose_run": "kinds.choose.kind:choose_run",
    "condense_run": "kinds.condense.kind:condense_run",
    "darts_run": "kinds.darts.kind:darts_run",
    "evaluate_run": "kinds.evaluate.kind:evaluate_run",
    "load_condensed": "kinds.condense.loading:load",
    "merge": "api:merge",
    "run": "api:run",
    "train_run": "kinds.train.kind:train_run",
    "tune_run": "kinds.tune.kind:tune_run",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(importlib.import_module(f"{__name__}.{module}"), attribute)
