"""The restricted reader builds plain data and nothing else."""

from __future__ import annotations

import collections
import contextlib
import fractions
import os
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchquery.errors import BenchQueryError, CorruptTableError, UnsafePickleError
from benchquery.pickles import load_plain_pickle

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner)
    | st.dictionaries(st.integers() | st.text(), inner),
)  # fmt: skip


def load(tmp_path: Path, content: bytes) -> Any:
    path = tmp_path / "some.bench"
    path.write_bytes(content)
    return load_plain_pickle(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(plain, st.integers(2, 5))
def test_plain_data_comes_back(tmp_path: Path, value: Any, protocol: int) -> None:
    assert load(tmp_path, pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1", "?", ">f8"])
def test_numpy_numbers_and_arrays_come_back(tmp_path: Path, dtype: str, protocol: int) -> None:
    array = (np.arange(12).reshape(3, 4) % 3).astype(dtype)
    value = {"a": [1.0, array, (array.T, array[0, 1])], "b": np.asfortranarray(array)}
    loaded = load(tmp_path, pickle.dumps(value, protocol))
    np.testing.assert_array_equal(loaded["a"][1], array)
    np.testing.assert_array_equal(loaded["a"][2][0], array.T)
    assert loaded["a"][2][1] == array[0, 1]
    assert type(loaded["a"][2][1]) is type(array[0, 1])
    np.testing.assert_array_equal(loaded["b"], array)
    assert loaded["b"].dtype.newbyteorder("=") == array.dtype.newbyteorder("=")


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("rows", [1, 15, 16, 17, 40, 1_100])
def test_curves_come_back_as_python_reads_them(tmp_path: Path, rows: int, protocol: int) -> None:
    """Lists that follow each other are made at once; each keeps its number for later places."""
    rng = random.Random(rows)
    curves = [[rng.random() for _ in range(7)] for _ in range(rows)]
    odd = [*curves[:20], [0.5], [0.5, float("nan")], [1], [], *([[0.25] * 3] * 18)]
    value = {"dur": curves, "odd": odd, "again": (curves[rows // 2], curves[-1], curves)}
    loaded = load(tmp_path, pickle.dumps(value, protocol))
    assert repr(loaded) == repr(value)
    assert loaded["again"][1] is loaded["dur"][-1]
    assert len({id(row) for row in loaded["dur"]}) == rows


def test_curves_that_are_damaged_are_refused(tmp_path: Path) -> None:
    """Whatever byte of a run of lists is changed, it is what Python reads, or refused."""
    rng = random.Random(5)
    for protocol in (2, 4):
        curves = [[rng.random() for _ in range(2)] for _ in range(300)]
        content = pickle.dumps(curves, protocol)
        for _ in range(100):
            place, byte = rng.randrange(len(content)), rng.randrange(256)
            changed = content[:place] + bytes([byte]) + content[place + 1 :]
            cut = changed[: rng.choice([len(content), rng.randrange(len(content))])]
            with contextlib.suppress(BenchQueryError):
                assert repr(load(tmp_path, cut)) == repr(pickle.loads(cut, encoding="latin1"))


class Touch:
    """Pickles to a call that makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_code_is_never_run(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    with pytest.raises(UnsafePickleError, match=r"posix\.mkdir"):
        load(tmp_path, pickle.dumps({"perf": Touch(trap)}))
    assert not trap.exists()
    pickle.loads(pickle.dumps(Touch(trap)))
    assert trap.exists()


@pytest.mark.parametrize(
    "value",
    [
        fractions.Fraction(1, 2),
        collections.OrderedDict(a=1),
        np.array([None, "x"], dtype=object),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        np.datetime64("2020-01-01"),
        print,
        complex(1, 2),
        bytearray(b"x"),
    ],
    ids=repr,
)
def test_everything_else_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(UnsafePickleError, match=r"some\.bench is not opened"):
        load(tmp_path, pickle.dumps(value))


CONSTRUCTORS = [
    b"cnumpy\ndtype\n",
    b"cnumpy\nndarray\n",
    b"cnumpy.core.multiarray\nscalar\n",
    b"cnumpy.core.multiarray\n_reconstruct\n",
]


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_constructors_take_no_state(tmp_path: Path, constructor: bytes) -> None:
    with pytest.raises(BenchQueryError):
        load(tmp_path, b"\x80\x02" + constructor + b"}U\x08__call__Nsb.")
    with pytest.raises(BenchQueryError):
        load(tmp_path, b"\x80\x02" + constructor + b"N}U\x08__call__Ns\x86b.")


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x02Pexternal\n.",
        b"\x80\x02\x82\x01.",
        b"cbuiltins\neval\n(S'1+1'\ntR.",
        b"(S'true'\nios\nsystem\n.",
        b"cnumpy\nload\n.",
        b"cnumpy.core.multiarray\nfromfile\n.",
        b"\x80\x04\x8c\x05numpy\x8c\x0cdtype.mro\x93.",
    ],
)
def test_other_ways_in_are_closed(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BenchQueryError):
        load(tmp_path, content)


def test_damaged_files_give_a_clear_error(tmp_path: Path) -> None:
    good = pickle.dumps({1: {"dur": [[0.5] * 7] * 3, "perf": np.float64(1)}})
    for size in range(len(good)):
        with pytest.raises(CorruptTableError, match=r"some\.bench"):
            load(tmp_path, good[:size])
    rng = random.Random(0)
    for _ in range(500):
        bad = bytearray(good)
        bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        with contextlib.suppress(BenchQueryError):
            load(tmp_path, bytes(bad))
    with pytest.raises(CorruptTableError, match="No such file"):
        load_plain_pickle(tmp_path / "missing.bench")


BOMB = b"\x80\x04]\x94" + b"".join(b"h%ch%c\x86\x94" % (step, step) for step in range(60)) + b"."
COLLIDING = b"".join(
    b"\x8a\x0a" + (((1 << 61) - 1) * number).to_bytes(10, "little") + b"N"
    for number in range(20_000)
)


@pytest.mark.parametrize(
    "content",
    [
        b"})" + b"\x85" * 100_000 + b"K\x01s.",
        b"})" + b"2\x86" * 40 + b"K\x01s.",
        b"}p50000000\n.",
        b"}r\xff\xff\xff\x7f.",
        b"]p0\ng-1\na.",
        b"]q\x00h\x00a.",
        b"]q\x00h\x00\x85a.",
        b"}q\x00K\x01h\x00s.",
        BOMB,
        b"N" + b"\x85" * 101 + b".",
        b"]" * 200 + b"a" * 199 + b".",
        b"(" * 1_000 + b"l" * 1_000 + b".",
        b"(" + b"]" * 1_000_000 + b"l.",
        b"(" + b"\x8f" * 1_000 + b"l.",
        b"}(" + COLLIDING + b"u.",
        b"}G" + b"\0" * 8 + b"Ns.",
        b"}(K\x01te.",
        b"N.N.",
        b"NN.",
        b"(N.",
        b"cnumpy\ndtype\n.",
        b"]cnumpy\ndtype\na.",
        b"cnumpy\ndtype\nU\x02f8\x85R.",
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R.",
        b"cnumpy\ndtype\nU\x0aS500000000\x85R.",
        b"\x96\x01\0\0\0\0\0\0\0a.",
    ],
)
def test_attacks_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BenchQueryError, match=r"some\.bench"):
        load(tmp_path, content)


def test_many_calls_for_one_long_text_are_refused(tmp_path: Path) -> None:
    text = b"X\x40\x42\x0f\x00" + b"a" * 1_000_000
    names = b"c_codecs\nencode\nq\x00" + text + b"q\x01U\x06latin1q\x02"
    with pytest.raises(UnsafePickleError, match="memory"):
        load(tmp_path, b"(" + names + b"h\x00h\x01h\x02\x86R" * 20_000 + b"l.")


def test_a_shared_list_comes_back_in_every_place(tmp_path: Path) -> None:
    row = [0.5] * 7
    value = {number: {"dur": [row] * 3, "key": (1, "a")} for number in range(50)}
    for protocol in range(6):
        assert load(tmp_path, pickle.dumps(value, protocol)) == value
    assert load(tmp_path, pickle.dumps({("a", 1): 2})) == {("a", 1): 2}


def test_long_lists_of_floats_come_back(tmp_path: Path) -> None:
    for count in (1, 63, 64, 65, 128, 1_000, 1_001, 5_000):
        value = {7: [number / 7 for number in range(count)]}
        for protocol in range(6):
            assert load(tmp_path, pickle.dumps(value, protocol)) == value
