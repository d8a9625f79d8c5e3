"""Damage to files: what disks, networks and careless hands do."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

Damage = Callable[[bytes, random.Random], bytes]
_ALNUM = np.array([bytes([byte]).isalnum() for byte in range(256)])


def flip_bit(content: bytes, rng: random.Random) -> bytes:
    """Turn one bit around."""
    return _flip(content, rng, 1)


def flip_bits(content: bytes, rng: random.Random) -> bytes:
    """Turn several bits around."""
    return _flip(content, rng, rng.randint(2, 16))


def _flip(content: bytes, rng: random.Random, count: int) -> bytes:
    changed = bytearray(content)
    for _ in range(count):
        position = rng.randrange(8 * len(changed))
        changed[position // 8] ^= 1 << position % 8
    return bytes(changed)


def change_letter(content: bytes, rng: random.Random) -> bytes:
    """Write another letter or digit in the place of one, so that a text stays a text."""
    places = np.flatnonzero(_ALNUM[np.frombuffer(content, np.uint8)])
    place = int(rng.choice(places if len(places) else [0]))
    other = rng.choice(b"0123456789" if chr(content[place]).isdigit() else b"abcdefxyzABCXYZ")
    return content[:place] + bytes([other]) + content[place + 1 :]


def truncate(content: bytes, rng: random.Random) -> bytes:
    """Leave out the end."""
    return content[: rng.randrange(len(content))]


def append(content: bytes, rng: random.Random) -> bytes:
    """Add something at the end."""
    return content + rng.randbytes(rng.randint(1, 64))


def delete(content: bytes, rng: random.Random) -> bytes:
    """Leave out a piece."""
    start, end = _piece(content, rng)
    return content[:start] + content[end:]


def repeat(content: bytes, rng: random.Random) -> bytes:
    """Write a piece twice."""
    start, end = _piece(content, rng)
    return content[:end] + content[start:]


def scramble(content: bytes, rng: random.Random) -> bytes:
    """Write random bytes over a piece."""
    start, end = _piece(content, rng)
    return content[:start] + rng.randbytes(end - start) + content[end:]


def zero(content: bytes, rng: random.Random) -> bytes:
    """Write zeros over a piece, as a lost block reads."""
    start, end = _piece(content, rng)
    return content[:start] + bytes(end - start) + content[end:]


def fill(content: bytes, rng: random.Random) -> bytes:
    """Write ones over a piece, as an erased block reads."""
    start, end = _piece(content, rng)
    return content[:start] + b"\xff" * (end - start) + content[end:]


def swap(content: bytes, rng: random.Random) -> bytes:
    """Exchange two pieces of one length."""
    start, end = _piece(content, rng)
    size = min(end - start, len(content) // 2)
    first, second = sorted(rng.randrange(len(content) - size + 1) for _ in range(2))
    if second < first + size:
        return content
    middle = content[first + size : second]
    one, two = content[first : first + size], content[second : second + size]
    return content[:first] + two + middle + one + content[second + size :]


def _piece(content: bytes, rng: random.Random) -> tuple[int, int]:
    """Choose a piece: often a small one, sometimes a large one."""
    longest = min(len(content), rng.choice((4, 32, 512, len(content))))
    start = rng.randrange(len(content))
    return start, min(len(content), start + rng.randint(1, longest))


DAMAGES: Mapping[str, Damage] = MappingProxyType(
    {
        damage.__name__: damage
        for damage in (
            flip_bit, flip_bits, change_letter, truncate, append, delete, repeat, scramble, zero,
            fill, swap,
        )
    }
)  # fmt: skip
"""All kinds of damage by name. Each takes the bytes of a file, at least one."""


def damage_one(files: list[Path], rng: random.Random) -> str:
    """Damage one of some files, or exchange two of them.

    Args:
        files: The files; empty ones stay as they are.
        rng: What decides.

    Returns:
        What was done, in words.
    """
    if len(files) > 1 and rng.random() < _EXCHANGED:
        one, other = rng.sample(files, 2)
        first, second = one.read_bytes(), other.read_bytes()
        _write(one, second)
        _write(other, first)
        return f"{one.name} and {other.name} exchanged"
    file = rng.choice(files)
    name = rng.choice(list(DAMAGES))
    if content := file.read_bytes():
        _write(file, DAMAGES[name](content, rng))
    return f"{name} in {file.name}"


_EXCHANGED = 0.02
"""How often two files are exchanged."""


def _write(path: Path, content: bytes) -> None:
    """Write a file as a new one: HDF5 takes a changed one for the one that it has open."""
    path.unlink()
    path.write_bytes(content)
