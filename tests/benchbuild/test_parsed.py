"""Parsed graphs on the disk of a node: shared, whole or not there, and never wrong."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np
import pytest
import torch

from benchbuild.datasets import load, parsed
from benchbuild.datasets.graph import Graph
from benchbuild.testing.proteins import write_proteins


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with a small dataset of the shape of proteins."""
    folder = tmp_path_factory.mktemp("data")
    write_proteins(folder, 1e-3)
    return folder


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep all datasets, however small, in a folder of the test's own."""
    monkeypatch.setattr(parsed, "KEPT_FROM", 0)
    monkeypatch.setenv(parsed.CACHE_VARIABLE, str(tmp_path / "cache"))


def entries() -> list[Path]:
    return [path for path in parsed.cache_root().glob("proteins-*") if path.is_dir()]


def loaded(root: Path) -> Graph:
    graph = parsed.load_shared("proteins", root)
    assert isinstance(graph, Graph)
    return graph


def is_mapped(graph: Graph) -> bool:
    """Whether the edges of a graph lie in a file that is mapped into this process."""
    start = graph.edge_index.data_ptr()
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        if begin <= start < end:
            return line.endswith("edge_index.npy")
    return False


def test_it_is_the_same_graph_mapped_from_one_file(root: Path) -> None:
    first, second, plain = loaded(root), loaded(root), load("proteins", root)
    assert len(entries()) == 1
    assert first.checksum == second.checksum == plain.checksum
    assert first.facts == plain.facts
    assert (first.split, first.name) == (plain.split, plain.name)
    assert is_mapped(first)
    assert is_mapped(second)
    assert not is_mapped(plain)
    second.x[0] = 1.0
    assert torch.equal(loaded(root).x, plain.x), "what one worker writes stays its own"


@pytest.mark.parametrize("name", ["edge_index.npy", "graph.json"])
@pytest.mark.parametrize("damage", ["bit", "cut", "gone"])
def test_a_damaged_one_is_made_again(name: str, damage: str, root: Path) -> None:
    whole = loaded(root).checksum
    path = entries()[0] / name
    content = bytearray(path.read_bytes())
    content[-10] ^= 1
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content if damage == "bit" else content[: len(content) // 2])
    assert loaded(root).checksum == whole
    assert np.load(entries()[0] / "edge_index.npy").shape[0] == 2


@pytest.mark.parametrize("fact", ["split", "inductive", "num_classes", "shape"])
def test_another_fact_is_noticed(fact: str, root: Path) -> None:
    """The checksum of a graph is of its arrays, and these say more."""
    whole = loaded(root)
    path = entries()[0] / "graph.json"
    body = json.loads(path.read_text())
    other = {"split": "random", "inductive": True, "num_classes": 1, "shape": []}
    path.write_text(json.dumps({**body, fact: other[fact]}))
    again = loaded(root)
    assert (again.split, again.facts) == (whole.split, whole.facts)
    assert json.loads(path.read_text()) == body


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\1\0\x06\0((((((", None])
def test_a_hostile_one_is_made_again(content: bytes | None, root: Path) -> None:
    """An edge to nowhere is found by the graph itself, before its checksum is compared."""
    whole = loaded(root).checksum
    path = entries()[0] / "edge_index.npy"
    if content is None:
        np.save(path, np.load(path) + 10**9)
    else:
        path.unlink()
        path.write_bytes(content)
    assert loaded(root).checksum == whole
    path.unlink()
    os.mkfifo(path)
    assert loaded(root).checksum == whole


def test_other_files_are_another_graph(tmp_path: Path, root: Path) -> None:
    other = tmp_path / "other"
    write_proteins(other, 1e-3, seed=1)
    assert loaded(root).checksum != loaded(other).checksum
    assert len(entries()) == 2


def _hold(graph: Graph, folder: Path, there: Event) -> None:
    """Write the arrays, and stop before they are put in their place."""
    rename = Path.rename

    def wait(self: Path, target: Path) -> Path:
        if target == folder:
            there.set()
            signal.pause()
        return rename(self, target)

    Path.rename = wait  # type: ignore[method-assign, assignment]
    parsed.write_parsed(graph, folder)


def test_a_killed_writer_leaves_nothing_that_is_read(root: Path) -> None:
    graph, key = load("proteins", root), parsed._key("proteins", root)
    assert key is not None
    folder = parsed.cache_root() / key
    folder.parent.mkdir()
    context = multiprocessing.get_context("fork")
    there = context.Event()
    writer = context.Process(target=_hold, args=(graph, folder, there))
    writer.start()
    assert there.wait(60)
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()
    assert not entries()
    assert loaded(root).checksum == graph.checksum


def test_a_folder_that_can_t_be_written_is_no_error(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(parsed.CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    assert loaded(root).checksum == load("proteins", root).checksum


def test_small_and_made_up_datasets_are_not_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed.load_shared("karate")
    monkeypatch.undo()
    monkeypatch.setenv(parsed.CACHE_VARIABLE, str(root / "cache"))
    loaded(root)
    assert not parsed.cache_root().exists()
