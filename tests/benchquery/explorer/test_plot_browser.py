"""The plot in a real browser: enlarging, steps back and forth, shared picks, what may lack."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from benchquery import lightread

from .running import CHROMIUM_ARGS, IMITATED_GPU, find_chromium, running_explorer
from .visiting import BROWSER_MARKS, Visit

pytestmark = BROWSER_MARKS
ALL_PICKED = "() => document.querySelector('#tab-picked small').textContent === '26,206'"
ACCENT = np.array([11, 92, 173])


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_explorer() as url:
        yield url


@pytest.fixture(scope="module")
def shared(browser: Any, url: str) -> Iterator[Visit]:
    visit = Visit(browser)
    visit.open(url)
    yield visit
    visit.settle()
    visit.check(url)
    visit.page.close()


@pytest.fixture
def visit(shared: Visit, request: pytest.FixtureRequest) -> Visit:
    shared.go(f"table=cora&test={request.node.name}")
    shared.page.wait_for_function("() => document.title.startsWith('cora: valid_perf by latency')")
    shared.page.select_option("#mode", "move")
    return shared


def part(visit: Visit) -> list[float]:
    """Return the part of the plot that the address names."""
    visit.page.wait_for_function("() => location.hash.includes('view=')")
    return [float(share) for share in visit.fragment()["view"].split("~")]


def drag(visit: Visit, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag from one place of the plot to another, both in shares of it."""
    box = visit.page.locator("#points").bounding_box()
    (x, y), (to_x, to_y) = (
        (box["x"] + box["width"] * across, box["y"] + box["height"] * down)
        for across, down in (start, end)
    )
    visit.page.mouse.move(x, y)
    visit.page.mouse.down()
    visit.page.mouse.move(to_x, to_y, steps=3)
    visit.page.mouse.up()


def test_a_box_enlarges_and_a_flat_one_enlarges_one_axis(visit: Visit) -> None:
    visit.page.select_option("#mode", "zoom")
    drag(visit, (0.2, 0.1), (0.6, 0.5))
    assert part(visit) == pytest.approx([0.2, 0.6, 0.1, 0.5], abs=0.01)
    visit.page.click("#reset-view")
    drag(visit, (0.3, 0.4), (0.5, 0.41))
    assert part(visit) == pytest.approx([0.3, 0.5, 0, 1], abs=0.01)


def test_the_wheel_on_an_axis_enlarges_it_alone(visit: Visit) -> None:
    box = visit.page.locator("#points").bounding_box()
    visit.page.mouse.move(box["x"] - 20, box["y"] + 40)
    visit.page.mouse.wheel(0, -400)
    left, right, top, bottom = part(visit)
    assert (left, right) == (0, 1)
    assert bottom - top < 0.8


def test_the_view_fits_what_passes_the_filters(visit: Visit) -> None:
    visit.go("table=cora&range.latency=0.002~0.003&range.valid_perf=0.75~0.8")
    visit.page.click("#fit")
    left, right, top, bottom = part(visit)
    latency = lightread("cora").column("latency")
    assert right - left == pytest.approx(0.001 * 1.08 / (np.ptp(latency) * 1.06), rel=0.05)
    assert 0 < top < bottom < 0.2


def test_histograms_follow_the_other_filters_and_say_their_scale(visit: Visit) -> None:
    title = visit.page.locator(".range-title").nth(0)
    before = title.inner_text()
    visit.page.click("[data-key=use-gin]")
    visit.page.wait_for_function(
        "(text) => document.querySelector('.range-title').innerText !== text", arg=before
    )
    values = lightread("cora").where("gin >= 1").column("valid_perf")
    whole = lightread("cora").column("valid_perf")
    counts, _ = np.histogram(values, bins=44, range=(whole.min(), whole.max()))
    (said,) = re.findall(r"√ scale, up to ([\d,]+) a bar", title.inner_text())
    assert abs(int(said.replace(",", "")) - counts.max()) <= 1


def test_real_steps_are_entries_of_the_history(visit: Visit) -> None:
    page = visit.page
    page.select_option("#x", "para")
    page.click("[data-key=use-gin]")
    page.focus("#plot")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert "focus" in visit.fragment()
    page.go_back()
    page.wait_for_function("() => !location.hash.includes('focus')")
    assert visit.fragment()["with"] == "gin"
    page.go_back()
    page.wait_for_function("() => !location.hash.includes('with')")
    assert page.input_value("#x") == "para"
    page.go_back()
    page.wait_for_function("() => document.querySelector('#x').value === 'latency'")
    page.go_forward()
    page.wait_for_function("() => document.querySelector('#x').value === 'para'")


def test_an_address_keeps_every_pick(visit: Visit, browser: Any, url: str) -> None:
    page = visit.page
    page.select_option("#mode", "pick")
    drag(visit, (0.001, 0.002), (0.999, 0.999))
    page.wait_for_function(ALL_PICKED)
    address = page.url
    assert len(address) < 5_000
    shot = matplotlib.image.imread(io.BytesIO(page.locator("#plot").screenshot()))
    blue = np.abs(255 * shot[..., :3] - ACCENT).max(axis=-1) < 12
    assert blue.mean() > 0.1
    assert page.locator("#overlay circle").count() < 100
    other = Visit(browser)
    other.open(address)
    other.page.wait_for_function(ALL_PICKED)
    other.go(address.partition("#")[2].replace("picks=", "picks=0"))
    other.page.wait_for_selector("#notice:not([hidden])")
    assert "another version of the table" in other.page.inner_text("#notice")
    assert other.picked() == 0
    other.settle()
    other.check(url)
    other.page.close()


def test_a_table_that_is_not_there_is_named(visit: Visit) -> None:
    visit.go("table=nope")
    visit.page.wait_for_selector("#notice:not([hidden])")
    assert "no table “nope”; this is cora" in visit.page.inner_text("#notice")
    visit.page.click("[data-key=use-gin]")
    assert visit.page.is_hidden("#notice")


def test_a_chosen_point_that_is_filtered_out_is_marked(visit: Visit) -> None:
    visit.go("table=cora&focus=76727&without=gin")
    visit.page.wait_for_selector(".left-out")
    assert visit.page.locator(".focus-dot.out").count() == 1


def test_keys_say_the_point_that_they_reach(visit: Visit) -> None:
    visit.page.focus("#plot")
    visit.page.keyboard.press("ArrowLeft")
    said = visit.page.inner_text("#announced")
    assert "valid_perf 0." in said
    assert visit.page.is_visible("#tooltip")


def test_a_tap_shows_what_was_tapped(browser: Any, url: str) -> None:
    phone = Visit(browser, viewport={"width": 390, "height": 844}, has_touch=True)
    phone.open(url)
    phone.page.locator("#plot").scroll_into_view_if_needed()
    dot = phone.page.locator(".front-dot").nth(0).bounding_box()
    phone.page.touchscreen.tap(dot["x"] + 4, dot["y"] + 4)
    phone.page.wait_for_selector("#tooltip:not([hidden])")
    assert "valid_perf" in phone.page.inner_text("#tooltip")
    phone.page.close()


DRAWN = """() => {
  const canvas = document.createElement("canvas");
  const points = document.querySelector("#points");
  [canvas.width, canvas.height] = [points.width, points.height];
  const context = canvas.getContext("2d");
  context.drawImage(points, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size > 300;
}"""
"""Whether the points are drawn, in their colours."""


def test_without_webgl_the_points_are_drawn_by_the_processor(visit: Visit) -> None:
    assert visit.page.evaluate("!document.createElement('canvas').getContext('webgl2')")
    visit.page.wait_for_function(DRAWN)


@pytest.mark.slow
@pytest.mark.parametrize("card", [False, True])
def test_webgl_draws_if_there_is_a_card(browser: Any, url: str, card: bool) -> None:
    """There is none here, so the one that is imitated is called one."""
    imitating = browser.browser_type.launch(
        executable_path=find_chromium(), args=[*CHROMIUM_ARGS, *IMITATED_GPU]
    )
    visit = Visit(imitating)
    visit.page.add_init_script(
        "const read = WebGL2RenderingContext.prototype.getParameter;"
        "WebGL2RenderingContext.prototype.getParameter = function (name) {"
        " const value = read.call(this, name);"
        f" return {str(card).lower()} && typeof value === 'string' ? 'a card' : value; }};"
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, options) {"
        " return get.call(this, kind, {...options, preserveDrawingBuffer: true}); }"
    )
    visit.open(f"{url}#picked=76727")
    visit.page.wait_for_function(DRAWN)
    kind = "webgl2" if card else "2d"
    assert visit.page.evaluate(f"!!document.querySelector('#points').getContext('{kind}')")
    visit.settle()
    visit.check(url)
    imitating.close()


def test_without_any_canvas_all_else_works(browser: Any, url: str) -> None:
    visit = Visit(browser)
    visit.page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    visit.open(url)
    assert "can't draw the points" in visit.page.inner_text("#plot-note")
    visit.page.click("[data-key=use-gin]")
    assert visit.status().startswith("10,379 of 26,206")
    visit.settle()
    visit.check(url)
    visit.page.close()


def test_a_stopped_server_is_said_in_words(browser: Any) -> None:
    with running_explorer() as url:
        visit = Visit(browser)
        visit.open(url)
        assert visit.page.get_attribute("main", "aria-busy") == "false"
        visit.settle()
    visit.page.select_option("#table", "cora-condensed")
    visit.page.wait_for_selector("#problem:not([hidden])")
    assert "may have been stopped" in visit.page.inner_text("#problem")
    assert visit.page.get_attribute("main", "aria-busy") == "false"
    visit.page.close()


def test_loading_is_announced(browser: Any, url: str) -> None:
    visit = Visit(browser)
    gates: list[Any] = []

    def hold(route: Any) -> None:
        gates.append(route)

    visit.page.route("**/data/tables/cora.arrow.gz", hold)
    visit.page.goto(url)
    visit.page.wait_for_function(
        "() => document.querySelector('#status').innerText === 'Loading cora…'"
    )
    assert visit.page.get_attribute("main", "aria-busy") == "true"
    gates[0].continue_()
    visit.page.wait_for_selector("main[aria-busy=false]")
    visit.page.close()


@pytest.mark.slow
def test_the_view_is_saved_as_a_picture(visit: Visit, tmp_path: Any) -> None:
    for ending in ("svg", "png"):
        with visit.page.expect_download() as started:
            visit.page.click(f"[data-picture={ending}]")
        assert started.value.suggested_filename == f"cora-scatter.{ending}"
        started.value.save_as(tmp_path / f"picture.{ending}")
    drawn = matplotlib.image.imread(tmp_path / "picture.png")
    assert len(np.unique(drawn.reshape(-1, drawn.shape[-1]), axis=0)) > 500
    text = (tmp_path / "picture.svg").read_text()
    assert "data:image/png;base64," in text
    assert "latency (s)" in text
    assert "class=" not in text
