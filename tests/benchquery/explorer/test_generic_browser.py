"""Tables of a kind without a view of its own, in a real browser."""

from __future__ import annotations

import io
import shutil
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pandas as pd
import pytest

import benchquery
from benchquery import find
from benchquery.explorer import Site, write_site
from benchquery.table.rows import RowTable
from benchquery.table.store import TABLES_VARIABLE, open_folder

from .running import running_explorer
from .visiting import BROWSER_MARKS, Visit, hosting, table_cells
from .weighing import OLD, write_weights

pytestmark = BROWSER_MARKS
NAME = "karate-weights"
ODDLY_NAMED = "odd & 50% name"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of three kinds, two of them of weights in other folders, one oddly named."""
    folder = tmp_path_factory.mktemp("tables")
    for path in OLD.iterdir():
        shutil.copytree(path, folder / path.name)
    shutil.copytree(OLD / NAME, folder / "again")
    write_weights(folder / ODDLY_NAMED)
    return folder


@pytest.fixture(scope="module")
def table(folder: Path) -> RowTable[Any]:
    return open_folder(folder / NAME)


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with running_explorer("--source", str(folder)) as url:
        yield url


@pytest.fixture
def visit(browser: Any, url: str) -> Iterator[Visit]:
    visit = Visit(browser)
    visit.open(f"{url}#table={NAME}")
    yield visit
    visit.page.wait_for_load_state("networkidle")
    visit.check(url)
    visit.page.close()


@pytest.fixture
def known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the tables known by name."""
    monkeypatch.setenv(TABLES_VARIABLE, str(folder))


def shown_keys(visit: Visit) -> list[str]:
    """Return the keys of the rows in the list."""
    keys: list[str] = visit.page.locator("#list-body tbody [data-hash]").evaluate_all(
        "(buttons) => buttons.map((button) => button.dataset.hash)"
    )
    return keys


def key_of(row: tuple[Any, ...]) -> str:
    return ".".join(map(str, row))


def code_made(visit: Visit, folder: Path) -> dict[str, Any]:
    """Run the code that the page exports."""
    namespace: dict[str, Any] = {}
    exec(visit.download("python", folder).read_text(), namespace)
    return namespace


def test_all_kinds_are_in_the_chooser(visit: Visit, browser: Any, url: str) -> None:
    groups = visit.page.locator("#table optgroup")
    assert groups.evaluate_all("(all) => all.map((group) => group.label)") == [
        "Architectures", "Condensed graphs", "Operation weights",
    ]  # fmt: skip
    visit.page.select_option("#table", "karate")
    visit.page.wait_for_function("() => document.title.startsWith('karate: ')")
    visit.page.select_option("#table", NAME)
    visit.page.wait_for_function(f"() => document.title.startsWith('{NAME}: ')")


def test_the_first_view_has_points_a_list_and_details(visit: Visit, table: RowTable[Any]) -> None:
    page = visit.page
    front = table.pareto("valid_perf", "train_time")
    said = f"{len(table)} of {len(table)} operation weights · {len(front)} on the front"
    assert visit.status() == said
    assert page.title().startswith(f"{NAME}: valid_perf by train_time")
    assert page.locator(".front-dot").count() == len(front)
    assert page.is_hidden("#ringed")
    shot = matplotlib.image.imread(io.BytesIO(page.locator("#plot").screenshot()))
    assert len(np.unique(shot.reshape(-1, shot.shape[-1]), axis=0)) > 20
    assert shown_keys(visit) == [key_of(key) for key in front.top(len(front))][:100]
    heads = page.locator("#list-body thead th").all_inner_texts()
    assert heads[:4] == ["operation weight", "link", "operation", "status"]
    assert page.inner_text("#legend").split() == ["link", *sorted(set(table.column("link")))]
    (best,) = table.top(1)
    assert page.inner_text("#details h2") == " ".join(map(str, best))
    assert page.locator("#curves").count() == 0


def test_a_row_is_shown_with_every_figure(visit: Visit, table: RowTable[Any]) -> None:
    key = list(table)[17]
    visit.go(f"table={NAME}&focus={key_of(key)}")
    visit.page.wait_for_function(
        "(title) => document.querySelector('#details h2').textContent === title",
        arg=" ".join(map(str, key)),
    )
    record, cells = table[key], table_cells(visit, ".figures")
    assert [title.partition(" ")[0] for title, _, _ in cells] == list(table.columns)
    assert "train_time (s)" in [title for title, _, _ in cells]
    for name, (_, value, rank) in zip(table.columns, cells, strict=True):
        if isinstance(record[name], str):
            assert value == (record[name] or "")
        else:
            assert float(value.replace(",", "")) == record[name]
        if table.described(name).direction:
            assert int(rank.strip("#").replace(",", "")) == table.rank(key, name)


@pytest.mark.usefixtures("known")
def test_the_code_of_a_row_finds_it(visit: Visit, table: RowTable[Any]) -> None:
    (best,) = table.top(1)
    code = visit.page.inner_text(".code-line code")
    assert list(eval(code, {"benchquery": benchquery})) == [best]


def test_filters_are_those_of_the_query_language(visit: Visit, table: RowTable[Any]) -> None:
    page = visit.page
    ops = sorted(set(table.column("operation")))
    page.click(f"[data-key=operation-{ops[0]}]")
    page.click("[data-key=position-2]")
    page.fill("[data-key='at least-weight']", "0.1")
    page.press("[data-key='at least-weight']", "Enter")
    expected = table.where(f"operation != {ops[0]}", "position != 2", "weight >= 0.1")
    assert 0 < len(expected) < len(table)
    assert visit.status().startswith(f"{len(expected)} of {len(table)}")
    page.select_option("#colour", "weight")
    page.select_option("#colour", "operation")
    assert page.inner_text("#legend").split() == ["operation", *ops]


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("tab", ["front", "best", "picked"])
def test_exported_code_opens_the_same_rows(
    visit: Visit, table: RowTable[Any], tmp_path: Path, tab: str
) -> None:
    page = visit.page
    page.click("[data-key=position-2]")
    page.click("#list-body tbody [data-hash] >> nth=1")
    picked = visit.fragment()["focus"]
    page.click("#pick")
    page.click(f"#tab-{tab}")
    part = table.where("position != 2")
    expected = {
        "front": [key_of(key) for key in part.pareto("valid_perf", "train_time")],
        "best": [key_of(key) for key in part],
        "picked": [picked],
    }[tab]
    chosen = code_made(visit, tmp_path)["chosen"]
    assert [key_of(key) for key in chosen] == expected


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_selection_is_exported_as_benchquery_exports_it(
    visit: Visit, table: RowTable[Any], tmp_path: Path, kind: str
) -> None:
    visit.page.click("#tab-best")
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[kind]
    table.top(len(table)).export(tmp_path / f"expected.{kind}")
    made = read(visit.download(kind, tmp_path))
    expected = read(tmp_path / f"expected.{kind}")
    pd.testing.assert_frame_equal(made, expected, check_exact=True)


def test_two_such_tables_can_be_compared(visit: Visit, table: RowTable[Any]) -> None:
    page = visit.page
    assert page.is_visible("#compare")
    values = "(options) => options.map((option) => option.value)"
    others = page.locator("#other option").evaluate_all(values)
    assert others == ["", "again", ODDLY_NAMED]
    page.select_option("#other", "again")
    page.wait_for_function(
        "() => document.querySelector('#overlay').textContent.includes('valid_perf on again')"
    )
    assert visit.status().startswith(f"{len(table)} of {len(table)}")
    assert page.is_hidden("#agreement")


def test_odd_names_survive_the_address(visit: Visit, browser: Any, url: str, folder: Path) -> None:
    page = visit.page
    odd = open_folder(folder / ODDLY_NAMED)
    page.select_option("#table", ODDLY_NAMED)
    page.wait_for_function("(name) => document.title.startsWith(name)", arg=ODDLY_NAMED)
    page.click("#tab-best")
    page.click("[data-key=seed-1]")
    page.click("""[data-key="operation-c/d?e=f&g"]""")
    expected = odd.where("seed != 1", "operation != 'c/d?e=f&g'").top(9)
    keys = [key_of(key) for key in expected if not np.isnan(odd[key]["valid_perf"])]
    assert shown_keys(visit) == keys
    assert len(keys) == 4
    for index in range(len(keys)):
        page.click(f"#list-body tbody [data-hash] >> nth={index}")
        page.click("#pick")
        page.click("#tab-best")
    page.wait_for_selector("#curves .curve.mean")
    assert page.locator("#curves .curve.seed").count() == 6
    other = Visit(browser)
    other.open(page.url)
    for selector in ("#status", "#details h2", "#tabs", "#list-body", "#legend"):
        assert other.page.inner_text(selector) == page.inner_text(selector)
    assert other.picked() == len(keys)
    other.page.wait_for_selector("#curves .curve.mean")
    other.page.wait_for_load_state("networkidle")
    other.check(url)
    other.page.close()


@pytest.mark.usefixtures("known")
def test_code_names_odd_values_as_the_query_language_does(
    visit: Visit, folder: Path, tmp_path: Path
) -> None:
    visit.page.select_option("#table", ODDLY_NAMED)
    visit.page.wait_for_function("(name) => document.title.startsWith(name)", arg=ODDLY_NAMED)
    visit.page.select_option("#y", "weight")
    visit.page.click("""[data-key="operation-c/d?e=f&g"]""")
    visit.page.click("""[data-key="operation-a,b"]""")
    visit.page.click("#tab-best")
    expected = open_folder(folder / ODDLY_NAMED).where(operation=["50%2C", "'g h'", ".."])
    assert list(code_made(visit, tmp_path)["chosen"]) == list(expected)


@pytest.mark.parametrize("fragment", ["focus=%25E0%25A4%25A&picked=,,x", "no.link=x&with=gin&x=z"])
def test_an_address_that_makes_no_sense_shows_all(
    visit: Visit, table: RowTable[Any], fragment: str
) -> None:
    visit.go(f"table={NAME}&{fragment}")
    assert visit.status().startswith(f"{len(table)} of {len(table)} operation weights")


@pytest.mark.slow
def test_the_exported_folder_is_the_same_page(browser: Any, folder: Path, tmp_path: Path) -> None:
    write_site(Site(folder), tmp_path / "site")
    with hosting(tmp_path / "site") as address:
        visit = Visit(browser)
        for name in (ODDLY_NAMED, NAME, "karate", "karate-condensed"):
            visit.open(address)
            visit.settle()
            visit.go(f"table={urllib.parse.quote(name)}")
            visit.page.wait_for_function("(name) => document.title.startsWith(name)", arg=name)
            visit.settle()
        visit.check(address)
        visit.page.close()


def test_a_script_that_fails_gives_way_to_the_view_of_every_kind(browser: Any, url: str) -> None:
    visit = Visit(browser)
    visit.page.route("**/kinds/condensed/python.js", lambda route: route.abort())
    visit.open(f"{url}#table=karate-condensed")
    assert "condensed graphs" in visit.status()
    assert visit.page.inner_text(".code-line code").startswith("benchquery.open(")
    assert any("the view of condensed graphs can't be made" in said for said in visit.complaints)
    visit.page.close()


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1100, "light")])
def test_no_width_and_no_theme_breaks_the_page(
    browser: Any, url: str, width: int, theme: str
) -> None:
    visit = Visit(browser, viewport={"width": width, "height": 844}, color_scheme=theme)
    visit.open(f"{url}#table={NAME}")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    visit.page.wait_for_load_state("networkidle")
    visit.check(url)
    visit.page.close()


def test_bundled_tables_can_be_shown_in_the_same_way(browser: Any, tmp_path: Path) -> None:
    """The view of every kind needs nothing of a kind: it shows architectures too."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "cora").symlink_to(find("cora"))
    with running_explorer("--source", str(tmp_path / "tables")) as address:
        visit = Visit(browser)
        visit.page.route("**/kinds/architectures/view.js", lambda route: route.abort())
        visit.open(f"{address}#focus=61237")
        front = benchquery.open("cora").pareto()
        said = f"26,206 of 26,206 architectures · {len(front)} on the front"
        assert visit.status() == said
        assert visit.page.inner_text("#details h2") == "61237"
        visit.page.close()
