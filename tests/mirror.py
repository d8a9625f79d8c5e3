"""A mirror on this machine: a real HTTP server over a folder, whose faults can be chosen."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote


@dataclass
class Mirror:
    """What a mirror serves, and how badly.

    Attributes:
        folder: What it serves.
        ranges: Whether it answers to ranges.
        cuts: After how many bytes it cuts the next connections for a file's content.
        wrong: Files whose first byte it changes.
        sent_on: Where it sends requests on to.
        asked: The paths and ranges that were asked for.
    """

    folder: Path
    ranges: bool = True
    cuts: list[int] = field(default_factory=list)
    wrong: set[str] = field(default_factory=set)
    sent_on: str | None = None
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    address: str = ""


@contextlib.contextmanager
def serving(folder: Path, **faults: Any) -> Iterator[Mirror]:
    """Serve a folder on the loopback address until the block ends."""
    mirror = Mirror(folder, **faults)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            mirror.asked.append((self.path, asked))
            if mirror.sent_on:
                self.send_response(302)
                self.send_header("Location", mirror.sent_on)
                self.end_headers()
                return
            path = mirror.folder / unquote(self.path).lstrip("/")
            if not path.is_file():
                self.send_error(404)
                return
            content = path.read_bytes()
            if path.name in mirror.wrong:
                content = bytes([content[0] ^ 1]) + content[1:]
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and mirror.ranges else 0
            if start >= len(content) > 0:
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                )
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            rest = content[start:]
            if mirror.cuts and path.name != "registry.json":
                rest = rest[: mirror.cuts.pop(0)]
                self.close_connection = True
            self.wfile.write(rest)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    mirror.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield mirror
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
