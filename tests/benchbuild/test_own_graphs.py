"""Condensed graphs of one's own: read, judged by the same protocol, refused if they don't fit."""

from __future__ import annotations

import os
import pickle
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchbuild.errors import BenchBuildError, PlanError
from benchbuild.kinds.condense.nodes.payload import StoredGraph
from benchbuild.kinds.evaluate.own import Given, read_graph
from benchquery import condread
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.leaderboard import leaderboard, tables_of
from tests.benchbuild.runs import benchbuild

DATA = Path(__file__).parent.parent / "data"
TABLE = DATA / "tables-v1" / "karate-condensed"
WIDTH, CLASSES, NODES = 34, 4, 10
Arrays = dict[str, np.ndarray]


def arrays() -> Arrays:
    """A graph that fits karate."""
    random = np.random.default_rng(0)
    return {
        "x": random.random((NODES, WIDTH)),
        "y": np.arange(NODES) % CLASSES,
        "edges": np.array([[0, 1, 2], [1, 2, 3]]),
    }


def saved(path: Path, values: Arrays) -> Path:
    np.savez(path, **values)
    return path


def read(path: Path) -> StoredGraph:
    return read_graph(path, WIDTH, WIDTH, CLASSES)


def with_changes(**changes: object) -> Callable[[], Arrays]:
    """Return what gives the graph with some arrays changed, or left out where they are None."""

    def made() -> Arrays:
        kept = {**arrays(), **{name: one for name, one in changes.items() if one is not None}}
        return {name: np.asarray(kept[name]) for name in kept if changes.get(name, 1) is not None}

    return made


BAD_ADJ = np.triu(np.ones((NODES, NODES)), 1)
WRONG = {
    r"x is float64 of the shape \(10, 33\).*\(nodes, 34\)": with_changes(x=np.zeros((10, 33))),
    r"x\[3, 5\] is nan": with_changes(
        x=np.where(np.arange(340).reshape(10, 34) == 3 * 34 + 5, np.nan, 0.0)
    ),
    "beyond 65,504": with_changes(x=np.full((10, 34), 1e6)),
    "class 4; those of the dataset are from 0 to 3": with_changes(y=np.full(10, 4)),
    "class -1": with_changes(y=np.full(10, -1)),
    r"y is float64 of the shape \(10,\)": with_changes(y=np.zeros(10)),
    "no probabilities": with_changes(y=np.ones((10, CLASSES))),
    "must hold x and y": with_changes(y=None),
    "holds adj, edges": with_changes(adj=np.zeros((10, 10))),
    "holds 'label'; allowed are x, y": with_changes(label=np.zeros(10)),
    "not symmetric": with_changes(edges=None, adj=BAD_ADJ),
    "not from 0 to 1": with_changes(edges=None, adj=2 * (BAD_ADJ + BAD_ADJ.T)),
    "a node that is not from 0 to 9": with_changes(edges=np.array([[0], [10]])),
    "one an edge": with_changes(weights=np.ones(2)),
    "weights, but no edges": with_changes(edges=None, weights=np.ones(2)),
    "has 34 nodes, the dataset itself has 34": with_changes(x=np.zeros((34, 34), np.int8)),
    "take [0-9,]+ bytes, more than": with_changes(x=np.zeros((9_999, 34), np.int8)),
    "are no probabilities": with_changes(y=np.full((10, CLASSES), 1e300)),
    "without pickled objects": with_changes(y=np.array([{}] * 10, dtype=object)),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_does_not_fit_is_named(message: str, tmp_path: Path) -> None:
    with pytest.raises(BenchBuildError, match=message):
        read(saved(tmp_path / "mine.npz", WRONG[message]()))


class _Trap:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("sprung",)


def test_nothing_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.npz").write_bytes(pickle.dumps(_Trap()))
    for name in ("mine.npz", "nothing.npz"):
        with pytest.raises(BenchBuildError, match=name):
            read(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


def claiming(header: str) -> bytes:
    """An array that has a header and no numbers."""
    text = header.ljust(118) + "\n"
    return b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text.encode()


HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s, 34)}"
HOSTILE = {
    "terabytes": claiming(HEADER % 10**12),
    "beyond all numbers": claiming(HEADER % 10**30),
    "deep": claiming("(" * 110),
    "deeper": claiming("-" * 9_000 + "1"),
    "no header": claiming("{'descr': '''"),
    "no array": b"x",
    "nothing": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_arrays_are_refused_before_memory_is_taken(name: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    for packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(path, "w", packing) as file:
            file.writestr("x.npy", HOSTILE[name])
        with pytest.raises(BenchBuildError, match=r"mine\.npz can't be read"):
            read(path)


def test_hostile_archives_are_refused(tmp_path: Path) -> None:
    whole = saved(tmp_path / "whole.npz", arrays()).read_bytes()
    path = tmp_path / "mine.npz"
    marks = {b"PK\1\2": (8, 10), b"PK\3\4": (6, 8)}
    for encrypted, method in ((1, 0), (0, 99), (0, 8), (0, 12), (0, 14)):
        content = bytearray(whole)
        for mark, (flags, packing) in marks.items():
            for found in re.finditer(re.escape(mark), whole):
                content[found.start() + flags] |= encrypted
                content[found.start() + packing] = method
        path.write_bytes(content)
        with pytest.raises(BenchBuildError, match=r"mine\.npz can't be read"):
            read(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.npy", b"")
        file.writestr("x", b"")
    with pytest.raises(BenchBuildError, match="twice"):
        read(path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for place in (tmp_path / "pipe", tmp_path / "loop", tmp_path, Path("/dev/zero")):
        with pytest.raises(BenchBuildError, match="can't be read"):
            read(place)


def test_edges_and_their_matrix_are_one_graph(tmp_path: Path) -> None:
    given = arrays()
    matrix = np.zeros((NODES, NODES))
    matrix[given["edges"][0], given["edges"][1]] = 0.5
    both_ways = np.concatenate([given["edges"], given["edges"][::-1]], axis=1)
    once, twice, dense = (
        read(saved(tmp_path / f"{name}.npz", values))
        for name, values in {
            "once": {**given, "weights": np.full(3, 0.5)},
            "twice": {**given, "edges": both_ways, "weights": np.full(6, 0.5)},
            "dense": {"x": given["x"], "y": given["y"], "adj": matrix + matrix.T + np.eye(NODES)},
        }.items()
    )
    for other in (twice, dense):
        for name, values in once.to_arrays().items():
            np.testing.assert_array_equal(values, other.to_arrays()[name])
    none = read(saved(tmp_path / "none.npz", {"x": given["x"], "y": np.eye(CLASSES)[given["y"]]}))
    assert none.adjacency is None
    np.testing.assert_array_equal(none.labels, given["y"])


@pytest.mark.parametrize("name", ["GCond", "", "a b", "x" * 61])
def test_names_that_mislead_are_refused(name: str) -> None:
    with pytest.raises(PlanError, match="--name"):
        Given(name)


WORDS = ("--dataset", "karate", "--name", "mine", "--workers", "1", "--device", "cpu")
QUICK = ("--eval-hp", "epochs=8", "--eval-hp", "hidden=8", "--seeds", "2")


def test_own_graphs_become_rows_like_any_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = condread(TABLE)
    stored = table.graph(table.configs()[0])
    names = {"x": "x", "y": "y", "adjacency": "adj"}
    first = saved(tmp_path / "a.npz", {names[name]: one for name, one in stored.items()})
    second = saved(tmp_path / "b.npz", arrays())
    run, out = tmp_path / "run", tmp_path / "tables" / "mine"
    words = ("evaluate", "--graph", first, second, *WORDS, *QUICK, "--out", run)
    assert benchbuild(*words) == 0
    assert benchbuild("merge", run, "--out", out) == 0
    assert benchbuild("verify", out) == 0
    mine = condread(out)
    rows = mine.records()
    assert [(row["method"], row["seed"], row["status"]) for row in rows] == [
        ("mine", 0, "ok"), ("mine", 1, "ok"),
    ]  # fmt: skip
    np.testing.assert_array_equal(mine.graph(rows[0]["config"])["x"], stored["x"])
    (mean,) = mine.mean(over="seed")
    assert (mean["count"], mean["perf"]) == (2, np.mean([row["perf"] for row in rows]))
    assert CondenseConfig.from_text(rows[0]["config_text"]) in mine
    (line,) = leaderboard(tables_of("karate", tmp_path / "tables"), rows[0]["ratio"]).standings
    assert (line.rank, line.method, line.origin, line.seeds) == (1, "mine", "measured", 2)
    capsys.readouterr()
    assert benchbuild("evaluate", "--graph", second, *WORDS, *QUICK, "--out", run) == 2
    assert "evaluates other graphs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--graph", "FILE"), "goes with --dataset"),
        (("--graph", "FILE", "--dataset", "nci1"), "is a set"),
        (("--graph", "FILE", "FILE", "--dataset", "karate"), "hold the same graph"),
        (("--graph", "FILE", "--dataset", "karate", "--ratio", "0.2"), "allows at most 7"),
        (("--graph", "FILE", "--dataset", "karate", "--ratio", "2"), "above 0 and at most 1"),
        ((str(TABLE), "--dataset", "karate"), "--dataset: only with --graph"),
        ((str(TABLE), "--graph", "FILE"), "either a table or run, or --graph"),
        ((str(TABLE), "--where", "ratio == 0.99"), "no condensed graphs where ratio == 0.99"),
    ],
)
def test_options_that_do_not_go_together(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = saved(tmp_path / "mine.npz", arrays())
    given = [str(file) if word == "FILE" else word for word in words]
    assert benchbuild("evaluate", *given, "--dry-run", "--out", tmp_path / "run") == 2
    assert message in capsys.readouterr().err
