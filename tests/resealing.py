"""Editing JSON files as an attacker would: where there is a checksum, it fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchquery.table.sealed import SEAL, seal


def edit_sealed(path: Path, **changes: object) -> None:
    """Change fields of a JSON file; its checksum follows, if it has one."""
    before = json.loads(path.read_text())
    body = {name: value for name, value in {**before, **changes}.items() if name != SEAL}
    path.write_text(seal(body) if SEAL in before else json.dumps(body))


def put(body: Any, path: list[str | int], value: object) -> Any:
    """Return JSON with another value in one place."""
    if not path:
        return value
    copy = body.copy()
    copy[path[0]] = put(body[path[0]], path[1:], value)
    return copy


def places(body: Any) -> list[list[str | int]]:
    """List all places in JSON."""
    items = body.items() if isinstance(body, dict) else enumerate(body)
    found: list[list[str | int]] = []
    for key, value in items:
        found.append([key])
        if isinstance(value, dict | list):
            found += [[key, *rest] for rest in places(value)]
    return found
