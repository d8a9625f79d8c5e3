"""Who may ask, and how: the checks that every request passes before it is answered.

The page is for the person at this machine. A name that a stranger points at this machine
(DNS rebinding), a script on another site and an over-long address are refused with a
JSON answer that says why.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import socket
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule

if TYPE_CHECKING:
    from starlette import datastructures, responses
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
else:
    datastructures = LazyModule("starlette.datastructures", extra="web")
    responses = LazyModule("starlette.responses", extra="web")

LONGEST_ADDRESS = 2_000
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
"""What the page may load: its own files, nothing inline and nothing from elsewhere."""

HEADERS = {
    "content-security-policy": f"{CONTENT_POLICY}; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return a host that is written as a number, None for a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a host."""
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Why a request is not answered, and with which status."""

    status: int
    reason: str


class Guard:
    """Checks requests on their way to an application, and adds headers to its answers.

    Args:
        app: The application.
        host: What the server listens on. Beside it, requests may name the loopback; if
            it is not the loopback itself, also this machine's name and any address
            written as a number, which no foreign name can pose as.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._local = is_loopback(host)
        self._names = {host.lower(), "localhost"}
        if not self._local:
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                datastructures.MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self.refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send_guarded)
        else:
            answer = responses.JSONResponse({"error": refusal.reason}, refusal.status)
            await answer(scope, receive, send_guarded)

    def refusal(self, scope: MutableMapping[str, Any]) -> Refusal | None:
        """Return why a request is refused, None if it is not."""
        length = len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"])
        if length > LONGEST_ADDRESS:
            return Refusal(
                414, f"the address has {length:,} characters; at most {LONGEST_ADDRESS:,} are read"
            )
        headers = datastructures.Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return Refusal(
                400,
                f"this server does not answer for the host {host[:80]!r}; open the address "
                "that benchquery explore printed",
            )
        origin = headers.get("origin")
        foreign = origin is not None and origin.partition("://")[2] != host
        embedded = (
            headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
            and headers.get("sec-fetch-mode") != "navigate"
        )
        if foreign or embedded:
            return Refusal(403, "pages of other sites may not read these tables")
        return None

    def _is_ours(self, host: str) -> bool:
        """Tell whether a Host header names this server."""
        name, colon, port = host.rpartition(":")
        if not colon or not port.isdecimal():
            name = host
        address = _address(name)
        if address is None:
            return name.lower() in self._names
        return address.is_loopback or not self._local
