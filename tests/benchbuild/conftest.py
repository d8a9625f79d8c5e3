"""What tests of building share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from benchbuild.testing.gpu import PretendGpu


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Compute on one thread: small tensors are slower on several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def fuzzing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where fuzzers work: they share their samples, which take longer than a few trials."""
    return tmp_path_factory.mktemp("fuzzing")


@pytest.fixture
def gpu() -> Iterator[PretendGpu]:
    """A GPU, though a pretend one."""
    with PretendGpu() as plugged:
        yield plugged
