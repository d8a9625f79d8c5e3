"""Pickles of citation graphs: the real ones pass, those that would do harm don't."""

from __future__ import annotations

import pickle
import random
import warnings
from pathlib import Path

import numpy as np
import pytest

from benchbuild.datasets.safe_pickles import check_pickle
from benchbuild.errors import DatasetError
from benchbuild.fuzzing import pickles
from benchbuild.fuzzing.hostile_pickles import array, matrix

SHAPE = b"K\x02K\x03\x86"


def small(
    shape: bytes = SHAPE,
    bounds: tuple[int, ...] = (0, 1, 3),
    indices: tuple[int, ...] = (0, 1, 2),
    count: int = 3,
) -> bytes:
    """Return a matrix of two rows as Python 2 wrote it."""
    parts = {
        b"_shape": shape,
        b"indptr": array(np.array(bounds, dtype="<i4")),
        b"indices": array(np.array(indices, dtype="<i4")),
        b"data": array(np.ones(count, dtype="<f4")),
    }
    body = b"".join(b"U%c%s%s" % (len(name), name, part) for name, part in parts.items())
    return b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06formatU\x03csr%sub." % body


def checked(folder: Path, content: bytes) -> Path:
    path = folder / "ind.some.x"
    path.write_bytes(content)
    check_pickle(path)
    return path


def test_what_passes_is_what_scipy_loads(tmp_path: Path) -> None:
    with checked(tmp_path, small()).open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        loaded = pickle.load(file, encoding="latin1")
    np.testing.assert_array_equal(loaded.toarray(), [[1, 0, 0], [0, 1, 1]])
    for seed in range(20):
        checked(tmp_path, matrix(random.Random(seed)))


@pytest.mark.parametrize(
    "content",
    [
        small(indices=(0, 1, 3)),
        small(indices=(0, -1, 2)),
        small(bounds=(0, 1, 4)),
        small(bounds=(0, 4, 3)),
        small(bounds=(1, 1, 3)),
        small(bounds=(0, 3)),
        small(count=2),
        small(shape=b"J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86"),
        small(shape=b"J\xfe\xff\xff\xffJ\xfd\xff\xff\xff\x86"),
        small().replace(b"format", b"todens"),
        b"cposix\nsystem\n(U\x04truetR.",
        b"ccollections\ndefaultdict\ncposix\nsystem\n\x85R.",
        b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85RK\x01U\x01as.",
        b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85RK\x01](J\xff\xff\xff\xffes.",
        b"}p50000000\n.",
        b"K\x01.",
        b"",
    ],
)
def test_what_would_do_harm_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DatasetError, match=r"ind\.some\.x"):
        checked(tmp_path, content)


def test_fuzzed_pickles_do_no_harm(tmp_path: Path) -> None:
    outcome = pickles.fuzz(300, 7, tmp_path)
    assert outcome.wrong == ()
    assert outcome.trials == 300
    assert outcome.detected > 0
    assert outcome.harmless > 0
