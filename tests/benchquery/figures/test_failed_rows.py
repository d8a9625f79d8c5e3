"""Pictures of tables with failed rows: drawn without a warning, and they say what is left out."""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchquery import ArchTable, RowTable, condread, lightread, read_weights
from benchquery.errors import QueryError
from benchquery.figures.page import write_report
from benchquery.kinds.architectures.kind import TABLE as ARCHITECTURES
from benchquery.kinds.condensed.kind import TABLE as CONDENSED
from benchquery.table.kind import resolve
from benchquery.table.plots import drawable
from tests.benchquery.condensing import write_condensed
from tests.benchquery.failing import CURVED_ROWS, fail, write_curved

OLD = Path(__file__).parents[2] / "data" / "tables-v1"


def written(figure: Any) -> str:
    """Write a figure as SVG, and return its texts."""
    out = io.StringIO()
    figure.savefig(out, format="svg")
    return out.getvalue()


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def architectures(tmp_path: Path) -> ArchTable:
    return write_curved(tmp_path / "curved", np.arange(CURVED_ROWS) % 4 == 1)


@pytest.fixture
def cond(tmp_path: Path) -> RowTable[Any]:
    """All rows of one method, and one ratio of another, failed."""
    table = condread(write_condensed(tmp_path / "cora-condensed", "cora"))
    method, ratio = table.column("method"), table.column("ratio")
    return fail(table, (method == "random") | ((method == "gcond") & (ratio == 0.013)))


@pytest.mark.parametrize(
    "name", [name for name, one in ARCHITECTURES.pictures.items() if not one.of_one]
)
def test_pictures_of_architectures_say_what_is_left_out(
    architectures: ArchTable, name: str
) -> None:
    drawn = written(getattr(architectures.plot, name)())
    what = "curves" if name == "learning" else "a figure"
    assert f"3 without {what} left out" in drawn


@pytest.mark.parametrize("name", ARCHITECTURES.pictures_of_several)
def test_pictures_of_several_tables_say_what_is_left_out(
    architectures: ArchTable, name: str
) -> None:
    draw = resolve(ARCHITECTURES.pictures_of_several[name].draw)
    cora = lightread("cora")
    some = cora.take(np.flatnonzero(np.isin(cora.hashes, architectures.hashes)))
    half = fail(some, np.arange(len(some)) == 6)
    drawn = written(draw({"curved": architectures, "cora": half}))
    assert ("4 without a figure left out" if name == "fidelity" else "1 of cora") in drawn
    with pytest.raises(QueryError, match="figure"):
        draw({"curved": fail(architectures, np.ones(CURVED_ROWS, dtype=bool)), "cora": half})


@pytest.mark.parametrize("name", [name for name in CONDENSED.pictures if name != "images"])
def test_pictures_of_condensed_graphs_are_drawn(cond: RowTable[Any], name: str) -> None:
    drawn = written(getattr(cond.plot, name)())
    assert ("without a figure left out" in drawn) == (name in ("ratios", "costs", "models"))
    assert not re.search("<!-- (random|.*of random)", drawn)


def test_failed_runs_are_no_reason_to_draw_another_ratio_or_model(cond: RowTable[Any]) -> None:
    assert "ratio 0.026" in cond.plot.models().get_suptitle()
    by_gcn = fail(cond, cond.column("model") == "sgc")
    assert "By gcn, ratio 0.026" in by_gcn.plot.models().get_suptitle()


@pytest.mark.parametrize("kind", ["architectures", "condensed"])
def test_nothing_is_drawn_of_nothing(
    kind: str, architectures: ArchTable, cond: RowTable[Any], tmp_path: Path
) -> None:
    table = architectures if kind == "architectures" else cond
    if kind == "architectures":
        empty: RowTable[Any] = write_curved(tmp_path / "empty", np.ones(CURVED_ROWS, dtype=bool))
    else:
        empty = fail(table, np.ones(table.num_rows, dtype=bool))
    drawn = [name for name, one in table.kind.pictures.items() if one.where is None]
    for name in drawn:
        with pytest.raises(QueryError, match="figure"):
            getattr(empty.plot, name)()
    write_report(empty, tmp_path / "empty.html")
    assert (tmp_path / "empty.html").read_text().count("not drawn: ") == len(drawable(empty))
    write_report(table, tmp_path / "some.html")
    assert "not drawn" not in (tmp_path / "some.html").read_text()


def test_searches_that_failed_are_not_drawn() -> None:
    table = read_weights(OLD / "karate-weights")
    first = next(iter(table))[:2]
    failed = np.array([key[:2] == first for key in table])
    assert "mean weight" in written(fail(table, failed).plot.weights())
    with pytest.raises(QueryError, match="ended well"):
        fail(table, np.ones(table.num_rows, dtype=bool)).plot.weights()
