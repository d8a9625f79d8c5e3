"""Pictures show the numbers that the analyses give, and reports stand alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchquery import ArchTable, lightread
from benchquery.analysis import (
    agreement_matrix,
    decompose,
    link_frequencies,
    node_importance,
    smoothness,
)
from benchquery.cli import main
from benchquery.errors import QueryError, UnknownNameError
from benchquery.figures import save
from benchquery.figures.page import write_report
from benchquery.kinds.architectures.kind import TABLE
from benchquery.table.kind import resolve
from benchquery.table.plots import drawable
from benchquery.table.store import open_folder

OLD = Path(__file__).parents[2] / "data" / "tables-v1"


def draw_several(name: str, tables: dict[str, ArchTable]) -> Any:
    """Draw a picture of several tables."""
    return resolve(TABLE.pictures_of_several[name].draw)(tables)


@pytest.fixture(scope="module")
def table() -> ArchTable:
    return lightread("proteins")


def test_pareto_draws_every_row_and_the_front(table: ArchTable) -> None:
    (axes,) = table.plot.pareto(better="perf", cheaper="para").axes
    assert len(axes.collections[0].get_offsets()) == len(table)
    front = table.pareto("perf", "para").top(len(table), "para")
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), front.column("para"))
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), front.column("perf"))
    assert axes.get_xlabel() == "para [million]"
    assert "published (nas_bench_graph 1.4.0)" in axes.get_title()


def test_lines_and_bars_are_the_numbers_of_the_analyses(table: ArchTable) -> None:
    (axes,) = table.plot.smoothness().axes
    expected = smoothness(table)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), list(expected.ops.values()))
    np.testing.assert_allclose(axes.lines[1].get_ydata(), list(expected.links.values()))
    exact, axes = table.plot.importance().axes
    shares = [row["share"] for row in decompose(table).rows()]
    np.testing.assert_allclose([bar.get_height() for bar in exact.patches], shares)
    adjusted = node_importance(table, adjusted=True)
    np.testing.assert_allclose(axes.lines[2].get_ydata(), adjusted["suffix"])
    np.testing.assert_allclose(axes.lines[3].get_ydata(), node_importance(table)["suffix"])
    (axes,) = table.top(100).plot.importance().axes
    left, _ = table.plot.frequency(share=0.1).axes
    heights = [bar.get_height() for bar in left.patches]
    np.testing.assert_allclose(heights, list(link_frequencies(table, 0.1).values()))


def test_matrices_show_their_values(table: ArchTable) -> None:
    tables = {"cora": lightread("cora"), "proteins": table}
    first = draw_several("agreement", tables).axes[0]
    shown = [text.get_text() for text in first.texts]
    assert shown == [f"{v:.2f}" for v in agreement_matrix(tables, "pearson").ravel()]


def test_fidelity_shows_ours_against_the_reference() -> None:
    built, published = lightread("cora-built"), lightread("cora")
    axes, _ = draw_several("fidelity", {"cora-built": built, "cora": published}).axes
    points = axes.lines[-1]
    np.testing.assert_array_equal(points.get_ydata(), built.column("valid_perf"))
    assert points.get_xdata().tolist() == [published[number]["valid_perf"] for number in built]
    assert axes.get_ylabel() == "valid_perf of cora-built"
    with pytest.raises(QueryError, match="two tables"):
        draw_several("fidelity", {"cora-built": built})


@pytest.mark.parametrize("name", [name for name, one in TABLE.pictures.items() if not one.needs])
@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf", ".html"])
def test_every_picture_can_be_written(
    table: ArchTable, tmp_path: Path, name: str, ending: str
) -> None:
    path = tmp_path / f"picture{ending}"
    save(getattr(table.top(200).plot, name)(), path)
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".html": b"<!doctype html>"}
    assert path.read_bytes().startswith(start[ending])


def test_learning_needs_curves(built: Path, table: ArchTable) -> None:
    figure = lightread("toy", source=built).plot.learning()
    assert len(figure.axes[0].lines[0].get_ydata()) == 5
    with pytest.raises(QueryError, match="no learning curves"):
        table.plot.learning()


def test_unknown_pictures_are_named(table: ArchTable, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="'pie'; allowed: pareto"):
        table.plot.pie()
    with pytest.raises(QueryError, match=r"a\.gif"):
        save(table.plot.pareto(), tmp_path / "a.gif")
    assert dir(table.plot) == sorted(TABLE.pictures)


def test_a_report_is_one_page_that_needs_nothing_else(table: ArchTable, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(table, path)
    page = path.read_text()
    for name, one in TABLE.pictures.items():
        assert (f"<h2>{name.capitalize()}</h2>" in page) == (one.needs is None)
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert "nas_bench_graph 1.4.0" in page
    (best,) = table.top(1)
    assert str(best) in page


@pytest.mark.parametrize("name", [folder.name for folder in sorted(OLD.iterdir())])
def test_every_kind_has_pictures_and_a_report(name: str, tmp_path: Path) -> None:
    table = open_folder(OLD / name)
    assert main(["report", name, "--source", str(OLD), "-o", str(tmp_path / "report.html")]) == 0
    page = (tmp_path / "report.html").read_text()
    assert f"{len(table):,} {table.kind.many} of " in page
    for picture in drawable(table):
        assert f"<h2>{picture.capitalize()}</h2>" in page
        path = tmp_path / f"{picture}.svg"
        assert main(["plot", name, picture, "--source", str(OLD), "-o", str(path)]) == 0
        assert path.read_bytes().startswith(b"<?xml")


def test_the_picture_of_weights_shows_their_means() -> None:
    table = open_folder(OLD / "karate-weights")
    (axes,) = table.plot.weights().axes
    shown = {
        label.get_text(): bar.get_height()
        for label, bar in zip(axes.get_xticklabels(), axes.patches, strict=True)
    }
    rows = table.where(status="ok").frame().reset_index()
    expected = rows.groupby("operation")["weight"].mean()
    assert shown == pytest.approx(expected.to_dict())
