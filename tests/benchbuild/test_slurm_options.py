"""What Slurm is asked for: the options of ``slurm-script``, without a Slurm."""

from __future__ import annotations

import pytest

from benchbuild.cli import main

TRAIN = ("train", "--dataset", "karate", "--sample", "9", "--out", "runs/karate")


def script(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["slurm-script", "--shards", "4", *words]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("words", "cpus"),
    [
        (["--gpus", "1", *TRAIN], 1),
        (["--gpus", "2", *TRAIN, "--workers-per-device", "4"], 8),
        (["--gpus", "1", *TRAIN, "--workers", "3"], 3),
        (["--gpus", "2", "--cpus", "5", *TRAIN, "--workers-per-device", "4"], 5),
        (["--cpus", "2", *TRAIN], 2),
        (TRAIN, 1),
    ],
)
def test_every_worker_has_a_core(
    words: list[str], cpus: int, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = script(capsys, *words)
    assert f"#SBATCH --cpus-per-task={cpus}" in lines
    assert ("--device cuda" in lines[-1]) == ("--gpus" in words)
    assert ("--workers " in lines[-1]) == ("--gpus" not in words or "--workers" in words)


def gigabytes(lines: list[str]) -> int:
    (found,) = [line for line in lines if line.startswith("#SBATCH --mem=")]
    return int(found.removeprefix("#SBATCH --mem=").removesuffix("G"))


def test_memory_is_what_is_predicted_unless_it_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    proteins = ("train", "--dataset", "proteins", "--out", "runs/proteins")
    one = gigabytes(script(capsys, "--gpus", "1", *proteins))
    four = gigabytes(script(capsys, "--gpus", "2", *proteins, "--workers-per-device", "2"))
    assert 8 < one < 20
    assert 4 * one - 4 < four <= 4 * one, "every worker loads it"
    assert gigabytes(script(capsys, "--gpus", "1", *TRAIN)) == 1
    assert gigabytes(script(capsys, *proteins)) > one, "all of it is in main memory"
    assert gigabytes(script(capsys, "--memory", "48", "--gpus", "1", *proteins)) == 48


def test_a_cluster_s_own_options_are_handed_on(capsys: pytest.CaptureFixture[str]) -> None:
    paid = ["--account", "lab", "--qos", "long"]
    gpus = ["--constraint", "a100|h100", "--gpus", "2", "--gpu-type", "a100"]
    others = ["--sbatch", "mail-type=END", "--sbatch", "nice=10"]
    lines = script(capsys, *paid, *gpus, *others, *TRAIN)
    for line in ("account=lab", "qos=long", "constraint=a100|h100", "gres=gpu:a100:2"):
        assert f"#SBATCH --{line}" in lines
    assert {"#SBATCH --mail-type=END", "#SBATCH --nice=10"} <= set(lines)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sbatch", "nice"], "KEY=VALUE"),
        (["--sbatch", "gres=gpu:1"], "an option of its own"),
        (["--sbatch", "comment=a\nrm"], "spaces"),
        (["--constraint", "a b"], "spaces"),
        (["--account", "a;b"], "letters, digits"),
        (["--gpu-type", "a100", *TRAIN], "say how many with --gpus"),
    ],
)
def test_what_slurm_can_t_take_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["slurm-script", "--shards", "4", *words])
    except SystemExit as end:
        code = int(str(end.code))
    assert code == 2
    assert said in capsys.readouterr().err
