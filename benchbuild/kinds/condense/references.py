"""Trainings on the original data, each run once and kept by what it depends on.

What a condensed graph is compared with does not depend on it: the same model, trained on all of the
data. Such a training takes longer than all that a job does else, and every job of every worker asks
for it. So its result lies in a file that is named after the data, the evaluation and what computes:
whoever comes second waits for it and reads it. A damaged file is put aside and made anew.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import platform
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchbuild.compute.devices import accelerates, device_name
from benchbuild.errors import WriteError
from benchbuild.kinds.condense.evaluator import Evaluation, Evaluator
from benchbuild.pipeline.files import locked, make_folder, set_aside, write_whole
from benchquery.kinds.condensed.config import EvalConfig
from benchquery.places import user_cache
from benchquery.table.files import read_regular
from benchquery.table.sealed import parse_object, seal, unseal

DAMAGED = ".damaged"
_WRITER = "reference"
_FIGURES = ("valid_perf", "perf", "other_perf")


class RememberingEvaluator:
    """An evaluator that trains on the original data once, whoever asks; see `Evaluator`.

    Args:
        evaluator: Who judges.
        checksum: That of the data.
        device: Where it computes.
        folder: Where results are kept; None for the user's cache folder.
    """

    def __init__(
        self,
        evaluator: Evaluator[Any],
        checksum: str,
        device: torch.device,
        folder: Path | None = None,
    ) -> None:
        self._evaluator = evaluator
        self._of = {
            "data": checksum,
            "device": _name_of(device),
            "machine": platform.machine(),
            "torch": torch.__version__,
        }
        self._folder = cache_folder() if folder is None else folder

    def evaluate(self, payload: Any, config: EvalConfig) -> Evaluation:
        """Train a model on a payload; try it on the original data."""
        return self._evaluator.evaluate(payload, config)

    def judge(self, payload: Any, config: EvalConfig) -> float:
        """Return the validation metric of a model trained on a payload; no test is seen."""
        return self._evaluator.judge(payload, config)

    def diagnose(self, name: str, payload: Any) -> float:
        """Return a figure of a payload that needs the validation labels."""
        return self._evaluator.diagnose(name, payload)

    def full(self, config: EvalConfig) -> Evaluation:
        """Return what a model trained on the original data comes to, trained now or before.

        Where nothing can be kept, it is trained.
        """
        key = {**self._of, "evaluation": config.text}
        path = self._folder / f"{hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]}.json"
        try:
            make_folder(self._folder)
            with locked(path.with_suffix(".lock"), wait=True):
                found = _read(path)
                if found is None:
                    found = self._evaluator.full(config)
                    write_whole(path, _text(found, key).encode(), _WRITER)
                return found
        except WriteError:
            return self._evaluator.full(config)


def cache_folder() -> Path:
    """Return the folder of the user's cache that keeps references."""
    return user_cache() / "graphtab" / "references"


def _name_of(device: torch.device) -> str:
    return device_name(device) if accelerates(device) else device.type


def _text(found: Evaluation, key: dict[str, str]) -> str:
    """Return the file of a result; what is not finite has no place in JSON and is null there."""
    body = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    curve = [[_or_null(value) for value in row] for row in found.curve.tolist()]
    figures = {name: _or_null(body[name]) for name in _FIGURES}
    more = [_or_null(value) for value in found.more]
    return seal({**body, **figures, "more": more, "curve": curve, "of": key})


def _read(path: Path) -> Evaluation | None:
    """Read a result; None if there is none, or it is damaged, which is put aside."""
    try:
        body = unseal(parse_object(read_regular(path)))
        names = [field.name for field in dataclasses.fields(Evaluation)]
        values = {"more": (), **{name: body[name] for name in names if name in body}}
        values["curve"] = np.array(values["curve"], dtype=np.float64)
        figures = {name: _or_nan(values[name]) for name in _FIGURES}
        more = tuple(_or_nan(value) for value in values["more"])
        return Evaluation(**{**values, **figures, "more": more})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError):
        set_aside(path, DAMAGED)
        return None


def _or_null(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else float(value)
