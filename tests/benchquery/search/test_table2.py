"""The figures that docs/search.md shows are those that the code gives."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from benchquery import lightread
from benchquery.search import compare, random_search_exactly, run

PAGE = Path(__file__).parents[3] / "docs" / "search.md"


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
        (row,) = compare(traces)
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
