"""Judging a trial: what came of damaged files, compared with what the undamaged ones say."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchbuild.errors import BenchBuildError
from benchbuild.fuzzing.damage import damage_one
from benchbuild.fuzzing.outcome import Outcome
from benchquery.errors import BenchQueryError

Read = Callable[[Path], Any]
"""Reads all that a folder says, as a value that can be compared."""

OWN = (BenchBuildError, BenchQueryError)
"""The errors that are meant."""


def fuzz_folders(
    samples: Sequence[Path], readers: Sequence[Read], trials: int, seed: int, folder: Path
) -> Outcome:
    """Damage copies of folders, read them, and judge what is said of each.

    A trial is *detected* if a reader ends in an error of this project, *harmless* if all say just
    what they say of the undamaged folder, and wrong in all other cases. A reader that notices
    nothing while another one does must still say the truth.

    Args:
        samples: The undamaged folders.
        readers: What reads them.
        trials: How many times.
        seed: The seed of everything random.
        folder: A folder to work in.
    """
    truths = {sample: [read(sample) for read in readers] for sample in samples}
    outcome = Outcome(0, 0, 0)
    for trial in range(trials):
        rng = random.Random(f"{seed}-{trial}")
        sample = rng.choice(samples)
        copy = folder / f"{sample.name}-{trial}"
        shutil.copytree(sample, copy)
        files = sorted(path for path in copy.rglob("*") if path.is_file())
        what = f"seed {seed}, trial {trial}: {sample.name}: {damage_one(files, rng)}"
        outcome += _judge(copy, readers, truths[sample], what)
        shutil.rmtree(copy)
    return outcome


def _judge(folder: Path, readers: Sequence[Read], truth: Sequence[Any], what: str) -> Outcome:
    noticed = False
    for read, expected in zip(readers, truth, strict=True):
        try:
            found = read(folder)
        except OWN:
            noticed = True
            continue
        except Exception as error:
            return Outcome(1, 0, 0, (f"{what}: {type(error).__name__}: {error}",))
        if found != expected:
            return Outcome(1, 0, 0, (f"{what}: it reads as something else",))
    return Outcome(1, 1, 0) if noticed else Outcome(1, 0, 1)
