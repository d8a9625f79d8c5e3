"""What became of some trials."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Protocol


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of some trials.

    Attributes:
        trials: How many there were.
        detected: How many ended in an error of this project's own.
        harmless: How many gave just what the undamaged input gives, or did nothing.
        wrong: What went wrong, a line each, with what it takes to repeat the trial.
    """

    trials: int
    detected: int
    harmless: int
    wrong: tuple[str, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.trials + other.trials,
            self.detected + other.detected,
            self.harmless + other.harmless,
            self.wrong + other.wrong,
        )

    def __str__(self) -> str:
        said = f"{self.trials:,} trials: {self.detected:,} detected, {self.harmless:,} harmless, "
        return said + f"{len(self.wrong):,} wrong"


class Fuzzer(Protocol):
    """A kind of attack: a function in a module of this package."""

    def __call__(self, trials: int, seed: int, folder: Path) -> Outcome:
        """Try so many times.

        Args:
            trials: How many times.
            seed: The seed of everything random; trial i of a seed is always the same.
            folder: An empty folder to work in.
        """
