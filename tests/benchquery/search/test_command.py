"""``benchquery search``, run as a user runs it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchquery import lightread
from benchquery.analysis import noise
from benchquery.cli import main
from benchquery.search import load, run, strategy_names
from benchquery.table.writer import new_table, write_table
from tests.benchquery.search.conftest import ROWS, Raced

KEYS = [
    "strategy", "dataset", "seed", "queries", "hash", "valid_perf", "perf", "regret", "protocol",
    "beyond_noise",
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
        assert row["beyond_noise"] == pytest.approx(noise(table).regret(row["perf"]))
        assert row["hash"] == run("evolution", table, "2%", seed=row["seed"]).report().hash
        assert row["valid_perf"] == table[row["hash"]]["valid_perf"]
        assert row["perf"] == table[row["hash"]]["perf"]
        assert row["regret"] == pytest.approx(table.column("perf").max() - row["perf"])


def test_a_strategy_that_is_named_twice_runs_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    twice = ["--strategy", "random", "--strategy", "Random"]
    picture = ["--plot", str(tmp_path / "search.svg")]
    rows = ask(capsys, "proteins", *twice, "--budget", "5", "--seeds", "2", *picture)
    assert [(row["strategy"], row["seed"]) for row in rows] == [("random", 0), ("random", 1)]
    assert "random (2 seeds)" in (tmp_path / "search.svg").read_text()


def installed_strategies() -> list[str]:
    """Return the strategies that can run here."""
    needed = {"nni": "nni", "optuna": "optuna", "autogl": "autogl"}
    return [
        name
        for name in strategy_names()
        if importlib.util.find_spec(needed.get(name.partition(":")[0], "benchquery"))
        and (name != "nni:rl" or importlib.util.find_spec("tianshou"))
    ]


@pytest.mark.parametrize("strategy", installed_strategies())
def test_json_is_all_that_a_new_process_prints(strategy: str, raced: Raced) -> None:
    """The whole of standard output is one JSON document, also where a package logs at import."""
    options = ["--source", str(raced.folder), "--budget", "12", "--seeds", "2", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "benchquery", "search", "raced", "--strategy", strategy, *options],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows = json.loads(done.stdout)
    assert [(row["strategy"], row["seed"]) for row in rows] == [(strategy, 0), (strategy, 1)]


def test_what_a_strategy_prints_goes_to_standard_error(tmp_path: Path) -> None:
    done = search_with(
        tmp_path, "    print('chatter')\n    oracle.evaluate(oracle.hashes[0])\n", "--json"
    )
    assert (done.returncode, len(json.loads(done.stdout))) == (0, 1)
    assert "chatter" in done.stderr


def test_a_search_that_hardly_asked_anything_says_so(tmp_path: Path) -> None:
    done = search_with(
        tmp_path, "    for n in oracle.hashes[:3]:\n        oracle.evaluate(n)\n", "--budget", "8"
    )
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line == (
        "benchquery: warning: mine, seed 0, spent 3 of 8 queries: it ended after 3 queries for "
        "3 architectures"
    )
    half = "    for n in oracle.hashes[:4]:\n        oracle.evaluate(n)\n"
    assert search_with(tmp_path, half, "--budget", "8").stderr == ""


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
        (["cora", "--strategy", "evolutoin"], "did you mean 'evolution'"),
        (["cora-condensed"], "condensed graphs"),
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


def search_with(folder: Path, body: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Search with a strategy of another package, called ``mine``, in a new process."""
    (folder / "others.py").write_text(f"def mine(oracle, rng):\n{body}")
    package = folder / "others-1.0.dist-info"
    package.mkdir(exist_ok=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[graphtab.strategies]\nmine = others:mine\n")
    command = ["search", "cora", "--strategy", "mine", *options]
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); from benchquery.cli import main; "
    return subprocess.run(
        [sys.executable, "-B", "-c", f"{code}sys.exit(main({command}))"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_strategy_gone_astray_is_exit_code_2(tmp_path: Path) -> None:
    done = search_with(tmp_path, "    oracle.evaluate(88888)\n")
    assert done.returncode == 2
    assert "'mine'" in done.stderr
    assert "88888" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_names_the_strategies_and_has_an_example(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit, match="0"):
        main(["search", "--help"])
    shown = capsys.readouterr().out
    assert "example: benchquery search cora" in shown
    assert ", ".join(strategy_names()) in shown


def test_searching_costs_nothing_until_asked_for() -> None:
    code = "import sys, benchquery.cli; sys.exit('benchquery.search' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.filterwarnings("error")
def test_searches_without_any_test_figure_are_shown_and_drawn(
    raced: Raced, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("hash", "valid_perf", "perf")
    columns = {name: raced.table.column(name) for name in names} | {"perf": np.full(ROWS, np.nan)}
    about = ("name", "space", "origin", "metric", "source", "licence")
    with new_table(tmp_path / "untested") as stage:
        write_table(stage, columns, **{name: getattr(raced.table.manifest, name) for name in about})
    picture = tmp_path / "search.svg"
    command = ["search", str(tmp_path / "untested"), "--strategy", "random", "--budget", "5"]
    assert main([*command, "--plot", str(picture)]) == 0
    assert "as no architecture has both figures" in capsys.readouterr().out
    assert picture.stat().st_size
    assert main(["search", str(raced.folder), *command[2:]]) == 0
    assert "1 without both figures left out" in capsys.readouterr().out
