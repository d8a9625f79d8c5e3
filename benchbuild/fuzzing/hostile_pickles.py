"""Pickles that were made to do harm: damaged ones, known attacks, and random instructions."""

from __future__ import annotations

import pickle
import random
import struct
from collections.abc import Callable

import numpy as np

_MARK_NAMES = (b"posix\nsystem", b"builtins\neval", b"os\nmkdir", b"builtins\n__import__")
_NAMES = (
    b"numpy\ndtype", b"numpy\nndarray", b"numpy.core.multiarray\nscalar", b"_codecs\nencode",
    b"numpy.core.multiarray\n_reconstruct", b"numpy.core.numeric\n_frombuffer",
    b"__builtin__\nbytes", b"__builtin__\nlist", b"collections\ndefaultdict",
    b"scipy.sparse.csr\ncsr_matrix", *_MARK_NAMES,
)  # fmt: skip
_PRIME = (1 << 61) - 1
"""Whole numbers that differ by a multiple of this have the same hash."""


def bench(rng: random.Random, protocol: int) -> bytes:
    """Return a small file of the kind that was published."""
    rows = {
        rng.randrange(100_000): {
            "valid_perf": rng.random(),
            "perf": np.float64(rng.random()),
            "dur": [[rng.random() for _ in range(7)] for _ in range(3)],
            "curve": np.eye(2, 3, dtype=rng.choice(["<f4", ">f8", "i8", "?"])),
            "name": rng.choice(["gcn", "Grünkohl", b"raw"]),
        }
        for _ in range(rng.randrange(1, 6))
    }
    return pickle.dumps(rows, protocol)


def matrix(rng: random.Random) -> bytes:
    """Return a small sparse matrix as Python 2 wrote those of the citation graphs."""
    rows, columns = rng.randrange(1, 9), rng.randrange(1, 9)
    counts = [rng.randrange(columns + 1) for _ in range(rows)]
    bounds = np.cumsum([0, *counts]).astype("<i4")
    indices = np.array([rng.randrange(columns) for _ in range(sum(counts))], dtype="<i4")
    parts = {
        b"format": b"U\x03csr",
        b"_shape": b"K%cK%c\x86" % (rows, columns),
        b"indptr": array(bounds),
        b"indices": array(indices),
        b"data": array(np.ones(len(indices), dtype="<f4")),
    }
    body = b"".join(b"U%c%s%s" % (len(name), name, part) for name, part in parts.items())
    return b"\x80\x02cscipy.sparse.csr\ncsr_matrix\nq\x01)\x81q\x02}q\x03(%sub." % body


def array(values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bytes:
    """Return the instructions for an array as Python 2 wrote them."""
    content = values.tobytes()
    shape = b"(%st" % b"".join(b"J" + struct.pack("<i", size) for size in values.shape)
    code = values.dtype.str[1:].encode()
    dtype = b"cnumpy\ndtype\nU%c%sK\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
    return (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01%s%s"
        b"K\x00tb\x89T%s%stb"
    ) % (shape, dtype % (len(code), code), struct.pack("<I", len(content)), content)


def damaged(rng: random.Random, content: bytes, other: bytes) -> bytes:
    """Return a pickle with some bytes changed, left out, doubled or taken from another one."""
    bad = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        start = rng.randrange(len(bad) + 1)
        end = min(len(bad), start + rng.choice([1, 1, 2, 4, 8, 40]))
        part = bytes(bad[start:end])
        how = rng.randrange(6)
        if how == 0 and part:
            bad[start] ^= 1 << rng.randrange(8)
        elif how == 1 and part:
            bad[start] = rng.randrange(256)
        elif how == 2:
            del bad[start:end]
        elif how == 3:
            bad[start:end] = part * rng.choice([2, 3, 50, 2_000])
        elif how == 4:
            cut = rng.randrange(len(other))
            bad[start:end] = other[cut : cut + rng.choice([1, 4, 40])]
        else:
            bad[start:end] = fragment(rng)
    return bytes(bad)


def fragment(rng: random.Random) -> bytes:
    """Return one instruction with a random argument."""
    small, text = bytes([rng.randrange(12)]), rng.choice([b"a", b"latin1", b"f8", b"<", b"S99999"])
    wide = struct.pack("<I", rng.choice([0, 1, 300, 1 << 20, (1 << 32) - 1]))
    return rng.choice(
        [
            b"N", b"\x88", b"\x89", b")", b"]", b"}", b"(", b"t", b"l", b"d", b"a", b"e", b"s",
            b"u", b"0", b"1", b"2", b"\x85", b"\x86", b"\x87", b"\x8f", b"\x90", b"\x91", b"b",
            b"R", b"o", b"\x81", b"\x92", b"\x93", b"\x94", b"\x97", b"\x98", b".", b"Q",
            b"K" + small, b"J" + wide, b"h" + small, b"q" + small, b"r" + wide, b"j" + wide,
            b"U%c%s" % (len(text), text), b"\x8c%c%s" % (len(text), text),
            b"C%c%s" % (len(text), text), b"X" + wide + text, b"B" + wide + text,
            b"\x8e" + wide + b"\0\0\0\0", b"\x95" + wide + wide, b"\x96\x02\0\0\0\0\0\0\0ab",
            b"G" + rng.randbytes(8), b"\x8a" + small + rng.randbytes(small[0]), b"\x8b" + wide,
            b"I%d\n" % rng.randrange(-9, 10**9), b"L1%sL\n" % (b"0" * rng.choice([1, 400, 5_000])),
            b"F1e%d\n" % rng.randrange(400), b"S'%s'\n" % text, b"V%s\n" % text,
            b"p%d\n" % rng.choice([0, 1, 2, 10**8]), b"g%d\n" % rng.choice([-1, 0, 1, 2, 10**8]),
            b"c%s\n" % rng.choice(_NAMES), b"i%s\n" % rng.choice(_NAMES), b"Pexternal\n",
            b"\x80" + small, b"\x82" + small,
        ]
    )  # fmt: skip


def instructions(rng: random.Random) -> bytes:
    """Return random instructions, some of them very often in a row."""
    parts = [b"\x80\x02"]
    for _ in range(rng.randrange(1, 60)):
        some = b"".join(fragment(rng) for _ in range(rng.choice([1, 1, 1, 2, 3, 6])))
        parts.append(some * (_often(rng) // len(some) if rng.random() < 0.1 else 1))
    return b"".join(parts) + b"."


def _often(rng: random.Random) -> int:
    """Return a count; small ones and very large ones are as likely."""
    return int(10 ** rng.uniform(1, 5.7))


def _nested(rng: random.Random, count: int) -> bytes:
    inner = rng.choice([b")" + b"\x85" * count, b"]" * count + b"a" * (count - 1)])
    return rng.choice([b"}%sK\x01s.", b"}K\x01%ss.", b"%s."]) % inner


def _pairs(rng: random.Random, count: int) -> bytes:
    doubled = rng.choice([b"2\x86", b"q%ch%c\x86"])
    steps = [
        doubled if b"%" not in doubled else doubled % (step % 256, step % 256)
        for step in range(min(count, 200))
    ]
    return rng.choice([b"})%sK\x01s.", b"]%s\x86."]) % b"".join(steps)


def _numbered(rng: random.Random, count: int) -> bytes:
    put = rng.choice([b"p%d\n" % (count * 1_000), b"r" + struct.pack("<I", count * 1_000)])
    return rng.choice([b"}%s.", b"](%se."]) % (put * rng.choice([1, 1, count]))[: 1 << 20]


def _repeated(rng: random.Random, count: int) -> bytes:
    one = rng.choice([b"]", b"}", b"\x8f", b"(", b"N", b")", b"\x94", b"](e", b"}(u", b"M\x01\x02"])
    return rng.choice([b"(%sl.", b"](%se.", b"}%s.", b"N%s."]) % (one * count)


def _called(rng: random.Random, count: int) -> bytes:
    text = b"a" * rng.choice([8, 1_000, 100_000])
    long = b"X" + struct.pack("<I", len(text)) + text
    make, call = rng.choice(
        [
            (b"c_codecs\nencode\nq\x00" + long + b"q\x01U\x06latin1q\x02", b"h\x00h\x01h\x02\x86R"),
            (
                b"cnumpy.core.multiarray\nscalar\nq\x00cnumpy\ndtype\nU\x06S99999K\x00K\x01\x87R"
                b"q\x01" + long + b"q\x02",
                b"h\x00h\x01h\x02\x86R",
            ),
            (
                b"cnumpy.core.multiarray\nscalar\nq\x00cnumpy\ndtype\nU\x02f8K\x00K\x01\x87Rq\x01"
                b"C\x08abcdefghq\x02",
                b"h\x00h\x01h\x02\x86R",
            ),
            (b"cnumpy\ndtype\nq\x00U\x02f8K\x00K\x01\x87q\x01", b"h\x00h\x01R"),
        ]
    )
    return b"(" + make + call * (count // 4) + b"l."


def _colliding(rng: random.Random, count: int) -> bytes:
    step = rng.choice([_PRIME, 1 << 32, 1 << 17, 1])
    count = min(count, 100_000)
    keys = [(step * number).to_bytes(12, "little", signed=True) for number in range(count)]
    if rng.random() < 0.3:
        return b"}(" + b"".join(b"\x8a\x0c%sN\x86N" % key for key in keys) + b"u."
    return b"}(" + b"".join(b"\x8a\x0c%sN" % key for key in keys) + b"u."


def _shared(rng: random.Random, count: int) -> bytes:
    inner = b"](%seq\x00" % (b"K\x01" * min(count, 1_000))
    return b"(%s%sl." % (inner, b"h\x00" * count)


def _itself(rng: random.Random, count: int) -> bytes:
    return rng.choice(
        [b"]q\x00h\x00a.", b"}q\x00K\x01h\x00s.", b"]q\x00h\x00\x85a.", b"](q\x00te."]
    )


def _shaped(rng: random.Random, count: int) -> bytes:
    content = np.zeros(rng.choice([0, 1, 4, count % 5_000]), dtype=rng.choice(["<f8", "<i4"]))
    good = array(content)
    size = b"(J" + struct.pack("<i", content.size)
    wild = rng.choice(
        [b"(J\xff\xff\xff\x7fJ\xff\xff\xff\x7f", b"(J\xff\xff\xff\xff", b"(K\x01" * 40]
    )
    return rng.choice([good + b".", good.replace(size, wild) + b".", b"(" + good * 9 + b"l."])


def _pointing(rng: random.Random, count: int) -> bytes:
    """Return a matrix one of whose numbers is changed: shape, bounds or indices."""
    good = bytearray(matrix(rng))
    places = [place for place in range(len(good)) if good[place] < 12]
    for _ in range(rng.randrange(1, 4)):
        good[rng.choice(places)] = rng.choice([0, 1, 9, 127, 128, 255])
    return bytes(good)


_ATTACKS: tuple[Callable[[random.Random, int], bytes], ...] = (
    _nested, _pairs, _numbered, _repeated, _called, _colliding, _shared, _itself, _shaped,
    _pointing,
)  # fmt: skip


def hostile(rng: random.Random) -> bytes:
    """Return a hostile pickle; most are damaged ones or random instructions."""
    how = rng.random()
    if how < 0.4:
        samples = [bench(rng, rng.randrange(6)), bench(rng, 2), matrix(rng)]
        return damaged(rng, rng.choice(samples), rng.choice(samples))
    if how < 0.7:
        return instructions(rng)
    return rng.choice(_ATTACKS)(rng, _often(rng))
