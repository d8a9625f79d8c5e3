"""Optuna's samplers on our tables, with the real Optuna."""

from __future__ import annotations

import importlib.util
import math
import re
from typing import Any

import numpy as np
import pytest

from benchquery import SPACES, Arch, lightread
from benchquery.errors import MissingPackageError, QueryError, StrategyError
from benchquery.search import Budget, Oracle, front, run
from benchquery.search.choices import choices

HERE = importlib.util.find_spec("optuna") is not None

pytestmark = pytest.mark.optuna
needs_optuna = pytest.mark.skipif(
    not HERE, reason="Optuna is not installed: pip install 'graphtab[optuna]'"
)


@pytest.mark.skipif(HERE, reason="Optuna is installed")
def test_without_optuna_there_is_a_hint() -> None:
    with pytest.raises(MissingPackageError, match=r"pip install 'graphtab\[optuna\]'"):
        run("optuna:tpe", "cora", 5)


@needs_optuna
@pytest.mark.parametrize("name", ["random", "tpe", "nsga2"])
def test_strategies_use_their_budget_and_follow_their_seed(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    first, again, other = (run(f"optuna:{name}", "proteins", 60, seed=seed) for seed in (0, 0, 1))
    assert first.hashes.tolist() == again.hashes.tolist() != other.hashes.tolist()
    assert len(first) == 60
    np.testing.assert_array_equal(
        first.rewards, lightread("proteins").lookup(first.hashes, "valid_perf")
    )
    assert capfd.readouterr() == ("", "")


@needs_optuna
def test_tpe_is_told_that_more_is_better() -> None:
    import optuna

    from benchquery.adapters.optuna import objective

    ours = run("optuna:tpe", "physics", 120, seed=0).rewards
    oracle = Oracle(lightread("physics"), Budget(120))
    minimising = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    minimising.optimize(objective(oracle), n_trials=120)
    theirs = oracle.finish(strategy="minimising", seed=0).rewards
    assert ours[-60:].mean() > theirs[-60:].mean() + 0.01


@needs_optuna
@pytest.mark.parametrize(
    ("directions", "cost", "wanted"),
    [
        (["minimize"], None, ["maximize"]),
        (["maximize", "minimize"], None, ["maximize"]),
        (["maximize"], "latency", ["maximize", "minimize"]),
        (["maximize", "maximize"], "latency", ["maximize", "minimize"]),
        (["minimize", "maximize"], "latency", ["maximize", "minimize"]),
    ],
)
def test_studies_of_other_directions_are_refused_at_once(
    directions: list[str], cost: str | None, wanted: list[str]
) -> None:
    import optuna

    from benchquery.adapters.optuna import run as run_study

    study = optuna.create_study(directions=directions)
    said = f"directions of a study must be {wanted}, not {directions}"
    with pytest.raises(StrategyError, match=re.escape(said)):
        run_study(study, "proteins", 300, cost=cost)
    assert not study.trials


@needs_optuna
def test_a_trial_that_fails_ends_the_search() -> None:
    import optuna

    from benchquery.adapters.optuna import run as run_study

    class Broken(optuna.samplers.RandomSampler):  # type: ignore[misc]
        """Somebody's sampler, with a fault."""

        def sample_independent(self, *args: Any) -> Any:
            raise ZeroDivisionError("somebody's fault")

    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    with pytest.raises(ZeroDivisionError, match="somebody's fault"):
        run_study(optuna.create_study(direction="maximize", sampler=Broken()), "proteins", 300)


@needs_optuna
def test_two_objectives_on_a_partial_table() -> None:
    import optuna

    from benchquery.adapters.optuna import run as run_study

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    table = lightread("cora-built")
    study = optuna.create_study(
        directions=["maximize", "minimize"], sampler=optuna.samplers.NSGAIISampler(seed=0)
    )
    trace = run_study(study, table, 60, cost="latency")
    asked = iter(trace.hashes.tolist())
    for trial in study.trials:
        if trial.values != [0, math.inf]:
            row = table[next(asked)]
            assert trial.values == [row["valid_perf"], row["latency"]]
    assert next(asked, None) is None


@needs_optuna
def test_budgets_that_optuna_does_not_know() -> None:
    trace = run("optuna:random", "proteins", Budget(60, repeats="free"), seed=0)
    assert trace.report().architectures == 60


@needs_optuna
def test_nsga2_comes_nearer_to_the_true_front_than_chance() -> None:
    table = lightread("cora")
    shares = {
        name: front(run(name, table, "1%", seed=1), table).share
        for name in ("optuna:random", "optuna:nsga2")
    }
    assert shares["optuna:random"] < shares["optuna:nsga2"] <= 1


@needs_optuna
def test_a_study_of_ones_own() -> None:
    import optuna

    from benchquery.adapters.optuna import objective, run, suggest

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        directions=["maximize", "minimize"], sampler=optuna.samplers.NSGAIISampler(seed=0)
    )
    trace = run(study, "proteins", 30, cost="para")
    assert trace.strategy == "optuna:NSGAIISampler"
    table = lightread("proteins")
    for trial, number in zip(study.trials, trace.hashes.tolist(), strict=True):
        assert trial.values == [table[number]["valid_perf"], table[number]["para"]]
    fixed = dict(zip(choices(SPACES["full"]), [1, 2, 1, "gcn", "gin", "fc", "cheb"], strict=True))
    link, ops = suggest(optuna.trial.FixedTrial(fixed), SPACES["full"])
    assert Arch(link, ops).valid_hash() == 61237
    skips = optuna.trial.FixedTrial({**fixed, **{f"op{node}": "skip" for node in range(4)}})
    oracle = Oracle(lightread("cora"), Budget(5))
    assert objective(oracle)(skips) == 0
    assert objective(oracle, "latency")(skips) == (0, float("inf"))
    with pytest.raises(QueryError, match="'perf' is no cost"):
        objective(oracle, "perf")(optuna.trial.FixedTrial(fixed))
