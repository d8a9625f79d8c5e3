"""The page of the papers' claims is what its command makes, and says what it was told to find."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from benchquery import condread
from benchquery.kinds.condensed.table import CondensedTable

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "paper-claims.md"


@pytest.fixture(scope="module")
def claims() -> ModuleType:
    """The command, as a module."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return importlib.import_module("claims")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def test_the_page_is_what_the_command_prints(claims: ModuleType) -> None:
    assert claims.page() == PAGE.read_text()


@pytest.mark.parametrize(
    ("number", "measured", "holds"),
    [
        (1, "7 are equal", "7 of 9"),
        (2, "Random (NNI) 78.32 on proteins (78.37); EA (NNI) 77.93", "no"),
        (4, "2.1 3.3 3.3 1.7 1.8 4.8 2.3 3.4 4.5", "yes"),
        (7, ".55 .66 .69", "yes"),
        (8, "3.5 6.2", "yes"),
        (9, ".05 .22 .06", "2 of 3"),
        (10, ".996 1.000", "yes"),
        (13, "1.79", "no: a base rate; preferred on photo"),
        (14, "Pearson .72 .33 .40, Kendall .56 .44 .43; cora with cs .43", "1 of 3"),
        (16, "at most .22", "yes"),
        (17, "(1.13 1.34)", "few changes only"),
        (18, "4 of 9", "4 of 9"),
        (20, ".272 .119; .043 .220", "yes"),
        (21, "1.00 .95; from computers .91 .86 .91 .88, to it .23 .39 .23 .57", "yes"),
    ],
)
def test_statements_have_the_numbers_computed_elsewhere(
    number: int, measured: str, holds: str
) -> None:
    (row,) = re.findall(
        rf"^\| {number} \| (.*) \|$", PAGE.read_text().split("## GC-Bench")[0], re.M
    )
    *_, said, verdict = row.split(" | ")
    assert measured in said
    assert verdict == holds


def test_what_has_no_table_is_not_checked(
    claims: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "condensed", lambda domain: {})
    assert claims.checked("nodes", claims.NODE_LEVEL) == []
    assert claims.named("images") == "none"
    assert claims.of_many(0, 0) == "not checked"


def test_other_tables_are_taken_as_they_come(
    claims: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claims about a domain that a table has too little for are not checked, and nothing breaks."""
    cora = condread("cora")
    assert isinstance(cora, CondensedTable)
    monkeypatch.setattr(claims, "condensed", lambda domain: {"cora-condensed": cora})
    for claim in (*claims.IMAGES, *claims.GRAPH_LEVEL, *claims.NODE_LEVEL):
        assert claim().holds
    assert claims.trajectories_lead().holds == "not checked"
    few = cora.where(method="random")
    monkeypatch.setattr(claims, "condensed", lambda domain: {"few": few})
    assert claims.beat_coresets().holds == claims.lossless().holds == "not checked"
