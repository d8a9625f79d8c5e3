"""What the tests of benchquery share: the published package, and small tables of our own."""

from __future__ import annotations

from pathlib import Path

import nas_bench_graph
import numpy as np
import pytest

from benchquery.table.curves import new_curves
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.table.writer import new_table, write_table
from tests.benchquery.condensing import write_condensed

DATASETS = (
    "cora", "citeseer", "pubmed", "cs", "physics", "photo", "computers", "arxiv", "proteins",
)  # fmt: skip
HASHES = (0, 10000, 11111, 61237, 88882)
SEEDS = (0, 1)
EPOCHS = 5


@pytest.fixture(scope="session", params=DATASETS)
def published(request: pytest.FixtureRequest) -> tuple[str, dict[int, dict[str, float]]]:
    """A dataset's name and its table as the published package opens it."""
    return request.param, nas_bench_graph.light_read(request.param)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A folder with one small synthetic table, curves included, written as a builder does."""
    rng = np.random.default_rng(0)
    curves = rng.random((len(HASHES), len(SEEDS), EPOCHS, len(CURVE_COLUMNS)), dtype=np.float32)
    perf = curves[..., -1, 2].astype(np.float64)
    folder = tmp_path / "tables" / "toy"
    with new_table(folder) as stage:
        with new_curves(stage / "curves.h5", np.array(HASHES), np.array(SEEDS), EPOCHS) as dataset:
            dataset[:] = curves
        write_table(
            stage,
            {
                "hash": np.array(HASHES, dtype=np.int32),
                "valid_perf": perf.mean(axis=1),
                "perf": perf.mean(axis=1),
                "perf_seed0": perf[:, 0],
                "perf_seed1": perf[:, 1],
                "latency": rng.random(len(HASHES)),
                "status": np.array(["ok", "ok", "diverged", "ok", "ok"], dtype=object),
            },
            name="toy",
            space="full",
            origin="synthetic",
            metric="accuracy",
            source={"title": "random numbers"},
            licence="CC0-1.0",
        )
    return folder


@pytest.fixture
def condensed(tmp_path: Path) -> Path:
    """A folder with one small synthetic table of condensed graphs."""
    return write_condensed(tmp_path / "tables" / "toy-condensed")
