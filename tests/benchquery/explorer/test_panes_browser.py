"""Ways to look at a table beside the plot, lists and exports, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import benchquery
from benchquery import Arch, lightread
from benchquery.search import run, save
from benchquery.table.schema import CURVE_COLUMNS

from .running import running_explorer
from .visiting import BROWSER_MARKS, Visit, table_cells

pytestmark = BROWSER_MARKS
PICKED = (76727, 87072, 12227)
VALID = [column.name for column in CURVE_COLUMNS].index("valid_perf")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_explorer() as url:
        yield url


@pytest.fixture(scope="module")
def visit(browser: Any, url: str) -> Iterator[Visit]:
    visit = Visit(browser)
    visit.open(url)
    yield visit
    visit.settle()
    visit.check(url)
    visit.page.close()


def listed(visit: Visit) -> list[int]:
    texts = visit.page.locator("#list-body tbody [data-hash]").all_inner_texts()
    return [int(text) for text in texts]


def test_picked_rows_stand_side_by_side(visit: Visit) -> None:
    visit.go(f"table=cora&pane=difference&picked={','.join(map(str, PICKED))}")
    visit.page.wait_for_selector(".difference")
    rows = {name: cells for name, *cells in table_cells(visit, ".difference")}
    table = lightread("cora")
    best = sorted(PICKED, key=lambda number: -table[number]["valid_perf"])
    assert rows["hash"] == [str(number) for number in best]
    assert rows["operations"] == [" ".join(Arch.from_hash(number).ops) for number in best]
    assert [float(cell) for cell in rows["perf"]] == [table[number]["perf"] for number in best]
    same = {name for name, cells in rows.items() if len(set(cells)) == 1}
    visit.page.check(".pane-controls input")
    visit.page.wait_for_function("() => location.hash.includes('o.only=1')")
    left = [name for name, *_ in table_cells(visit, ".difference")]
    assert left == [name for name in rows if name not in same]


def test_a_range_of_an_upright_axis_is_a_filter(visit: Visit) -> None:
    visit.go("table=cora&pane=parallel")
    visit.page.wait_for_selector(".parallel canvas")
    box = visit.page.locator(".parallel .brush .overlay").nth(0).bounding_box()
    middle = box["x"] + box["width"] / 2
    visit.page.mouse.move(middle, box["y"] + 1)
    visit.page.mouse.down()
    visit.page.mouse.move(middle, box["y"] + box["height"] * 0.1, steps=3)
    visit.page.mouse.up()
    visit.page.wait_for_function("() => location.hash.includes('range.valid_perf')")
    low, high = visit.fragment()["range.valid_perf"].split("~")
    table = lightread("cora").where(f"valid_perf >= {low}", f"valid_perf <= {high}")
    assert visit.status().startswith(f"{len(table):,} of 26,206")


def test_curves_of_picked_rows_lie_over_each_other(visit: Visit) -> None:
    table = benchquery.open("cora-built")
    picked = list(table.top(3))
    visit.go(f"table=cora-built&pane=curves&o.smooth=0.9&picked={','.join(map(str, picked))}")
    visit.page.wait_for_function("() => document.querySelectorAll('.lines .line').length === 3")
    visit.page.focus(".lines")
    visit.page.keyboard.press("ArrowRight")
    figures = visit.page.locator(".line-key b").all_inner_texts()
    at = round(float(visit.page.get_attribute(".lines", "data-at")))
    for number, figure in zip(picked, figures, strict=True):
        values = table.curves.curve(number)[:at, VALID]
        weights = 0.9 ** np.arange(at)[::-1]
        assert float(figure) == pytest.approx((values * weights).sum() / weights.sum(), abs=2e-4)
    visit.page.check(".pane-controls input")
    visit.page.wait_for_function("() => location.hash.includes('o.log=1')")


def test_a_search_is_replayed_over_the_plot(visit: Visit, tmp_path: Path) -> None:
    table = lightread("cora")
    traces = [run(name, table, 60) for name in ("random", "evolution")]
    save(traces, tmp_path / "traces.parquet")
    visit.go("table=cora&pane=replay")
    visit.page.wait_for_selector("#trace-file")
    visit.page.set_input_files("#trace-file", tmp_path / "traces.parquet")
    visit.page.wait_for_selector(".trail-dot")
    said = visit.page.inner_text("#other-pane [role=status] >> nth=0")
    report = traces[0].report()
    assert f"query 60 of 60, best so far {' '.join(Arch.from_hash(report.hash).ops)}" in said
    assert f"regret {report.regret:.4f}".rstrip("0") in said
    assert visit.page.locator(".lines .line").count() == 2
    visit.go("table=citeseer&pane=replay")
    visit.page.wait_for_function("() => document.title.startsWith('citeseer')")
    visit.page.set_input_files("#trace-file", tmp_path / "traces.parquet")
    visit.page.wait_for_function(
        "() => document.querySelector('#other-pane').innerText.includes('none of this table')"
    )


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("gin gin 0123", ("gin >= 2", "link == 0123")),
        ("762", ("hash >= 76200", "hash <= 76299")),
        ("skip, skip, gat", ("skip >= 2", "gat >= 1")),
    ],
)
def test_rows_are_found_by_what_they_are_called(
    visit: Visit, text: str, conditions: tuple[str, ...]
) -> None:
    visit.go("table=cora")
    visit.page.fill("#find", text)
    expected = lightread("cora").where(*conditions)
    visit.page.wait_for_function(
        "(count) => document.querySelector('#tab-found small')?.textContent === count",
        arg=f"{len(expected):,}",
    )
    assert listed(visit) == list(expected.top(100))


def test_any_form_of_an_architecture_finds_it(visit: Visit) -> None:
    arch = Arch([0, 0, 1, 0], ["gin", "gat", "fc", "skip"])
    visit.go("table=cora")
    visit.page.fill("#find", "Arch([0, 0, 1, 0], ['gin', 'gat', 'fc', 'skip'])")
    visit.page.wait_for_function(
        "() => document.querySelector('#tab-found small')?.textContent === '1'"
    )
    visit.page.press("#find", "Enter")
    assert visit.focused() == arch.valid_hash()


def test_lists_are_sorted_by_any_column(visit: Visit) -> None:
    visit.go("table=cora&list=best")
    visit.page.wait_for_selector("#tab-best[aria-selected=true]")
    visit.page.click("[data-sort=perf]")
    table = lightread("cora")
    best = table.top(100, "perf").column("perf")
    assert table.lookup(listed(visit), "perf").tolist() == best.tolist()
    visit.page.click("[data-sort=perf]")
    assert visit.fragment()["sort"] == "perf"
    shown = table.lookup(listed(visit), "perf")
    assert (np.diff(shown) >= 0).all()
    assert shown[0] == table.column("perf").min()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_export_has_both_tables_that_are_compared(
    visit: Visit, tmp_path: Path, kind: str
) -> None:
    visit.go("table=cora&other=proteins&x=valid_perf&list=best")
    visit.page.wait_for_function("() => document.querySelector('#other').value === 'proteins'")
    visit.page.wait_for_selector("#tab-best[aria-selected=true]")
    path = visit.download(kind, tmp_path)
    assert path.name == f"cora-proteins-best.{kind}"
    made = {"csv": pd.read_csv, "parquet": pd.read_parquet}[kind](path)
    first, second = lightread("cora"), lightread("proteins")
    assert list(made)[:3] == ["hash", "link", "ops"]
    for name in ("perf", "valid_perf", "latency"):
        assert made[name].tolist() == first.lookup(made["hash"], name).tolist()
        assert made[f"{name} on proteins"].tolist() == second.lookup(made["hash"], name).tolist()


def test_the_code_of_a_comparison_opens_both_tables(visit: Visit, tmp_path: Path) -> None:
    visit.go("table=cora&other=proteins&x=valid_perf&list=front")
    visit.page.wait_for_selector("#tab-front[aria-selected=true]")
    visit.page.wait_for_function("() => document.querySelector('#other').value === 'proteins'")
    namespace: dict[str, Any] = {}
    exec(visit.download("python", tmp_path).read_text(), namespace)
    assert namespace["beside"].name == "proteins"
    assert sorted(namespace["chosen"]) == sorted(namespace["beside"]) == sorted(listed(visit))
