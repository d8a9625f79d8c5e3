"""A dataset of one's own: what docs/adding-a-dataset.md shows runs as it stands there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchbuild.cli import main
from benchbuild.datasets import load, load_images
from benchbuild.datasets.registry import ENTRY_POINT_GROUP as DATASETS
from benchbuild.errors import DatasetError
from benchbuild.testing import check_dataset
from benchquery import condread, lightread
from tests.benchbuild.pages import (
    code_block,
    entry_point,
    install,
    run_command,
    run_commands,
    shown_commands,
)

PAGE = "adding-a-dataset.md"
FUNCTION = code_block(PAGE, "python", "def load_papers")
SPEC = code_block(PAGE, "python", "DatasetSpec(")
TILES = code_block(PAGE, "python", "def load_tiles")
RINGS = code_block(PAGE, "python", "def load_rings")
BROKEN = """
from benchbuild.datasets import load, load_graphs

def misnamed(root):
    return load("karate", root)

def wrong(root):
    return 5

def failing(root):
    raise ValueError("the file\\nis odd")

NUMBER = 3

def unsaid(root):
    return load_graphs("motifs", root)
"""


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder with the data that the page's function reads."""
    random = np.random.default_rng(0)
    field = np.repeat(np.arange(3), 40)
    words = random.random((120, 40), dtype=np.float32)
    words[np.arange(120), field] += 2
    np.savez(
        tmp_path / "papers.npz", words=words, field=field, cites=random.integers(120, size=(2, 300))
    )
    return tmp_path


@pytest.mark.slow
def test_the_dataset_of_the_page_becomes_a_table(papers: Path) -> None:
    install(papers, "our_papers", FUNCTION, "graphtab.datasets", entry_point(PAGE))
    one = ("--workers", "1", "--device", "cpu")
    few = {
        "tune": ("--trials", "1", "--range", "epochs=2", *one),
        "train": ("--sample", "3", "--seeds", "1", "--epochs", "10", *one),
    }
    shown = shown_commands(code_block(PAGE, "text", "$ benchbuild datasets"), few)
    inspect = ["benchbuild", "inspect", "--dataset", "papers", "--hash", "0"]
    *done, inspected = run_commands(papers, [*shown, inspect])
    for each in done:
        assert each.returncode == 0, each.stderr
    assert "valid_perf" in done[-1].stdout
    table = lightread("papers", source=papers / "tables")
    assert len(table) == 3
    assert set(table.column("status")) == {"ok"}
    assert inspected.returncode == 2
    assert "does not state" in inspected.stderr


def test_a_spec_states_the_sizes(
    papers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    points = {"papers": "stated_papers:PAPERS", "again": "stated_papers:PAPERS"}
    install(papers, "stated_papers", FUNCTION + SPEC, DATASETS, points)
    monkeypatch.syspath_prepend(papers)
    monkeypatch.setenv("GRAPHTAB_DATA", str(papers))

    def listed() -> dict[str, dict[str, object]]:
        assert main(["datasets", "--json"]) == 0
        return {row["name"]: row for row in json.loads(capsys.readouterr().out)}

    rows = listed()
    assert (rows["papers"]["nodes"], rows["again"]["licence"]) == (120, "CC0")
    assert rows["papers"]["on_disk"]
    assert main(["inspect", "--dataset", "papers", "--hash", "61237", "--json"]) == 0
    assert "(40, 64)" in capsys.readouterr().out
    (papers / "papers.npz").unlink()
    assert not listed()["papers"]["on_disk"]


def test_what_the_page_states_is_true(papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(papers, "true_papers", FUNCTION + SPEC, DATASETS, {"papers": "true_papers:PAPERS"})
    monkeypatch.syspath_prepend(papers)
    monkeypatch.setenv("GRAPHTAB_DATA", str(papers))
    exec(code_block(PAGE, "text", "import check_dataset"), {})


@pytest.fixture
def rings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the data that the page's function of a set reads, and its package."""
    random = np.random.default_rng(0)
    closed = np.repeat([0, 1], 30)
    np.savez(tmp_path / "rings.npz", atoms=random.integers(3, 9, size=60), closed=closed)
    install(tmp_path, "our_rings", RINGS, DATASETS, {"rings": "our_rings:load_rings"})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("GRAPHTAB_DATA", str(tmp_path))
    return tmp_path


def test_the_set_of_graphs_of_the_page_is_a_dataset(rings: Path) -> None:
    check_dataset("rings")
    names: dict[str, Any] = {}
    exec(code_block(PAGE, "text", "load_graphs"), names)
    data, batch = names["rings"], names["batch"]
    assert (len(data.graphs), len(data.train), len(batch)) == (60, 48, 32)
    open_chains = data.graphs.select((data.graphs.y == 0).nonzero().view(-1))
    assert open_chains.num_edges == 2 * (open_chains.num_nodes - 30)
    assert data.num_features == 32
    listed = run_command(rings, ["benchbuild", "datasets", "--json"])
    rows = {row["name"]: row for row in json.loads(listed.stdout)}
    assert rows["rings"]["sort"] == "graphs"


def test_the_set_of_images_of_the_page_is_condensed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    photographs = random.integers(256, size=(60, 16, 16, 3), dtype=np.uint8)
    np.savez(tmp_path / "tiles.npz", photographs=photographs, cracked=np.repeat([0, 1], 30))
    install(tmp_path, "our_tiles", TILES, DATASETS, {"tiles": "our_tiles:load_tiles"})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("GRAPHTAB_DATA", str(tmp_path))
    check_dataset("tiles")
    images = load_images("tiles")
    assert (images.sort, images.shape, len(images.train_index)) == ("images", (3, 16, 16), 48)
    assert np.array_equal(images.pixels[7].permute(1, 2, 0), photographs[7])
    run, table = tmp_path / "run", tmp_path / "tables" / "tiles"
    quick = ("--eval-hp", "epochs=2", "--eval-hp", "width=2", "--eval-seeds", "1", "--workers", "1")
    asked = ("condense", "--dataset", "tiles", "--method", "random", "--per-class", "2", *quick)
    assert main([*asked, "--out", str(run)]) == 0
    assert main(["merge", str(run), "--out", str(table)]) == 0
    assert condread(table).best()["items"] == 4


def test_what_needs_one_graph_refuses_the_set_of_the_page(rings: Path) -> None:
    (rings / "rings.npz").unlink()
    words = ["benchbuild", "train", "--dataset", "rings", "--workers", "1", "--out", "run"]
    done = run_command(rings, words)
    assert done.returncode == 2
    assert done.stderr == (
        "benchbuild: error: dataset 'rings' is a set of graphs; train needs one graph with "
        "labelled nodes\n"
    )
    assert not (rings / "run").exists()


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a package whose datasets all have something wrong with them."""
    points = {each: f"theirs:{each}" for each in ("misnamed", "wrong", "failing", "unsaid")}
    points |= {"number": "theirs:NUMBER", "absent": "nowhere:load"}
    install(tmp_path, "theirs", BROKEN, "graphtab.datasets", points)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("theirs")
@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "wrong",
            ": theirs:wrong returns int, not a benchbuild.datasets.Graph, GraphSet or ImageSet",
        ),
        ("failing", " can't be loaded: ValueError: the file is odd (line 11 of "),
        ("unsaid", ": theirs:unsaid returns a set of graphs, and is stated to be one graph with"),
        ("number", ": theirs:NUMBER is neither a function nor a DatasetSpec but int"),
        ("absent", ": can't import nowhere:load: ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_what_is_wrong_with_a_dataset_is_said(name: str, told: str) -> None:
    with pytest.raises(DatasetError, match=re.escape(f"dataset {name!r}{told}")):
        load(name)


@pytest.mark.usefixtures("theirs")
def test_a_dataset_goes_by_the_name_it_is_published_under() -> None:
    assert load("misnamed").name == "misnamed"
    assert load("misnamed").checksum == load("karate").checksum


def test_an_error_in_a_dataset_is_one_line_and_leaves_nothing(theirs: Path) -> None:
    words = ["benchbuild", "train", "--dataset", "failing", "--workers", "1", "--out", "run"]
    done = run_command(theirs, words)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("benchbuild: error: dataset 'failing' can't be loaded: ")
    assert not (theirs / "run").exists()


@pytest.mark.usefixtures("theirs")
def test_a_dataset_that_is_broken_does_not_hide_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["datasets"]) == 0
    printed = capsys.readouterr()
    assert "misnamed" in printed.out
    assert "nowhere" in printed.err
