"""``benchquery search``, run as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchquery import lightread
from benchquery.cli import main
from benchquery.search import load, run
from tests.benchquery.search.conftest import Raced

KEYS = [
    "strategy", "dataset", "seed", "queries", "hash", "valid_perf", "perf", "regret", "protocol",
]  # fmt: skip


def ask(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    assert main(["search", *args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_one_object_a_seed(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ask(capsys, "cora", "--strategy", "evolution", "--budget", "2%", "--seeds", "3")
    table = lightread("cora")
    assert [row["seed"] for row in rows] == [0, 1, 2]
    for row in rows:
        assert list(row) == KEYS
        assert (row["strategy"], row["dataset"], row["queries"]) == ("evolution", "cora", 524)
        assert row["protocol"] == "validation"
        assert row["hash"] == run("evolution", table, "2%", seed=row["seed"]).report().hash
        assert row["valid_perf"] == table[row["hash"]]["valid_perf"]
        assert row["perf"] == table[row["hash"]]["perf"]
        assert row["regret"] == table.regret(row["hash"], "perf")


def test_options_reach_the_search(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, raced: Raced
) -> None:
    traces, picture = tmp_path / "traces.parquet", tmp_path / "best.png"
    rows = ask(
        capsys, "raced", "--source", str(raced.folder), "--strategy", "halving", "--strategy",
        "random", "--budget", "100s", "--repeats", "free", "--workers", "2", "--protocol",
        "leaky-test", "--out", str(traces), "--plot", str(picture),
    )  # fmt: skip
    assert [row["strategy"] for row in rows] == ["halving", "random"]
    assert {row["protocol"] for row in rows} == {"leaky-test"}
    for trace in load(traces):
        budget = trace.budget
        assert (budget.amount, budget.unit, budget.repeats) == (100, "seconds", "free")
        assert trace.workers == 2
        assert trace.protocol == "leaky-test"
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["nope"], "'nope'"),
        (["cora", "--strategy", "annealing"], "'annealing'"),
        (["cora", "--strategy", "nni:annealing"], "'nni:annealing'"),
        (["cora", "--budget", "0"], "'0'"),
        (["cora", "--budget", "0%"], "'0%'"),
        (["cora", "--budget", "101%"], "over 100%"),
        (["cora", "--budget", "30000"], "over 100%"),
        (["cora", "--budget", "much"], "'much'"),
        (["cora", "--budget", "60s"], "train_time"),
        (["cora", "--strategy", "halving"], "no learning curves"),
        (["cora", "--seeds", "0"], "--seeds"),
        (["cora", "--workers", "0"], "worker"),
        (["cora", "--protocol", "test"], "'test'"),
        (["cora", "--out", "traces.csv"], "traces.csv"),
        (["cora", "--plot", "nowhere/best.png"], "nowhere"),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line_and_exit_code_2(
    args: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["search", *args])
    except SystemExit as stopped:
        code = stopped.code  # type: ignore[assignment]
    output = capsys.readouterr()
    assert code == 2
    assert output.out == ""
    assert len(output.err.splitlines()) == 1
    assert named in output.err


def test_a_strategy_gone_astray_is_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "others.py").write_text("def astray(oracle, rng):\n    oracle.evaluate(88888)\n")
    package = tmp_path / "others-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[graphtab.strategies]\nastray = others:astray\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from benchquery.cli import main; "
    done = subprocess.run(
        [sys.executable, "-c", code + "sys.exit(main(['search', 'cora', '--strategy', 'astray']))"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "'astray'" in done.stderr
    assert "88888" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["search", "--help"])
    assert "example: benchquery search cora" in capsys.readouterr().out


def test_searching_costs_nothing_until_asked_for() -> None:
    code = "import sys, benchquery.cli; sys.exit('benchquery.search' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
