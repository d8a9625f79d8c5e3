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

from benchbuild.cli import main, parse
from benchbuild.engines.slurm import Allocation, array_script
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.status import status_of
from benchquery import condread
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
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=8000 State=UNKNOWN
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
    for _ in range(5 * seconds):
        found = subprocess.run(
            ["sinfo", "-h", "-o", "%t"], capture_output=True, text=True, check=False
        )
        state = found.stdout.strip()
        if state in ("idle", "mix", "alloc"):
            return
        time.sleep(0.2)
    log = (folder / "slurmctld.log").read_text()[-2000:]
    pytest.skip(f"Slurm does not come up on this machine; its node is {state!r}:\n{log}")


def wait_for_job(number: str) -> None:
    """Wait until no task of a job is queued or runs; ``sbatch --wait`` looks every ten seconds."""
    words = ["squeue", "--noheader", "--jobs", number]
    while subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip():
        time.sleep(0.2)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "run"
    assert benchbuild(*train(out, workers=1)) == 0
    return out


@pytest.mark.slow
@pytest.mark.slurm
def test_submitted_shards_make_the_same_records(
    cluster: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    out = tmp_path / "run"
    options = ["--shards", "2", "--time", "30", "--device", "cpu", "--out", str(out), "--wait"]
    assert benchbuild("submit", "--engine", "slurm", *JOBS, *options) == 0
    assert status_of(RunFolder.open(out)).missing == 0
    assert figures(out) == figures(whole)
    merge([out], tmp_path / "table")


@pytest.mark.slow
@pytest.mark.slurm
def test_condensations_can_be_submitted_too(
    cluster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.chdir(tmp_path)
    options = ["--method", "random,k-center", "--ratio", "0.3", "--eval-hp", "epochs=5"]
    command = ["condense", "--dataset", "karate", *options, "--device", "cpu", "--out", "run"]
    assert benchbuild("submit", "--shards", "2", "--time", "30", "--wait", *command) == 0
    assert status_of(RunFolder.open(Path("run"))).missing == 0
    merge([Path("run")], Path("table"))
    assert len(condread("karate", source="table")) == 2


@pytest.mark.slow
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
    command = ["train", *JOBS, "--device", "cpu", "--workers", "1", "--out", str(out)]
    script = tmp_path / "array.sbatch"
    script.write_text(array_script(Allocation(shards=2, minutes=30, parallel=1), command))
    submitted = subprocess.run(
        ["sbatch", "--parsable", script],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    wait_for_job(submitted.stdout.strip())
    assert figures(out) == figures(whole)


def test_a_script_asks_for_what_was_asked_for() -> None:
    allocation = Allocation(32, "gpu", gpus=2, cpus=4, memory=16, minutes=90, parallel=8, name="x")
    command = ["train", "--dataset", "csbm:nodes=50", "--out", "a b"]
    lines = array_script(allocation, command).splitlines()
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
        f"exec {shlex.quote(sys.executable)} -m benchbuild "
        "train --dataset csbm:nodes=50 --out 'a b' "
        '--shard "$SLURM_ARRAY_TASK_ID/32"'
    )


@pytest.mark.parametrize("shards", [["--shards", "2"], ["--shards=2", "--cpus", "3"]])
@pytest.mark.parametrize(
    ("named", "words"),
    [
        ([], "--dataset karate --archs archs.txt --seeds 0,2 --epochs 7 --hp lr=0.5"),
        (["train"], "--dataset karate --sample 3 --workers 2 --data-root data"),
        (["condense"], "--dataset karate --method dm,sfgc --ratio 0.3 --hp epochs=3"),
        (["tune"], "--dataset karate --trials 2 --range lr=0.1,0.01"),
        (["darts"], "--dataset karate --links 0012"),
    ],
)
def test_a_script_runs_what_the_options_say(  # noqa: PLR0917
    shards: list[str],
    named: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("archs.txt").write_text("10000 20000")
    command = [*(named or ["train"]), *words.split(), "--out", "run"]
    assert main(["slurm-script", *named, *shards, *command[1:]]) == 0
    *_, enter, run = capsys.readouterr().out.splitlines()
    assert enter == f"cd {shlex.quote(str(tmp_path))} || exit"
    executed, _, shard = run.partition(" --shard ")
    assert shard == '"$SLURM_ARRAY_TASK_ID/2"'
    start = ["exec", sys.executable, "-m", "benchbuild"]
    words_run = shlex.split(executed)
    assert words_run[: len(start) + len(command)] == [*start, *command]
    typed, direct = (parse(x) for x in (words_run[len(start) :], command))
    assert typed.workers == direct.workers or (direct.workers is None and typed.workers in (1, 3))
    assert vars(typed) | {"workers": None} == vars(direct) | {"workers": None}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("merge runs --out x", "'merge' runs no shards; allowed: train, tune, darts, condense"),
        ("trian --dataset karate", "'trian' runs no shards; did you mean 'train'?"),
        ("--dataset karate --shard 1/2 --out x", "leave --shard and --dry-run out"),
        ("condense --dataset karate --method none --ratio 0.1 --out x", "unknown method 'none'"),
        ("--dataset karate --out x --colour red", "unrecognized arguments: --colour red"),
    ],
)
def test_mistakes_show_before_anything_is_queued(
    words: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "benchbuild", "slurm-script", "--shards", "2", *words.split()]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
