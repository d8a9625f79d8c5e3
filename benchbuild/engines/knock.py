"""Asks whether a Ray cluster answers at an address.

In a process of its own, which can be given up on: where something else listens, Ray's client goes
on trying for a minute, and may then take its process down. Before Ray is even imported, the address
must speak what Ray does, gRPC: its server is the first to say so when a connection opens.
"""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import sys

SECONDS = 20.0
"""How long an answer may take, the start of the process that asks included."""
GREETING_SECONDS = 5.0
"""How long what listens may take to speak."""
CLIENT = "ray://"
"""How the address of a cluster's proxy for clients from outside begins."""

FORMS = "an address is HOST:PORT, ray://HOST:PORT or auto"
_AUTO = "auto"
_SETTINGS = 4
_HEAD = 9
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, _SETTINGS, 0, 0, 0, 0, 0))
"""How HTTP/2, and so gRPC, begins: a fixed text, and a frame of settings that changes none."""
_TLS = "RAY_USE_TLS"
"""The variable that tells Ray to encrypt; then nobody answers to a plain greeting."""


def why_not(address: str) -> str | None:
    """Say in one line why no cluster can be joined at an address; None if one can.

    Args:
        address: As ``ray.init`` takes it.
    """
    words = [sys.executable, "-P", __file__, address]
    try:
        done = subprocess.run(
            words, check=False, capture_output=True, text=True, errors="replace", timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"nothing that speaks Ray answered within {SECONDS:.0f} seconds"
    if done.returncode == 0:
        return None
    lines = done.stderr.split("\n") + done.stdout.split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it does not answer")


def knock(address: str) -> None:
    """Ask a cluster whether it is there; ends this process if nothing that could be one listens."""
    host, _, port = address.removeprefix(CLIENT).rpartition(":")
    if address != _AUTO:
        if not (host and port.isdigit()):
            sys.exit(FORMS)
        try:
            _greet(host.strip("[]"), int(port))
        except TimeoutError:
            sys.exit(f"nothing that speaks Ray answered within {GREETING_SECONDS:.0f} seconds")
        except (OSError, OverflowError, UnicodeError) as error:
            sys.exit(str(error))
    if address.startswith(CLIENT):
        importlib.import_module("ray").init(address)
        return
    words = ["health-check", "--skip-version-check", "--address", address]
    importlib.import_module("ray.scripts.scripts").cli(words)


def _greet(host: str, port: int) -> None:
    """Open a connection and wait for the first words of a gRPC server.

    Raises:
        OSError: If nobody answers, or in another language.
    """
    with socket.create_connection((host, port), timeout=GREETING_SECONDS) as connection:
        if os.environ.get(_TLS, "0").lower() in ("1", "true"):
            return
        connection.sendall(_GREETING)
        head = b""
        while len(head) < _HEAD and (more := connection.recv(_HEAD - len(head))):
            head += more
    if len(head) < _HEAD or head[3] != _SETTINGS:
        raise OSError("what listens there does not speak Ray")


if __name__ == "__main__":
    knock(sys.argv[1])
