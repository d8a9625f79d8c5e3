"""The rule for rows without a figure, on every verb and every analysis.

In rankings a failed row is the worst. In analyses it is left out and counted: the result is that of
the table without the failed rows. A new analysis needs a case here.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import itertools
import math
import pkgutil
import tempfile
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import benchquery
from benchquery import (
    CondenseConfig,
    RowTable,
    analysis,
    condread,
    get_space,
    lightread,
    read_weights,
)
from benchquery.errors import QueryError
from benchquery.kinds.architectures.analysis import fidelity as fidelity_module
from benchquery.kinds.architectures.analysis.fidelity import by_wiring, largest_errors
from benchquery.kinds.architectures.analysis.noise import best_again
from benchquery.kinds.architectures.arch import LINKS, NODES, OPS, raw_hashes
from benchquery.kinds.condensed.analysis import means_with_figures
from benchquery.kinds.condensed.leaderboard import leaderboard
from benchquery.kinds.condensed.ledger import ledger
from benchquery.kinds.condensed.reaching import reaching
from benchquery.kinds.condensed.reproduction import Cell, answered
from benchquery.kinds.condensed.structure import structures
from benchquery.kinds.weights.analysis import weight_rows
from benchquery.kinds.weights.mixtures import OperationWeights
from benchquery.search.chance import find_chances, random_search_exactly
from benchquery.search.clock import estimate_times
from benchquery.table.kind import resolve
from benchquery.table.registry import kinds
from tests.benchquery.condensing import FAILED, RELEASED, write_condensed
from tests.benchquery.failing import CURVED_ROWS, Mask, fail, write_curved

OLD = Path(__file__).parents[2] / "data" / "tables-v1"
SCRATCH = tempfile.TemporaryDirectory()
NUMBERS = itertools.count()
ROWS = 40


@dataclasses.dataclass(frozen=True)
class Source:
    """Where tables with failed rows come from.

    Attributes:
        whole: Opens a table without failed rows.
        failing: Of the table, which rows failed and which columns these lose (None for all): the
            same table with these rows failed.
        unit: Of the table, the number of what each row belongs to: one fails as a whole.
    """

    whole: Callable[[], RowTable[Any]]
    failing: Callable[[RowTable[Any], Mask, tuple[str, ...] | None], RowTable[Any]] = fail
    unit: Callable[[RowTable[Any]], Any] = lambda table: np.arange(table.num_rows)


def scratch() -> Path:
    """A folder that is not there yet."""
    return Path(SCRATCH.name) / str(next(NUMBERS))


@cache
def some(name: str, rows: int = ROWS) -> RowTable[Any]:
    """Architectures of a table, from all over it; the same hashes for all of one space."""
    table = lightread(name)
    return table.take(np.linspace(0, len(table) - 1, rows).astype(int))


@cache
def condensed() -> RowTable[Any]:
    """Condensed graphs of methods that were run in several ways, by one model."""
    usual = CondenseConfig("toy", "gcond", 0.026)
    ways = (usual, usual.replace(epochs=40), usual.replace(epochs=80), usual.replace(init="noise"))
    seeded = [way.replace(ratio=r, seed=s) for way in ways for r in (0.013, 0.026) for s in (0, 1)]
    others = [CondenseConfig("toy", "random", 0.026), RELEASED]
    folder = write_condensed(scratch() / "toy-condensed", configs=[*seeded, *others])
    return condread(folder).where(model="gcn")


@cache
def measured() -> RowTable[Any]:
    """Condensed graphs of cora at one size, judged as usual."""
    table = condread("cora-condensed").where("ratio > 0.02", "ratio < 0.03", model="gcn")
    return table.take(np.arange(min(ROWS, table.num_rows)))


@cache
def learnt() -> RowTable[Any]:
    """Condensed graphs of cora that methods learnt, which were judged on their way."""
    table = condread("cora-condensed").where(method=["gcond", "sfgc"])
    texts = [record["config_text"] for record in table.records()]
    return table.take(np.flatnonzero(['"epochs":0' not in text for text in texts]))


def search_of(table: RowTable[Any]) -> Any:
    named = [f"{link} {seed}" for link, seed, _, _ in table]
    return np.unique(named, return_inverse=True)[1]


CORA = Source(lambda: some("cora"))
BUILT = Source(lambda: some("cora-built"))
REPEATED = Source(
    lambda: lightread("cora").where(
        np.isin(lightread("cora").hashes, lightread("cora-built").hashes)
    )
)
CURVED = Source(
    cache(lambda: write_curved(scratch())), lambda table, failed, _: write_curved(scratch(), failed)
)
CONDENSED = Source(condensed)
MEASURED = Source(measured)
LEARNT = Source(learnt)
TIMED = Source(lambda: some("cora-built", 80))
WEIGHTS = Source(cache(lambda: read_weights(OLD / "karate-weights")), fail, search_of)
PERF_SEEDS = tuple(f"perf_seed{seed}" for seed in range(3))
LATENCY = ("latency",)
METRICS = ("perf", "latency", "para")
SPACE = get_space("full").hashes[:: 26_206 // 30]
MIXED = np.random.default_rng(0).dirichlet(np.ones(len(OPS)), (2, NODES))
SEARCHED = OperationWeights("cora", OPS, (("0012", 0), ("0123", 0)), MIXED)


def shared_with(reference: Any) -> Any:
    """The built architectures that a reference holds."""
    built = some("cora-built")
    return built.take(np.flatnonzero(np.isin(built.column("hash"), reference.hashes)))


def chances(table: Any) -> Any:
    known, chance = find_chances(table, 3)
    return known.hashes, chance


def printed(table: Any) -> Any:
    """The lines of a ledger that have a figure of ours; a method that failed keeps the paper's."""
    return [one for one in ledger(table) if not np.isnan([one.released, one.corrected]).all()]


def cells(table: Any) -> Any:
    """The cells of all methods of a table, with the table's figures."""
    methods = sorted(set(measured().column("method").tolist()))
    cells = [Cell("cora", name, 0.026, "node-classification", "gcn") for name in methods]
    return answered(cells, [table])


def surrogate(table: Any) -> dict[str, Any]:
    found = analysis.fit_surrogate(table, "perf")
    facts = {name: getattr(found, name) for name in ("rows", "left_out", "error", "spearman")}
    filled = found.fill(table)
    assert set(filled.hashes) & set(table.hashes) == set(
        table.hashes[np.isnan(table.column("perf"))]
    )
    return facts | {"predicted": found.predict(SPACE).values, "filled": filled.hashes}


@dataclasses.dataclass(frozen=True)
class Case:
    """One way to call an analysis.

    Attributes:
        name: The analysis.
        call: Calls it with a table.
        source: The tables.
        columns: What it looks at.
        least: How many rows with figures it needs.
        examples: How many tables to try.
    """

    name: str
    call: Callable[[Any], Any]
    source: Source = CORA
    columns: tuple[str, ...] = ("perf",)
    least: int = 1
    examples: int = 25


CASES = (
    Case("describe", analysis.describe),
    Case("describe", lambda t: analysis.describe(t, "latency"), columns=LATENCY),
    Case("metric_correlations", analysis.metric_correlations, columns=METRICS, least=2),
    Case("agreement", lambda t: analysis.agreement(t, some("citeseer"), share=0.2), least=2),
    Case("agreement", lambda t: analysis.agreement(some("citeseer"), t, "latency"),
         columns=LATENCY, least=2),
    Case("agreement_matrix", lambda t: [
        analysis.agreement_matrix({"a": t, "b": some("cs"), "c": some("cora")}, measure, share=0.2)
        for measure in ("pearson", "spearman", "kendall", "top_overlap")], least=2),
    Case("agreement_matrix", lambda t: analysis.agreement_matrix({"a": t}, "spearman"), least=2),
    Case("transfer_matrix", lambda t: analysis.transfer_matrix({"a": t, "b": some("cs")}), least=2),
    Case("transfer_matrix", lambda t: analysis.transfer_matrix({"a": t, "b": t}, "latency"),
         columns=LATENCY, least=2),
    Case("dataset_map", lambda t: analysis.dataset_map(
        {"a": t, "b": some("cs"), "c": some("citeseer")}), least=3),
    Case("generalists", lambda t: analysis.generalists({"a": t, "b": some("cs")}), least=2),
    Case("benchmark_predictors", lambda t: analysis.benchmark_predictors(
        {"a": t}, "perf", predictors=["ridge"], sizes=(5,), seeds=1), least=6, examples=4),
    Case("common_fronts", lambda t: analysis.common_fronts({"a": t, "b": some("cs")}),
         columns=("perf", "latency"), least=0),
    Case("link_frequencies", lambda t: analysis.link_frequencies(t, 0.2)),
    Case("link_frequencies", lambda t: analysis.link_frequencies(t, 0.2, "latency"),
         columns=LATENCY),
    Case("op_frequencies", lambda t: analysis.op_frequencies(t, 0.2)),
    Case("op_frequencies", lambda t: analysis.op_frequencies(t, 0.01, first=False)),
    Case("op_frequencies", lambda t: analysis.op_frequencies(t, 0.2, form="raw")),
    Case("frequencies", lambda t: analysis.frequencies(t, 0.2)),
    Case("noise", lambda t: analysis.noise(t, lightread("cora-built")), REPEATED, least=2,
         examples=3),
    Case("indistinct", lambda t: analysis.indistinct(t, lightread("cora-built")), REPEATED, least=2,
         examples=2),
    Case("best_again", best_again, REPEATED, least=0, examples=5),
    Case("smoothness", analysis.smoothness, least=2),
    Case("node_importance", analysis.node_importance, least=2),
    Case("node_importance", lambda t: analysis.node_importance(t, adjusted=True), least=2),
    Case("adjusted_eta_squared",
         lambda t: analysis.adjusted_eta_squared(t.column("perf"), t.hashes % 3)),
    Case("eta_squared", lambda t: analysis.eta_squared(t.column("perf"), t.hashes % 3)),
    Case("fidelity", lambda t: analysis.fidelity(t, lightread("cora")), BUILT,
         ("perf", *PERF_SEEDS), least=2),
    Case("fidelity", lambda t: analysis.fidelity(shared_with(t), t),
         Source(lambda: lightread("cora").where(
             np.isin(lightread("cora").hashes, some("cora-built").hashes))), least=2),
    Case("fit_surrogate", surrogate, least=20, examples=6),
    Case("early_rank_correlation", analysis.early_rank_correlation, CURVED, ("valid_perf",), 2),
    Case("curves_left_out", lambda t: {"left_out": analysis.curves_left_out(t)}, CURVED,
         ("valid_perf",), 0),
    Case("settling", analysis.settling, CURVED, ("valid_perf",), 2),
    Case("seed_noise", analysis.seed_noise, CURVED, ("valid_perf",)),
    Case("usual_means", analysis.usual_means, CONDENSED),
    Case("means_with_figures", lambda t: means_with_figures(t, "gcn"), CONDENSED),
    Case("leaderboard", lambda t: leaderboard([t], 0.026), MEASURED),
    Case("reaching", lambda t: reaching(t, 0.7), LEARNT),
    Case("ledger", printed, MEASURED, least=0),
    Case("answered", cells, MEASURED, least=0),
    Case("largest_errors", lambda t: largest_errors(t, lightread("cora"), "perf", 3), BUILT,
         ("perf", *PERF_SEEDS), least=0, examples=10),
    Case("by_wiring", lambda t: by_wiring(t, lightread("cora")), BUILT, least=0, examples=10),
    Case("random_search_exactly", lambda t: random_search_exactly(t, 1),
         columns=("valid_perf", "perf")),
    Case("find_chances", chances, columns=("valid_perf", "perf")),
    Case("estimate_times", lambda t: estimate_times(some("cora"), t), TIMED, ("train_time",), 8),
    Case("weight_rows", weight_rows, WEIGHTS, ("weight",)),
    Case("average_weights", analysis.average_weights, WEIGHTS, ("weight",)),
    Case("weight_errors", analysis.weight_errors, WEIGHTS, ("weight",)),
    Case("compare_weights", lambda t: analysis.compare_weights(SEARCHED, t, 0.2)),
)  # fmt: skip
APART = {"decompose", "landscape", "search_agreement"}
"""Analyses with a test of their own: these need all architectures of a space, or another table."""
ELSEWHERE = {
    "structures": "below: what a graph looks like does not depend on its figures",
    "resample": "tests/benchquery/search/test_resampling.py",
    "front": "tests/benchquery/search/test_front.py",
    **dict.fromkeys(
        ("aggregate", "compare", "differences", "mean_ranks", "chance_standings", "beyond_noise"),
        "tests/benchquery/search: traces, whose finds are never failed rows",
    ),
    **dict.fromkeys(("run", "group", "load", "save", "table_id"), "no analysis: runs and keeps"),
    **dict.fromkeys(("plot_search", "plot_ranks"), "tests/benchquery/search: pictures of traces"),
    **dict.fromkeys(
        ("has_figures", "left_out", "known_part", "common", "correlated_part", "seed_figures",
         "seed_errors", "known_seed_errors", "split", "of_one_task", "usual_model", "check_model",
         "is_one_graph", "by_named_models", "common_size", "say_curse"),
        "a part of analyses that have a case",
    ),
}  # fmt: skip
"""Other functions of tables and traces, and where they are held to the rule."""
SHOWING = {"command", "commands", "figures", "page", "view", "report", "show", "checks", "reading",
           "listing", "table", "kind", "foreign", "columns"}  # fmt: skip
"""Modules of kinds that compute nothing of their own; tests/benchquery/figures has the pictures."""
OF_TABLES = ("Table", "Trace", "Weights")


def plain(result: Any) -> Any:
    """Return a result as dictionaries, lists and numbers, without what counts failed rows."""
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        result = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    if isinstance(result, Mapping):
        return {
            key: plain(value) for key, value in result.items() if key not in ("left_out", "failed")
        }
    if isinstance(result, (list, tuple, np.ndarray)):
        return [plain(one) for one in result]
    return result


def counted(result: Any) -> int | None:
    """Return how many rows a result says were left out; None if it is no record."""
    found = result.get("left_out") if isinstance(result, Mapping) else None
    return getattr(result, "left_out", found)


def same(one: Any, other: Any) -> None:
    """Check that two results are equal but for rounding."""
    if isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, nan_ok=True)
    else:
        assert one == other


def quietly(call: Callable[[Any], Any], table: RowTable[Any]) -> Any:
    """Call an analysis; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call(table)


def test_every_analysis_has_a_case() -> None:
    names = {
        name
        for kind in kinds()
        for name, reference in kind.analyses.items()
        if not isinstance(resolve(reference), type)
    }
    assert names <= {case.name for case in CASES} | APART
    assert set(dir(analysis)) >= names | {"left_out"}


def test_every_function_of_tables_has_a_case_or_a_place() -> None:
    found = set()
    for module in pkgutil.walk_packages(benchquery.__path__, "benchquery."):
        _, package, *inner = module.name.split(".")
        if package not in ("kinds", "search", "analysis") or SHOWING & set(
            inner[package == "kinds" :]
        ):
            continue
        for name, one in vars(importlib.import_module(module.name)).items():
            own = inspect.isfunction(one) and one.__module__ == module.name
            if own and not name.startswith("_") and takes_tables(one):
                found.add(name)
    known = {case.name for case in CASES} | APART | set(ELSEWHERE)
    assert not found - known, "no case says what failed rows do to these"
    assert not set(ELSEWHERE) - found


def takes_tables(function: Any) -> bool:
    """Tell whether a function takes tables, or traces of their searches."""
    taken = (str(one) for name, one in function.__annotations__.items() if name != "return")
    return any(kind in one for one in taken for kind in OF_TABLES)


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resample a little only: what is left out is the same however often is drawn."""
    monkeypatch.setattr(fidelity_module, "_RESAMPLES", 20)
    monkeypatch.setattr(fidelity_module, "_DRAWS", 2_000)


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_failed_rows_are_left_out_and_counted(case: Case) -> None:
    whole = case.source.whole()
    unit = case.source.unit(whole)
    units = int(unit.max()) + 1

    @settings(max_examples=case.examples, deadline=None)
    @given(
        failed=st.one_of(
            st.sets(st.integers(0, units - 1), max_size=units // 2),
            st.sets(st.integers(0, units - 1), min_size=units - 2, max_size=units),
        ),
        all_figures=st.booleans(),
    )
    def check(failed: set[int], all_figures: bool) -> None:
        mask = np.isin(unit, list(failed))
        table = case.source.failing(whole, mask, None if all_figures else case.columns)
        rest = whole.take(np.flatnonzero(~mask))
        assert analysis.left_out(table, *case.columns) == mask.sum()
        if units - len(failed) < case.least:
            for refused in (table, rest):
                with pytest.raises(QueryError, match=r"figure|in common|known|ended well|no graph"):
                    quietly(case.call, refused)
            return
        result = quietly(case.call, table)
        same(plain(result), plain(quietly(case.call, rest)))
        assert counted(result) in (None, mask.sum())

    check()


def test_structures_are_of_what_was_condensed_whatever_the_figures() -> None:
    kept = CondenseConfig("toy", "gcond", 0.026)
    table = condread(write_condensed(scratch() / "toy-condensed", configs=[kept, FAILED]))
    assert {row["config"] for row in structures(table)} == {kept.valid_hash()}
    judged = fail(table, np.ones(table.num_rows, dtype=bool), ("valid_perf", "perf"))
    same(plain(structures(judged)), plain(structures(table)))


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1_000), share=st.sampled_from([0.001, 0.1, 0.5, 0.99]))
def test_a_landscape_has_no_failed_hills(seed: int, share: float) -> None:
    whole, space = lightread("proteins"), get_space("proteins")
    failed = np.random.default_rng(seed).random(len(whole)) < share
    failed[np.argsort(whole.column("perf"))[-3:]] = True
    table = fail(whole, failed)
    result = quietly(analysis.landscape, table)
    best = next(iter(table.top(1, by="perf")))
    figures = {number: table[number]["perf"] for number in table}
    hills = [
        position
        for position, arch in enumerate(space)
        if not math.isnan(figures[arch.valid_hash()])
        and not any(figures[near] > figures[arch.valid_hash()] for near in neighbours()[position])
    ]
    assert result.local_optima.tolist() == hills
    assert result.distance[space.index(best)] == 0
    assert (result.distance[~np.isin(space.hashes, [best])] > 0).all()
    assert result.left_out == failed.sum()
    known = np.array([not math.isnan(figures[number]) for number in space.hashes.tolist()])
    values = np.array([figures[number] for number in space.hashes.tolist()])[known]
    expected = np.corrcoef(values, result.distance[known])[0, 1]
    assert result.fitness_distance == pytest.approx(expected)
    assert (result.ends[~known] == np.flatnonzero(~known)).all()
    for start in np.flatnonzero(known)[:: max(1, known.sum() // 40)].tolist():
        assert result.ends[start] == climbed(start, figures)
    reached = [figures[number] for number in space.hashes[result.ends[known]].tolist()]
    assert result.end_ranks.tolist() == [1 + (values > figure).sum() for figure in reached]
    assert result.end_regrets.tolist() == pytest.approx([values.max() - one for one in reached])
    assert np.isinf(result.depths[result.local_optima == space.index(best)]).all()


def climbed(start: int, figures: Mapping[int, float]) -> int:
    """Where steepest ascent from a position of the small space ends, step by step."""
    space = get_space("proteins")
    while True:
        own = figures[int(space.hashes[start])]
        higher = [near for near in neighbours()[start] if figures[near] > own]
        if not higher:
            return start
        top = max(figures[near] for near in higher)
        start = min(space.index(near) for near in higher if figures[near] == top)


def test_a_decomposition_needs_every_figure() -> None:
    table = lightread("proteins")
    lost = fail(table, np.arange(len(table)) == 7)
    forms = sum(raw == table.hashes[7] for link in LINKS for raw in raw_hashes(link))
    with pytest.raises(QueryError, match=rf"{forms} of the 5,616 raw forms have no figure"):
        analysis.decompose(lost)


@cache
def neighbours() -> list[list[int]]:
    """The hashes next to every architecture of the small space."""
    space = get_space("proteins")
    return [[near.valid_hash() for near in space.neighbours(arch)] for arch in space]


def test_a_landscape_without_figures_is_refused() -> None:
    table = lightread("proteins")
    failed = np.ones(len(table), dtype=bool)
    failed[3] = False
    with pytest.raises(QueryError, match=r"1 of the 2,021 rows .* figure in 'perf'; at least 2"):
        analysis.landscape(fail(table, failed))


@pytest.mark.parametrize("source", [CORA, BUILT, CONDENSED], ids=["cora", "built", "condensed"])
@pytest.mark.parametrize("by", ["valid_perf", "perf"])
def test_failed_rows_are_the_worst_by_every_verb(source: Source, by: str) -> None:
    whole = source.whole()

    @settings(max_examples=25, deadline=None)
    @given(
        failed=st.sets(st.integers(0, whole.num_rows - 1), max_size=whole.num_rows),
        k=st.integers(1, whole.num_rows),
    )
    def check(failed: set[int], k: int) -> None:
        mask = np.isin(np.arange(whole.num_rows), list(failed))
        table, rest = fail(whole, mask), whole.take(np.flatnonzero(~mask))
        assume(np.isin(rest.positions[rest._comparable], whole.positions[whole._comparable]).any())
        known = len(rest._comparable)
        lost = set(whole.positions[mask].tolist())
        top = table.top(k, by).positions.tolist()
        assert top[:known] == rest.top(k, by).positions.tolist()
        assert set(top[known:]) <= lost
        np.testing.assert_equal(dict(table.best(by)), dict(rest.best(by)))
        ranks, regrets = table.standing(by)
        expected = rest.standing(by)
        np.testing.assert_array_equal(ranks[~mask], expected[0])
        np.testing.assert_array_equal(regrets[~mask], expected[1])
        assert np.isnan(regrets[mask]).all()
        for row in np.flatnonzero(mask):
            others = (table._groups == table._groups[row]) & ~mask
            assert ranks[row] == 1 + others.sum()
        for front in (table.pareto(by), table.pareto(by, ()), table.pareto([by, "perf"])):
            assert not set(front.positions.tolist()) & lost
        np.testing.assert_array_equal(table.pareto(by).positions, rest.pareto(by).positions)
        assert not set(table.where(f"{by} >= 0").positions.tolist()) & lost
        for key in itertools.islice(table, 5):
            row = table._row(key)
            assert table.rank(key, by) == ranks[row]
            np.testing.assert_equal(table.regret(key, by), regrets[row])
            np.testing.assert_equal(table.lookup([key], by)[0], table.column(by)[row])

    check()


def test_without_any_figure_there_is_no_best_and_no_front() -> None:
    for source in (CORA, CONDENSED):
        whole = source.whole()
        table = fail(whole, np.ones(whole.num_rows, dtype=bool))
        with pytest.raises(QueryError, match=r"no row .* has a figure in 'valid_perf'"):
            table.best()
        assert table.pareto().num_rows == 0
        assert set(table.standing()[0]) == {1}


def test_what_has_no_figures_is_named() -> None:
    assert analysis.left_out(some("cora"), "perf", "latency") == 0
    with pytest.raises(QueryError, match="'status' of the table 'cora-built' holds no figures"):
        analysis.describe(some("cora-built"), "status")
    lone = fail(some("cora"), np.arange(ROWS) > 0)
    with pytest.raises(QueryError, match=r"1 of the 40 rows of the table 'cora' .* at least 2"):
        analysis.smoothness(lone)


def test_figures_that_do_not_vary_have_no_correlation() -> None:
    """A constant has rounding errors for a variance, which must not be taken for one."""
    table = some("cora").take([5, 6, 7])
    level = fail(table, np.zeros(3, dtype=bool))
    level.column("perf")[:] = 0.1
    found = quietly(lambda t: analysis.agreement(t, some("cora")), level)
    assert np.isnan([found["pearson"], found["spearman"]]).all()
    assert np.isnan(analysis.node_importance(level)["prefix"]).all()
    matrix = quietly(analysis.metric_correlations, level)
    assert np.isnan(matrix[0]).all()
    assert matrix[1, 1] == pytest.approx(1)


def test_curves_with_a_gap_are_left_out() -> None:
    table = write_curved(scratch(), np.arange(CURVED_ROWS) == 4)
    assert analysis.curves_left_out(table) == 1
    assert analysis.curves_left_out(table, by="perf") == analysis.left_out(table, "perf") == 1


@pytest.mark.parametrize(
    "source", [BUILT, CONDENSED, WEIGHTS], ids=["built", "condensed", "weights"]
)
def test_a_failed_job_wins_by_no_column(source: Source) -> None:
    """Whole numbers have no NaN: a failed job keeps no bytes, and may have the fewest weights."""
    whole = source.whole()
    for column in whole.manifest.columns:
        if column.direction is None or column.name not in whole.columns:
            continue
        cost = whole._cost(column.name)
        failed = cost == np.fmin.reduce(cost[whole._comparable])
        if failed.all() or not failed.any():
            continue
        table, lost = fail(whole, failed), whole.positions[failed]
        top = np.isin(table.top(table.num_rows, column.name).positions, lost)
        assert (np.diff(top.astype(int)) >= 0).all()
        assert not top[0]
        for front in (table.pareto(column.name, ()), table.pareto((), column.name)):
            assert front.num_rows
            assert not np.isin(front.positions, lost).any()
        ranks, regrets = table.standing(column.name)
        for row in np.flatnonzero(failed):
            others = (table._groups == table._groups[row]) & ~np.isnan(regrets)
            assert ranks[row] == 1 + others.sum()
        assert np.isnan(regrets[failed]).all()


def test_texts_are_nothing_to_rank_by() -> None:
    for table in (some("cora-built"), condensed()):
        for front in (("status", ()), ("valid_perf", "reason")):
            with pytest.raises(QueryError, match=r"column '(status|reason)' .* holds no figures"):
                table.pareto(*front)
    with pytest.raises(QueryError, match=r"column 'status' .* holds no figures"):
        analysis.decompose(some("cora-built"), "status")
