"""A real local Ray: the same records, also when workers are killed under it."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.benchbuild.runs import alongside, benchbuild, figures, rows, train, wait_for_parts

pytestmark = pytest.mark.ray


@pytest.fixture(scope="module", autouse=True)
def ray() -> None:
    pytest.importorskip("ray", reason="ray is not installed: pip install ray")


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records of the local engine."""
    out = tmp_path_factory.mktemp("local") / "run"
    assert benchbuild(*train(out, workers=1)) == 0
    return out


def actors() -> list[psutil.Process]:
    """The processes of the actors of this process's Ray."""
    found = []
    for process in psutil.Process(os.getpid()).children(recursive=True):
        try:
            if any("ray::_Actor" in word for word in process.cmdline()):
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


def test_ray_makes_the_same_records(tmp_path: Path, local: Path) -> None:
    out = tmp_path / "run"
    assert benchbuild(*train(out, "--engine", "ray")) == 0
    assert figures(out) == figures(local)


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A cluster of two nodes, each with a core, that was started apart from any run."""
    if " " in sys.executable:
        pytest.skip("a Ray cluster starts no workers with a Python in a path with a space")
    utils = pytest.importorskip("ray.cluster_utils")
    started = utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield started
    started.shutdown()


def test_a_run_ends_complete_when_a_node_is_killed(
    tmp_path: Path, local: Path, cluster: Any
) -> None:
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    out = tmp_path / "run"

    def kill_the_node() -> None:
        wait_for_parts(out)
        cluster.remove_node(doomed, allow_graceful=False)

    thread = alongside(kill_the_node)
    assert benchbuild(*train(out, "--engine", "ray", "--address", cluster.address)) == 0
    thread.join()
    assert len(cluster.list_all_nodes()) == 1
    assert figures(out) == figures(local)


def test_a_run_ends_complete_when_workers_are_killed(tmp_path: Path, local: Path) -> None:
    out = tmp_path / "run"
    killed: list[int] = []

    def kill_all_once() -> None:
        wait_for_parts(out)
        for process in actors():
            process.kill()
            killed.append(process.pid)

    thread = alongside(kill_all_once)
    assert benchbuild(*train(out, "--engine", "ray")) == 0
    thread.join()
    assert killed
    assert builtins.print.__module__ == "builtins"
    assert {row["status"] for row in rows(out)} == {"ok"}
    assert figures(out) == figures(local)


def test_a_cluster_that_is_not_there_is_a_clear_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = "127.0.0.1:1"
    assert benchbuild(*train(tmp_path / "run", "--engine", "ray", "--address", address)) == 2
    assert address in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
