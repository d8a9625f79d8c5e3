"""Optuna's samplers on our tables, with the real Optuna."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from benchquery import SPACES, Arch, lightread
from benchquery.errors import MissingPackageError, QueryError
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

    from benchquery.adapters.optuna import run as run_study

    ours = run("optuna:tpe", "physics", 120, seed=0).rewards
    minimising = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    assert ours[-60:].mean() > run_study(minimising, "physics", 120).rewards[-60:].mean() + 0.01


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
