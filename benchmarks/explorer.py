"""Speed of the explorer: bytes over the wire, the first view, frames, and many requests.

    python benchmarks/explorer.py

Needs the extra ``web``, httpx2, playwright and a Chromium (see
``scripts/screenshot_explorer.py``). The browser draws without a GPU, so with one frames are faster.
Each time is the best of several rounds, as the machine may be busy; the processor time of a
frame is that of all processes of the browser, which other work on the machine does not lengthen.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import psutil

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchquery.explorer import Site, write_site  # noqa: E402
from benchquery.text import format_table  # noqa: E402
from tests.benchquery.explorer.running import running_browser, running_explorer  # noqa: E402

FRAMES = """async (move) => {
    const canvas = document.querySelector("#points").getBoundingClientRect();
    const [x, y] = [canvas.x + canvas.width / 2, canvas.y + canvas.height / 4];
    const times = [];
    const target = document.querySelector("#overlay .inside");
    for (let step = 0; step < 60; step++) {
        const way = step < 30 ? 1 : -1;
        const all = { bubbles: true, cancelable: true, clientY: y };
        target.dispatchEvent(move === "panning"
            ? new PointerEvent("pointermove", { ...all, pointerId: 1, pointerType: "mouse",
                clientX: x + 2 * (30 - Math.abs(29 - step)) })
            : new WheelEvent("wheel", { ...all, deltaY: -40 * way, clientX: x }));
        const start = performance.now();
        await new Promise(requestAnimationFrame);
        times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[30];
}"""
STEPS = 60
ALL_PICKED = """() => document.querySelector("#tab-picked small").textContent
    === document.querySelector("#tab-best small").textContent"""
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def sizes(source: Path | None) -> Iterator[dict[str, Any]]:
    site = Site(source)
    paths = list(site.paths())
    page = [path for path in paths if not path.startswith("data/")]
    yield {"what": "page, all files", "figure": sum(len(site.read(p).body) for p in page) / 1e3}
    for path in paths:
        if path.startswith(("data/tables/", "data/kinds/", "data/catalogue")):
            yield {"what": path, "figure": len(site.read(path).body) / 1e3}


def start_up(chosen: Sequence[str], rounds: int) -> Iterator[dict[str, Any]]:
    """Measure the work of a new process until it has answered for the page and a table."""

    def worked() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    for what, path in (("the page", ""), ("a table", "data/tables/cora.arrow.gz")):
        taken = []
        for _ in range(rounds):
            before = worked()
            with running_explorer(*chosen) as url:
                httpx2.get(f"{url}{path}").raise_for_status()
            taken.append(worked() - before)
        yield {"what": f"processor time from command to {what}, s", "figure": min(taken)}


def first_view(chosen: Sequence[str], rounds: int) -> Iterator[dict[str, Any]]:
    """Measure a new process and a page that was never opened, then the page again."""
    starts, shows, firsts, paints, views = [], [], [], [], []
    with running_browser() as browser:
        for _ in range(rounds):
            with ExitStack() as stack:
                start = time.perf_counter()
                url = stack.enter_context(running_explorer(*chosen))
                starts.append(time.perf_counter() - start)
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                opened = time.perf_counter() - start
                page.goto(url)
                page.wait_for_selector("body[data-ready]")
                firsts.append(time.perf_counter() - start)
                shows.append(opened + page.evaluate(PAINT) / 1e3)
                page.wait_for_load_state("networkidle")
                start = time.perf_counter()
                page.goto("about:blank")
                page.goto(url)
                page.wait_for_selector("body[data-ready]")
                views.append(time.perf_counter() - start)
                paints.append(page.evaluate(PAINT) / 1e3)
                page.wait_for_load_state("networkidle")
                page.close()
    yield {"what": "command to address printed, s", "figure": min(starts)}
    yield {"what": "command to page visible, s", "figure": min(shows)}
    yield {"what": "command to points drawn, s", "figure": min(firsts)}
    yield {"what": "page opened to first paint, s", "figure": min(paints)}
    yield {"what": "page opened to points drawn, s", "figure": min(views)}


def processor_time() -> float:
    """Return the seconds that all processes of the browser have worked."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            used = process.cpu_times()
            total += used.user + used.system
    return total


def moving(page: Any, move: str) -> tuple[float, float]:
    """Return milliseconds of a frame while the view moves: the median, and of processor time."""
    box = page.locator("#points").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 4)
    if move == "panning":  # only a part of the plot can be moved
        page.mouse.wheel(0, -160)
        page.wait_for_timeout(500)
        page.mouse.down()
    before = processor_time()
    median = page.evaluate(FRAMES, move)
    worked = 1e3 * (processor_time() - before) / STEPS
    page.mouse.up()
    page.mouse.wheel(0, 1000)
    page.wait_for_timeout(500)
    return median, worked


def pick_all(page: Any) -> float:
    """Pick all points by a box and return the seconds until the page has counted them."""
    page.select_option("#mode", "pick")
    box = page.locator("#points").bounding_box()
    page.mouse.move(box["x"] + 1, box["y"] + 1)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + box["height"] - 1, steps=2)
    start = time.perf_counter()
    page.mouse.up()
    page.wait_for_function(ALL_PICKED)
    return time.perf_counter() - start


def frames(chosen: Sequence[str], rounds: int) -> Iterator[dict[str, Any]]:
    """Measure frames of a page that was opened, then with all points picked."""
    found: dict[str, list[tuple[float, float]]] = {}
    picks = []
    with running_browser() as browser, running_explorer(*chosen) as url:
        for _ in range(rounds):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(url)
            page.wait_for_selector("body[data-ready]")
            page.wait_for_load_state("networkidle")
            for what in ("26,206 points", "all picked"):
                if what == "all picked":
                    picks.append(pick_all(page))
                    page.select_option("#mode", "move")
                for move in ("panning", "zooming"):
                    found.setdefault(f"{move}, {what}", []).append(moving(page, move))
            page.close()
    for what, measured in found.items():
        medians, worked = zip(*measured, strict=True)
        yield {"what": f"one frame while {what}, median, ms", "figure": min(medians)}
        yield {"what": f"one frame while {what}, processor, ms", "figure": min(worked)}
    yield {"what": "picking all points, s", "figure": min(picks)}


async def ask_all(url: str, requests: int) -> list[float]:
    """Return how long each of many requests at once took."""

    async def ask(client: httpx2.AsyncClient) -> float:
        start = time.perf_counter()
        (await client.get("data/tables/cora.arrow.gz")).raise_for_status()
        return time.perf_counter() - start

    limits = httpx2.Limits(max_connections=requests)
    async with httpx2.AsyncClient(base_url=url, limits=limits, timeout=60) as client:
        return sorted(await asyncio.gather(*(ask(client) for _ in range(requests))))


def load(chosen: Sequence[str], rounds: int, requests: int) -> Iterator[dict[str, Any]]:
    with running_explorer(*chosen) as url:
        taken = [asyncio.run(ask_all(url, requests)) for _ in range(rounds)]
    best = min(taken, key=lambda times: times[-1])
    yield {"what": f"{requests} tables at once, median, s", "figure": best[requests // 2]}
    yield {"what": f"{requests} tables at once, slowest, s", "figure": best[-1]}


def folder(source: Path | None) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "site"
        taken = seconds(lambda: write_site(Site(source), out))
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    yield {"what": "export of all tables, s", "figure": taken}
    yield {"what": "export of all tables, MB", "figure": size / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many counts (5)")
    parser.add_argument("--requests", type=int, default=200, help="at once (200)")
    parser.add_argument("--source", type=Path, help="tables, with cora among them (all)")
    options = parser.parse_args()
    source, rounds, requests = options.source, options.rounds, options.requests
    chosen = ["--source", str(source.resolve())] if source else []
    print("kB over the wire\n")
    print(format_table(sizes(source)))
    print("\ntimes\n")
    times = [
        *start_up(chosen, rounds),
        *first_view(chosen, rounds),
        *frames(chosen, rounds),
        *load(chosen, rounds, requests),
        *folder(source),
    ]
    print(format_table(times))


if __name__ == "__main__":
    main()
