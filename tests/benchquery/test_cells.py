"""Tables of cell networks: what a cell is, the file that others publish, and rankings beside it."""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import benchquery
from benchquery.analysis import search_agreement
from benchquery.cli import main
from benchquery.errors import (
    ArchitectureError,
    BenchQueryError,
    CorruptTableError,
    QueryError,
    TableKindError,
    TableNotFoundError,
    UnknownHashError,
)
from benchquery.kinds.cells.cell import OPERATIONS, SPACE, Cell, sample_cells
from benchquery.kinds.cells.table import CellTable
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig
from benchquery.table.writer import new_table, write_table
from benchquery.testing.tables import check_table
from tests.benchquery.cell_tables import HEADER, made_up_rows, write_csv

CELLS = st.integers(0, SPACE - 1).map(Cell.at)
TASK = "image-classification"


@pytest.fixture(scope="session")
def rows() -> list[list[str]]:
    return made_up_rows()


@pytest.fixture(scope="session")
def file(rows: list[list[str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("csv") / "made-up.csv", rows)


@pytest.fixture(scope="session")
def table(file: Path) -> CellTable:
    opened = benchquery.open(file)
    assert isinstance(opened, CellTable)
    return opened


@pytest.fixture(scope="session")
def folder(file: Path) -> Path:
    """The same as a table of the house."""
    assert main(["import", str(file), "-o", str(file.parent / "nas")]) == 0
    return file.parent / "nas"


# ------------------------------------------------------------------------------------------- cells


@given(CELLS)
def test_cells_are_read_back_as_they_are_written(cell: Cell) -> None:
    assert Cell.parse(cell.text) == cell
    assert sum(map(cell.count, OPERATIONS)) == 6


def test_every_number_is_another_cell() -> None:
    assert len({Cell.at(number) for number in range(SPACE)}) == SPACE


def computed(cell: Cell) -> float:
    """What a cell makes of a number; its operations make nothing of nothing."""
    functions = {
        "none": lambda x: 0.0,
        "skip_connect": lambda x: x,
        "nor_conv_1x1": lambda x: 2 * math.sin(x),
        "nor_conv_3x3": lambda x: math.cos(3 * x) - 1,
        "avg_pool_3x3": lambda x: math.exp(x / 2) - 1,
    }
    nodes = [0.8]
    for group in cell.groups:
        nodes.append(sum(functions[op](nodes[i]) for i, op in enumerate(group)))
    return nodes[-1]


def test_forms_are_as_many_as_the_benchmark_says() -> None:
    """6,466 is its own count; cells of one form compute the same."""
    by_form: dict[str, list[float]] = {}
    for number in range(SPACE):
        by_form.setdefault(Cell.at(number).form, []).append(computed(Cell.at(number)))
    assert len(by_form) == 6466
    assert all(np.ptp(values) < 1e-9 for values in by_form.values())


def test_samples_are_those_of_their_seed() -> None:
    drawn = sample_cells(50, seed=3)
    assert len(set(drawn)) == 50
    assert drawn == sample_cells(50, seed=3) != sample_cells(50, seed=4)
    for count in (0, SPACE + 1):
        with pytest.raises(ArchitectureError, match="15,625"):
            sample_cells(count, seed=0)


@pytest.mark.parametrize("groups", [(), (("none",),), (("none",), ("none",) * 2, ("conv",) * 3)])
def test_what_is_no_cell_is_refused(groups: Any) -> None:
    with pytest.raises(ArchitectureError, match="is no cell"):
        Cell(groups)


# ----------------------------------------------------------------------------------------- opening


def test_a_file_opens_with_its_figures_to_the_last_bit(
    table: CellTable, rows: list[list[str]]
) -> None:
    assert (table.name, table.kind.name, len(table)) == ("made-up", "cells", SPACE)
    for first, second, third, text, form in rows[:50]:
        record = table[text]
        assert record["form"] == form
        assert [record[name] for name in ("cifar10", "cifar100", "imagenet16")] == [
            float(first),
            float(second),
            float(third),
        ]
        assert table[Cell.parse(text)] is record


def test_a_table_answers_to_the_usual_words(table: CellTable) -> None:
    best = table.best()
    assert best["nor_conv_3x3"] == 6
    assert table.rank(best["architecture"]) == 1
    assert len(table.where("nor_conv_3x3 == 0", "nor_conv_1x1 == 0")) == 3**6
    assert best["architecture"] in table.pareto()
    nothing = Cell.parse("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|")
    assert nothing in table
    assert set(table.alike(nothing).column("form")) == {nothing.form}
    assert pickle.loads(pickle.dumps(table))[nothing.text] == table[nothing.text]
    assert "conv" not in table
    with pytest.raises(ArchitectureError, match="group 1 is 'conv'"):
        table["conv"]
    with pytest.raises(UnknownHashError, match="none of the 1 cell networks"):
        table.top(1)[nothing.text]


def test_an_imported_table_is_whole(
    file: Path, folder: Path, table: CellTable, capsys: pytest.CaptureFixture[str]
) -> None:
    check_table(folder)
    opened = benchquery.open("nas", source=folder.parent)
    assert opened.take(range(100)).records() == table.take(range(100)).records()
    assert main(["show", str(folder), "--architecture", next(iter(table))]) == 0
    assert "node 3 = " in capsys.readouterr().out
    assert main(["import", str(file), "-o", str(folder)]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda rows: rows[:-1], r"15,624 rows.*cut short"),
        (lambda rows: [*rows[:-1], rows[0]], r"each of the 15,625 cells.* once"),
        (lambda rows: [*rows[:-1], rows[-1][:3]], r"is no table of cell networks"),
        (lambda rows: [["101", *rows[0][1:]], *rows[1:]], r"no percentages"),
        (lambda rows: [["x", *rows[0][1:]], *rows[1:]], r"could not convert"),
        (lambda rows: [[*rows[0][:4], "0"], *rows[1:]], r"computes .*, not '0'"),
        (lambda rows: [[*rows[0][:3], "|none~0|", "#"], *rows[1:]], r"no architecture"),
    ],
)
def test_damaged_files_are_named(
    rows: list[list[str]], changed: Any, said: str, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "bad.csv", changed(rows))
    with pytest.raises(CorruptTableError, match=rf"bad\.csv.*{said}"):
        benchquery.open(path)


def test_other_files_are_refused(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(TableNotFoundError, match="cell networks"):
        benchquery.open(str(other))
    with pytest.raises(TableKindError, match="cell networks, not of condensed graphs"):
        benchquery.condread(file)
    with pytest.raises(TableNotFoundError, match="no table"):
        benchquery.open(tmp_path / "nowhere.csv")
    cut = tmp_path / "cut.csv"
    cut.write_bytes(file.read_bytes()[:100_000])
    endless = tmp_path / "endless.csv"
    endless.write_bytes(",".join(HEADER).encode() + b"\n")
    os.truncate(endless, 1 << 40)
    with pytest.raises(CorruptTableError, match=r"endless\.csv .* 1,099,511,627,776 bytes"):
        benchquery.open(endless)
    with pytest.raises(CorruptTableError, match=r"cut\.csv"):
        benchquery.open(cut)


def test_the_published_file_has_its_published_figures() -> None:
    root = os.environ.get("GRAPHTAB_DATA")
    path = Path(root or "") / "tables" / "nats_bench_tss" / "nats_bench.csv"
    if not root or not path.is_file():
        pytest.skip("the table of NATS-Bench is not in GRAPHTAB_DATA")
    table = benchquery.open(path)
    with path.open(newline="") as stream:
        stored = {row[HEADER[3]]: row for row in csv.DictReader(stream)}
    assert len(stored) == len(table) == SPACE
    for text, record in table.items():
        assert record["cifar10"] == float(stored[text][HEADER[0]])
        assert record["form"] == stored[text][HEADER[4]]
    best = [table.column(name).max() for name in ("cifar10", "cifar100", "imagenet16")]
    assert np.allclose(best, [94.373, 73.513, 47.311], atol=5e-4)
    sizes = table.column("parameters")
    assert (sizes.min(), sizes.max()) == (73_306, 1_531_546)


# ---------------------------------------------------------------------------------------- rankings


def write_judged(
    folder: Path, figures: dict[str, dict[str, float]], dataset: str = "cifar10", full: float = 0.5
) -> Path:
    """Write a table of sets that cell networks judged: by method, the figures by cell."""
    judged = []
    for method, by_cell in figures.items():
        config = CondenseConfig(dataset, method, per_class=1, domain="images")
        for cell, valid in by_cell.items():
            evaluation = EvalConfig(TASK, f"nas-bench-201:{cell}", epochs=50, depth=1)
            judged.append((config, evaluation, valid))
    texts = {
        "config": [config.valid_hash() for config, _, _ in judged],
        "evaluation": [evaluation.valid_hash() for _, evaluation, _ in judged],
        "config_text": [config.text for config, _, _ in judged],
        "evaluation_text": [evaluation.text for _, evaluation, _ in judged],
        "domain": ["images"] * len(judged),
        "method": [config.method for config, _, _ in judged],
        "task": [TASK] * len(judged),
        "model": [evaluation.model for _, evaluation, _ in judged],
    }
    columns = {name: np.array(values, dtype=object) for name, values in texts.items()}
    columns["per_class"] = np.ones(len(judged), dtype=np.int64)
    columns["seed"] = np.zeros(len(judged), dtype=np.int64)
    columns["valid_perf"] = np.array([valid for _, _, valid in judged])
    columns["perf"] = columns["valid_perf"] / 2
    columns["full_perf"] = np.full(len(judged), full)
    with new_table(folder) as stage:
        write_table(
            stage, columns, name=dataset, space="toy", origin="synthetic", metric="accuracy",
            source={}, licence="CC0-1.0", kind="condensed",
        )  # fmt: skip
    return folder


def test_rankings_are_measured_as_scipy_does(table: CellTable, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    cells = [cell.text for cell in sample_cells(40, seed=1)]
    noisy = {text: table[text]["cifar10"] / 100 + rng.normal(0, 0.1) for text in cells}
    coarse = {text: round(value, 1) for text, value in noisy.items()}
    judged = write_judged(tmp_path / "judged", {"dm": noisy, "random": coarse})
    first, second, whole = search_agreement(benchquery.condread(judged), table)
    true = np.array([table[text]["cifar10"] for text in cells])
    for row, seen in ((first, noisy), (second, coarse)):
        values = np.array(list(seen.values()))
        assert row["architectures"] == 40
        assert row["spearman"] == pytest.approx(stats.spearmanr(values, true).statistic)
        assert row["kendall"] == pytest.approx(stats.kendalltau(values, true).statistic)
        top = true[values == values.max()].mean()
        assert row["top1"] == pytest.approx(top)
        assert row["regret"] == pytest.approx(true.max() - top)
        assert row["regret_chance"] == pytest.approx(true.max() - true.mean())
        assert (row["by"], row["compared_with"]) == ("valid_perf", "cifar10")
    assert (first["method"], second["method"], whole["method"]) == ("dm", "random", "whole")
    assert math.isnan(whole["spearman"])
    assert whole["top1"] == pytest.approx(true.mean())


def test_chance_is_that_of_all_rankings() -> None:
    """All 24 rankings of four architectures, one by one."""
    count, fixed = 4, np.arange(4)
    every = [np.array(order) for order in itertools.permutations(range(count))]
    spearman = np.std([stats.spearmanr(fixed, order).statistic for order in every])
    kendall = np.std([stats.kendalltau(fixed, order).statistic for order in every])
    assert spearman == pytest.approx(1 / math.sqrt(count - 1))
    assert kendall == pytest.approx(math.sqrt(2 * (2 * count + 5) / (9 * count * (count - 1))))


def test_the_command_says_what_the_analysis_does(
    folder: Path, table: CellTable, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [cell.text for cell in sample_cells(10, seed=2)]
    figures = {text: table[text]["cifar100"] for text in cells}
    judged = write_judged(tmp_path / "judged", {"dm": figures}, "digits", full=math.nan)
    command = ["cells", "agreement", str(folder), str(judged)]
    assert main([*command, "--column", "cifar100", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["spearman"], row["kendall"], row["regret"]) == pytest.approx((1, 1, 0))
    assert main([*command, "--column", "cifar100"]) == 0
    assert "1.00 (±0.33)" in capsys.readouterr().out
    assert main(command) == 2
    assert "'digits' has none of its own" in capsys.readouterr().err


def test_tables_without_enough_networks_are_refused(table: CellTable, tmp_path: Path) -> None:
    two = {cell.text: 0.5 for cell in sample_cells(2, seed=0)}
    judged = benchquery.condread(write_judged(tmp_path / "two", {"dm": two}))
    with pytest.raises(QueryError, match="figures of 3 networks"):
        search_agreement(judged, table)
    with pytest.raises(QueryError, match="not 'mnist'"):
        search_agreement(judged, table, "mnist")


def test_networks_without_a_figure_are_counted(table: CellTable, tmp_path: Path) -> None:
    cells = [cell.text for cell in sample_cells(8, seed=3)]
    figures = {text: table[text]["cifar10"] for text in cells}
    best = max(figures, key=figures.__getitem__)
    judged = write_judged(tmp_path / "judged", {"dm": {**figures, best: math.nan}}, full=math.nan)
    (row,) = search_agreement(benchquery.condread(judged), table)
    assert (row["architectures"], row["left_out"], row["regret"]) == (7, 1, 0)
    assert row["best"] < figures[best]
    for by, said in (("speed", "no column 'speed'"), ("method", "'method' .* holds no figures")):
        with pytest.raises(BenchQueryError, match=said):
            search_agreement(benchquery.condread(judged), table, by=by)
