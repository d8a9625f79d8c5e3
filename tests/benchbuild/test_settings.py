"""Settings and choices of jobs are refused at once if nothing can be run with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from benchbuild.datasets import hyperparameters_for
from benchbuild.errors import BenchBuildError
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.kind import CondenseJobs, condense_run
from benchbuild.kinds.darts.kind import darts_run
from benchbuild.kinds.train.kind import TrainSettings, train_run
from benchbuild.kinds.tune.kind import tune_run
from benchbuild.pipeline.settings import JobSettings, location
from benchquery.errors import BenchQueryError

HP = hyperparameters_for("karate")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: train_run("karate", seeds=[]), "at least one"),
        (lambda: train_run("karate", seeds=[1, 1]), "only once"),
        (lambda: train_run("karate", seeds=[-1]), "-1"),
        (lambda: train_run("karate", seeds=[2**31]), "2147483648"),
        (lambda: train_run("karate", seeds=[0.5]), "0.5"),  # type: ignore[list-item]
        (lambda: train_run("karate", archs=[]), "at least one architecture"),
        (lambda: train_run("karate", archs=[10000, 10000]), "only once"),
        (lambda: train_run("karate", archs=[99999]), "99999"),
        (lambda: train_run("karate", sample=0), "0"),
        (lambda: train_run("karate", archs=[10000], sample=1), "not both"),
        (lambda: train_run("karate", space="nosuch"), "nosuch"),
        (lambda: train_run("karate", round_valid=0), "round_valid=0"),
        (lambda: train_run("karate", round_valid=40), "round_valid=40"),
        (lambda: tune_run("karate", trials=0), "trials=0"),
        (lambda: tune_run("karate", trials=1, ranges={"lr": []}), "lr"),
        (lambda: tune_run("karate", trials=1, ranges={"lr": [-1]}), "lr=-1"),
        (lambda: tune_run("karate", trials=1, ranges={"speed": [1]}), "speed"),
        (lambda: tune_run("karate", trials=1, search_seed=-3), "-3"),
        (lambda: darts_run("karate", links=[]), "at least one"),
        (lambda: darts_run("karate", links=["0210"]), "0210"),
        (lambda: darts_run("karate", arch_lr=0.0), "arch_lr=0.0"),
        (lambda: darts_run("karate", arch_weight_decay=-1.0), "arch_weight_decay=-1.0"),
        (lambda: darts_run("karate", hp=HP.override(pre=0)), "pre=0"),
        (lambda: Evaluations.of([]), "at least one"),
        (lambda: Evaluations.of(["gcn", "gcn"]), "only once"),
        (lambda: Evaluations.of(seeds=[]), "at least one"),
        (lambda: condense_run("karate", [], Evaluations.of()), "nothing to condense"),
        (lambda: CondenseJobs((), ""), "at least one configuration"),
    ],
)
def test_what_can_not_be_run_is_refused_at_once(make: Callable[[], Any], named: str) -> None:
    with pytest.raises((BenchBuildError, BenchQueryError), match=named):
        make()


def test_what_older_runs_do_not_say_is_read_and_not_written() -> None:
    exact = train_run("karate").settings
    rounded = train_run("karate", round_valid=3).settings
    assert exact.to_json()["round_valid"] is None
    assert "round_valid" not in rounded.to_json()
    assert "origin" not in exact.to_json()
    assert rounded.in_full() == {**exact.in_full(), "round_valid": 3}
    for settings in (exact, rounded):
        assert TrainSettings.from_json(settings.to_json()) == settings


def test_names_that_are_unknown_or_missing_in_a_file_are_told() -> None:
    with pytest.raises(ValueError, match="unknown names speed"):
        JobSettings.from_json({"dataset": "karate", "speed": 3})
    with pytest.raises(ValueError, match="there is no dataset"):
        JobSettings.from_json({})


def test_numbers_of_numpy_are_as_good_as_others() -> None:
    own = train_run("karate", archs=[10000, 61237], seeds=[0, 1])
    numpys = train_run("karate", archs=np.array([10000, 61237]), seeds=np.arange(2).tolist())
    assert train_run("karate", archs=[10000], seeds=list(np.arange(2))).jobs.seeds == (0, 1)
    assert numpys.body == own.body


@dataclass(frozen=True)
class Placed(JobSettings):
    """Settings that say where two things lie; versions before wrote one of them down."""

    here: str = location()
    there: str = location(written=True)


def test_where_something_lies_is_not_compared() -> None:
    bare, placed = Placed("karate"), Placed("karate", here="/a", there="/b")
    assert bare == placed
    assert bare.in_full() == placed.in_full() == {"dataset": "karate"}


def test_where_something_lies_is_written_only_if_it_was_before() -> None:
    assert Placed("karate", here="/a").to_json() == {"dataset": "karate"}
    body = {"dataset": "karate", "there": "/b"}
    assert Placed("karate", here="/a", there="/b").to_json() == body
    back = Placed.from_json(body)
    assert (back.here, back.there) == ("", "/b")
    with pytest.raises(ValueError, match="unknown names here"):
        Placed.from_json({**body, "here": "/a"})
