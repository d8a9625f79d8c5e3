"""A real local Ray: the same records, also when workers are killed under it."""

from __future__ import annotations

import builtins
import contextlib
import http.server
import os
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchbuild.engines import knock
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


@pytest.mark.slow
def test_ray_makes_the_same_records(tmp_path: Path, local: Path) -> None:
    out = tmp_path / "run"
    assert benchbuild(*train(out, "--engine", "ray", workers=1)) == 0
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


@pytest.mark.slow
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


@pytest.mark.slow
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


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A web site that keeps no log."""

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture(params=["nothing", "silence", "web"])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """An address where no Ray listens: nothing does, or something that is silent, or a web site."""
    with contextlib.ExitStack() as stack:
        if request.param == "web":
            site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
            thread = alongside(site.serve_forever)
            stack.callback(thread.join)
            stack.callback(site.shutdown)
            stack.callback(site.server_close)
            port = site.server_port
        else:
            listener = stack.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            if request.param == "silence":
                listener.listen()
            port = listener.getsockname()[1]
        yield f"127.0.0.1:{port}"


def test_an_address_without_ray_is_one_line(
    tmp_path: Path,
    address: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert knock.GREETING_SECONDS < knock.SECONDS < 30
    monkeypatch.setattr(knock, "SECONDS", 5.0)
    assert benchbuild(*train(tmp_path / "run", "--engine", "ray", "--address", address)) == 2
    told = capsys.readouterr().err
    assert re.fullmatch(f"benchbuild: error: there is no Ray cluster at '{address}': .*\n", told)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("address", ["nosuchhost.invalid:6379", "ray://127.0.0.1:1", "x", ""])
def test_what_is_no_address_is_one_line(
    tmp_path: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert benchbuild(*train(tmp_path / "run", "--engine", "ray", "--address", address)) == 2
    told = capsys.readouterr().err
    assert re.fullmatch(f"benchbuild: error: there is no Ray cluster at '{address}': .*\n", told)
