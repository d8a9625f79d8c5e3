"""What a checked statement is, and how the page writes numbers and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NO_TABLE = "no table"
"""Stands where there is nothing to check a statement with."""


@dataclass(frozen=True)
class Finding:
    """What some tables say about a statement.

    Attributes:
        said: The numbers.
        holds: The verdict.
    """

    said: str
    holds: str


NOTHING = Finding(NO_TABLE, "not checked")


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, with what it prints, what is measured and whether it holds.

    Attributes:
        statement: The statement.
        printed: Where it stands, or the figures that stand there.
        measured: What the tables say.
        holds: Whether it holds by them.
    """

    statement: str
    printed: str
    measured: str
    holds: str


@dataclass(frozen=True)
class Observation:
    """A statement about trainings of a paper's own, held against its tables and against ours.

    Attributes:
        statement: The statement.
        where: Where it stands, with the count that the paper gives.
        theirs: What the paper's own printed tables say.
        ours: What the tables measured here say.
    """

    statement: str
    where: str
    theirs: Finding = NOTHING
    ours: Finding = NOTHING


def listed(values: Iterable[float], digits: int = 2) -> str:
    """Return numbers as the page writes them: short, in the order of the datasets."""
    shown = (f"{value:.{digits}f}" for value in values)
    return " ".join(
        text.replace("0.", ".", 1) if text.lstrip("-")[:2] == "0." else text for text in shown
    )


def of_many(count: int, total: int) -> str:
    """Return a verdict: yes, no, or how many of how many."""
    if not total:
        return NOTHING.holds
    return {total: "yes", 0: "no"}.get(count, f"{count} of {total}")


def mostly(count: int, total: int) -> str:
    """Return a verdict on a statement about most cases."""
    return ("yes" if 2 * count > total else "no") if total else NOTHING.holds


def counts(what: str, answers: Sequence[bool], most: bool = False) -> Finding:
    """Return in how many cases something is so; nothing is said where there is no case."""
    if not answers:
        return NOTHING
    count, total = sum(answers), len(answers)
    return Finding(
        f"{what} {count} of {total}", mostly(count, total) if most else of_many(count, total)
    )


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with numbered rows."""
    lines = [f"| # | {' | '.join(header)} |", "|---" * (len(header) + 1) + "|"]
    lines += [f"| {number} | {' | '.join(row)} |" for number, row in enumerate(rows, start=1)]
    return "\n".join(lines)


def claims_table(claims: Iterable[Claim]) -> str:
    """Return statements about tables that come with GraphTab."""
    return markdown(
        ("statement", "printed", "measured", "holds?"),
        ((one.statement, one.printed, one.measured, one.holds) for one in claims),
    )


def observations_table(observations: Iterable[Observation]) -> str:
    """Return statements about trainings, by the paper's tables and by ours."""
    return markdown(
        ("statement", "where", "its own tables", "holds?", "measured here", "holds?"),
        (
            (o.statement, o.where, o.theirs.said, o.theirs.holds, o.ours.said, o.ours.holds)
            for o in observations
        ),
    )
