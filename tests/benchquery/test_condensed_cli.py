"""``benchquery condensed``, run as a user runs it."""

from __future__ import annotations

import json
import math
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchquery import condread
from benchquery.cli import main
from benchquery.kinds.condensed.ledger import ledger
from tests.benchquery.condensing import GCOND, RELEASED, write_condensed
from tests.benchquery.failing import fail


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with one small table."""
    folder = tmp_path_factory.mktemp("tables")
    write_condensed(folder / "toy-condensed")
    return os.fspath(folder)


def ask(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    assert main(["condensed", *args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_show(capsys: pytest.CaptureFixture[str], source: str) -> None:
    cond = condread("toy", source)
    by_hash = ask(capsys, "show", "toy", "--source", source, "--hash", GCOND.valid_hash())
    named = ask(capsys, "show", "toy", "--source", source, "--method", "gcond",
                "--ratio", "0.026", "--seed", "0")  # fmt: skip
    assert named == by_hash
    assert by_hash["perf"] == cond[GCOND]["perf"]
    assert by_hash["homophily"] is None
    assert [row["model"] for row in by_hash["evaluations"]] == ["gcn", "sgc"]
    arguments = ["show", "toy", "--source", source, "--where", "method == gcdm"]
    assert main(["condensed", *arguments]) == 0
    shown = capsys.readouterr().out
    assert "protocol           as-released" in shown
    assert "eval_seeds         3" in shown
    assert "hyper-parameters: adj_steps=10" in shown
    assert "nan" not in shown


def test_top(capsys: pytest.CaptureFixture[str], source: str) -> None:
    cond = condread("toy", source)
    rows = ask(capsys, "top", "toy", "--source", source, "-k", "3")
    assert [row["config"] for row in rows] == [r["config"] for r in cond.top(3).records()]
    rows = ask(capsys, "top", "toy", "--source", source, "--by", "perf", "--where", "model == sgc")
    assert {row["model"] for row in rows} == {"sgc"}
    assert rows[0]["perf"] == max(row["perf"] for row in rows)
    assert main(["condensed", "top", "toy", "--source", source, "-k", "1"]) == 0
    header, _, line = capsys.readouterr().out.splitlines()
    assert header.split()[:4] == ["config", "method", "ratio", "init"]
    assert line.split()[2] == "0.013"


@pytest.fixture
def cora(tmp_path: Path) -> str:
    """The small table as if it were of cora, so that the paper has figures beside it."""
    return os.fspath(write_condensed(tmp_path / "like-cora", "cora").parent)


def test_compare_has_no_spread_where_all_seeds_are_one_graph(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At 5.2% of cora a core-set is all 140 labelled nodes."""
    rows = ask(capsys, "compare", "cora", "--where", "ratio > 0.02")
    found = {(row["method"], row["ratio"]): row for row in rows}
    chosen = [(method, ratio) for method in ("random", "dm") for ratio in (0.026, 0.052)]
    spread = {key: found[key]["ours_std"] for key in chosen}
    assert spread.pop(("random", 0.052)) is None
    assert all(value > 0 for value in spread.values())
    assert found["random", 0.052]["one_graph"]
    assert not found["dm", 0.052]["one_graph"]
    sizes = condread("cora").where(method="random", ratio=0.052).column("nodes")
    assert set(sizes.tolist()) == {140}


def test_compare_puts_the_paper_beside_ours(capsys: pytest.CaptureFixture[str], cora: str) -> None:
    cond = condread("cora", cora)
    rows = ask(capsys, "compare", "cora", "--source", cora)
    found = {(row["method"], row["ratio"], row["model"]): row for row in rows}
    row = found["gcond", 0.026, "gcn"]
    ours = [cond[GCOND.replace(dataset="cora", seed=seed)]["perf"] for seed in range(3)]
    assert row["ours"] == pytest.approx(100 * np.mean(ours))
    assert row["ours_std"] == pytest.approx(100 * np.std(ours, ddof=1))
    assert (row["paper"], row["paper_std"], row["unit"], row["count"]) == (80.5, 0.3, "percent", 3)
    assert row["difference"] == pytest.approx(row["ours"] - 80.5)
    assert row["source"].endswith("Table 2")
    assert row["hyperparameters"] == {"epochs": 40}
    assert found["gcond", 0.026, "sgc"]["paper"] is None
    assert found["whole", 1.0, "gcn"]["paper"] == 80.8
    assert found["whole", 1.0, "gcn"]["ours"] == pytest.approx(80)
    assert {row["protocol"] for row in rows} == {"corrected"}
    (whole, released) = ask(
        capsys, "compare", "cora", "--source", cora, "--protocol", "as-released"
    )
    assert (whole["method"], released["method"]) == ("whole", "gcdm")
    assert released["ours_std"] is None
    where = ("--where", "ratio == 0.026", "--where", "method == gcond")
    assert main(["condensed", "compare", "cora", "--source", cora, *where]) == 0
    shown = capsys.readouterr().out
    assert "80.5 ± 0.3" in shown
    assert f"{row['difference']:+.1f}" in shown
    assert "epochs=40" in shown
    assert "nan" not in shown


def test_the_ledger_has_printed_released_and_corrected_figures(
    capsys: pytest.CaptureFixture[str], cora: str
) -> None:
    cond = condread("cora", cora)
    entries = ask(capsys, "ledger", "cora", "--source", cora)
    lines = {(line["method"], line["size"], line["model"]): line for line in entries}
    assert ("gcond", 0.026, "gcn") not in lines, "40 epochs are not its usual settings"
    released = cond.where(protocol="as-released", model="gcn").records()
    assert lines["gcdm", 0.026, "gcn"]["released"] == pytest.approx(100 * released[0]["perf"])
    assert lines["gcdm", 0.026, "gcn"]["corrected"] is None


def test_the_bundled_ledger_agrees_with_the_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    entries = ask(capsys, "ledger", "nci1")
    rows = ask(capsys, "compare", "nci1")
    compared = {
        (row["method"], row["per_class"], row["model"]): row
        for row in rows
        if not row["hyperparameters"] and not row["evaluation"]
    }
    corrected = [line for line in entries if line["corrected"] is not None]
    assert len(corrected) >= 40
    for line in corrected:
        row = compared[line["method"], line["size"], line["model"]]
        assert (line["corrected"], line["printed"]) == (row["ours"], row["paper"])
    assert main(["condensed", "ledger", "nci1", "--where", "method == mirage"]) == 0
    shown = capsys.readouterr().out
    assert "G9: labels of trees clash" in shown
    assert "G1:" not in shown


def test_nothing_to_compare(capsys: pytest.CaptureFixture[str], source: str) -> None:
    assert ask(capsys, "compare", "toy", "--source", source, "--where", "ratio > 1") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "ACTION"),
        ("dance", "invalid choice: 'dance'"),
        (
            "show toy",
            "7 condensed graphs of 'toy-condensed' have ratio 0.026; narrow it down by --config",
        ),
        ("show toy --method nope", "no row has the method 'nope'; there are dm, doscond, gcdm"),
        ("show toy --hash 12", "'12' is none of the 13 configurations"),
        ("show toy --hash 12 --seed 1", "either --hash or"),
        ("show toy --seed one", "column 'seed' holds numbers, not 'one'"),
        ("show nope", "there is no table 'nope'"),
        ("top toy -k 0", "at least 1, not 0"),
        ("top toy --by poetry", "no column 'poetry'"),
        ("top toy --by method", "neither way is better"),
        ("top toy --where perf", "'perf' is no condition"),
        ("compare toy --protocol new", "invalid choice: 'new'"),
        ("compare nope", "there is no table 'nope'"),
    ],
)
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str], source: str, arguments: str, message: str
) -> None:
    words = arguments.split()
    if len(words) > 1:
        words += ["--source", source, *(["--ratio", "0.026"] if words == ["show", "toy"] else [])]
    try:
        code = main(["condensed", *words])
    except SystemExit as end:
        code = end.code  # type: ignore[assignment]
    said = capsys.readouterr().err
    assert code == 2
    assert message in said
    assert said.count("\n") == 1


def test_the_same_verbs_work_on_every_table(
    capsys: pytest.CaptureFixture[str], source: str, tmp_path: Path
) -> None:
    def said(*words: str) -> Any:
        assert main([*words, "--source", source, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    name = "toy-condensed"
    cond = condread("toy", source)
    assert said("top", name, "-k", "3") == ask(capsys, "top", "toy", "--source", source, "-k", "3")
    assert said("show", name, "--hash", GCOND.valid_hash())["perf"] == cond[GCOND]["perf"]
    front = {(row["config"], row["evaluation"]) for row in said("pareto", name)}
    assert front == {(row["config"], row["evaluation"]) for row in cond.pareto().records()}
    table = tmp_path / "out.csv"
    assert said("export", name, "-o", str(table))["rows"] == cond.num_rows
    assert table.read_text().count("\n") == cond.num_rows + 1


def test_commands_for_architectures_say_what_they_need(
    capsys: pytest.CaptureFixture[str], source: str, tmp_path: Path
) -> None:
    page = str(tmp_path / "page.html")
    for arguments in (["compare", "toy-condensed", "toy-condensed"], ["search", "toy-condensed"]):
        assert main([*arguments, "--source", source]) == 2
        assert "is a table of condensed graphs" in capsys.readouterr().err
    two = ["plot", "toy-condensed", "cora-condensed", "agreement", "-o", page]
    shutil.copytree(Path(source) / "toy-condensed", tmp_path / "tables" / "toy-condensed")
    shutil.copytree(Path(source) / "toy-condensed", tmp_path / "tables" / "cora-condensed")
    assert main([*two, "--source", str(tmp_path / "tables")]) == 2
    assert "can't draw 'agreement' of 2 tables; of several: none" in capsys.readouterr().err


def test_lists_and_checks(capsys: pytest.CaptureFixture[str], source: str, tmp_path: Path) -> None:
    assert main(["datasets", "--source", source, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["dataset"], row["kind"]) == ("toy-condensed", "toy", "condensed")
    assert main(["datasets", "--source", source]) == 0
    assert capsys.readouterr().out.startswith("name ")
    assert main(["verify", "toy-condensed", "--source", source]) == 0
    assert "ok" in capsys.readouterr().out
    broken = tmp_path / "broken"
    shutil.copytree(Path(source) / "toy-condensed", broken)
    (broken / "graphs.h5").write_bytes(b"")
    assert main(["verify", str(broken)]) == 2
    assert "graphs.h5" in capsys.readouterr().err


def test_a_failed_run_is_counted_and_takes_no_figure_away(
    capsys: pytest.CaptureFixture[str], source: str, tmp_path: Path
) -> None:
    configs = [RELEASED, RELEASED.replace(epochs=40)]
    table = condread(write_condensed(tmp_path / "toy-condensed", configs=configs))
    whole, failed = ledger(fail(table, table.column("config") == configs[1].valid_hash()))
    assert (whole.failed, failed.failed) == (0, 1)
    assert whole.released == 100 * table[configs[0]]["perf"]
    assert math.isnan(failed.released)
    assert main(["condensed", "compare", "toy", "--source", source]) == 0
    assert "2 (1 failed)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("dataset", "place", "paper"),
    [
        ("arxiv", {"method": "gcond", "ratio": 0.005}, (63.0, 0.9)),
        (
            "cifar10",
            {"method": "dm", "model": "convnet", "per_class": 1, "augmentation": "none"},
            (26.15, 0.8),
        ),
    ],
)
def test_without_a_table_compare_shows_what_is_printed(
    capsys: pytest.CaptureFixture[str],
    dataset: str,
    place: dict[str, Any],
    paper: tuple[float, float],
) -> None:
    rows = ask(capsys, "compare", dataset)
    (row,) = (row for row in rows if place.items() <= row.items())
    assert (row["paper"], row["paper_std"]) == pytest.approx(paper)
    assert main(["condensed", "compare", dataset]) == 0
    assert f"there is no table of {dataset!r} here" in capsys.readouterr().out


def test_a_dataset_that_is_nowhere_is_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["condensed", "compare", "nowhere"]) == 2
    assert "there is no table 'nowhere'" in capsys.readouterr().err
