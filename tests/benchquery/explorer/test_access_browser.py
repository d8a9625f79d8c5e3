"""What axe-core says of every view and of a report: nothing may be wrong."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import benchquery
from benchquery.cli import main
from benchquery.figures.page import write_report
from benchquery.table.rows import RowTable
from benchquery.table.store import open_folder
from tests.benchquery.cell_tables import made_up_rows, write_csv

from .running import running_explorer
from .visiting import BROWSER_MARKS, Visit
from .weighing import OLD

pytestmark = [
    *BROWSER_MARKS,
    pytest.mark.skipif(
        importlib.util.find_spec("axe_playwright_python") is None,
        reason="axe-core is missing: pip install axe-playwright-python",
    ),
]
VIEWS = {
    "scatter": "table=cora&focus=76727&without=gin&no.link=0000",
    "compare": "table=cora&other=citeseer&x=valid_perf",
    "parallel": "table=cora&pane=parallel",
    "difference": "table=cora&pane=difference&picked=76727,87072",
    "replay": "table=cora&pane=replay",
    "curves": "table=cora-built&pane=curves",
    "leaderboard": "table=cora-condensed",
    "condensed": "table=cora-condensed&pane=scatter",
    "images": "table=digits-condensed",
    "graphs": "table=nci1-condensed&pane=curves",
    "unknown": "table=nowhere",
}
TITLES = {
    "curves": "cora-built",
    "leaderboard": "cora-condensed",
    "condensed": "cora-condensed",
    "images": "digits-condensed",
    "graphs": "nci1-condensed",
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_explorer() as url:
        yield url


def opened(browser: Any, url: str, **options: Any) -> Visit:
    """Open a page with axe-core in it."""
    found = importlib.util.find_spec("axe_playwright_python")
    assert found is not None
    assert found.origin is not None
    visit = Visit(browser, bypass_csp=True, **options)
    visit.page.goto(url)
    visit.page.evaluate((Path(found.origin).parent / "axe.min.js").read_text())
    return visit


def faults(visit: Visit) -> list[tuple[str, str]]:
    """Return what axe-core finds: the rule and the first element that breaks it."""
    found: list[list[str]] = visit.page.evaluate(
        "async () => (await axe.run()).violations.map("
        "({ id, nodes }) => [id, nodes[0].html + nodes[0].failureSummary])"
    )
    return [(rule, element) for rule, element in found]


@pytest.fixture(scope="module", params=["light", "dark"])
def page(browser: Any, url: str, request: pytest.FixtureRequest) -> Iterator[Visit]:
    visit = opened(browser, url, color_scheme=request.param)
    visit.page.wait_for_selector("body[data-ready]")
    yield visit
    visit.page.close()


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_no_view_breaks_a_rule(page: Visit, view: str) -> None:
    page.go(VIEWS[view])
    page.page.wait_for_function(
        "(name) => document.title.startsWith(name + ':')", arg=TITLES.get(view, "cora")
    )
    page.settle()
    assert faults(page) == []


@pytest.mark.slow
def test_the_keys_and_the_phone_break_no_rule(browser: Any, url: str) -> None:
    visit = opened(browser, url, viewport={"width": 390, "height": 844})
    visit.page.wait_for_selector("body[data-ready]")
    assert faults(visit) == []
    visit.page.click("#help")
    assert faults(visit) == []
    visit.page.close()


@pytest.mark.slow
def test_other_kinds_break_no_rule(browser: Any, tmp_path: Path) -> None:
    """Cells and weights, which have no page of their own, in the explorer and in a report."""
    csv = write_csv(tmp_path / "nats.csv", made_up_rows())
    assert main(["import", str(csv), "-o", str(tmp_path / "cells")]) == 0
    shutil.copytree(OLD / "karate-weights", tmp_path / "weights")
    with running_explorer("--source", str(tmp_path)) as url:
        visit = opened(browser, url)
        visit.page.wait_for_selector("body[data-ready]")
        for name in ("cells", "weights"):
            visit.page.select_option("#table", name)
            visit.page.wait_for_function("(name) => document.title.startsWith(name)", arg=name)
            visit.settle()
            assert faults(visit) == []
        visit.page.close()
    for name in ("cells", "weights"):
        assert report_faults(browser, open_folder(tmp_path / name), tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cora-condensed", "cora-built", "digits-condensed"])
def test_a_report_breaks_no_rule(browser: Any, tmp_path: Path, name: str) -> None:
    assert report_faults(browser, benchquery.open(name), tmp_path) == []


def report_faults(browser: Any, table: RowTable[Any], folder: Path) -> list[tuple[str, str]]:
    """Return what axe-core finds in the report of a table."""
    write_report(table, folder / "report.html")
    visit = opened(browser, (folder / "report.html").as_uri())
    found = faults(visit)
    visit.page.close()
    return found
