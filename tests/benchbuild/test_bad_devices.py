"""Devices that don't work: the worker on one is given up, and the others go on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from benchbuild.compute.devices import claim, resolve_device
from benchbuild.engines.base import Refusal, open_context
from benchbuild.errors import BrokenDeviceError, DeviceError
from benchbuild.pipeline.jobs import Place
from benchbuild.pipeline.registry import GROUP, kind_of
from benchbuild.testing.gpu import PretendGpu
from tests.benchbuild.pages import install, run_command
from tests.benchbuild.squares import MODULE, POINTS, SOURCE
from tests.benchbuild.test_every_kind import RUNS

OPEN = "        return Worker(settings)\n"
BUSY = "BrokenDeviceError(f\"device 'cuda:{place.slot}' does not work: it is busy\", 4)"
FAULTS = {
    "busy": f"from benchbuild.errors import BrokenDeviceError\n            raise {BUSY}",
    "dead": "import os\n            os._exit(9)",
}
"""How the start of a worker goes wrong, as source."""
WAIT = """
        import pathlib, time
        while "given up" not in pathlib.Path("run/logs/1-of-1.log").read_text():
            time.sleep(0.05)
"""
"""What a job begins with: the others must go on without the worker, not be done before it."""


def squares(folder: Path, fault: str, slots: str, *words: str) -> tuple[int, str, str]:
    """Square numbers where some workers can't start."""
    there = f"        if place.slot in ({slots}):\n            {FAULTS[fault]}\n{OPEN}"
    source = SOURCE.replace(OPEN, there).replace('Found({"version": 1}, {}, 0)', "self.there")
    source = source.replace(
        "        self._settings = settings\n",
        '        self._settings = settings\n        self.there = Found({"version": 1}, {}, 4)\n',
    )
    source = source.replace("    def run(self, key):\n", f"    def run(self, key):\n{WAIT}")
    install(folder, MODULE, source, GROUP, POINTS)
    done = run_command(folder, ["benchbuild", "squares", "--upto", "40", "--out", "run", *words])
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("fault", "cause"), [("busy", "it is busy"), ("dead", "exit code 9")])
def test_one_bad_device_does_not_end_a_run(tmp_path: Path, fault: str, cause: str) -> None:
    code, out, said = squares(tmp_path, fault, "2,")
    assert code == 0, said
    assert "40 ok" in out
    (warning,) = [line for line in said.splitlines() if "given up" in line]
    assert re.search(rf"warning: worker 3 was given up: .*{cause}", warning)
    assert "worker 3 was given up" in (tmp_path / "run/logs/1-of-1.log").read_text()


def test_the_first_device_may_be_the_bad_one(tmp_path: Path) -> None:
    code, out, said = squares(tmp_path, "busy", "0, 1")
    assert code == 0, said
    assert "40 ok" in out
    assert said.count("given up: device 'cuda:") == 2


def test_when_all_are_bad_each_is_named_in_one_line(tmp_path: Path) -> None:
    code, _, said = squares(tmp_path, "busy", "0, 1, 2, 3")
    (line,) = said.splitlines()
    assert code == 2
    assert line.startswith("benchbuild: error: no worker can start: worker 1 was given up: device")
    assert all(f"'cuda:{slot}' does not work: it is busy" in line for slot in range(4))


@pytest.mark.slow
@pytest.mark.ray
def test_one_bad_device_does_not_end_a_run_on_ray(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed: pip install ray")
    flag = tmp_path / "taken"
    source = SOURCE.replace(
        OPEN,
        "        from benchbuild.errors import BrokenDeviceError\n"
        "        try:\n"
        f"            open({str(flag)!r}, 'x')\n"
        "        except FileExistsError:\n"
        "            return Worker(settings)\n"
        "        raise BrokenDeviceError('device does not work: it is busy', 4)\n",
    )
    install(tmp_path, MODULE, source, GROUP, POINTS)
    words = ["--upto", "20", "--out", "run", "--engine", "ray", "--workers", "2"]
    done = run_command(tmp_path, ["benchbuild", "squares", *words])
    assert done.returncode == 0, done.stderr
    assert "20 ok" in done.stdout
    assert "was given up: device does not work: it is busy" in done.stderr


def test_a_device_without_room_is_refused_before_the_first_job() -> None:
    with PretendGpu(capacity=0) as gpu:
        with pytest.raises(BrokenDeviceError, match=r"'pretend:0' does not work.*out of memory"):
            claim(gpu.device)
        run = RUNS["gcn"]
        refusal = open_context(kind_of(run.kind), run.settings, Place(str(gpu.device)))
    assert isinstance(refusal, Refusal)
    assert refusal.devices == 1


@pytest.mark.skipif(torch.version.cuda is not None, reason="torch was built with CUDA")
def test_torch_without_cuda_is_named_as_the_reason() -> None:
    with pytest.raises(DeviceError, match=r"torch \S+ was built without CUDA; use cpu"):
        resolve_device("cuda")


@pytest.mark.parametrize(
    "said",
    [
        "The NVIDIA driver on your system is too old (found version 11040). Please update it.",
        "Found no NVIDIA driver on your system. Please check that you have one.\nSee https://",
        "No CUDA GPUs are available",
    ],
)
def test_what_cuda_says_is_one_line(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words are those of torch's own CUDA build, which can't be installed everywhere."""

    def init() -> None:
        raise RuntimeError(said)

    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(torch.cuda, "init", init)
    with pytest.raises(DeviceError) as caught:
        resolve_device("cuda:3")
    assert said.splitlines()[0].rstrip(".") in str(caught.value)
    assert "\n" not in str(caught.value)
