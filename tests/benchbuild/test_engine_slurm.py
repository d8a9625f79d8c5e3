"""A real one-node Slurm: shards as array tasks, through submitit and through the script.

Needs root, Debian's ``slurm-wlm`` and ``munge``, and submitit.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbuild.commands.allocation import train_arguments
from benchbuild.engines.slurm import Allocation, array_script
from benchbuild.merge import merge
from benchbuild.runfolder import RunFolder
from benchbuild.status import status_of
from tests.benchbuild.runs import JOBS, benchbuild, figures, train

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={port}
SlurmdPort={node_port}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=sched_interval=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def need(program: str) -> str:
    """The path of a program, or a reason to skip."""
    path = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if path is None:
        pytest.skip(f"{program} is not installed: apt-get install slurm-wlm munge")
    return path


@pytest.fixture(scope="module")
def alone() -> Iterator[None]:
    """Let no other process that runs these tests start or stop munge: a machine has one."""
    with (Path(tempfile.gettempdir()) / "graphtab-slurm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def munge(alone: None) -> Iterator[None]:
    """The daemon that Slurm's parts know each other by."""
    pytest.importorskip("submitit", reason="submitit is not installed: pip install submitit")
    if os.getuid() != 0:
        pytest.skip("starting Slurm needs root")
    need("slurmctld")
    need("munged")
    if subprocess.run(["munge", "-n"], capture_output=True, check=False).returncode == 0:
        yield
        return
    Path("/run/munge").mkdir(exist_ok=True)
    shutil.chown("/run/munge", "munge", "munge")
    daemon = subprocess.Popen(
        ["runuser", "-u", "munge", "--", need("munged"), "--foreground", "--force"]
    )
    yield
    daemon.terminate()
    daemon.wait()


@pytest.fixture(scope="module")
def cluster(munge: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster of one node; gives its configuration."""
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            host=socket.gethostname().partition(".")[0],
            folder=folder,
            cpus=len(os.sched_getaffinity(0)),
            port=free_port(),
            node_port=free_port(),
        )
    )
    os.environ["SLURM_CONF"] = str(configuration)
    daemons = [
        subprocess.Popen([need(name), "-D", "-f", str(configuration)])
        for name in ("slurmctld", "slurmd")
    ]
    try:
        wait_for_node(folder)
        yield configuration
    finally:
        for daemon in daemons:
            daemon.terminate()
            daemon.wait()
        del os.environ["SLURM_CONF"]


def wait_for_node(folder: Path, seconds: int = 120) -> None:
    state = ""
    for _ in range(seconds):
        found = subprocess.run(
            ["sinfo", "-h", "-o", "%t"], capture_output=True, text=True, check=False
        )
        state = found.stdout.strip()
        if state in ("idle", "mix", "alloc"):
            return
        time.sleep(1)
    log = (folder / "slurmctld.log").read_text()[-2000:]
    pytest.skip(f"Slurm does not come up on this machine; its node is {state!r}:\n{log}")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "run"
    assert benchbuild(*train(out, workers=1)) == 0
    return out


@pytest.mark.slurm
def test_submitted_shards_make_the_same_records(
    cluster: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    out = tmp_path / "run"
    options = ["--shards", "3", "--time", "30", "--device", "cpu", "--out", str(out), "--wait"]
    assert benchbuild("submit", "--engine", "slurm", *JOBS, *options) == 0
    assert status_of(RunFolder.open(out)).missing == 0
    assert figures(out) == figures(whole)
    merge([out], tmp_path / "table")


@pytest.mark.slurm
def test_the_printed_script_makes_the_same_records(
    cluster: Path, whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    program = tmp_path / "benchbuild"
    paths = shlex.quote(os.pathsep.join(sys.path))
    python = shlex.quote(sys.executable)
    program.write_text(f'#!/bin/sh\nPYTHONPATH={paths} exec {python} -m benchbuild "$@"\n')
    program.chmod(0o755)
    arguments = [*JOBS, "--device", "cpu", "--workers", "1", "--out", str(out)]
    script = tmp_path / "array.sbatch"
    script.write_text(array_script(Allocation(shards=2, minutes=30, parallel=1), arguments))
    subprocess.run(
        ["sbatch", "--wait", script],
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert figures(out) == figures(whole)


def test_a_script_asks_for_what_was_asked_for() -> None:
    allocation = Allocation(32, "gpu", gpus=2, cpus=4, memory=16, minutes=90, parallel=8, name="x")
    lines = array_script(allocation, ["--dataset", "csbm:nodes=50", "--out", "a b"]).splitlines()
    assert lines[0] == "#!/bin/bash"
    for option in (
        "--job-name=x",
        "--array=1-32%8",
        "--partition=gpu",
        "--gres=gpu:2",
        "--cpus-per-task=4",
        "--mem=16G",
        "--time=90",
    ):
        assert f"#SBATCH {option}" in lines
    assert lines[-1] == (
        "exec benchbuild train --dataset csbm:nodes=50 --out 'a b' "
        '--shard "$SLURM_ARRAY_TASK_ID/32"'
    )


def test_a_script_trains_what_the_options_say(tmp_path: Path) -> None:
    from benchbuild.cli import make_parser

    listing = tmp_path / "archs.txt"
    listing.write_text("10000 20000")
    words = ["--dataset", "karate", "--archs", str(listing), "--seeds", "0,2", "--epochs", "7"]
    words += ["--hp", "lr=0.5", "--data-root", "data"]
    out = ["--out", str(tmp_path / "run")]
    submitted = make_parser().parse_args(["slurm-script", *words, "--shards", "2", *out])
    typed = make_parser().parse_args(["train", *train_arguments(submitted), "--shard", "1/2"])
    direct = make_parser().parse_args(["train", *words, *out])
    for name in ("dataset", "archs", "seeds", "epochs", "hp", "data_root"):
        assert getattr(typed, name) == getattr(direct, name), name
