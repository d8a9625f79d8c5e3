"""Pictures of condensed graphs show what the table says, computed another way."""

from __future__ import annotations

import dataclasses
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchquery import CondensedTable, condread
from benchquery.cli import main
from benchquery.errors import QueryError, UnknownHashError, UnknownNameError
from benchquery.figures import save
from benchquery.figures.page import write_report
from benchquery.kinds.condensed.kind import TABLE
from benchquery.kinds.condensed.published import published
from benchquery.table.manifest import SUMMARY
from benchquery.table.plots import drawable
from tests.benchquery.condensing import FULL, GCOND, RELEASED, write_condensed

OF_GRAPHS = [name for name in TABLE.pictures if name != "images"]
"""The pictures of condensed graphs; others are of images."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of cora, which the paper has figures of."""
    folder = tmp_path_factory.mktemp("tables")
    write_condensed(folder / "cora-condensed", "cora")
    return folder


@pytest.fixture(scope="module")
def cond(folder: Path) -> CondensedTable:
    return condread("cora", folder)


@pytest.fixture(scope="module")
def frame(cond: CondensedTable) -> pd.DataFrame:
    return cond.frame().reset_index()


def line_of(axes: Any, method: str) -> Any:
    (found,) = [c for c in axes.containers if c.get_label().partition(" ")[0] == method]
    return found


def test_ratios_are_means_and_deviations_over_seeds(
    cond: CondensedTable, frame: pd.DataFrame
) -> None:
    (axes,) = cond.plot.ratios(published=False).axes
    assert [c.get_label() for c in axes.containers] == [
        "random", "gcond (epochs=40)", "gcdm (as-released)",
    ]  # fmt: skip
    by_gcn = frame[(frame["model"] == "gcn") & (frame["status"] == "ok")]
    for method in ("random", "gcond"):
        expected = by_gcn[by_gcn["method"] == method].groupby("ratio")["perf"]
        points, _, (bars,) = line_of(axes, method)
        np.testing.assert_array_equal(points.get_xdata(), [0.013, 0.026])
        np.testing.assert_allclose(points.get_ydata().astype(float), 100 * expected.mean())
        ends = np.array([segment[:, 1] for segment in bars.get_segments()])
        np.testing.assert_allclose(np.diff(ends)[:, 0] / 2, 100 * expected.std(ddof=1))
    assert [line.get_ydata()[0] for line in axes.lines if line.get_label() == "whole graph"] == [
        pytest.approx(100 * FULL)
    ]
    assert "accuracy [%]" in axes.get_ylabel()
    assert "cora-condensed, synthetic (random numbers)" in axes.get_title()


@pytest.mark.parametrize("name", ["cora-condensed", "nci1-condensed", "digits-condensed"])
def test_methods_look_different_and_their_names_fit(name: str, tmp_path: Path) -> None:
    figure = condread(name).plot.ratios(published=False)
    with warnings.catch_warnings(action="error"):
        figure.savefig(tmp_path / "ratios.png")
    colours = [line[0].get_color() for line in figure.axes[0].containers]
    assert len(set(colours)) == len(colours) > 6
    box = figure.legends[0].get_window_extent()
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= figure.bbox.x1


def test_ratios_mark_what_is_published(cond: CondensedTable) -> None:
    figure = cond.plot.ratios()
    (axes,) = figure.axes
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    drawn = {(line.get_xdata()[0], line.get_ydata()[0]) for line in hollow}
    expected = {
        (one.ratio, one.mean)
        for method, ratio in (("random", 0.013), ("random", 0.026), ("gcond", 0.013),
                              ("gcond", 0.026), ("gcdm", 0.026))
        for one in published("2", dataset="cora", method=method, ratio=ratio)
    }  # fmt: skip
    assert drawn == expected
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels.count("published by the GC-Bench paper") == 1
    dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
    (whole,) = published("2", dataset="cora", method="whole", metric="accuracy")
    assert [line.get_ydata()[0] for line in dotted] == [whole.mean]


def test_the_way_to_draw_can_be_narrowed_down(cond: CondensedTable) -> None:
    (axes,) = cond.where(method="gcond").plot.ratios(model="sgc").axes
    assert [c.get_label() for c in axes.containers] == ["gcond (epochs=40)"]
    with pytest.raises(QueryError, match="by 'mlp'; allowed: gcn, sgc"):
        cond.plot.ratios(model="mlp")


def test_costs_are_times_and_sizes(cond: CondensedTable, frame: pd.DataFrame) -> None:
    (axes,) = cond.plot.costs().axes
    ok = frame[(frame["model"] == "gcn") & (frame["status"] == "ok")]
    drawn = {c.get_label(): c for c in axes.collections if len(c.get_offsets())}
    assert set(drawn) == {"random", "gcond", "gcdm"}
    for method, points in drawn.items():
        groups = ok[ok["method"] == method].groupby("ratio")
        time = (groups["condense_time"].mean() + groups["expert_time"].mean()).to_numpy()
        expected = np.stack([time, 100 * groups["perf"].mean()], axis=1)
        np.testing.assert_allclose(np.asarray(points.get_offsets()), expected)
        order = np.argsort(groups["graph_bytes"].mean())
        assert (np.diff(points.get_sizes()[order]) > 0).all()
    assert axes.get_xlabel().endswith("[s]")


def test_models_is_a_matrix_with_its_numbers(cond: CondensedTable, frame: pd.DataFrame) -> None:
    axes = cond.plot.models(size=0.026).axes[0]
    ok = frame[(frame["ratio"] == 0.026) & (frame["status"] == "ok")]
    expected = 100 * ok.pivot_table(index="method", columns="model", values="perf")
    rows = [label.get_text() for label in axes.get_yticklabels()]
    columns = [label.get_text() for label in axes.get_xticklabels()]
    assert rows == ["random", "gcond (epochs=40)", "gcdm (as-released)", "whole graph"]
    assert columns == ["gcn", "sgc"]
    shown = np.array([text.get_text() for text in axes.texts]).reshape(len(rows), len(columns))
    for method, line in zip(("random", "gcond", "gcdm"), shown[:-1], strict=True):
        for model, text in zip(columns, line, strict=True):
            value = expected.loc[method, model]
            assert text == ("-" if np.isnan(value) else f"{value:.1f}")
    assert shown[-1].tolist() == ["80.0", "80.0"]
    with pytest.raises(QueryError, match=r"no ratio 0\.5; allowed: 0\.013, 0\.026"):
        cond.plot.models(size=0.5)


def test_trace_and_curve_are_of_one_graph(cond: CondensedTable) -> None:
    config = GCOND.replace(dataset="cora")
    axes = cond.plot.trace(config).axes[-1]
    trace = cond.trace(config)
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), trace["epoch"])
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), trace["valid_perf"])
    assert axes.lines[1].get_xdata()[0] == cond[config]["best_epoch"]
    left, right = cond.plot.curve(config, model="sgc").axes
    curve = cond.curve(config, "sgc")
    for panel, first in ((left, 0), (right, 3)):
        for offset, line in enumerate(panel.lines):
            np.testing.assert_array_equal(line.get_ydata(), curve[:, first + offset])
    assert cond.best()["method"] in cond.plot.trace().get_suptitle()
    with pytest.raises(UnknownHashError, match="'nope'"):
        cond.plot.trace("nope")


@pytest.mark.parametrize("name", OF_GRAPHS)
@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_the_command_draws_every_picture(
    folder: Path, tmp_path: Path, name: str, ending: str
) -> None:
    path = tmp_path / f"picture{ending}"
    arguments = ["plot", "cora-condensed", name, "-o", str(path), "--source", str(folder)]
    if name in ("trace", "curve"):
        arguments += ["--config", RELEASED.replace(dataset="cora").valid_hash()]
    assert main(arguments) == 0
    assert path.stat().st_size > 5_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pareto"], "can't draw 'pareto' of 'cora-condensed'; allowed: ratios, costs, models"),
        (["ratios", "--config", "x"], "'ratios' shows the whole table, so options that name a row"),
        (["trace", "--config", "x"], "no row has the config 'x'; there are "),
    ],
)
def test_bad_input_is_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str],
    said: str,
) -> None:  # fmt: skip
    out = ["-o", str(tmp_path / "a.png"), "--source", str(folder)]
    assert main(["plot", "cora-condensed", *arguments, *out]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_report_has_all_pictures_and_the_numbers(
    folder: Path, cond: CondensedTable, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    assert main(["report", "cora-condensed", "-o", str(path), "--source", str(folder)]) == 0
    page = path.read_text()
    for name in OF_GRAPHS:
        assert f"<h2>{name.capitalize()}</h2>" in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert "13 condensed graphs of toy-grid" in page
    assert cond.best()["config"] in page
    (mean,) = [mean for mean in cond.mean() if mean["method"] == "gcdm"]
    assert f"{mean['perf']:.4f}" in page


def test_pictures_need_their_files(cond: CondensedTable, tmp_path: Path) -> None:
    manifest = dataclasses.replace(cond.manifest, files={SUMMARY: cond.manifest.files[SUMMARY]})
    bare = CondensedTable(manifest, cond._columns, cond._folder)
    assert drawable(cond) == OF_GRAPHS
    assert drawable(bare) == ["ratios", "costs", "models"]
    with pytest.raises(QueryError, match="no condensed graphs"):
        bare.plot.trace()
    with pytest.raises(QueryError, match="no learning curves"):
        bare.plot.curve()
    with pytest.raises(UnknownNameError, match="'pareto'; allowed: ratios"):
        cond.plot.pareto()
    with pytest.raises(QueryError, match=r"ending must be \.html"):
        write_report(cond, tmp_path / "a.png")
    save(cond.plot.models(), tmp_path / "models.pdf")
