"""Which values something may have: numbers between bounds, one of some words, texts of some form.

What a value is otherwise, its type, is said elsewhere: by a default, or by a type hint.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from benchquery.naming import match_name

Value = bool | int | float | str


class Allowed(Protocol):
    """The values that something may have. Its text ends a sentence: "it must be ..."."""

    def meant(self, value: Value) -> Value | None:
        """Return a value, of the right type, in its canonical form; None if it is not allowed."""


@dataclass(frozen=True)
class Range:
    """Numbers between bounds; None for no bound.

    Attributes:
        least: The least one.
        most: The greatest one.
        above: What all of them are greater than.
        below: What all of them are less than.
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def meant(self, value: Value) -> Value | None:
        """See `Allowed`."""
        if isinstance(value, str):
            return None
        inside = (
            (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )
        return value if inside else None

    def __str__(self) -> str:
        words = {
            "at least": self.least,
            "above": self.above,
            "at most": self.most,
            "below": self.below,
        }
        return " and ".join(
            f"{word} {bound:,.12g}" for word, bound in words.items() if bound is not None
        )


@dataclass(frozen=True)
class Choice:
    """One of some words, in any letter case.

    Attributes:
        words: The words.
    """

    words: tuple[str, ...]

    def meant(self, value: Value) -> Value | None:
        """See `Allowed`."""
        return match_name(value, self.words)

    def __str__(self) -> str:
        return f"one of {', '.join(self.words)}"


@dataclass(frozen=True)
class Pattern:
    """Texts of some form.

    Attributes:
        form: A regular expression for the whole text.
        words: What it says, in words.
    """

    form: str
    words: str

    def meant(self, value: Value) -> Value | None:
        """See `Allowed`."""
        return value if re.fullmatch(self.form, str(value)) else None

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Line:
    """Texts that can be shown in one line.

    Attributes:
        most: How many characters there may be.
    """

    most: int = 1_000

    def meant(self, value: Value) -> Value | None:
        """See `Allowed`."""
        text = str(value)
        return value if 0 < len(text) <= self.most and text.isprintable() else None

    def __str__(self) -> str:
        return f"one line of at most {self.most:,} characters"
