"""The page in a real browser: it loads, filters, selects and exports, and asks nobody else."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from benchquery import SPACES, Arch, find, lightread
from benchquery.explorer import Site, write_site
from benchquery.table.export import export
from benchquery.table.store import open_folder

from .running import ALL_FILLED, running_explorer
from .visiting import BROWSER_MARKS, Visit, hosting, table_cells

pytestmark = BROWSER_MARKS
POINT = 61237


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_explorer() as url:
        yield url


@pytest.fixture(scope="module")
def shared(browser: Any, url: str) -> Iterator[Visit]:
    visit = Visit(browser)
    visit.open(url)
    visit.page.wait_for_load_state("networkidle")
    yield visit
    visit.page.wait_for_load_state("networkidle")
    visit.check(url)
    visit.page.close()


@pytest.fixture
def visit(shared: Visit, url: str, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """A page that shows what it starts with; it may only ask its own server."""
    shared.complaints.clear()
    shared.go(f"table=cora&test={request.node.name}")
    shared.page.wait_for_function("() => document.title.startsWith('cora: valid_perf by latency')")
    yield shared
    shared.check(url)


def drawn_colours(visit: Visit) -> int:
    """Return how many different colours a picture of the plot has."""
    shot = visit.page.locator("#plot").screenshot()
    pixels = matplotlib.image.imread(io.BytesIO(shot))
    return len(np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0))


# ---------------------------------------------------------------- what is shown


def test_the_first_view_is_cora_with_its_front(visit: Visit) -> None:
    table = lightread("cora")
    front = table.pareto("valid_perf", "latency")
    assert visit.status() == f"26,206 of 26,206 architectures · {len(front)} on the front"
    assert visit.page.locator(".front-dot").count() == len(front)
    assert [visit.focused()] == list(table.top(1))
    shown = visit.page.locator("#list-body tbody [data-hash]").all_inner_texts()
    assert [int(text) for text in shown] == list(front.top(len(front)))
    assert drawn_colours(visit) > 500


def test_an_architecture_is_shown_with_exact_figures(visit: Visit) -> None:
    visit.show(POINT)
    arch, table = Arch.from_hash(POINT), lightread("cora")
    assert visit.focused() == POINT
    texts = visit.page.locator(".drawing text").all_text_contents()
    assert texts == ["input", *arch.ops, "output"]
    code = f"Arch({json.dumps(arch.link)}, {json.dumps(arch.ops)})"
    assert visit.page.inner_text(".code-line code") == code
    for title, value, rank in table_cells(visit, ".figures"):
        name = title.partition(" ")[0]
        if name == "para_consistent":
            assert value == "yes"
        else:
            assert float(value) == table[POINT][name]
            assert int(rank.strip("#").replace(",", "")) == table.rank(POINT, name)


def test_its_figures_on_all_tables(visit: Visit) -> None:
    visit.page.wait_for_function(ALL_FILLED)
    number = visit.focused()
    rows = table_cells(visit, ".across")
    assert len(rows) >= 9
    for name, *cells in rows:
        if "(" in name:  # measured and synthetic tables may have other columns
            continue
        table = lightread(name)
        if number in table:
            exact = [table[number][c] for c in ("valid_perf", "perf", "latency", "para")]
            assert [float(cell) for cell in cells] == exact
        else:
            assert cells == ["\N{EN DASH}"] * 4


@pytest.mark.parametrize(
    ("name", "number"), [("cora", POINT), ("cora", 88886), ("proteins", 47544)]
)
def test_neighbours_are_those_of_the_space(visit: Visit, name: str, number: int) -> None:
    visit.show(number, name)
    table = lightread(name)
    expected = SPACES[table.manifest.space].neighbours(Arch.from_hash(number))
    buttons = visit.page.locator(".neighbour")
    shown = buttons.evaluate_all("(buttons) => buttons.map((b) => Number(b.dataset.hash))")
    assert sorted(shown) == [arch.valid_hash() for arch in expected]
    perf = table.lookup(shown, "valid_perf")
    assert (np.diff(perf) <= 0).all()
    buttons.first.click()
    visit.page.wait_for_function(
        "(number) => Number(document.querySelector('#details h2').textContent) === number",
        arg=shown[0],
    )
    assert visit.fragment()["focus"] == str(shown[0])


# ---------------------------------------------------------------- filters, axes, tables


def test_filters_are_those_of_the_query_language(visit: Visit) -> None:
    page = visit.page
    page.click("[data-key=use-gin]")
    page.click("[data-key=use-skip]")
    page.click("[data-key=use-skip]")
    page.click("[data-key=link-0123]")
    page.click("[data-key=depth-1]")
    page.fill("[data-key='at most-latency']", "0.003")
    page.press("[data-key='at most-latency']", "Enter")
    page.fill("[data-key='at least-perf']", "0.7")
    page.press("[data-key='at least-perf']", "Tab")
    table = lightread("cora").where(
        "gin >= 1", "skip == 0", "link != 0123", "depth != 1", "latency <= 0.003", "perf >= 0.7"
    )
    assert visit.status().startswith(f"{len(table):,} of 26,206")
    assert visit.status().endswith(f"{len(table.pareto())} on the front")
    visit.page.click("[data-key=clear]")
    assert visit.status().startswith("26,206 of 26,206")


def test_a_range_can_be_brushed(visit: Visit) -> None:
    box = visit.page.locator(".histogram").nth(2).bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 10)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 12, steps=4)
    visit.page.mouse.up()
    low, high = visit.fragment()["range.latency"].split("~")
    table = lightread("cora").where(f"latency >= {low}", f"latency <= {high}")
    assert 0 < len(table) < 26_206
    assert visit.status().startswith(f"{len(table):,} of 26,206")


@pytest.mark.parametrize(
    ("x", "y"), [("para", "perf"), ("latency", "para"), ("valid_perf", "perf"), ("perf", "perf")]
)
def test_the_front_of_any_two_metrics(visit: Visit, x: str, y: str) -> None:
    visit.page.select_option("#x", x)
    visit.page.select_option("#y", y)
    up = [name for name in {x, y} if name in ("perf", "valid_perf")]
    down = [name for name in {x, y} if name not in up]
    front = lightread("cora").pareto(up, down)
    assert visit.status().endswith(f" {len(front):,} on the front")


def test_two_tables_can_be_compared(visit: Visit) -> None:
    visit.page.select_option("#other", "proteins")
    visit.page.wait_for_function("() => document.querySelector('#agreement').textContent !== ''")
    assert visit.status().startswith("2,021 of 26,206")
    said = visit.page.inner_text("#agreement")
    assert said.startswith("valid_perf of the 2,021 in common: Pearson ")
    assert "valid_perf on proteins" in visit.page.text_content("#overlay")
    first, second = (lightread(name) for name in ("cora", "proteins"))
    a, b = first.lookup(second.hashes, "valid_perf"), second.column("valid_perf")
    assert f"Pearson {np.corrcoef(a, b)[0, 1]:.4f}" in said
    visit.page.select_option("#other", "")
    assert visit.status().startswith("26,206 of 26,206")


def test_every_table_opens(visit: Visit) -> None:
    options = visit.page.locator("#table option")
    names = options.evaluate_all("(options) => options.map((option) => option.value)")
    assert len(names) >= 9
    for name in names:
        visit.page.select_option("#table", name)
        table = open_folder(find(name))
        many = {"condensed": "evaluated graphs"}.get(table.kind.name, table.kind.many)
        rows = f" of {table.manifest.rows:,} {many}"
        visit.page.wait_for_function(
            "([name, rows]) => document.title.startsWith(name + ':') &&"
            " document.querySelector('#status').textContent.includes(rows)",
            arg=[name, rows],
        )


# ---------------------------------------------------------------- selecting


def plot_box(visit: Visit) -> dict[str, float]:
    return dict(visit.page.locator("#points").bounding_box())


def test_points_are_hovered_clicked_and_picked_by_a_box(visit: Visit) -> None:
    page, table = visit.page, lightread("cora")
    dot = page.locator(".front-dot").nth(0).bounding_box()
    centre = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
    page.mouse.move(*centre)
    fastest = list(table.pareto().top(99))[-1]
    assert "latency" in page.inner_text("#tooltip")
    assert f"{table[fastest]['latency']:.4g} s" in page.inner_text("#tooltip")
    page.mouse.click(*centre)
    assert visit.focused() == fastest
    box = plot_box(visit)
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.08, box["y"] + box["height"] - 3, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    picked = [int(number) for number in visit.fragment()["picked"].split(",")]
    assert fastest in picked
    assert visit.picked() == len(picked)
    assert table.lookup(picked, "latency").max() < 0.0012
    page.click("#pick")
    assert str(fastest) not in visit.fragment()["picked"].split(",")


def test_the_keyboard_does_it_all(visit: Visit) -> None:
    page = visit.page
    start = visit.focused()
    page.focus("#plot")
    page.keyboard.press("ArrowDown")
    moved = visit.focused()
    assert moved != start
    page.keyboard.press("Enter")
    assert visit.fragment()["picked"] == str(moved)
    page.keyboard.press("+")
    left, right, top, bottom = map(float, visit.fragment()["view"].split("~"))
    assert right - left < 1
    assert bottom - top < 1
    page.keyboard.press("0")
    page.keyboard.press("Escape")
    assert {"view", "picked"} & set(visit.fragment()) == set()
    page.focus("[data-key=use-gat]")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert visit.fragment()["without"] == "gat"
    page.focus("#tab-picked")
    page.keyboard.press("ArrowLeft")
    assert visit.fragment()["list"] == "best"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_every_control_has_a_name(visit: Visit) -> None:
    unnamed = visit.page.evaluate(
        """() => [...document.querySelectorAll("button, select, input")].filter((element) =>
            !(element.textContent.trim() || element.getAttribute("aria-label")
              || element.labels?.length)).map((element) => element.outerHTML)"""
    )
    assert unnamed == []


def test_the_view_zooms_and_comes_back(visit: Visit) -> None:
    page = visit.page
    before = page.locator("#plot .tick text").all_text_contents()
    box = plot_box(visit)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.mouse.wheel(0, -600)
    page.wait_for_function("() => location.hash.includes('view=')")
    assert page.locator("#plot .tick text").all_text_contents() != before
    page.click("#reset-view")
    page.wait_for_function("() => !location.hash.includes('view=')")
    assert page.locator("#plot .tick text").all_text_contents() == before


# ---------------------------------------------------------------- sharing


def test_a_view_can_be_shared_by_its_address(visit: Visit, browser: Any, url: str) -> None:
    page = visit.page
    page.select_option("#table", "citeseer")
    page.wait_for_function("() => document.title.startsWith('citeseer')")
    page.select_option("#x", "para")
    page.select_option("#colour", "gin")
    page.check("#xlog")
    page.click("[data-key=use-fc]")
    page.click("[data-key=link-0000]")
    page.fill("[data-key='at least-valid_perf']", "0.6")
    page.press("[data-key='at least-valid_perf']", "Enter")
    page.click("#list-body tbody [data-hash] >> nth=2")
    page.click("#pick")
    page.focus("#plot")
    page.keyboard.press("+")
    other = Visit(browser)
    other.open(page.url)
    for selector in ("#status", "#details h2", "#tabs", "#list-body", "#legend"):
        assert other.page.inner_text(selector) == page.inner_text(selector)
    assert other.page.url == page.url
    assert (
        other.page.locator("#plot .tick text").all_text_contents()
        == page.locator("#plot .tick text").all_text_contents()
    )
    other.check(url)
    other.page.close()


@pytest.mark.parametrize(
    "fragment",
    [
        "table=nope&x=nope&y=nope&other=nope&colour=nope&list=nope",
        "view=a~b~c&focus=x&picked=,,x,1e999&range.latency=x~y",
        "view=0~0~0&focus=99999999&picked=-1&no.link=x&no.depth=x&with=x",
        "%E0%A4%A&&==&table=" + "x" * 5000,
        "other=cora&table=cora",
    ],
)
def test_an_address_that_makes_no_sense_shows_the_start(visit: Visit, fragment: str) -> None:
    visit.page.click("[data-key=use-gin]")
    visit.go(fragment)
    assert visit.status().startswith("26,206 of 26,206 architectures · 10 on the front")


# ---------------------------------------------------------------- exporting


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_selection_is_exported_as_benchquery_exports_it(
    visit: Visit, tmp_path: Path, kind: str
) -> None:
    visit.page.click("[data-key=use-gin]")
    visit.page.click("[data-key=depth-4]")
    visit.page.click("#tab-best")
    path = visit.download(kind, tmp_path)
    assert path.name == f"cora-best.{kind}"
    table = lightread("cora").where("gin >= 1", "depth != 4").top(99_999)
    expected = tmp_path / f"expected.{kind}"
    export(table, expected)
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[kind]
    pd.testing.assert_frame_equal(read(path), read(expected), check_exact=True)
    if kind == "csv":
        assert path.read_text() == expected.read_text()
    else:
        types = [field.type for field in pq.read_schema(path)]
        assert types == [field.type for field in pq.read_schema(expected)]


@pytest.mark.parametrize("tab", ["front", "best", "picked"])
def test_exported_code_opens_the_same_rows(visit: Visit, tmp_path: Path, tab: str) -> None:
    page = visit.page
    page.click("[data-key=use-gat]")
    page.click("[data-key=link-0112]")
    page.fill("[data-key='at most-latency']", "0.00271")
    page.press("[data-key='at most-latency']", "Enter")
    page.click("#list-body tbody [data-hash] >> nth=1")
    page.click("#pick")
    picked = visit.focused()
    page.click(f"#tab-{tab}")
    code = visit.download("python", tmp_path).read_text()
    table = lightread("cora").where("gat >= 1", "link != 0112", "latency <= 0.00271")
    expected = {
        "front": list(table.pareto()),
        "best": list(table),
        "picked": [picked],
    }[tab]
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    assert list(namespace["chosen"]) == expected


def test_an_empty_selection_says_so(visit: Visit) -> None:
    visit.page.fill("[data-key='at least-perf']", "2")
    visit.page.press("[data-key='at least-perf']", "Enter")
    assert visit.status().startswith("0 of 26,206")
    assert visit.page.locator("[data-format]:not([disabled])").count() == 0
    assert "No architecture passes" in visit.page.inner_text("#details")


# ---------------------------------------------------------------- screens and hosts


@pytest.mark.parametrize(
    ("width", "theme"), [(390, "light"), (390, "dark"), (800, "dark"), (1100, "light")]
)
def test_no_width_and_no_theme_breaks_the_page(
    browser: Any, url: str, width: int, theme: str
) -> None:
    phone = Visit(
        browser, viewport={"width": width, "height": 844}, color_scheme=theme, has_touch=True
    )
    phone.open(f"{url}#focus={POINT}")
    page = phone.page
    page.wait_for_selector(".neighbours li")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("html").get_attribute("data-theme") == theme
    ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    lightness = sum(int(part) for part in ground.strip("rgb()").split(",")) / 3
    assert (lightness > 128) == (theme == "light")
    if width == 390:
        page.locator("#plot").scroll_into_view_if_needed()
        dot = page.locator(".front-dot").nth(0).bounding_box()
        page.touchscreen.tap(dot["x"] + 4, dot["y"] + 4)
        assert phone.focused() != POINT
    phone.check(url)
    page.close()


def test_the_theme_can_be_chosen_and_stays(visit: Visit) -> None:
    theme = visit.page.locator("html")
    visit.page.click("#theme")
    assert theme.get_attribute("data-theme") == "dark"
    visit.page.reload()
    visit.page.wait_for_selector("body[data-ready]")
    assert theme.get_attribute("data-theme") == "dark"
    visit.page.click("#theme")
    assert theme.get_attribute("data-theme") == "light"


@pytest.fixture
def hosted(built: Path, tmp_path: Path) -> Iterator[str]:
    """An exported folder with two published tables and one with curves, on a plain server."""
    for name in ("cora", "citeseer"):
        (built.parent / name).symlink_to(find(name))
    write_site(Site(built.parent), tmp_path / "site")
    with hosting(tmp_path / "site") as url:
        yield url


def test_the_exported_folder_is_the_same_page(browser: Any, hosted: str) -> None:
    visit = Visit(browser)
    visit.open(f"{hosted}#table=cora&other=citeseer&x=perf&y=perf&focus={POINT}")
    visit.page.wait_for_selector(".neighbours li")
    visit.page.wait_for_function("() => document.querySelector('#agreement').textContent !== ''")
    assert visit.focused() == POINT

    visit.go(f"table=toy&focus={POINT}")
    visit.page.wait_for_selector("#curves .curve.mean")
    assert visit.page.locator("#curves .curve.mean").count() == 6
    assert visit.page.locator("#curves .curve.seed").count() == 12
    assert "status" in visit.page.inner_text(".figures")
    assert "toy: accuracy, synthetic" in visit.page.inner_text("#provenance")
    assert "toy (synthetic)" in visit.page.inner_text(".across")

    visit.page.wait_for_load_state("networkidle")
    visit.check(hosted)
    visit.page.close()
