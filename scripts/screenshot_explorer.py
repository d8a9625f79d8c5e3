"""Makes the pictures of the explorer in docs/images with headless Chromium.

    python scripts/screenshot_explorer.py [FOLDER]

Needs the extras ``web`` and ``plot``, the package playwright and a Chromium: Debian's package
``chromium``, or the one that the variable CHROMIUM names.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchquery.search import run, save  # noqa: E402
from tests.benchquery.explorer.running import (  # noqa: E402
    ALL_FILLED,
    running_browser,
    running_explorer,
)

STRATEGIES = ("random", "evolution")
PICTURES = {
    "explorer-light": (1440, 900, "light", "table=cora&focus=76727"),
    "explorer-dark": (1440, 900, "dark", "table=cora&with=gin&without=skip&focus=12227"),
    "explorer-phone": (390, 844, "light", "table=cora&focus=76727"),
    "explorer-compare": (1440, 900, "light", "table=cora&other=citeseer&x=valid_perf&colour=gin"),
    "explorer-curves": (
        *(1280, 760, "light"),
        "table=cora-built&pane=curves&o.smooth=0.8&list=picked&picked=26001,70203,68066,20002",
    ),
    "explorer-replay": (1280, 800, "light", "table=cora&pane=replay"),
    "explorer-leaderboard": (1280, 700, "light", "table=cora-condensed"),
}
"""By name of the picture: width, height, theme, and the view as in the page's address."""

WHEN_READY = {
    "curves": ".lines .line",
    "replay": ".trail-dot",
    "leaderboard": ".leaderboard",
}
"""By the last part of a picture's name: what must be there; it alone is shown."""

COLOURS, COMMON = 256, 64
"""Colours of a picture in the docs, so that it stays small, and how many are its most frequent."""


def write_traces(path: Path) -> None:
    """Write searches to replay."""
    save([run(name, "cora", 300, seed=seed) for name in STRATEGIES for seed in range(5)], path)


def shrink(path: Path) -> None:
    """Write a picture with few colours in its place: grounds as they are, and some of all hues."""
    with Image.open(path) as picture:
        full = picture.convert("RGB")
    counted = sorted(full.getcolors(full.width * full.height), reverse=True)[:COMMON]
    common = [channel for _, colour in counted for channel in colour]
    others = full.quantize(COLOURS - COMMON, Image.Quantize.MAXCOVERAGE).getpalette()
    palette = Image.new("P", (1, 1))
    palette.putpalette(common + others[: 3 * (COLOURS - COMMON)])
    full.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    """Take every picture."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    with (
        running_explorer() as url,
        running_browser() as browser,
        tempfile.TemporaryDirectory() as scratch,
    ):
        traces = Path(scratch) / "traces.parquet"
        write_traces(traces)
        for name, (width, height, theme, view) in PICTURES.items():
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme=theme,
                reduced_motion="reduce",
            )
            page.goto(f"{url}#{view}")
            page.wait_for_selector("body[data-ready]")
            if page.locator("#trace-file").count():
                page.set_input_files("#trace-file", traces)
            if page.locator(".across").count():
                page.wait_for_function(ALL_FILLED)
            pane = WHEN_READY.get(name.rpartition("-")[2])
            page.wait_for_selector(pane or "#details h2")
            page.wait_for_load_state("networkidle")
            shown = page.locator(".plot-panel") if pane else page
            shown.screenshot(path=folder / f"{name}.png")
            page.close()
            shrink(folder / f"{name}.png")
            print(folder / f"{name}.png")


if __name__ == "__main__":
    main()
