"""The figures that docs/search.md shows are those that the code gives."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

from benchquery import lightread
from benchquery.search import compare, random_search_exactly, run

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "search.md"


@pytest.fixture(scope="module")
def table2() -> ModuleType:
    """The script that makes the tables, as a module."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return importlib.import_module("table2")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def documented() -> dict[tuple[str, str], dict[str, str]]:
    """Return the rows of the first table of Table 2, by method and reward."""
    lines = PAGE.read_text().partition("## Table 2")[2].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    header = rows[0]
    return {
        (row[0], row[1]): dict(zip(header[3:], row[3:], strict=True))
        for row in rows[2:]
        if len(row) == len(header)
    }


@pytest.mark.parametrize("strategy", ["random", "local", "evolution", "reinforce"])
def test_our_rows_come_out_again(strategy: str) -> None:
    rows, table = documented(), lightread("proteins")
    for protocol, title in (("leaky-test", "here, test"), ("validation", "here, validation")):
        traces = [run(strategy, table, "2%", seed=s, protocol=protocol) for s in range(100)]  # type: ignore[arg-type]
        (row,) = compare(traces, chance=False)
        shown = f"{100 * row.perf:.2f} ± {100 * row.perf_error:.2f}"
        assert rows[strategy, title]["proteins"] == shown


def test_exact_random_search_comes_out_again() -> None:
    rows = documented()
    for protocol, title in (("leaky-test", "here, test"), ("validation", "here, validation")):
        for dataset, shown in rows["random search, exactly", title].items():
            table = lightread(dataset)
            found = random_search_exactly(table, len(table) // 50, protocol).perf[0]
            assert f"{100 * found:.2f}" == shown
            mean, error = map(float, rows["random", title][dataset].split(" ± "))
            assert abs(mean - 100 * found) < 4 * error


def test_the_top_line_comes_out_again() -> None:
    for dataset, shown in documented()["the top 5%", "here"].items():
        assert re.fullmatch(r"\d\d\.\d\d", shown)
        assert f"{100 * np.quantile(lightread(dataset).column('perf'), 0.95):.2f}" == shown


def test_what_is_kept_is_what_the_page_shows(table2: ModuleType) -> None:
    rows = documented()
    for cell in table2.kept():
        title = f"here, {cell.protocol.removeprefix('leaky-')}"
        shown = f"{100 * cell.perf:.2f} ± {100 * cell.perf_error:.2f}"
        assert rows[cell.strategy, title][cell.dataset] == shown


def test_verdicts_are_welchs_tests_corrected_by_holm(table2: ModuleType) -> None:
    text = PAGE.read_text().partition("### Where the paper is reproduced")[2]
    made = table2.markdown(table2.verdicts(table2.kept()))
    assert made in text
    header, *rows = table2.verdicts(table2.kept())
    found = [dict(zip(header, row, strict=True)) for row in rows]
    reproduced = sum(row["reproduced"] == "yes" for row in found)
    assert f"{reproduced} of the {len(found)} figures that can be compared" in text
    # scipy's test of two samples with these very means and errors, for one row.
    row = found[0]
    ours = next(
        cell for cell in table2.kept() if cell.key == ("autogl:graphnas", "leaky-test", "cora")
    )
    mean, error = map(float, row["paper"].split(" ± "))
    expected = stats.ttest_ind_from_stats(
        mean, error * 5**0.5, 5,
        100 * ours.perf, 100 * ours.perf_error * ours.seeds**0.5, ours.seeds, equal_var=False,
    )  # fmt: skip
    assert row["p"] == f"{expected.pvalue:.3f}"


def test_searches_are_kept_in_place_of_those_with_fewer_seeds(
    table2: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table2, "KEPT", tmp_path / "kept.csv")
    table2.KEPT.write_text(
        "strategy,protocol,dataset,seeds,mean,error,jump\n"
        "random,validation,proteins,2,50,1,\nlocal,validation,proteins,9,50,1,\n"
    )
    traces = [run(n, "proteins", "2%", seed=s) for n in ("random", "local") for s in range(3)]
    table2.keep(traces)
    random, local = table2.kept()
    (row,) = compare(traces[:3], chance=False)
    assert (random.seeds, local.seeds) == (3, 9)
    assert random.perf == pytest.approx(row.perf, abs=1e-6)
    best = [np.maximum.accumulate(trace.progress().rewards) for trace in traces[:3]]
    assert random.jump == pytest.approx(np.mean([np.diff(b[4:]).max() for b in best]), abs=1e-5)
