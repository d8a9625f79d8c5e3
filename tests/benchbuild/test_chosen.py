"""Settings that were chosen by validation are those that the written searches found."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchbuild.kinds.choose.kind import choose_run, method_config
from benchbuild.kinds.choose.searches import SEED, search_of
from benchquery.kinds.condensed.domains.chosen import CHOSEN

RANKINGS = sorted((Path(__file__).parents[2] / "benchmarks/settings").glob("*.json"))
"""What ``benchbuild tune --json`` printed, by dataset and method."""


def read(path: Path) -> tuple[str, str, list[dict[str, Any]]]:
    """Return the dataset, the method and the trials of a search, the best first."""
    dataset, _, method = path.stem.partition("-")
    return dataset, method, json.loads(path.read_text())


@pytest.mark.parametrize("path", RANKINGS, ids=lambda path: path.stem)
def test_the_trials_are_those_that_are_written_down(path: Path) -> None:
    dataset, method, trials = read(path)
    run = choose_run(dataset, method)
    numbers = [trial["number"] for trial in trials]
    assert sorted(numbers) == list(range(search_of(dataset, "nodes", method).trials))
    for trial in trials:
        assert trial["hp"] == run.settings.choice(trial["number"])
    perfs = [(-trial["valid_perf"], trial["number"]) for trial in trials]
    assert perfs == sorted(perfs)


@pytest.mark.parametrize("path", RANKINGS, ids=lambda path: path.stem)
def test_the_default_is_what_won(path: Path) -> None:
    dataset, method, trials = read(path)
    (size,) = choose_run(dataset, method).settings.sizes
    won = method_config(dataset, method, size, SEED, trials[0]["hp"])
    assert won == method_config(dataset, method, size, SEED, {})


def test_nothing_is_chosen_without_a_search() -> None:
    searched = {read(path)[:2] for path in RANKINGS}
    assert {(name, method) for method in CHOSEN for name in CHOSEN[method]} <= searched
