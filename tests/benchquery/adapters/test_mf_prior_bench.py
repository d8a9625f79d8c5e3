"""Frames for mf-prior-bench: read back by pandas, and by that package where it is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchquery import Arch, lightread
from benchquery.adapters.mf_prior_bench import open_benchmark, write_frame
from benchquery.errors import MissingPackageError, QueryError

NAME = "citeseer-built"
HERE = importlib.util.find_spec("mfpbench") is not None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The frame of a table."""
    write_frame(lightread(NAME), tmp_path / "citeseer.parquet")
    return tmp_path / "citeseer.parquet"


def test_a_frame_has_every_epoch_of_every_architecture(path: Path) -> None:
    table, frame = lightread(NAME), pd.read_parquet(path)
    assert len(frame) == len(table) * table.curves.epochs
    assert set(frame.columns) == {
        *("id", "epoch", "valid_perf", "elapsed_time"),
        *(f"link{node}" for node in (1, 2, 3)),
        *(f"op{node}" for node in range(4)),
    }
    for number, rows in list(frame.groupby("id"))[::7]:
        first = rows.iloc[0]
        links = [0, *(int(first[f"link{node}"]) for node in (1, 2, 3))]
        arch = Arch(links, [first[f"op{node}"] for node in range(4)])
        assert str(arch.valid_hash()) == number
        seeds = [pd.Series(table.curve(arch, seed)[:, 1]).ffill() for seed in table.curves.seeds]
        assert rows["valid_perf"].to_numpy() == pytest.approx(np.mean(seeds, axis=0))
        assert (np.diff(rows["elapsed_time"]) >= 0).all()
        assert rows["elapsed_time"].iloc[-1] == pytest.approx(table[arch]["train_time"])


def test_a_table_without_curves_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="'proteins' has no learning curves"):
        write_frame(lightread("proteins"), tmp_path / "proteins.parquet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(HERE, reason="mf-prior-bench is installed")
def test_without_the_package_there_is_a_hint(path: Path) -> None:
    with pytest.raises(MissingPackageError, match="mfpbench"):
        open_benchmark(path)


@pytest.mark.skipif(not HERE, reason="mf-prior-bench is missing: it wants numpy below 2")
def test_the_package_opens_it(path: Path) -> None:
    table, benchmark = lightread(NAME), open_benchmark(path)
    number = int(table.hashes[5])
    found = benchmark.query(str(number), at=30)
    seeds = [table.curve(number, seed)[29, 1] for seed in table.curves.seeds]
    assert found["valid_perf"].value == pytest.approx(np.mean(seeds))
    assert benchmark.fidelity_range == (1, table.curves.epochs, 1)
    assert len(benchmark.trajectory(str(number))) == table.curves.epochs
    config = benchmark.sample(seed=1)
    assert int(config.id) in table
    assert benchmark.query(config).fidelity == table.curves.epochs
