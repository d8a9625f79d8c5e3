"""The file of condensed graphs: what goes in comes out, and damage never does."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from benchquery.errors import (
    BenchQueryError,
    CorruptTableError,
    QueryError,
    SchemaVersionError,
    UnknownHashError,
)
from benchquery.kinds.condensed.graphs import Graphs, new_graphs

RNG = np.random.default_rng(0)
GRAPHS: dict[str, dict[str, Any]] = {
    "soft": {
        "x": RNG.random((7, 5)).astype(np.float32),
        "y": RNG.random((7, 3)).astype(np.float32),
        "adjacency": RNG.random((7, 7)).astype(np.float16),
        "trace": {
            "epoch": np.array([0, 10, 20]),
            "loss": np.array([np.nan, 0.5, 0.25], dtype=np.float32),
            "valid_perf": np.array([0.25, 0.5, 0.75]),
        },
    },
    "edgeless": {
        "x": RNG.random((70, 30)).astype(np.float16),
        "y": np.arange(70) % 7,
        "trace": {"epoch": np.array([0]), "valid_perf": np.array([0.5])},
    },
}


def parts(graph: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of a graph, and its trace."""
    return {name: graph[name] for name in graph if name != "trace"}, graph["trace"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with all of `GRAPHS`."""
    file = tmp_path / "graphs.h5"
    with new_graphs(file) as graphs:
        digests = {graphs.add(name, *parts(graph)) for name, graph in GRAPHS.items()}
    assert len(digests) == len(GRAPHS)
    return file


def assert_same(graphs: Graphs, name: str) -> None:
    truth, traced = parts(GRAPHS[name])
    for read, written in ((graphs.graph(name), truth), (graphs.trace(name), traced)):
        assert list(read) == list(written)
        for key, values in written.items():
            assert read[key].dtype == values.dtype
            np.testing.assert_array_equal(read[key], values)


def test_graphs_come_back_as_they_were(path: Path) -> None:
    graphs = Graphs(path)
    assert graphs.configs == set(GRAPHS)
    for name in GRAPHS:
        assert_same(graphs, name)
    with pytest.raises(ValueError, match="read-only"):
        graphs.graph("soft")["x"][0] = 0
    with pytest.raises(UnknownHashError, match="no graph of the configuration 'other'"):
        graphs.graph("other")


def test_a_trace_without_its_graph(tmp_path: Path) -> None:
    file = tmp_path / "graphs.h5"
    with new_graphs(file) as graphs:
        graphs.add("soft", *parts(GRAPHS["soft"]))
        graphs.add_trace("edgeless", GRAPHS["edgeless"]["trace"])
        with pytest.raises(QueryError, match="graph of none can't be stored: its trace has no"):
            graphs.add_trace("none", {"epoch": np.array([0])})
    found = Graphs(file)
    assert (found.configs, found.traced) == ({"soft"}, set(GRAPHS))
    assert_same(found, "soft")
    np.testing.assert_array_equal(found.trace("edgeless")["valid_perf"], [0.5])
    with pytest.raises(UnknownHashError, match="'edgeless': it was left out"):
        found.graph("edgeless")
    with pytest.raises(UnknownHashError, match="'traces'"):
        found.trace("traces")
    other = tmp_path / "damaged.h5"
    with h5py.File(other, "w") as damaged:
        damaged["traces"] = np.zeros(3)
    with pytest.raises(CorruptTableError, match="traces is no group"):
        Graphs(other)


def test_the_digest_is_of_the_content(tmp_path: Path) -> None:
    digests = []
    for change in (0.0, 0.0, 1.0):
        with new_graphs(tmp_path / "g.h5") as graphs:
            graph = GRAPHS["soft"] | {"x": GRAPHS["soft"]["x"] + np.float32(change)}
            digests.append(graphs.add("a", *parts(graph)))
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": np.zeros(3)}, "x has the shape"),
        ({"x": np.zeros((0, 4))}, "x has the shape"),
        ({"x": np.zeros((7, 5), dtype=int)}, "floating-point"),
        ({"x": np.zeros((7, 5), dtype=object)}, "common numbers"),
        ({"y": np.zeros(7)}, "y is float64"),
        ({"y": np.zeros(6, dtype=int)}, "7 integers or rows"),
        ({"adjacency": np.zeros((7, 6))}, "adjacency has the shape"),
        ({"colour": np.zeros(7)}, "it has x, y, adjacency, colour, not x, y"),
        ({"trace": {}}, "trace"),
        ({"trace": {"epoch": np.array([]), "valid_perf": np.array([])}}, "at least one"),
        ({"trace": {"epoch": np.arange(3), "valid_perf": np.arange(2.0)}}, "as many"),
        ({"trace": {"epoch": np.array(["a"]), "valid_perf": np.ones(1)}}, "not numbers"),
    ],
)
def test_what_is_no_graph_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with new_graphs(tmp_path / "g.h5") as graphs:
        with pytest.raises(QueryError, match=f"graph of abc can't be stored: .*{message}"):
            graphs.add("abc", *parts(GRAPHS["soft"] | changes))
        graphs.add("abc", *parts(GRAPHS["soft"]))
        with pytest.raises(QueryError, match="there already"):
            graphs.add("abc", *parts(GRAPHS["soft"]))


def test_flipped_bits_are_never_served(path: Path) -> None:
    good = path.read_bytes()
    noticed = 0
    for position in random.Random(0).sample(range(8 * len(good)), 400):
        bad = bytearray(good)
        bad[position // 8] ^= 1 << position % 8
        path.unlink()  # HDF5 would take the same file again for the one that it has open
        path.write_bytes(bad)
        try:
            graphs = Graphs(path)
            for name in GRAPHS:
                assert_same(graphs, name)
        except BenchQueryError:
            noticed += 1
    assert noticed > 50


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_truncated_files_are_named(path: Path, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CorruptTableError, match=r"graphs\.h5 is no file of condensed graphs"):
        Graphs(path)


def test_other_content_is_not_served(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file["soft"]["x"][0, 0] = 5
        del file["edgeless"]["y"]
        file["edgeless"]["y"] = np.array(["text"] * 70, dtype=object)
        del file["edgeless"]["trace"]
    graphs = Graphs(path)
    with pytest.raises(CorruptTableError, match="damaged at configuration soft: its SHA-256"):
        graphs.graph("soft")
    with pytest.raises(CorruptTableError, match="no plain numbers"):
        graphs.graph("edgeless")
    with pytest.raises(CorruptTableError, match="damaged at configuration edgeless"):
        graphs.trace("edgeless")


def test_a_form_that_is_not_known_is_named(path: Path) -> None:
    """A group says what is kept in it; one that says nothing, as all did at first, is a graph."""
    with h5py.File(path, "r+") as file:
        file["soft"].attrs["form"] = np.bytes_("graph")
        file["edgeless"].attrs["form"] = np.bytes_("clouds")
    graphs = Graphs(path)
    assert_same(graphs, "soft")
    with pytest.raises(
        SchemaVersionError, match=r"form 'clouds'; .* knows graph, .*: update graphtab"
    ):
        graphs.graph("edgeless")
