"""Starting the explorer and a browser, for tests, pictures and measurements."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent.parent.parent
CHROMIUM_VARIABLE = "CHROMIUM"
CHROMIUM_ARGS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
WITHOUT_GPU = ("--disable-gpu", "--disable-software-rasterizer")
"""Draw as browsers do that have no graphics card: all by the processor, and no WebGL."""
IMITATED_GPU = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
"""Have WebGL without a graphics card: slow, but the same code as with one."""


@contextlib.contextmanager
def running_explorer(*args: str) -> Iterator[str]:
    """Run the command ``benchquery explore`` on a free port and give the page's address."""
    command = [sys.executable, "-m", "benchquery", "explore", "--no-browser", "--port", "0"]
    with subprocess.Popen(
        [*command, "--json", *args], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()


def find_chromium() -> str | None:
    """Return the browser: the one that the variable CHROMIUM names, or Debian's."""
    return os.environ.get(CHROMIUM_VARIABLE) or shutil.which("chromium")


ALL_FILLED = """() => {
    const cells = [...document.querySelectorAll(".across td")];
    return cells.length && !cells.some((cell) => cell.textContent === "\N{HORIZONTAL ELLIPSIS}");
}"""
"""Whether the figures on all tables have arrived."""


@contextlib.contextmanager
def running_browser() -> Iterator[Browser]:
    """Start a headless Chromium that asks nobody for anything, and draws without a GPU."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=[*CHROMIUM_ARGS, *WITHOUT_GPU]
        )
        try:
            yield browser
        finally:
            browser.close()
