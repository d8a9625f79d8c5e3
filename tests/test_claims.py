"""The page of the papers' claims is what its command makes, and says what it was told to find."""

from __future__ import annotations

import importlib
import re
import statistics
import sys
from pathlib import Path
from types import ModuleType

import pytest

import benchquery
from benchquery.table.store import tables

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
        (23, "tables of 26,206 and 2,021 rows", "yes"),
        (24, "hashes 61237 and 61327", "no"),
        (26, "1.00 1.00 1.00", "yes"),
        (27, "photo 0.0002", "8 of 9"),
        (43, "arxiv 1,157,799 (printed 1,166,243)", "5 of 9"),
        (44, "1.00 1.00 1.00 1.00", "yes"),
        (45, "0.41 billion pairs", "no"),
        (46, "hashes 88177 and 88177", "yes"),
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


@pytest.mark.parametrize(
    ("section", "statement", "theirs", "holds"),
    [
        # What the prose says, counted here from the printed tables; test_gc_bench_reference.py and
        # test_dc_bench_reference.py count the same from the files by other means.
        ("GC", "Node-level condensation can be lossless", "cora 82.1 of 80.8", "5 of 7"),
        ("GC", "Distribution matching is behind", "behind both on 6 of 7", "yes"),
        ("GC", "KiDD with GIN leads", "19 of 25", "19 of 25"),
        ("GC", "DosCond with GCN leads", "11 of 25", "11 of 25"),
        ("GC", "DosCond and Mirage outperform the whole", "mirage 76.1 of 71.1", "yes"),
        ("GC", "On Flickr homophily increases", "11 of 15", "yes"),
        ("GC", "Expert trajectories occupy", "764 GB on dblp", "yes"),
        ("GC", "Gradient and distribution matching run out", "23 cells", "yes"),
        ("DC", "On CIFAR-10 at 10", "dc 6.56, dsa 9.42, dm 5.19, tm 10.17", "yes"),
        ("DC", "Ranks of networks", "-.06 .11 -.19 -.37 -.37 -.50 -.09", "yes"),
        ("DC", "TM does not scale", "tm at 50", "yes"),
    ],
)
def test_observations_are_checked_by_the_printed_tables(
    section: str, statement: str, theirs: str, holds: str
) -> None:
    text = PAGE.read_text().partition(f"## {section}-Bench")[2].partition("\n## ")[0]
    (row,) = re.findall(rf"^\| \d+ \| ({re.escape(statement)}.*) \|$", text, re.M)
    _, _, said, verdict, _, _ = row.split(" | ")
    assert theirs in said
    assert verdict == holds


def test_pages_name_every_table_measured_here() -> None:
    condensed = {info.name for info in tables() if info.kind == "condensed"}
    by_others = {"cora-condensed-tasks", "citeseer-condensed-tasks", "cifar10-jpeg-condensed-cells"}
    for name in condensed - by_others:
        assert f"`{name}`" in PAGE.read_text()


def test_what_has_no_table_is_not_checked(
    claims: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, gc, dc, results = (
        importlib.import_module(f"papers.{name}")
        for name in ("claim", "gc_bench", "dc_bench", "results")
    )
    for check in (gc.lossless, gc.beat_coresets, gc.gap_of_sets, dc.few_images, dc.catches_up):
        assert check([]) == claim.NOTHING
    assert claim.of_many(0, 0) == claim.mostly(0, 0) == "not checked"
    monkeypatch.setattr(claims, "condensed", lambda domain: {})
    assert claims.named("images") == "none"
    few = results.Results("few", {("random", 1.0, "convnet"): 50.0}, {"convnet": 90.0})
    assert dc.few_images([few]) == gc.saturate([few]) == claim.NOTHING


def test_figures_in_one_form_are_those_of_the_tables(claims: ModuleType) -> None:
    """Measured cells are means of the table's rows; printed ones are the file's figures."""
    assert claims
    results = importlib.import_module("papers.results")
    cora = benchquery.open("cora-condensed")
    (found,) = (one for one in results.measured("nodes") if one.name == "cora-condensed")
    usual = cora.where(
        "protocol == corrected",
        method="sfgc",
        ratio=0.026,
        model="gcn",
        init="k-center",
        backbone="gcn",
    )
    rows = usual.records()
    perfs = [row["perf"] for row in rows if '"epochs":0' not in row["config_text"]]
    assert len(perfs) < len(rows)
    assert found.cells["sfgc", 0.026, "gcn"] == pytest.approx(100 * statistics.fmean(perfs))
    assert found.full["gcn"] == pytest.approx(100 * cora.column("full_perf").mean())
    (molbace,) = (one for one in results.printed_graphs() if one.name == "molbace")
    assert molbace.cells["kidd", 1.0, "gin"] == pytest.approx(70.6)
    assert molbace.full == pytest.approx({"gin": 76.3, "gcn": 71.1})
