"""Asks whether a Ray cluster answers at an address.

In a process of its own, which can be given up on: where something else listens, Ray's client goes
on trying for a minute, and may then take its process down.
"""

from __future__ import annotations

import importlib
import socket
import subprocess
import sys

SECONDS = 20.0
"""How long an answer may take, the start of the process that asks included."""
CLIENT = "ray://"
"""How the address of a cluster's proxy for clients from outside begins."""


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
    """Ask a cluster whether it is there; ends this process if nothing listens."""
    host, colon, port = address.removeprefix(CLIENT).rpartition(":")
    if colon and port.isdigit():
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS).close()
        except (OSError, OverflowError) as error:
            sys.exit(str(error))
    if address.startswith(CLIENT):
        importlib.import_module("ray").init(address)
        return
    words = ["health-check", "--skip-version-check", "--address", address]
    importlib.import_module("ray.scripts.scripts").cli(words)


if __name__ == "__main__":
    knock(sys.argv[1])
