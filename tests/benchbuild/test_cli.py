"""The command line: bad input is one line and exit code 2; good input says what it found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchbuild.cli import main, parse
from benchbuild.commands import load
from benchbuild.datasets import dataset_names, hyperparameters_for
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.testing import synthetic_record, synthetic_run
from benchquery import lightread
from tests.benchbuild.runs import benchbuild, command, train


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of synthetic records: 8 of its 12 jobs, one of them diverged."""
    described = synthetic_run(sample=4)
    folder = RunFolder.begin(tmp_path / "run", described)
    keys = kind_of("train").keys(described)[:8]
    ends = ["diverged", *["ok"] * 7]
    records = [synthetic_record(described, key, end) for key, end in zip(keys, ends, strict=True)]
    folder.parts.add(Shard(), records)
    return folder.path


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("train --dataset nosuch --out x", "nosuch"),
        ("train --out x", "--dataset"),
        ("train --dataset cora --shard 0/32 --out x", "0/32"),
        ("train --dataset cora --shard 33/32 --out x", "33/32"),
        ("train --dataset cora --shard 3 --out x", "'3'"),
        ("train --dataset cora --shard a/b --out x", "'a/b'"),
        ("train --dataset cora --archs 99999 --out x", "99999"),
        ("train --dataset cora --archs nofile --out x", "nofile"),
        ("train --dataset cora --sample 0 --out x", "'0'"),
        ("train --dataset cora --sample 30000 --out x", "26,206"),
        ("train --dataset cora --sample 3 --archs 10000 --out x", "--archs"),
        ("train --dataset cora --seeds x --out x", "'x'"),
        ("train --dataset cora --workers none --out x", "'none'"),
        ("train --dataset cora --hp lr --out x", "'lr'"),
        ("train --dataset cora --hp speed=3 --out x", "speed"),
        ("train --dataset cora --hp lr=-1 --out x", "lr"),
        ("train --dataset cora --space none --out x", "none"),
        ("train --dataset cora --engine none --out x", "none"),
        ("train --dataset cora --epochs -3 --out x", "'-3'"),
        ("train --dataset cora --device gpu --out x", "'gpu'"),
        ("train --dataset cora --address 127.0.0.1:5 --out x", "--engine ray"),
        ("train --dataset cora --seeds 999999999 --out x", "at most 10,000"),
        ("train --dataset cora --shard 1/999999999 --out x", "at most 100,000"),
        ("status nosuch", "nosuch"),
        ("merge nosuch --out x", "nosuch"),
        ("merge --out x", "DIR"),
        ("verify nosuch", "nosuch"),
        ("inspect --dataset cora --hash 99999", "99999"),
        ("inspect --dataset cora --hash x", "'x'"),
        ("inspect --dataset proteins --hash 10000", "10000"),
        ("inspect --dataset nosuch --hash 10000", "nosuch"),
        ("tune --dataset karate --range lr --out x", "'lr'"),
        ("tune --dataset karate --range none=1 --out x", "none=1"),
        ("tune --dataset karate --range lr=fast --out x", "fast"),
        ("tune --dataset karate --range lr=0.1 --range lr=0.2 --out x", "twice"),
        ("slurm-script --shards 2 --name a;b --dataset karate --out x", "'a;b'"),
        ("submit --dataset cora --out x", "--shards"),
        ("nosuch", "nosuch"),
        ("", "COMMAND"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    words: str,
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code: object = main(words.split())
    except SystemExit as leaving:
        code = leaving.code
    told = capsys.readouterr()
    assert code == 2
    assert named in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_that_is_not_there_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    (tmp_path / "empty").write_text("a file where the datasets should be")
    words = ["--dataset", "cora", "--sample", "1", "--data-root", str(tmp_path / "empty")]
    code = main(["train", *words, "--device", "cpu", "--out", str(tmp_path / "run")])
    told = capsys.readouterr().err
    assert code == 2
    assert "cora" in told
    assert str(tmp_path / "empty") in told
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("module", list(load()), ids=lambda module: module.NAME)
def test_every_command_has_help_and_an_example_that_is_understood(
    module: object, capsys: pytest.CaptureFixture[str]
) -> None:
    name: str = module.NAME  # type: ignore[attr-defined]
    example: str = module.EXAMPLE  # type: ignore[attr-defined]
    with pytest.raises(SystemExit) as leaving:
        main([name, "--help"])
    assert leaving.value.code == 0
    assert example in capsys.readouterr().out
    words = example.partition(" > ")[0].split()
    assert words[0] == "benchbuild"
    assert parse(words[1:]).command == name


def test_planning_and_reading_need_no_torch(run: Path) -> None:
    commands = [
        ["train", "--dataset", "cora", "--sample", "9", "--shard", "2/3", "--dry-run"],
        ["inspect", "--dataset", "cora", "--hash", "10000", "--json"],
        ["status", str(run)],
        ["merge", str(run), "--out", str(run.parent / "table"), "--allow-gaps"],
        ["verify", str(run.parent / "table")],
    ]
    code = (
        "import sys, json; from benchbuild.cli import main\n"
        f"for words in {commands!r}:\n"
        "    assert main(words) == 0, words\n"
        "    assert 'torch' not in sys.modules, words\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_dry_run_says_what_a_shard_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "--dataset", "cora", "--shard", "3/32", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "78,618 jobs in all" in told
    assert "in shard 3/32" in told
    assert "predicted time" in told
    assert "predicted memory" in told


def test_inspect_describes_the_published_network(capsys: pytest.CaptureFixture[str]) -> None:
    published = lightread("cora")
    for number in (10000, 61237, 88887):
        assert main(["inspect", "--dataset", "cora", "--hash", str(number), "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert facts["params"] == round(published[number]["para"] * 1e6)
        assert facts["params"] == sum(layer["params"] for layer in facts["layers"])
        assert facts["hyperparameters"] == hyperparameters_for("cora").to_dict()
        assert facts["predicted_seconds"] > 0
        assert facts["predicted_memory"] > 0
    assert main(["inspect", "--dataset", "cora", "--hash", "10000"]) == 0
    assert "GATConv(1433, 256)" in capsys.readouterr().out


def test_datasets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", "--json"]) == 0
    listed = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(dataset_names()) <= set(listed)
    assert listed["karate"]["on_disk"]
    assert listed["cora"]["nodes"] == 2708
    assert listed["proteins"]["metric"] == "rocauc"
    assert main(["datasets"]) == 0
    assert "2,708" in capsys.readouterr().out


def test_status_counts(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", str(run), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    counted = {name: status[name] for name in ("jobs", "done", "failed", "missing", "parts")}
    assert counted == {"jobs": 12, "done": 8, "failed": 1, "missing": 4, "parts": 1}
    assert status["ends"] == {"ok": 7, "diverged": 1, "oom": 0, "failed": 0}
    assert status["rate"] > 0
    assert main(["status", str(run)]) == 0
    assert "8 (7 ok, 1 diverged)" in capsys.readouterr().out


def test_merge_names_gaps_and_verify_finds_damage(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = run.parent / "table"
    assert main(["merge", str(run), "--out", str(table)]) == 2
    assert "4 jobs missing" in capsys.readouterr().err
    assert main(["merge", str(run), "--out", str(table), "--allow-gaps"]) == 0
    assert "4 jobs missing" in capsys.readouterr().out
    for folder in (run, table):
        assert main(["verify", str(folder)]) == 0
        assert "no problems" in capsys.readouterr().out
    (part,) = run.glob("parts/*")
    part.write_bytes(part.read_bytes()[:-5])
    assert main(["verify", str(run)]) == 2
    assert part.name in capsys.readouterr().err


def test_the_main_job_from_training_to_query(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, table = tmp_path / "run", tmp_path / "tables" / "karate"
    assert benchbuild(*train(out)) == 0
    assert "12 ok" in capsys.readouterr().out
    assert main(["status", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == 0
    assert main(["merge", str(out), "--out", str(table)]) == 0
    assert main(["verify", str(table)]) == 0
    assert main(["verify", str(out)]) == 0
    bench = lightread("karate", source=table.parent)
    assert len(bench) == 6
    assert bench.manifest.origin == "measured"
    assert bench.manifest.provenance["hyperparameters"]["epochs"] == 6
    assert bench.manifest.provenance["environments"][0]["device"] == "cpu"
    best = bench.top(1)
    assert best.curve(int(best.hashes[0]), seed=1).shape == (6, 7)
    assert main(["verify", str(table)]) == 0
    log = next(out.glob("logs/*.log")).read_text()
    assert log.count(" ok ") == 12


def test_other_settings_in_a_run_folder_are_named(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--dataset", "karate", "--sample", "4", "--epochs", "9", "--out", str(run)]
    assert main(["train", *words]) == 2
    assert "settings.hp.epochs is 8 there, 9 here" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error() -> None:
    process = subprocess.Popen(
        command("train", "--dataset", "karate", "--sample", "2", "--dry-run"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    told = process.stderr.read()
    process.wait()
    assert "Traceback" not in told
