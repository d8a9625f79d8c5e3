"""Payloads that were made to do harm: refused before memory is taken or an index is followed."""

from __future__ import annotations

import dataclasses
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchbuild.errors import CorruptPartError
from benchbuild.fuzzing.sample_runs import SHARD, write_tables
from benchbuild.kinds.condense.arrays import pack, unpack
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.status import status_of
from benchbuild.pipeline.verify import problems_in
from benchquery import condread, verify
from benchquery.errors import QueryError
from benchquery.kinds.condensed.forms import FORMS
from benchquery.kinds.condensed.pixels import shown_pixels
from benchquery.kinds.condensed.view import VIEW

NODES = 6
X = np.ones((NODES, 2), np.float16)
GRAPHS = {"x": X, "sizes": np.array([4, 2], np.int32), "y": np.array([0, 1])}
TREES = {
    "x": X,
    "parents": np.array([-1, 0, 1, 1, -1, 4], np.int32),
    "trees": np.array([4, 2], np.int32),
    "patterns": np.array([1, 1], np.int32),
    "y": np.array([0, 1]),
    "weights": np.ones(2, np.float32),
}
OVERFLOWING = np.array([2**62] * 4 + [NODES])
"""Numbers from 1 up that add up to the number of nodes in 64 bits."""


@pytest.fixture(scope="module")
def samples(fuzzing: Path) -> Path:
    write_tables(fuzzing / "samples")
    return fuzzing / "samples"


@pytest.mark.parametrize(
    ("form", "changes", "message"),
    [
        ("graphs", {}, ""),
        ("graphs", {"sizes": OVERFLOWING, "y": np.zeros(5, int)}, "sizes do not share out 6"),
        ("graphs", {"sizes": np.array(6)}, r"sizes is int64\(\), no array"),
        ("graphs", {"sizes": np.array([4, 3], np.int32)}, "sizes do not share out 6 nodes"),
        ("graphs", {"edges": np.array([[0, 1], [1, 9]])}, "none of the 6"),
        ("graphs", {"edges": np.array([[0, 1], [1, -1]])}, "none of the 6"),
        ("graphs", {"edges": np.array([[0, 1], [1, 5]])}, "joins two graphs"),
        ("graphs", {"by_row": np.zeros((1, 1), np.uint8)}, "by_row"),
        ("graphs", {"x": X.astype(">f4")}, "x is >f4.*no array of common numbers"),
        ("graphs", {"x": X.astype(np.longdouble)}, "no array of common numbers"),
        ("trees", {}, ""),
        ("trees", {"trees": OVERFLOWING}, "trees do not share out 6 nodes"),
        ("trees", {"patterns": OVERFLOWING}, "patterns do not share out 2 trees"),
        ("trees", {"parents": np.array([-1, 2, 3, 1, -1, 4])}, "its own ancestor"),
        ("trees", {"parents": np.array([-1, 1, 1, 1, -1, 4])}, "its own ancestor"),
        ("trees", {"parents": np.array([-1, 0, 1, 1, 0, 4])}, "in another tree"),
        ("graph", {"sizes": None, "y": np.array(3)}, r"y is int64\(\), no array"),
    ],
)
def test_arrays_must_be_of_their_form(form: str, changes: dict[str, Any], message: str) -> None:
    arrays = {**(TREES if form == "trees" else GRAPHS), **changes}
    known = {name: values for name, values in arrays.items() if values is not None}
    with np.errstate(all="raise"):
        found = FORMS[form].problem(known)
    assert bool(found) == bool(message)
    assert re.search(message, found)


def test_a_long_tree_is_no_circle() -> None:
    many = 1000
    chain = {
        **TREES,
        "x": np.ones((many, 1), np.float16),
        "parents": np.arange(-1, many - 1),
        "trees": np.array([many]),
        "patterns": np.array([1]),
        "y": np.array([0]),
        "weights": np.ones(1, np.float32),
    }
    assert FORMS["trees"].problem(chain) == ""
    assert FORMS["trees"].problem({**chain, "parents": np.roll(chain["parents"], -1)}) != ""


def test_packed_arrays_come_back_whatever_their_order() -> None:
    arrays = {"a": np.arange(6, dtype=np.int16).reshape(2, 3), "b": np.empty((0, 3))}
    arrays["c"] = np.asfortranarray(arrays["a"])
    for name, found in unpack(pack(arrays)).items():
        assert found.dtype == arrays[name].dtype
        assert np.array_equal(found, arrays[name])


def compressed() -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, x=np.zeros(1 << 22))
    return buffer.getvalue()


def claiming() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, x=np.zeros((1, 4)))
    return buffer.getvalue().replace(
        b"'shape': (1, 4), }" + b" " * 12, b"'shape': (1000000000000, 4), }"
    )


def pickled() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, x=np.array([{}], object))
    return buffer.getvalue()


@pytest.mark.parametrize("make", [compressed, claiming, pickled, lambda: b"", lambda: b"PK"])
def test_packed_arrays_claim_no_more_than_they_are(make: Any) -> None:
    content = make()
    assert len(content) < 100_000
    with pytest.raises(ValueError, match="it keeps no arrays"):
        unpack(np.frombuffer(content, np.uint8))


@pytest.mark.parametrize("domain", ["nodes", "graphs", "images"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("payload", np.frombuffer(compressed(), np.uint8)),
        ("form", "nosuch"),
        ("nodes", 7_777),
        ("trace_losses", np.zeros(5, np.float32)),
        ("trace_seconds", np.zeros(7, np.float32)),
        ("environment", "here"),
        ("curves", np.zeros(3, np.float32)),
        ("eval_status", np.array([9], np.int32)),
    ],
)
def test_records_that_no_job_wrote_are_named(
    samples: Path, tmp_path: Path, domain: str, field: str, value: Any
) -> None:
    begun = RunFolder.open(samples / f"condense-{domain}")
    first, *rest = begun.parts.records()
    if field == "payload" and not first.form:
        first = dataclasses.replace(first, form="graphs")
    if field == "nodes" and first.form:
        first, value = dataclasses.replace(first, form=""), 1
    copy = RunFolder.begin(tmp_path / "run", begun.run)
    copy.parts.add(SHARD, [dataclasses.replace(first, **{field: value}), *rest])
    (part,) = copy.parts.paths()
    assert any(problem.startswith(f"{part}: config=") for problem in problems_in(copy.path))
    with pytest.raises((CorruptPartError, QueryError)):
        merge([copy.path], tmp_path / "table")
    assert not (tmp_path / "table").exists()


@pytest.mark.parametrize("name", ["a" * 50_000, "\0", "a\nb", "epoch", ""])
def test_losses_have_short_names_of_their_own(samples: Path, tmp_path: Path, name: str) -> None:
    begun = RunFolder.open(samples / "condense-nodes")
    (learned,) = [one for one in begun.parts.records() if one.loss_names]
    others = [one for one in begun.parts.records() if not one.loss_names]
    copy = RunFolder.begin(tmp_path / "run", begun.run)
    names = (name, *learned.loss_names[1:])
    copy.parts.add(SHARD, [dataclasses.replace(learned, loss_names=names), *others])
    assert any(str(copy.path) in problem for problem in problems_in(copy.path))
    with pytest.raises((CorruptPartError, QueryError)):
        merge([copy.path], tmp_path / "table")
    assert not (tmp_path / "table").exists()


@pytest.mark.parametrize("finished", [np.nan, np.inf, -np.inf, 1e30])
def test_a_status_needs_no_sensible_clock(samples: Path, tmp_path: Path, finished: float) -> None:
    begun = RunFolder.open(samples / "condense-images")
    copy = RunFolder.begin(tmp_path / "run", begun.run)
    records = [dataclasses.replace(one, finished=finished) for one in begun.parts.records()]
    copy.parts.add(SHARD, records)
    assert status_of(copy).done == len(records)
    assert status_of(copy).rate is None


def test_tables_of_every_domain_verify_with_hyperparameters_named_as_columns(samples: Path) -> None:
    texts = condread(samples / "tables" / "graphs").column("config_text").tolist()
    assert any('"nodes":4' in text and '"edges":"soft"' in text for text in texts)
    for table in (samples / "tables").iterdir():
        verify(table)


def test_degrees_are_of_one_graph(samples: Path) -> None:
    nodes = condread(samples / "tables" / "nodes")
    for config in nodes:
        assert nodes.degrees(config).sum() == nodes[config]["nodes"]
    for domain in ("graphs", "images"):
        table = condread(samples / "tables" / domain)
        with pytest.raises(QueryError, match="is a set"):
            table.degrees(next(iter(table)))


def test_images_of_any_channels_are_shown() -> None:
    for channels, shape in ((1, (2, 4, 4)), (2, (2, 4, 4)), (3, (2, 4, 4, 3)), (5, (2, 4, 4))):
        arrays = {"x": np.full((2, channels, 4, 4), 51, np.uint8), "y": np.zeros(2, int)}
        shown = shown_pixels(arrays)
        assert shown.shape == shape
        assert np.allclose(shown, 0.2)


def test_every_configuration_is_shown(samples: Path) -> None:
    for folder in (samples / "tables").iterdir():
        table = condread(folder)
        files: Any = VIEW.files["configs"]
        assert all(files.make(table, config) for config in table)
