"""JSON files that carry a checksum of their own, and a reader that takes nothing but plain JSON.

The last field of such a file, ``sha256``, is the SHA-256 of all the others: of their JSON text in
the order of the file, without spaces. A file with other spaces is the same file; one with another
value, name or order is not. The checksum finds damage. It is no signature: whoever can write the
file can also write a checksum that fits.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

SEAL = "sha256"
DEEPEST = 64
"""How deeply lists and objects may be nested."""
LARGEST = 1 << 28
"""How many bytes such a file may have."""


def seal(body: Mapping[str, Any]) -> str:
    """Return the text of a file: the fields, then their checksum.

    Raises:
        ValueError: If a value has no JSON form: NaN and infinity have none.
    """
    return json.dumps({**body, SEAL: _digest(body)}, indent=1, allow_nan=False) + "\n"


def unseal(body: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a file after comparing them with their checksum.

    Raises:
        ValueError: If there is no checksum, or it is that of other fields.
    """
    rest = dict(body)
    stated = rest.pop(SEAL, None)
    found = _digest(rest)
    if stated != found:
        said = f"{str(stated)[:12]}..." if stated is not None else "missing"
        raise ValueError(f"it is damaged: its checksum is {found[:12]}..., stated is {said}")
    return rest


def _digest(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def parse_object(content: str | bytes) -> dict[str, Any]:
    """Read JSON text that is one object.

    Raises:
        ValueError: If it is not, or has a name twice, a number that is not finite, a text that
            UTF-8 can't write, or more than `DEEPEST` levels.
    """
    text = content if isinstance(content, str) else content.decode("utf-8")
    try:
        body = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite
        )
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(body, dict):
        raise ValueError("it is no JSON object")
    level: list[Any] = [body]
    for _ in range(DEEPEST):
        level = [
            child
            for value in level
            if isinstance(value, (dict, list))
            for child in (value.values() if isinstance(value, dict) else value)
        ]
    if level:
        raise _too_deep()
    if "\\u" in text:
        json.dumps(body, ensure_ascii=False).encode()
    return body


def _too_deep() -> ValueError:
    return ValueError(f"it is nested in more than {DEEPEST} levels")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it has the name {twice!r} twice")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:20]} is too large")
    return value


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")
