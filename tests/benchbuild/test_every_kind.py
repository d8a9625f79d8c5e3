"""A job of every kind and method, twice on every sort of device that this machine has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from benchbuild.engines.base import Refusal, open_context, run_job
from benchbuild.pipeline.jobs import AnyRun, Place
from benchbuild.pipeline.records import JobRecord
from benchbuild.pipeline.registry import kind_of
from benchbuild.testing.everything import graph_runs

GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU here")
DEVICES = ["cpu", pytest.param("cuda:0", marks=GPU)]
RUNS = graph_runs()


def do(run: AnyRun, device: str, scratch: Path) -> JobRecord:
    """Run the first job as a worker does."""
    kind = kind_of(run.kind)
    context = open_context(kind, run.settings, Place(device, scratch=str(scratch)))
    assert not isinstance(context, Refusal), context.reason
    record = run_job(kind, context, kind.keys(run)[0])
    assert record.status == "ok", record.reason
    assert not list(kind.problems(run, record))
    return record


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", RUNS)
def test_a_job_ends_well_and_the_same_way_twice(name: str, device: str, tmp_path: Path) -> None:
    run = RUNS[name]
    first, second = (do(run, device, tmp_path / number) for number in ("first", "second"))
    for field in kind_of(run.kind).record.columns():
        if field.role == "figure":
            before, after = (getattr(one, field.name) for one in (first, second))
            np.testing.assert_array_equal(before, after, field.name)
