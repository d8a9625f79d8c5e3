"""A page that is watched while tests use it."""

from __future__ import annotations

import contextlib
import functools
import http.server
import importlib.util
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .running import CHROMIUM_VARIABLE, find_chromium

BROWSER_MARKS = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not find_chromium(),
        reason=f"no chromium: apt-get install chromium, or name one by {CHROMIUM_VARIABLE}",
    ),
    *(
        pytest.mark.skipif(
            importlib.util.find_spec(package) is None,
            reason=f"the package {package} is missing: pip install {package}",
        )
        for package in ("playwright", "starlette", "uvicorn")
    ),
]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def hosting(folder: Path) -> Iterator[str]:
    """Serve a folder by a plain web server and give its address."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Visit:
    """A page that notes what it says and whom it asks."""

    def __init__(self, browser: Any, **options: Any) -> None:
        options = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"} | options
        self.page = browser.new_page(**options)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))
        self._loading: set[Any] = set()
        self.page.on("request", self._begin)
        self.page.on("requestfinished", self._end)
        self.page.on("requestfailed", self._end)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text)
                if message.type in ("error", "warning") and "GPU stall" not in message.text
                else None
            ),
        )

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_selector("body[data-ready]")

    def _begin(self, request: Any) -> None:
        self._loading.add(request)

    def _end(self, request: Any) -> None:
        self._loading.discard(request)

    def settle(self) -> None:
        """Wait until nothing is being loaded, for as long as a look takes."""
        while self._loading:
            self.page.wait_for_timeout(20)
        self.page.wait_for_timeout(300)
        if self._loading:
            self.settle()

    def check(self, url: str) -> None:
        """Assert that there were no complaints, and that only one server was asked."""
        assert self.complaints == [], self.complaints
        assert self.requests
        allowed = (url, f"blob:{url}")
        assert [asked for asked in self.requests if not asked.startswith(allowed)] == []

    def go(self, fragment: str) -> None:
        """Change the address of the page, as a person who edits it does."""
        self.page.evaluate("(fragment) => { location.hash = fragment; }", fragment)

    def show(self, number: int, table: str = "cora") -> None:
        """Show an architecture with its neighbours."""
        self.go(f"table={table}&focus={number}")
        self.page.wait_for_function(
            "(number) => Number(document.querySelector('#details h2').textContent) === number"
            " && document.querySelector('.neighbours li')",
            arg=number,
        )

    def status(self) -> str:
        return str(self.page.inner_text("#status"))

    def picked(self) -> int:
        """Return how many rows are picked, as the page counts them."""
        return int(self.page.inner_text("#tab-picked small").replace(",", ""))

    def focused(self) -> int:
        return int(self.page.inner_text("#details h2"))

    def fragment(self) -> dict[str, str]:
        return dict(urllib.parse.parse_qsl(self.page.evaluate("location.hash").lstrip("#")))

    def download(self, button: str, folder: Path) -> Path:
        with self.page.expect_download() as started:
            self.page.click(f"[data-format={button}]")
        path = folder / started.value.suggested_filename
        started.value.save_as(path)
        return path


def table_cells(visit: Visit, selector: str) -> list[list[str]]:
    """Return the cells of a table, row by row: the exact figure where it is shown rounded."""
    rows: list[list[str]] = visit.page.locator(f"{selector} tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [...row.cells].map((cell) =>"
        " (cell.tagName === 'TD' && cell.title) || cell.innerText))"
    )
    return rows
