"""What a worker does after a job that failed."""

from __future__ import annotations

import multiprocessing
import weakref

import numpy as np
import pytest

from benchbuild.engines.base import BROKEN_DEVICE, run_job
from benchbuild.pipeline.failures import failure
from benchbuild.pipeline.jobs import Found
from benchbuild.pipeline.records import JobKey, JobRecord
from benchbuild.pipeline.registry import kind_of

KEY = (61237, 0)


class Failing:
    """A worker whose jobs fail, and whose device may be broken by that."""

    def __init__(self, *, broken: bool) -> None:
        self._broken = broken
        self.recovered = False

    @property
    def found(self) -> Found:
        return Found({}, {}, 0)

    def run(self, key: JobKey) -> JobRecord:
        large = np.zeros(1000)
        self._large = weakref.ref(large)
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    def recover(self) -> None:
        assert self._large() is None, "the error still holds what the job used"
        if self._broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        self.recovered = True


def test_memory_of_a_failed_job_is_free_before_the_next() -> None:
    worker = Failing(broken=False)
    record = run_job(kind_of("train"), worker, KEY)
    assert (record.status, record.key[0]) == ("failed", 61237)
    assert worker.recovered


def test_a_worker_with_a_broken_device_ends_without_a_record() -> None:
    child = multiprocessing.get_context("fork").Process(
        target=run_job, args=(kind_of("train"), Failing(broken=True), KEY)
    )
    child.start()
    child.join()
    assert child.exitcode == BROKEN_DEVICE


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (MemoryError(), "oom"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), "oom"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 9 bytes"), "oom"),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"), "oom"),
        (RuntimeError("CUDA error: device-side assert triggered"), "failed"),
        (ValueError("out of memory"), "failed"),
    ],
)
def test_running_out_of_memory_is_told_from_other_errors(error: Exception, status: str) -> None:
    found, reason = failure(error)
    assert found == status
    assert reason.startswith(type(error).__name__)
