"""JSON that was changed by hand, with a checksum that fits."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import random
from collections.abc import Callable
from typing import Any

from benchquery.table.sealed import SEAL

_NUMBERS = (
    0, 1, -1, 7, 2**31 - 1, 2**31, 2**53 + 1, 2**63, 2**70, -(2**70), 10**400, 10**4000, 0.5, -0.0,
    1e-320, 1e308, -1e308, math.nan, math.inf, -math.inf,
)  # fmt: skip
TEXTS = (
    "", " ", "x", "all", "karate", "nan", "-1", "0", "é\n\x1b[2J", "\0", "\ud800", "\u202e", "日本",
    "a" * 5_000, "../../etc", "/dev/zero", "{}", "[" * 50_000, '{"a":' * 50_000, "%s{0}$(x)",
)  # fmt: skip
"""Texts that are no names, or that claim to be something else."""
_OTHERS: tuple[Any, ...] = (
    None, True, False, [], {}, [[]], [None], {"": 0}, {"sample": 2**70, "seed": -1},
    {"sample": 3, "seed": [0]}, [0, 0], [2**70], ["x"], list(range(100_000)),
)  # fmt: skip

Place = tuple[Any, Any]
"""A container and the key or position of a value in it."""


def changed(body: dict[str, Any], rng: random.Random) -> str:
    """Return the text of a file with one or some places changed, under a checksum that fits.

    Args:
        body: The fields of the file, without their checksum.
        rng: What decides.
    """
    result = copy.deepcopy(body)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(result))
        holder, key = rng.choice(places)
        rng.choice(_CHANGES)(holder, key, rng)
    return sealed(result)


def sealed(body: dict[str, Any]) -> str:
    """Return the text of a file whose checksum fits, whatever is in it."""
    rest = {name: value for name, value in body.items() if name != SEAL}
    plain = json.dumps(rest, separators=(",", ":"))
    return json.dumps({**rest, SEAL: hashlib.sha256(plain.encode()).hexdigest()})


def _places(value: Any) -> list[Place]:
    """List all places in a value."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    found: list[Place] = []
    for key in keys:
        found.append((value, key))
        if isinstance(value[key], dict | list):
            found += _places(value[key])
    return found


def _replace(holder: Any, key: Any, rng: random.Random) -> None:
    holder[key] = copy.deepcopy(rng.choice(rng.choice((_NUMBERS, TEXTS, _OTHERS))))


def _remove(holder: Any, key: Any, rng: random.Random) -> None:
    del holder[key]


def _add(holder: Any, key: Any, rng: random.Random) -> None:
    if isinstance(holder, dict):
        holder[rng.choice(("new", "", "é\n", "sha256", "heads", "origin", "round_valid"))] = 3
    else:
        holder.append(copy.deepcopy(holder[key]))


def _wrap(holder: Any, key: Any, rng: random.Random) -> None:
    holder[key] = rng.choice(([holder[key]], {"a": holder[key]}, [holder[key]] * 3))


def _nest(holder: Any, key: Any, rng: random.Random) -> None:
    for _ in range(rng.choice((5, 70))):
        holder[key] = [holder[key]]


def _change_slightly(holder: Any, key: Any, rng: random.Random) -> None:
    value = holder[key]
    if isinstance(value, str):
        place = rng.randrange(len(value) + 1)
        holder[key] = (
            value[:place]
            + rng.choice(("", "0", "9" * 30, '"', "\n", "é", "x"))
            + (value[place + 1 :])
        )
    elif isinstance(value, int | float):
        holder[key] = rng.choice(
            (-value, value + 1, value * 1_000, value + 0.5, str(value), not value)
        )
    elif isinstance(value, list):
        holder[key] = value * rng.choice((0, 2, 1_000)) if len(value) < 1_000 else value[:1]


def _exchange(holder: Any, key: Any, rng: random.Random) -> None:
    other = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    holder[key], holder[other] = holder[other], holder[key]


_CHANGES: tuple[Callable[[Any, Any, random.Random], None], ...] = (
    _replace, _replace, _replace, _remove, _add, _wrap, _nest, _change_slightly, _change_slightly,
    _exchange,
)  # fmt: skip
