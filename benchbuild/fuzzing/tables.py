"""Damaged tables: every file of tables of every kind, and of one that comes with the package."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from benchbuild.fuzzing.judging import fuzz_folders
from benchbuild.fuzzing.outcome import Outcome
from benchbuild.fuzzing.sample_runs import write_tables
from benchquery.kinds.architectures.arch import NODES, OPS
from benchquery.kinds.cells.cell import sample_cells
from benchquery.kinds.cells.checks import facts_of
from benchquery.kinds.cells.columns import ACCURACIES, COLUMNS
from benchquery.kinds.condensed.graphs import GRAPHS, Graphs, new_graphs
from benchquery.table.curves import Curves, new_curves
from benchquery.table.manifest import CURVES
from benchquery.table.rows import RowTable
from benchquery.table.store import BUNDLED, open_folder, table_info, verify
from benchquery.table.writer import new_table, write_table

_ROWS = 6
_EPOCHS = 5
_KEPT = 64
"""Contents of HDF5 files whose reading is kept."""


def fuzz(trials: int, seed: int, folder: Path) -> Outcome:
    """Damage tables, open, verify and read them piece by piece; see `fuzz_folders`."""
    samples = write_samples(folder)
    return fuzz_folders(samples, (_open, _verify, _read_pieces), trials, seed, folder)


def write_samples(folder: Path) -> list[Path]:
    """Write a small table of every kind and sort of data, and copy one of schema version 1."""
    others, made = folder / "others", write_tables(folder / "samples")
    if not others.exists():
        shutil.copytree(BUNDLED / "photo-built", others / "photo-built")
        _write_architectures(others / "architectures")
        _write_condensed(others / "condensed")
        _write_weights(others / "weights")
        _write_cells(others / "cells")
    return [*sorted(others.iterdir()), *made.values()]


def _open(folder: Path) -> Any:
    """Return all that a table says and holds."""
    info = dataclasses.replace(table_info(folder), name="", path=folder.parent)
    table = open_folder(folder)
    said: list[Any] = [dataclasses.astuple(info)[:-1], table.manifest.to_json()]
    said += [(name, _plain(table.column(name))) for name in table.columns]
    said += [list(table), [dict(record) for record in _texts(table)]]
    if CURVES in table.manifest.files:
        said += _curves(table.curves)
    if GRAPHS in table.manifest.files:
        said += _graphs(Graphs(table.file(GRAPHS, "condensed graphs")))
    return said


def _read_pieces(folder: Path) -> Any:
    """Return what HDF5 files hold, each piece by its own checksum, as large files are read."""
    files = [folder / name for name in (CURVES, GRAPHS) if (folder / name).exists()]
    return [_pieces(_Content(file, file.name, file.read_bytes())) for file in files]


@dataclasses.dataclass(frozen=True)
class _Content:
    """A file that reads as any other of its name and bytes: most trials damage another one."""

    path: Path = dataclasses.field(compare=False)
    name: str
    content: bytes


@lru_cache(_KEPT)
def _pieces(file: _Content) -> Any:
    """Return what an HDF5 file holds; it is read once for all files that are the same."""
    if file.name == CURVES:
        return _curves(Curves(file.path))
    return _graphs(Graphs(file.path))


def _curves(curves: Curves) -> list[Any]:
    numbers = sorted(curves.numbers)
    blocks = [curves.block(number).tobytes() for number in numbers]
    return [numbers, curves.seeds, curves.epochs, blocks]


def _graphs(graphs: Graphs) -> list[Any]:
    said: list[Any] = []
    for config in sorted(graphs.configs):
        said += [config, graphs.form(config), _plain_of(graphs.graph(config))]
    return [*said, *((config, _plain_of(graphs.trace(config))) for config in sorted(graphs.traced))]


def _plain_of(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(values) for name, values in arrays.items()}


def _plain(values: Any) -> tuple[Any, ...]:
    """Return an array as what can be compared, NaN included."""
    content = values.tolist() if values.dtype.hasobject else values.tobytes()
    return (str(values.dtype), values.shape, content)


def _texts(table: RowTable[Any]) -> list[Mapping[str, Any]]:
    """Return the rows with their figures as text: NaN is equal to itself there."""
    return [{name: repr(value) for name, value in row.items()} for row in table.records()]


def _verify(folder: Path) -> Any:
    """Return what was verified."""
    return verify(folder).to_json()


def _about(table: RowTable[Any]) -> dict[str, Any]:
    """Return what the manifest of a table says, to be written again."""
    names = (
        "name",
        "space",
        "origin",
        "metric",
        "source",
        "licence",
        "notes",
        "provenance",
        "kind",
    )
    return {name: getattr(table.manifest, name) for name in names}


def _write_architectures(folder: Path) -> None:
    table = open_folder(BUNDLED / "cora-built").take(np.arange(_ROWS))
    with new_table(folder) as stage:
        numbers, seeds = table.column("hash"), np.array(table.curves.seeds)
        with new_curves(stage / CURVES, numbers, seeds, _EPOCHS) as data:
            for row, number in enumerate(numbers.tolist()):
                data[row] = table.curves.block(number)[:, :_EPOCHS]
        columns = {name: table.column(name) for name in table.columns}
        write_table(stage, columns, **_about(table))


def _write_condensed(folder: Path) -> None:
    whole = open_folder(BUNDLED / "cora-condensed")
    smallest = np.argsort(whole.column("nodes"), kind="stable")[:_ROWS]
    table = whole.take(smallest)
    graphs = Graphs(whole.file(GRAPHS, "condensed graphs"))
    with new_table(folder) as stage:
        seeds = np.array(whole.curves.seeds)
        with new_curves(stage / CURVES, np.arange(_ROWS), seeds, _EPOCHS) as data:
            for row, position in enumerate(smallest.tolist()):
                data[row] = whole.curves.block(position)[:, :_EPOCHS]
        with new_graphs(stage / GRAPHS) as file:
            for config in dict.fromkeys(table.column("config").tolist()):
                if config in graphs.configs:
                    file.add(config, graphs.graph(config), graphs.trace(config))
                elif config in graphs.traced:
                    file.add_trace(config, graphs.trace(config))
        columns = {name: table.column(name) for name in table.columns}
        write_table(stage, columns, **_about(table))


def _write_weights(folder: Path) -> None:
    """Write the weights of one search that found all operations alike."""
    rows = NODES * len(OPS)
    columns: dict[str, Any] = {
        "link": np.full(rows, "0012", object),
        "seed": np.zeros(rows, np.int32),
        "position": np.repeat(np.arange(1, NODES + 1, dtype=np.int32), len(OPS)),
        "operation": np.tile(np.array(OPS, object), NODES),
        "weight": np.full(rows, 1 / len(OPS)),
        "derived": np.full(rows, -1, np.int32),
        "valid_perf": np.full(rows, 0.5),
        "train_time": np.full(rows, np.nan),
        "status": np.full(rows, "ok", object),
        "reason": np.full(rows, "", object),
    }
    with new_table(folder) as stage:
        (stage / "history.txt").write_text("epoch 0: all alike\n")
        write_table(stage, columns, **_MADE_UP, kind="weights", space="full")


def _write_cells(folder: Path) -> None:
    """Write some cell networks, of which one has no figures."""
    facts = [facts_of(cell) for cell in sample_cells(_ROWS, seed=0)]
    accuracies = np.append(np.linspace(10, 90, _ROWS - 1), np.nan)
    columns: dict[str, Any] = {
        column.name: accuracies
        if column.name in ACCURACIES
        else np.array(
            [fact[column.name] for fact in facts],
            object if column.dtype == "string" else column.dtype,
        )
        for column in COLUMNS
    }
    with new_table(folder) as stage:
        write_table(stage, columns, **_MADE_UP, kind="cells", space="nas-bench-201")


_MADE_UP: Mapping[str, Any] = MappingProxyType(
    {
        "name": "toy",
        "origin": "synthetic",
        "metric": "accuracy",
        "source": {"title": "made up"},
        "licence": "CC0-1.0",
        "notes": ("made for fuzzing",),
        "provenance": {"seeds": [0], "lr": 0.01},
    }
)
"""What the manifest of a table says that was made up."""
