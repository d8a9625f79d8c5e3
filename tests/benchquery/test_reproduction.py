"""Tables and figures of GC-Bench from the rows there are: every cell is answered or missing."""

from __future__ import annotations

import json
import shutil
from math import isnan
from pathlib import Path

import pytest

from benchquery import condread
from benchquery.cli import main
from benchquery.errors import QueryError, UnknownNameError
from benchquery.kinds.condensed.ledger import ledger
from benchquery.kinds.condensed.published import published
from benchquery.kinds.condensed.reproduction import (
    FIGURES,
    figure_cells,
    missing_parts,
    table_cells,
    table_names,
)
from benchquery.table.store import BUNDLED
from tests.benchquery.condensing import usual


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table of cora, which is all that is asked here."""
    folder = tmp_path_factory.mktemp("tables")
    shutil.copytree(BUNDLED / "cora-condensed", folder / "cora-condensed")
    return folder


def test_every_figure_of_a_table_is_a_cell() -> None:
    assert {"2", "3", "b4", "b5", "b10", "b11"} <= set(table_names())
    assert "a1" not in table_names()
    for name in ("b5", "b8", "b10", "b11"):
        assert len(table_cells(name)) == len(published(name))


def test_our_figures_are_means_of_rows(alone: Path) -> None:
    table = condread("cora-condensed")
    for cell in table_cells("2", alone, "cora"):
        if isnan(cell.size):
            assert cell.ours == pytest.approx(100 * table.column("full_perf").mean(), abs=0.5)
            continue
        rows = usual(table).where(method=cell.method, ratio=cell.size, protocol="corrected")
        assert cell.missing == (not rows)
        if rows:
            assert cell.ours == pytest.approx(100 * rows.column("perf").mean())
            assert cell.seeds == len(rows)
        (figure,) = published("2", dataset="cora", method=cell.method, ratio=cell.size)
        assert (cell.paper, cell.paper_std) == (figure.mean, figure.std)


def test_homophily_is_beside_the_papers(alone: Path) -> None:
    cells = {(cell.method, cell.size): cell for cell in table_cells("b4", alone, "cora")}
    table = usual(condread("cora-condensed"))
    rows = table.where(method="sgdd", ratio=0.026, protocol="corrected")
    assert cells["sgdd", 0.026].ours == pytest.approx(rows.column("homophily").mean())
    assert cells["sgdd", 0.026].paper == 0.19


def test_what_is_missing_is_named(alone: Path) -> None:
    cells = table_cells("2", alone, "cora")
    assert missing_parts(cells) == ["cora 0.0026: all", "cora 0.0052: all", "cora 0.039: all"]
    (line,) = missing_parts(figure_cells("3a", alone))
    assert "sfgc sgc" in line
    assert "noise" not in line
    assert missing_parts([cell for cell in cells if not cell.missing]) == []


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_cells(name: str, alone: Path) -> None:
    cells = figure_cells(name, alone)
    assert cells
    others = [cell for cell in cells if cell.dataset != "cora"]
    assert all(cell.missing for cell in others)


def test_the_commands(alone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["condensed", "figure", "3a", "--source", str(alone)]) == 0
    said = capsys.readouterr().out
    assert "of 49 measured" in said
    assert "missing: cora 0.026: " in said
    words = ["condensed", "table", "B4", "--dataset", "cora", "--source", str(alone)]
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert (len(rows), rows[0]["metric"], rows[0]["missing"]) == (15, "homophily", False)
    assert main(words) == 0
    assert "15 of 15 measured" in capsys.readouterr().out
    for wrong in (["table", "zz"], ["figure", "9"], ["table", "b4", "--dataset", "dblp"]):
        assert main(["condensed", *wrong]) == 2
        assert wrong[-1] in capsys.readouterr().err
    with pytest.raises(UnknownNameError, match="B10"):
        table_cells("a1")
    with pytest.raises(QueryError, match="cora, citeseer, flickr"):
        table_cells("b4", None, "dblp")


def test_the_ledger_of_one_graph_names_its_faults() -> None:
    table = condread("cora-condensed")
    lines = {(line.method, line.size, line.settings): line for line in ledger(table)}
    entry = lines["dm", 0.026, (("edge_bias", -5.0),)]
    assert entry.faults == ("N1", "N5")
    released = table.where(method="dm", ratio=0.026, protocol="as-released")
    (kept,) = (row for row in released.records() if "edge_bias" in row["config_text"])
    assert entry.released == pytest.approx(100 * kept["perf"])
    assert entry.printed == 72.6
    assert entry.corrected > entry.released > lines["dm", 0.026, ()].released
    assert lines["random", 0.026, ()].faults == ()


def test_a_table_called_after_another_does_not_hide_it(alone: Path) -> None:
    shutil.copytree(alone / "cora-condensed", alone / "cora-condensed-more")
    try:
        assert condread("cora", alone).name == "cora-condensed"
        shutil.copytree(alone / "cora-condensed", alone / "cora-other")
        with pytest.raises(QueryError, match="several tables"):
            condread("cora", alone)
    finally:
        for name in ("cora-condensed-more", "cora-other"):
            shutil.rmtree(alone / name, ignore_errors=True)
