"""The kinds of job: one file and one line here each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchbuild.errors import RunFolderError
from benchbuild.kinds.condense.kind import CondenseKind
from benchbuild.kinds.darts.kind import DartsKind
from benchbuild.kinds.evaluate.kind import EvaluateKind
from benchbuild.kinds.train.kind import TrainKind
from benchbuild.kinds.tune.kind import TuneKind
from benchbuild.pipeline.jobs import Kind

_ALL: tuple[Kind, ...] = (TrainKind(), TuneKind(), DartsKind(), CondenseKind(), EvaluateKind())
KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _ALL})
"""By name. Importing them needs no torch; running their jobs does."""


def kind_of(name: str) -> Kind:
    """Return a kind of job by name.

    Raises:
        RunFolderError: If there is no such kind.
    """
    if name not in KINDS:
        raise RunFolderError(
            f"unknown kind of job {name!r}; this version knows {', '.join(KINDS)}: upgrade "
            "graphtab to work on this run"
        )
    return KINDS[name]
