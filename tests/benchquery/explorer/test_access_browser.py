"""What axe-core says of every view and of a report: nothing may be wrong."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import benchquery
from benchquery.figures.page import write_report

from .running import running_explorer
from .visiting import BROWSER_MARKS, Visit

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
}
TITLES = {"curves": "cora-built", "leaderboard": "cora-condensed", "condensed": "cora-condensed"}


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
@pytest.mark.parametrize("name", ["cora-condensed", "cora-built"])
def test_a_report_breaks_no_rule(browser: Any, tmp_path: Path, name: str) -> None:
    write_report(benchquery.open(name), tmp_path / "report.html")
    visit = opened(browser, (tmp_path / "report.html").as_uri())
    assert faults(visit) == []
    visit.page.close()
