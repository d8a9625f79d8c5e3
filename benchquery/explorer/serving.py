"""The server: a port of this machine, and the page on it."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import BenchQueryError, QueryError
from benchquery.explorer.app import create_app
from benchquery.explorer.site import Site

if TYPE_CHECKING:
    import uvicorn
else:
    uvicorn = LazyModule("uvicorn", extra="web")

HOST = "127.0.0.1"
PORT = 8765
_BACKLOG = 512
"""How many connections may wait, so that a burst of requests is never turned away."""


def _listen(host: str, port: int) -> socket.socket:
    """Take a port.

    Raises:
        QueryError: If it can't be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise QueryError(
                f"port {port} of {host} is in use; choose another with --port, "
                "or --port 0 for any free one"
            ) from error
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise QueryError(
            f"can't listen on port {port} of {host}: {reason}; the default is --host {HOST} "
            f"--port {PORT}"
        ) from error


def _url(bound: socket.socket) -> str:
    """Return the address of the page on a port that was taken."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _open_browser(url: str) -> None:
    import webbrowser

    webbrowser.open(url)


def _warm_up(site: Site) -> None:
    """Make the first files before they are asked for; if that fails, the page says why."""
    with contextlib.suppress(BenchQueryError, OSError):
        site.warm_up()


def serve(
    site: Site,
    *,
    host: str = HOST,
    port: int = PORT,
    open_browser: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve the explorer until it is interrupted.

    Args:
        site: What to serve.
        host: The name or address to listen on; the default is reached from this machine
            only.
        port: The port; 0 for any free one.
        open_browser: Whether to open the page in a browser.
        announce: Called with the page's address once it can be opened.

    Raises:
        QueryError: If the port can't be had.
        MissingPackageError: If starlette or uvicorn is not installed.
    """
    app = create_app(site, host)
    # Without a configuration of its own, uvicorn leaves the handlers of other packages alone.
    config = uvicorn.Config(
        app, log_config=None, log_level="warning", ws="none", server_header=False
    )
    with _listen(host, port) as bound:
        url = _url(bound)
        threading.Thread(target=_warm_up, args=(site,), daemon=True).start()
        announce(url)
        if open_browser:
            threading.Thread(target=_open_browser, args=(url,), daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[bound])
