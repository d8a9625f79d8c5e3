"""The command line, run as a user runs it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy import stats

from benchquery import lightread
from benchquery.analysis import fidelity
from benchquery.cli import main

COMMANDS = (
    "datasets", "show", "top", "pareto", "compare", "fidelity", "analyse", "across",
    "predictors", "condensed", "condensed show", "condensed top", "condensed compare",
    "condensed ledger", "search", "standings", "plot", "report", "explore", "export", "fetch",
    "verify", "completion",
)  # fmt: skip


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchquery", *args], capture_output=True, text=True, check=False
    )


def ask(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    assert main([*args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_show_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    row = ask(capsys, "show", "cora", "--link", "0,1,2,1", "--ops", "gcn,gin,fc,cheb")
    table = lightread("cora")
    assert row == {
        "hash": 61237,
        "link": [0, 1, 1, 2],
        "ops": ["gcn", "gin", "cheb", "fc"],
        "valid_perf": 0.79,
        "perf": 0.8046666666666668,
        "latency": 0.003651857376098633,
        "para": 0.7651910000000001,
        "para_consistent": True,
        "rank": table.rank(61237),
        "regret": table.regret(61237),
        "by": "valid_perf",
    }
    assert ask(capsys, "show", "cora", "--hash", "61237") == row
    assert ask(capsys, "show", "cora", "--hash", "61237", "--by", "perf")["rank"] == table.rank(
        61237, by="perf"
    )


def test_top_prints_a_list_of_such_objects(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ask(capsys, "top", "cora", "-k", "5", "--by", "valid_perf")
    assert [row["hash"] for row in rows] == list(lightread("cora").top(5))
    assert [row["rank"] for row in rows] == [lightread("cora").rank(row["hash"]) for row in rows]
    assert rows[0] == ask(capsys, "show", "cora", "--hash", str(rows[0]["hash"]))
    chosen = ask(capsys, "top", "cora", "--where", "depth == 2", "--where", "gat=0", "-k", "2")
    assert [row["hash"] for row in chosen] == list(
        lightread("cora").where("depth == 2", gat=0).top(2)
    )


def test_pareto_lists_the_front(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ask(capsys, "pareto", "cora", "--minimise", "latency,para")
    front = lightread("cora").pareto("valid_perf", ["latency", "para"])
    assert {row["hash"] for row in rows} == set(front)
    assert ask(capsys, "pareto", "cora", "--where", "perf > 2") == []


def test_compare_agrees_with_scipy(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ask(capsys, "compare", "cora", "pubmed", "proteins", "--by", "perf")
    assert [(row["first"], row["second"]) for row in rows] == [
        ("cora", "pubmed"),
        ("cora", "proteins"),
        ("pubmed", "proteins"),
    ]
    for row in rows:
        first, second = (lightread(row[side]).frame()["perf"] for side in ("first", "second"))
        both = pd.concat([first, second], axis=1, join="inner").to_numpy()
        assert row["common"] == len(both)
        assert row["pearson"] == pytest.approx(stats.pearsonr(*both.T).statistic)
        assert row["spearman"] == pytest.approx(stats.spearmanr(*both.T.round(12)).statistic)
    one = ask(capsys, "compare", "cora", "pubmed", "--hash", "61237")
    assert [(row["table"], row["perf"]) for row in one] == [
        (name, lightread(name)[61237]["perf"]) for name in ("cora", "pubmed")
    ]


def test_top_overlap_is_the_share_in_both(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = ask(capsys, "compare", "cora", "citeseer", "--by", "perf", "--share", "0.1")
    tops = [
        set(lightread(name).frame()["perf"].nlargest(2_621, keep="first").index)
        for name in ("cora", "citeseer")
    ]
    assert row["top_overlap"] == pytest.approx(len(tops[0] & tops[1]) / 2_621)


def test_datasets_and_verify_list_all(capsys: pytest.CaptureFixture[str], built: Path) -> None:
    names = {row["name"] for row in ask(capsys, "datasets")}
    assert {"cora", "proteins"} <= names
    assert {row["table"] for row in ask(capsys, "verify")} == names
    assert ask(capsys, "verify", str(built))[0]["status"] == "ok"
    assert [row["name"] for row in ask(capsys, "datasets", "--source", str(built.parent))] == [
        "toy"
    ]


def test_fidelity_prints_what_the_analysis_finds(capsys: pytest.CaptureFixture[str]) -> None:
    valid, test = ask(capsys, "fidelity", "cora-built")
    found = fidelity(lightread("cora-built"), lightread("cora"), "perf")
    assert (valid["figure"], test["figure"]) == ("valid_perf", "perf")
    assert test["mean_error"] == found.mean_error
    assert main(["fidelity", "cora-built"]) == 0
    assert f"{found.mean_error:.4f}" in capsys.readouterr().out
    (worst,) = ask(capsys, "fidelity", "cora-built", "--worst", "1", "--by", "perf")
    assert abs(worst["error"]) > found.mean_error


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".json"])
def test_export_writes_what_was_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"some{ending}"
    done = ask(capsys, "export", "cora", "-o", str(path), "--where", "depth == 1")
    reader = {".csv": pd.read_csv, ".parquet": pd.read_parquet, ".json": pd.read_json}[ending]
    texts = {} if ending == ".parquet" else {"dtype": {"link": str}}
    expected = lightread("cora").where(depth=1).frame().reset_index()
    pd.testing.assert_frame_equal(reader(path, **texts), expected, check_dtype=False)
    assert expected["ops"][0] == "gat,gat,gat,gat"
    assert done["rows"] == len(expected)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_plot_draws_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "front.png"
    assert main(["plot", "proteins", "pareto", "-o", str(path)]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert main(["plot", "proteins", "cora", "transfer", "-o", str(path)]) == 0
    page = tmp_path / "report.html"
    assert main(["report", "proteins", "-o", str(page)]) == 0
    assert "<h2>Smoothness</h2>" in page.read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str) -> None:
    done = run(*command.split(), "--help")
    assert done.returncode == 0
    assert f"example: benchquery {command}" in done.stdout


def test_readable_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "cora", "--hash", "61237"]) == 0
    shown = capsys.readouterr().out
    assert "input ── gcn ─┬─ gin ── fc ── output" in shown
    assert "latency         0.0037 s" in shown
    assert main(["top", "cora", "-k", "2"]) == 0
    header, line, first, _ = capsys.readouterr().out.splitlines()
    assert header.split()[:3] == ["hash", "link", "ops"]
    assert set(line) == {"-", " "}
    assert first.split()[0] == "87072"


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["show", "cora", "--hash", "88888"], "88888"),
        (["show", "cora", "--hash", "ten"], "ten"),
        (["show", "nope", "--hash", "1"], "'nope'"),
        (["show", "cora"], "--hash"),
        (["show", "cora", "--hash", "0", "--ops", "gcn,gcn,gcn,gcn"], "--hash"),
        (["show", "cora", "--link", "0,1,2", "--ops", "gcn,gcn,gcn,gcn"], "not 3"),
        (["show", "cora", "--link", "0,1,2,9", "--ops", "gcn,gcn,gcn,gcn"], "link[3] is 9"),
        (["show", "cora", "--link", "0,1,2,3", "--ops", "gcn,gcn,gcn,mlp"], "'mlp'"),
        (["show", "cora", "--link", "0,1,2,3", "--ops", "skip,skip,skip,skip"], "four skips"),
        (["show", "proteins", "--hash", "0"], "'proteins'"),
        (["top", "cora", "--by", "speed"], "'speed'"),
        (["top", "cora", "-k", "-1"], "-1"),
        (["top", "cora", "--where", "speed<1"], "'speed'"),
        (["pareto", "cora", "--maximise", "speed"], "'speed'"),
        (["pareto", "cora", "--maximise", ",", "--minimise", ","], "at least one column"),
        (["compare", "cora", "citeseer", "--share", "0"], "not 0"),
        (["fidelity", "cora"], "valid_perf_seed0"),
        (["analyse", "cora-built", "lerning"], "did you mean 'learning'"),
        (["fidelity", "cora-built", "--worst", "0"], "not 0"),
        (["export", "cora", "-o", "cora.xls"], "cora.xls"),
        (["export", "cora", "-o", "nowhere/cora.csv"], "nowhere"),
        (["plot", "cora", "pareto", "-o", "front.gif"], "front.gif"),
        (["plot", "cora", "pie", "-o", "front.png"], "'pie'"),
        (["plot", "cora", "transfer", "-o", "front.png"], "of several: agreement, map, transfer"),
        (["report", "cora", "-o", "report.pdf"], "report.pdf"),
        (["datasets", "--source", "nowhere"], "nowhere"),
        (["verify", "nope"], "'nope'"),
        (["fly"], "'fly'"),
        ([], "COMMAND"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_one_line_and_exit_code_2(
    args: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(args)
    except SystemExit as stopped:
        code = stopped.code  # type: ignore[assignment]
    output = capsys.readouterr()
    assert code == 2
    assert output.out == ""
    assert len(output.err.splitlines()) == 1
    assert named in output.err


def test_errors_of_a_real_process_show_no_traceback(built: Path) -> None:
    (built / "summary.parquet").write_bytes(b"damaged")
    done = run("show", "toy", "--source", str(built), "--hash", "0")
    assert done.returncode == 2
    assert "summary.parquet has 7 bytes" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{shlex.quote(sys.executable)} -m benchquery top cora -k 20000 | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.split()[0] == "hash"
