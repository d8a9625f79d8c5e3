"""The search for hyper-parameters: the paper's protocol, resumable."""

from __future__ import annotations

import dataclasses
import json
import math
import statistics
from pathlib import Path

import pytest

from benchbuild.cli import main
from benchbuild.errors import MergeError
from benchbuild.kinds.choose.kind import choose_run
from benchbuild.kinds.choose.searches import ANCHORS as CHOOSE_ANCHORS
from benchbuild.kinds.choose.searches import SEARCHES
from benchbuild.kinds.evaluate.node_classification import NodeClassification
from benchbuild.kinds.tune.kind import (
    ANCHORS,
    RANGES,
    TuneRecord,
    anchors,
    classic_anchors,
    rank_trials,
    tune_run,
)
from benchbuild.pipeline.jobs import Place
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.registry import kind_of
from benchquery import Arch, CondenseConfig, EvalConfig
from tests.benchbuild.condensing import SMALL
from tests.benchbuild.runs import rows

RUN = tune_run("karate", trials=200, seeds=[0])


def test_the_anchors_are_ten_classic_networks_and_twenty_others() -> None:
    chosen = anchors("full", seed=0)
    classic = classic_anchors("full")
    assert len(set(chosen)) == len(chosen) == ANCHORS
    assert chosen[:10] == classic
    for op in ("gcn", "gat", "gin", "sage", "arma"):
        for depth in (2, 3):
            chain = Arch([0, 1, 2, 3], [*[op] * depth, *["skip"] * (4 - depth)])
            assert chain.valid_hash() in classic
    assert anchors("full", seed=1)[10:] != chosen[10:]


def test_anchors_stay_within_the_space_of_the_dataset() -> None:
    chosen = anchors("proteins", seed=0)
    assert len(set(chosen)) == ANCHORS
    assert all(Arch.from_hash(number).is_in("proteins") for number in chosen)


def test_trials_cover_the_printed_ranges_and_nothing_else() -> None:
    drawn = [RUN.settings.hyperparameters(trial) for trial in range(200)]
    for name, values in RANGES.items():
        assert {getattr(hp, name) for hp in drawn} == set(values), name
    assert RUN.settings.hyperparameters(7) == drawn[7]


def record(trial: int, number: int, value: float, status: str = "ok") -> TuneRecord:
    blank = TuneRecord.without_result((trial, number, 0), "", status)
    return dataclasses.replace(blank, valid_perf=value)


def test_trials_are_ranked_by_the_mean_over_all_anchors() -> None:
    numbers = anchors("full", seed=0)
    good = [record(0, number, 0.5) for number in numbers]
    better_but_failing = [record(1, number, 0.6) for number in numbers[1:]]
    better_but_failing.append(record(1, numbers[0], math.nan, "failed"))
    incomplete = [record(2, number, 0.9) for number in numbers[:-1]]
    worst = [record(3, number, 0.1, "diverged") for number in numbers]
    ranked = rank_trials(RUN, [*worst, *incomplete, *good, *better_but_failing])
    assert [trial.number for trial in ranked] == [1, 0, 3]
    assert ranked[0].valid_perf == pytest.approx(0.6 * 29 / 30)
    assert [trial.failures for trial in ranked] == [1, 0, 30]


def test_a_search_resumes_and_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    words = ["tune", "--dataset", "karate", "--trials", "2", "--range", "epochs=2", "--json"]
    words += ["--range", "hidden=8", "--device", "cpu", "--workers", "2", "--out", str(out)]
    assert main([*words, "--shard", "1/2"]) == 0
    before = {(r["trial"], r["hash"]): r["finished"] for r in rows(out)}
    capsys.readouterr()
    assert main(words) == 0
    ranking = json.loads(capsys.readouterr().out)
    after = rows(out)
    assert len(after) == 60
    assert before.items() <= {(r["trial"], r["hash"]): r["finished"] for r in after}.items()
    for trial in ranking:
        own = [r["valid_perf"] for r in after if r["trial"] == trial["number"]]
        assert trial["valid_perf"] == pytest.approx(statistics.fmean(own))
        assert trial["hp"]["epochs"] == 2
    assert ranking[0]["valid_perf"] >= ranking[1]["valid_perf"]
    assert main(["status", str(out)]) == 0
    assert main(["verify", str(out)]) == 0
    with pytest.raises(MergeError, match="no table"):
        merge([out], tmp_path / "table")


def test_jobs_of_a_search_are_planned_with_their_own_costs() -> None:
    kind = kind_of("tune")
    keys = kind.keys(RUN)
    assert len(keys) == len(set(keys)) == 200 * ANCHORS
    costs = dict(zip(keys, kind.costs(RUN, keys), strict=True))
    epochs = {trial: RUN.settings.hyperparameters(trial).epochs for trial in range(200)}
    long = statistics.fmean(c.seconds for k, c in costs.items() if epochs[k[0]] == 500)
    short = statistics.fmean(c.seconds for k, c in costs.items() if epochs[k[0]] == 200)
    assert long > short


# -------------------------------------------------------------------- settings of methods

SEARCH = ["tune", "--dataset", SMALL, "--method", "DM", "--size", "0.1,0.2", "--trials", "2"]
SEARCH += ["--range", "epochs=2", "--range", "lr_feat=0.01,0.1", "--device", "cpu"]


def test_settings_of_a_method_are_chosen_and_the_search_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SEARCH, "--workers", "1", "--json", "--out", str(tmp_path / "run")]
    assert main([*words, "--shard", "1/2"]) == 0
    before = {(r["trial"], r["anchor"]): r["finished"] for r in rows(tmp_path / "run")}
    capsys.readouterr()
    assert main(words) == 0
    ranking = json.loads(capsys.readouterr().out)
    after = rows(tmp_path / "run")
    assert before.items() <= {(r["trial"], r["anchor"]): r["finished"] for r in after}.items()
    assert {(r["trial"], r["anchor"], r["seed"]) for r in after} == {
        (trial, anchor, 0) for trial in range(2) for anchor in range(2)
    }
    for trial in ranking:
        own = [r for r in after if r["trial"] == trial["number"]]
        assert trial["valid_perf"] == pytest.approx(statistics.fmean(r["valid_perf"] for r in own))
        configs = [CondenseConfig.from_text(r["config"]) for r in own]
        assert [config.ratio for config in configs] == [0.1, 0.2]
        changed = {"epochs", "lr_feat", "lr_adj", "edge_bias"} if trial["number"] else {"epochs"}
        assert trial["hp"].keys() == changed
        assert all(config[name] == trial["hp"][name] for config in configs for name in changed)
        assert all(r["valid_perf"] > max(r["first_valid"], r["last_valid"]) - 1e-6 for r in own)
    assert ranking[0]["valid_perf"] == max(trial["valid_perf"] for trial in ranking)
    with pytest.raises(MergeError, match="no table"):
        merge([tmp_path / "run"], tmp_path / "table")


def test_a_search_never_evaluates_by_test_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*args: object) -> None:
        raise AssertionError("a search evaluates nothing")

    for name in ("evaluate", "full"):
        monkeypatch.setattr(NodeClassification, name, never)
    brief = EvalConfig(epochs=3)
    run = choose_run(SMALL, "dm", trials=1, sizes=[0.1], ranges={"epochs": [2]}, judge=brief)
    kind = kind_of("choose")
    found = kind.open(run.settings, Place("cpu", scratch=str(tmp_path))).run(kind.keys(run)[0])
    assert found.status == "ok"
    assert 0 <= found.first_valid <= found.valid_perf + 1e-6


def test_what_is_written_down_can_be_run() -> None:
    for method, search in SEARCHES["nodes"].items():
        for dataset in CHOOSE_ANCHORS:
            run = choose_run(dataset, method)
            assert len(kind_of("choose").keys(run)) == search.trials
            assert run.jobs.seeds == (0,)
            assert run.settings.choice(0).keys() <= {"epochs"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--method random", "say a range"),
        ("--method dm --range epoch=4", "did you mean 'epochs'"),
        ("--method dm --range lr_feat=-1", "lr_feat is -1"),
        ("--method dm --round-valid 3", "--round-valid"),
        ("--method dmm", "did you mean"),
        ("--method dm --size 2", "ratio is 2.0"),
        ("--size 0.1", "--method"),
    ],
)
def test_a_search_that_cannot_be_is_refused(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", "--dataset", "cora", "--dry-run", *words.split()]) == 2
    assert said in capsys.readouterr().err
