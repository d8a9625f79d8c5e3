"""Condensed tables in a real browser: filtered, selected, shared and exported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchquery import CondensedTable, condread, find
from benchquery.explorer import Site, write_site
from benchquery.kinds.condensed.analysis import method_name, usual_means
from benchquery.kinds.condensed.published import mean_accuracy, published
from benchquery.table.schema import is_of_one_seed
from benchquery.table.store import TABLES_VARIABLE
from tests.benchquery.condensing import GCN, GCOND, SGC, write_condensed
from tests.benchquery.image_tables import COLOUR, CONVNET, GREY, pixels_of, write_images

from .running import running_explorer
from .visiting import BROWSER_MARKS, Visit, hosting, table_cells

pytestmark = BROWSER_MARKS
CONFIG = GCOND.replace(dataset="cora")
KEY = f"{CONFIG.valid_hash()}.{GCN.valid_hash()}"
NAME = "condensed-cora"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables of both kinds."""
    folder = tmp_path_factory.mktemp("tables")
    write_condensed(folder / NAME, "cora")
    (folder / "cora").symlink_to(find("cora"))
    return folder


@pytest.fixture(scope="module")
def cond(folder: Path) -> CondensedTable:
    return condread(NAME, folder)


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with running_explorer("--source", str(folder)) as url:
        yield url


@pytest.fixture
def visit(browser: Any, url: str) -> Iterator[Visit]:
    visit = Visit(browser)
    visit.open(f"{url}#table={NAME}&pane=scatter")
    visit.page.wait_for_selector("#part-graph svg")
    yield visit
    visit.page.wait_for_load_state("networkidle")
    visit.check(url)
    visit.page.close()


def show(visit: Visit, key: str = KEY) -> None:
    visit.go(f"table={NAME}&pane=scatter&focus={key}")
    visit.page.wait_for_function(
        "(text) => document.querySelector('#details h2')?.textContent === text"
        " && document.querySelector('#part-graph svg')",
        arg="gcond 0.026",
    )


def test_both_kinds_are_in_the_chooser(visit: Visit) -> None:
    groups = visit.page.locator("#table optgroup")
    assert groups.evaluate_all("(all) => all.map((group) => group.label)") == [
        "Architectures",
        "Condensed graphs",
    ]
    assert visit.page.is_hidden("#compare")
    visit.page.select_option("#table", "cora")
    visit.page.wait_for_function("() => document.title.startsWith('cora: valid_perf by latency')")
    assert visit.page.is_visible("#compare")
    values = "(options) => options.map((option) => option.value)"
    assert visit.page.locator("#other option").evaluate_all(values) == [""]
    visit.page.select_option("#table", NAME)
    visit.page.wait_for_function(f"() => document.title.startsWith('{NAME}: perf by ratio')")


def test_the_first_view_is_a_leaderboard(visit: Visit, cond: CondensedTable) -> None:
    page = visit.page
    visit.go(f"table={NAME}")
    page.wait_for_selector(".leaderboard")
    assert page.is_hidden("#plot")
    lines = usual_means(cond)
    rows = {method: cells for method, _, *cells in table_cells(visit, ".leaderboard")}
    assert list(rows) != sorted(rows)
    sizes = sorted({mean["ratio"] for means in lines.values() for mean in means})
    for means in lines.values():
        for mean in means:
            cell = rows[method_name(mean)][2 * sizes.index(mean["ratio"])]
            assert f"validation {100 * mean['valid_perf']:.1f}" in cell
            paper = mean_accuracy(mean)
            said = rows[method_name(mean)][2 * sizes.index(mean["ratio"]) + 1]
            assert said == (paper.source if paper else "")
    page.click("[data-rank=method]")
    assert [row[0] for row in table_cells(visit, ".leaderboard")] == sorted(rows)
    assert visit.fragment()["o.rank"] == "method"
    assert visit.status() == "19 of 19 evaluated graphs"


def test_the_plot_shows_methods_by_ratio(visit: Visit, cond: CondensedTable) -> None:
    assert visit.status().startswith("19 of 19 evaluated graphs · no front")
    legend = visit.page.inner_text("#legend").split()
    assert legend == ["method", "random", "gcond", "gcdm"]
    shown = visit.page.locator("#list-body tbody [data-hash]").evaluate_all(
        "(buttons) => buttons.map((button) => button.dataset.hash)"
    )
    best = sorted(cond.records(), key=lambda row: -row["perf"])
    assert shown == [f"{row['config']}.{row['evaluation']}" for row in best]


def test_filters_are_those_of_the_query_language(visit: Visit, cond: CondensedTable) -> None:
    page = visit.page
    page.click("[data-key=method-random]")
    assert visit.status().startswith("13 of 19")
    page.click("[data-key=model-sgc]")
    page.click("[data-key='ratio-0.013']")
    page.click("[data-key=seed-1]")
    page.fill("[data-key='at least-perf']", "0.1")
    page.press("[data-key='at least-perf']", "Enter")
    expected = cond.where(
        "method != random", "model != sgc", "ratio != 0.013", "seed != 1", "perf >= 0.1"
    )
    assert visit.status().startswith(f"{len(expected)} of 19")
    assert visit.fragment()["no.method"] == "random"
    page.click("[data-key=clear]")
    page.focus("[data-key=method-gcdm]")
    page.keyboard.press("Shift+Enter")
    assert visit.status().startswith("1 of 19")
    assert page.get_attribute("[data-key=method-gcond]", "aria-pressed") == "false"


def test_the_front_of_time_and_performance(visit: Visit, cond: CondensedTable) -> None:
    visit.page.select_option("#x", "condense_time_best")
    front = cond.pareto("perf", "condense_time_best")
    count = len(front.records())
    assert visit.status().endswith(f" {count} on the front")
    assert visit.page.locator(".front-dot").count() == count


def test_a_graph_is_shown_with_all_that_is_known(visit: Visit, cond: CondensedTable) -> None:
    show(visit)
    page, record = visit.page, cond[CONFIG]
    assert eval(page.inner_text(".code-line code"), {"CondenseConfig": type(CONFIG)}) == CONFIG
    assert page.locator(".graph circle").count() == record["nodes"]
    assert page.locator(".graph line").count() == record["edges"]
    for title, value, _ in table_cells(visit, ".figures"):
        name = title.partition(" ")[0]
        if isinstance(record[name], str):
            assert value == record[name]
        elif not np.isnan(record[name]):
            assert float(value.replace(",", "")) == record[name]
    (paper,) = published("2", dataset="cora", method="gcond", ratio=0.026)
    beside = dict(table_cells(visit, ".beside"))
    assert beside["published"] == f"{paper.mean:.1f} ± {paper.std:.1f} %"
    assert float(beside["difference"]) == pytest.approx(100 * record["perf"] - paper.mean, abs=0.06)
    values = dict(table_cells(visit, ".values"))
    assert set(values) == set(CONFIG)
    assert float(values["lr_feat"]) == CONFIG["lr_feat"]
    assert page.locator("#part-trace .curve.mean").count() == 1
    page.wait_for_selector("#curves .curve.mean")
    assert page.locator("#curves .curve.seed").count() == 18
    assert page.locator(".ringed-dot").count() == 1
    page.click(".neighbour")
    page.wait_for_function(
        "(text) => document.querySelector('#details .title').textContent.includes(text)",
        arg="by sgc",
    )
    assert visit.fragment()["focus"] == f"{CONFIG.valid_hash()}.{SGC.valid_hash()}"


def test_the_keyboard_moves_and_picks(visit: Visit) -> None:
    page = visit.page
    page.focus("#plot")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert visit.fragment()["picked"] == visit.fragment()["focus"]
    assert visit.picked() == 1
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input")].filter((element) =>
            !(element.textContent.trim() || element.getAttribute("aria-label")
              || element.labels?.length)).map((element) => element.outerHTML)"""
    )
    assert unnamed == []


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_selection_is_exported_exactly(
    visit: Visit, cond: CondensedTable, tmp_path: Path, kind: str
) -> None:
    visit.page.click("[data-key=method-random]")
    path = visit.download(kind, tmp_path)
    assert path.name == f"{NAME}-best.{kind}"
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}[kind](path)
    table = cond.where("method != random")
    expected = pd.DataFrame({n: table.column(n) for n in table.columns if not is_of_one_seed(n)})
    expected = expected.dropna(subset="perf").sort_values("perf", ascending=False, kind="stable")
    assert list(read) == list(expected)
    for name in expected:
        if name == "reason":  # an empty text is none in CSV
            continue
        np.testing.assert_array_equal(read[name].to_numpy(), expected[name].to_numpy())


@pytest.fixture
def known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the tables known by name."""
    monkeypatch.setenv(TABLES_VARIABLE, str(folder))


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("tab", ["best", "picked"])
def test_exported_code_opens_the_same_rows(
    visit: Visit, cond: CondensedTable, tmp_path: Path, tab: str
) -> None:
    show(visit)
    visit.page.click("#pick")
    visit.page.click("[data-key=method-random]")
    visit.page.click(f"#tab-{tab}")
    code = visit.download("python", tmp_path).read_text()
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    made = [(row["config"], row["evaluation"]) for row in namespace["records"]]
    wanted = cond.where("method != random").records()
    expected = [(row["config"], row["evaluation"]) for row in wanted]
    assert made == (expected if tab == "best" else [(CONFIG.valid_hash(), GCN.valid_hash())])
    assert "CondenseConfig(" in code


def test_a_view_can_be_shared_by_its_address(visit: Visit, browser: Any, url: str) -> None:
    page = visit.page
    page.select_option("#x", "condense_time")
    page.select_option("#colour", "model")
    page.click("[data-key=method-random]")
    page.click("#list-body tbody [data-hash] >> nth=2")
    page.click("#pick")
    other = Visit(browser)
    other.open(page.url)
    for selector in ("#status", "#details h2", "#tabs", "#list-body", "#legend"):
        assert other.page.inner_text(selector) == page.inner_text(selector)
    assert other.page.url == page.url
    other.page.wait_for_load_state("networkidle")
    other.check(url)
    other.page.close()


@pytest.mark.parametrize(
    "fragment", ["focus=61237&picked=1,x.y&with=gin", "no.method=nope&no.link=0123&other=cora&x=z"]
)
def test_an_address_that_makes_no_sense_shows_all(visit: Visit, fragment: str) -> None:
    visit.go(f"table={NAME}&{fragment}")
    visit.page.wait_for_function("() => document.querySelector('#part-graph svg')")
    assert visit.status().startswith("19 of 19 evaluated graphs")


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1100, "light")])
def test_no_width_and_no_theme_breaks_the_page(
    browser: Any, url: str, width: int, theme: str
) -> None:
    visit = Visit(browser, viewport={"width": width, "height": 844}, color_scheme=theme)
    visit.open(f"{url}#table={NAME}&focus={KEY}")
    visit.page.wait_for_selector("#part-graph svg")
    visit.page.wait_for_selector("#curves svg")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.page.locator("html").get_attribute("data-theme") == theme
    visit.page.wait_for_load_state("networkidle")
    visit.check(url)
    visit.page.close()


def test_the_exported_folder_is_the_same_page(browser: Any, folder: Path, tmp_path: Path) -> None:
    write_site(Site(folder / NAME), tmp_path / "site")
    with hosting(tmp_path / "site") as address:
        visit = Visit(browser)
        visit.open(f"{address}#table=cora&focus={KEY}")
        visit.page.wait_for_selector("#part-graph svg")
        visit.page.wait_for_selector("#curves .curve.mean")
        assert visit.page.inner_text("#details h2") == "gcond 0.026"
        visit.page.wait_for_load_state("networkidle")
        visit.check(address)
        visit.page.close()


@pytest.mark.parametrize("config", [GREY, COLOUR])
def test_images_are_drawn_pixel_by_pixel(browser: Any, config: Any, tmp_path: Path) -> None:
    """From the exported folder, whose files are those of the server."""
    write_site(Site(write_images(tmp_path / "images")), tmp_path / "site")
    key = f"{config.valid_hash()}.{CONVNET.valid_hash()}"
    with hosting(tmp_path / "site") as address:
        visit = Visit(browser)
        visit.open(f"{address}#table=images&focus={key}")
        visit.page.wait_for_selector("#part-graph canvas.images")
        width, height, drawn = visit.page.evaluate(
            """() => {
              const canvas = document.querySelector("canvas.images");
              const { width, height } = canvas;
              const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
              return [width, height, [...data]];
            }"""
        )
        shown = np.array(drawn).reshape(height, width, 4)
        stored = pixels_of(config)
        for one in range(3):
            for row, number in enumerate(range(one, len(stored), 3)[:10]):
                tile = shown[6 * row :, 5 * one :][:5, :4]
                assert np.array_equal(tile[..., :3], np.broadcast_to(stored[number], (5, 4, 3)))
                assert (tile[..., 3] == 255).all()
        visit.page.wait_for_load_state("networkidle")
        visit.check(address)
        visit.page.close()
