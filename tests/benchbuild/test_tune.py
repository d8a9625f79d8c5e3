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
from benchbuild.kinds.tune.kind import (
    ANCHORS,
    RANGES,
    TuneRecord,
    anchors,
    classic_anchors,
    rank_trials,
    tune_run,
)
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.registry import kind_of
from benchquery import Arch
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
