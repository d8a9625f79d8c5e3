"""Analyses against brute force, scipy and what the paper says of its figures."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchquery import Arch, ArchTable, get_space, lightread
from benchquery.analysis import (
    adjusted_eta_squared,
    agreement_matrix,
    decompose,
    describe,
    early_rank_correlation,
    eta_squared,
    frequencies,
    landscape,
    link_frequencies,
    metric_correlations,
    node_importance,
    op_frequencies,
    seed_noise,
    settling,
    smoothness,
    transfer_matrix,
)
from benchquery.errors import QueryError, UnknownNameError
from benchquery.kinds.architectures.analysis.landscape import neighbour_pairs
from benchquery.kinds.architectures.arch import LINKS, OPS, RAW_OPS
from benchquery.table.curves import Curves
from tests.benchquery.conftest import DATASETS, HASHES, SEEDS


@pytest.fixture(scope="module")
def nine() -> dict[str, ArchTable]:
    return {name: lightread(name) for name in DATASETS}


@pytest.fixture(scope="module")
def few() -> ArchTable:
    """A few hundred architectures, so that all pairs can be listed."""
    table = lightread("proteins")
    return table.where(np.arange(len(table)) % 6 == 0)


def forms(table: ArchTable) -> list[tuple[tuple[int, ...], tuple[str, ...], float]]:
    """Link list, operations and test figure of every row."""
    return [(arch.link, arch.ops, table[arch]["perf"]) for arch in table.archs()]


def hamming(first: tuple[object, ...], second: tuple[object, ...]) -> int:
    return sum(a != b for a, b in zip(first, second, strict=True))


def test_smoothness_is_brute_force_over_all_pairs(few: ArchTable) -> None:
    ops, links, everything = defaultdict(list), defaultdict(list), []
    for (link_a, ops_a, a), (link_b, ops_b, b) in itertools.combinations(forms(few), 2):
        everything.append(abs(a - b))
        if link_a == link_b:
            ops[hamming(ops_a, ops_b)].append(abs(a - b))
        if ops_a == ops_b:
            links[hamming(link_a, link_b)].append(abs(a - b))
    result = smoothness(few)
    assert result.random == pytest.approx(np.mean(everything))
    assert result.ops == pytest.approx({d: np.mean(ops[d]) for d in sorted(ops)})
    assert result.links == pytest.approx({d: np.mean(links[d]) for d in sorted(links)})


@pytest.mark.parametrize("name", DATASETS)
def test_one_change_matters_less_than_chance_and_more_changes_more(
    nine: dict[str, ArchTable], name: str
) -> None:
    result = smoothness(nine[name])
    assert result.ops[1] < result.random
    assert result.links[1] < result.random
    assert list(result.ops.values()) == sorted(result.ops.values())


def test_eta_squared_is_the_f_statistic_of_an_analysis_of_variance() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 5, 300)
    values = rng.normal(size=300) + groups
    samples = [values[groups == group] for group in range(5)]
    f = stats.f_oneway(*samples).statistic
    assert eta_squared(values, groups) == pytest.approx(f * 4 / (f * 4 + 295))


def test_importance_of_nodes_is_eta_squared_of_their_choices(few: ArchTable) -> None:
    rows = forms(few)
    values = np.array([value for _, _, value in rows])
    for part, pick in (("prefix", lambda k: slice(0, k)), ("suffix", lambda k: slice(4 - k, 4))):
        for k in range(1, 5):
            keys = [(link[pick(k)], ops[pick(k)]) for link, ops, _ in rows]
            numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
            groups = np.array([numbers[key] for key in keys])
            expected = eta_squared(values, groups)
            assert node_importance(few)[part][k - 1] == pytest.approx(expected)
            chance = (len(numbers) - 1) / (len(values) - 1)
            less = (expected - chance) / (1 - chance) if chance < 1 else np.nan
            adjusted = node_importance(few, adjusted=True)[part][k - 1]
            assert adjusted == pytest.approx(less, nan_ok=True)


def test_deeper_parts_matter_more_on_most_datasets(nine: dict[str, ArchTable]) -> None:
    deeper = [
        name
        for name, table in nine.items()
        if node_importance(table)["suffix"][0] > node_importance(table)["prefix"][0]
    ]
    assert len(deeper) >= 6


def test_agreement_is_that_of_scipy(nine: dict[str, ArchTable]) -> None:
    some = {name: nine[name].where("depth == 2") for name in ("cora", "citeseer", "arxiv")}
    for measure, function in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        matrix = agreement_matrix(some, measure)
        columns = [table.column("perf").round(12) for table in some.values()]
        for (i, a), (j, b) in itertools.combinations(enumerate(columns), 2):
            assert matrix[i, j] == matrix[j, i] == pytest.approx(function(a, b).statistic)
        assert (np.diag(matrix) == 1).all()
    with pytest.raises(UnknownNameError, match="'cosine'; allowed: pearson"):
        agreement_matrix(some, "cosine")
    with pytest.raises(QueryError, match="0 architectures in common"):
        agreement_matrix({"a": nine["cora"].where(depth=1), "b": nine["cora"].where(depth=2)},
                         "pearson")  # fmt: skip


def test_the_best_overlap_little_although_rankings_agree(nine: dict[str, ArchTable]) -> None:
    """The paper: the overlap of the top 5% is no larger than 0.3 on any pair."""
    overlap = agreement_matrix(nine, "top_overlap")
    assert overlap[~np.eye(9, dtype=bool)].max() < 0.3
    assert agreement_matrix(nine, "pearson")[0, 1] > 0.7


def test_transfer_is_what_the_paper_names(nine: dict[str, ArchTable]) -> None:
    """The paper: citeseer to cora and physics to arxiv transfer well; computers one way."""
    names = list(nine)
    matrix = transfer_matrix(nine)

    def rate(search: str, judge: str) -> float:
        return float(matrix[names.index(search), names.index(judge)])

    assert rate("citeseer", "cora") > 0.95
    assert rate("physics", "arxiv") > 0.9
    for other in ("cora", "citeseer", "pubmed", "cs"):
        assert rate("computers", other) > 0.85
        assert rate(other, "computers") < 0.6
    assert (np.diag(matrix) > 0.9999).all()
    best = nine["photo"].top(1, by="perf")
    (winner,) = best
    others = [row["perf"] for number, row in nine["cs"].items() if number != winner]
    expected = np.mean([value < nine["cs"][winner]["perf"] - 1e-12 for value in others])
    assert rate("photo", "cs") == pytest.approx(expected)


def test_frequencies_are_counts_of_the_top(nine: dict[str, ArchTable]) -> None:
    cora = nine["cora"]
    best = cora.top(1_310, by="perf").archs()
    links = Counter("".join(map(str, arch.link)) for arch in best)
    assert link_frequencies(cora) == pytest.approx(
        {name: links[name] / 1_310 for name in link_frequencies(cora)}
    )
    ops = Counter(op for arch in best for op in arch.ops)
    assert op_frequencies(cora) == pytest.approx(
        {op: ops[op] / (4 * 1_310) for op in op_frequencies(cora)}
    )
    first = Counter(
        op for arch in best for parent, op in zip(arch.link, arch.ops, strict=True) if not parent
    )
    assert op_frequencies(cora, first=True) == pytest.approx(
        {op: first[op] / first.total() for op in op_frequencies(cora)}
    )
    deeper = ops - first
    assert op_frequencies(cora, first=False) == pytest.approx(
        {op: deeper[op] / deeper.total() for op in op_frequencies(cora)}
    )
    with pytest.raises(QueryError, match="not 0"):
        op_frequencies(cora, share=0)


def test_the_top_is_the_better_end(nine: dict[str, ArchTable]) -> None:
    cora = nine["cora"]
    assert op_frequencies(cora, share=0.0001, by="latency")["skip"] > 0.5
    quickest = {"a": cora, "b": cora.where("latency < 0.003")}
    assert agreement_matrix(quickest, "top_overlap", "latency")[0, 1] == 1


def test_description_and_correlations_within_a_table(nine: dict[str, ArchTable]) -> None:
    frame = nine["cora"].frame()
    described = describe(nine["cora"], "latency")
    assert described["q95"] == pytest.approx(frame["latency"].quantile(0.95))
    assert described["mean"] == pytest.approx(frame["latency"].mean())
    np.testing.assert_allclose(
        metric_correlations(nine["cora"]), frame[["perf", "latency", "para"]].corr()
    )


def test_counts_that_are_known_to_be_wrong_are_no_part_of_correlations(
    nine: dict[str, ArchTable],
) -> None:
    frame = nine["physics"].frame()
    right = frame[frame["para_consistent"]]
    columns = ["perf", "latency", "para"]
    assert len(frame) - len(right) == 1_567
    found = metric_correlations(nine["physics"])
    np.testing.assert_allclose(found, right[columns].corr())
    assert abs(found[1, 2] - frame["latency"].corr(frame["para"])) > 0.02


@pytest.mark.parametrize("name", ["full", "proteins"])
def test_neighbour_pairs_are_those_of_the_space(name: str) -> None:
    space = get_space(name)
    first, second = neighbour_pairs(name)
    for arch in space.sample(40, seed=0):
        mine = second[first == space.index(arch)]
        assert [space[int(i)] for i in mine] == space.neighbours(arch)


def test_landscape_is_brute_force_on_the_small_space() -> None:
    table = lightread("proteins")
    space = get_space("proteins")
    result = landscape(table)
    neighbours = {arch: space.neighbours(arch) for arch in space}
    optima = [
        space.index(arch)
        for arch, near in neighbours.items()
        if all(table[other]["perf"] <= table[arch]["perf"] for other in near)
    ]
    assert result.local_optima.tolist() == optima
    start = Arch.from_hash(next(iter(table.top(1, by="perf"))))
    distance = {start: 0}
    frontier = [start]
    while frontier:
        frontier = [
            other for arch in frontier for other in neighbours[arch] if other not in distance
            and not distance.update({other: distance[arch] + 1})
        ]  # fmt: skip
    assert result.distance.tolist() == [distance[arch] for arch in space]
    expected = stats.pearsonr([table[arch]["perf"] for arch in space], result.distance).statistic
    assert result.fitness_distance == pytest.approx(expected)
    ends = []
    for start in space:
        place, best = start, start
        while table[best]["perf"] > table[place]["perf"] or place is start is best:
            place = best
            best = max(neighbours[place], key=lambda other: table[other]["perf"])
        ends.append(space.index(place))
    assert result.ends.tolist() == ends
    top = {space.index(arch) for arch in table.top(20, by="perf").archs()}
    assert result.good_ends == pytest.approx(np.mean([end in top for end in ends]))
    assert result.basins() == dict(Counter(ends))
    with pytest.raises(QueryError, match="holds 20 of the 2,021"):
        landscape(table.top(20))


def test_learning_curves_settle(built: Path) -> None:
    table = lightread("toy", source=built)
    stored = Curves(built / "curves.h5")
    curves = np.array([[stored.curve(h, seed)[:, 1] for seed in SEEDS] for h in HASHES])
    correlation = early_rank_correlation(table)
    final = table.column("valid_perf")
    for epoch in range(curves.shape[2]):
        expected = stats.spearmanr(curves[:, :, epoch].mean(axis=1), final).statistic
        assert correlation[epoch] == pytest.approx(expected)
    noise = seed_noise(table)
    assert noise[0] == pytest.approx(np.sqrt(curves[:, :, 0].var(axis=1, ddof=1).mean()))
    with pytest.raises(UnknownNameError, match="'loss'; allowed: train_perf"):
        seed_noise(table, "loss")
    with pytest.raises(QueryError, match="no learning curves"):
        seed_noise(lightread("cora"))


def test_settling_is_pandas_over_running_maxima() -> None:
    table = lightread("cora-built")
    stored, numbers = table.curves, list(table)
    curves = np.array(
        [[stored.curve(h, seed)[:, 1] for seed in stored.seeds] for h in numbers], dtype=float
    ).round(6)
    final = pd.Series(table.column("valid_perf")).round(12)
    found = settling(table)
    best = final >= final.quantile(0.75)
    gaps = np.isnan(curves).any(axis=(1, 2))
    assert (found.archs, found.left_out, found.whole) == (200, 0, 200 - gaps.sum()) == (200, 0, 190)
    assert found.best == best.sum() == 51
    for epoch in (9, 49, 99, 199):
        reached = [pd.DataFrame(curves[:, seed, : epoch + 1]).max(axis=1) for seed in range(3)]
        mean = (sum(reached) / 3).round(12)
        assert found.best_so_far[epoch] == pytest.approx(mean.corr(final, method="spearman"))
        among = mean[best].corr(final[best], method="spearman")
        assert found.among_best[epoch] == pytest.approx(among)
        ends = pd.DataFrame(np.nanmax(curves, axis=2))
        pairs = [
            reached[s].corr(ends.drop(columns=s).mean(axis=1).round(12), method="spearman")
            for s in range(3)
        ]
        assert found.one_seed[epoch] == pytest.approx(np.mean(pairs))
    assert found.among_best[[9, 49, 99, 199]].round(2).tolist() == [0.01, 0.15, 0.45, 0.77]
    with pytest.raises(QueryError, match="not 0"):
        settling(table, share=0)


def test_lifts_are_shares_over_base_rates(nine: dict[str, ArchTable]) -> None:
    pubmed = nine["pubmed"]
    found = frequencies(pubmed)
    everywhere, best = op_frequencies(pubmed, 1.0), op_frequencies(pubmed)
    for lift in found.ops:
        assert lift.lift == pytest.approx(best[lift.choice] / everywhere[lift.choice])
        assert lift.low < lift.lift < lift.high
    lifts = {lift.choice: lift.lift for lift in found.ops}
    assert lifts["skip"] == pytest.approx(0.90, abs=0.005)
    assert everywhere["skip"] == pytest.approx(0.0385, abs=5e-5)
    assert {lift.choice: lift.lift for lift in found.links}["0000"] == pytest.approx(3.5, abs=0.05)


def test_the_interval_of_a_link_list_is_wilsons(nine: dict[str, ArchTable]) -> None:
    cora = nine["cora"]
    best = cora.top(1_310, by="perf").archs()
    (lift,) = (one for one in frequencies(cora).links if one.choice == "0112")
    count = sum(arch.link == (0, 1, 1, 2) for arch in best)
    low, high = stats.binomtest(count, len(best)).proportion_ci(method="wilson")
    assert (lift.low * lift.base, lift.high * lift.base) == (
        pytest.approx(low),
        pytest.approx(high),
    )


def test_the_interval_of_an_operation_holds_what_resampling_architectures_gives(
    nine: dict[str, ArchTable],
) -> None:
    cora = nine["cora"]
    best = cora.top(1_310, by="perf").archs()
    uses = np.array([arch.ops.count("gat") / 4 for arch in best])
    rng = np.random.default_rng(0)
    drawn = [rng.choice(uses, len(uses)).mean() for _ in range(2_000)]
    (lift,) = (one for one in frequencies(cora).ops if one.choice == "gat")
    np.testing.assert_allclose(
        [lift.low * lift.base, lift.high * lift.base],
        np.quantile(drawn, [0.025, 0.975]),
        atol=0.002,
    )


def test_raw_forms_are_all_ways_to_write_the_best(nine: dict[str, ArchTable]) -> None:
    best = {arch.valid_hash() for arch in nine["cora"].top(60, by="perf").archs()}
    share = 60 / len(nine["cora"])
    uses: Counter[str] = Counter()
    for link in LINKS:
        for ops in RAW_OPS[:-1]:
            if Arch(link, ops).valid_hash() in best:
                uses.update(ops)
    expected = {op: uses[op] / uses.total() for op in OPS}
    assert op_frequencies(nine["cora"], share, form="raw") == pytest.approx(expected)
    assert op_frequencies(nine["cora"], form="raw")["skip"] == pytest.approx(0.091, abs=5e-4)
    assert list(op_frequencies(nine["proteins"])) == ["gcn", "sage", "arma", "fc", "skip"]
    with pytest.raises(UnknownNameError, match="'rough'; allowed: canonical, raw"):
        op_frequencies(nine["cora"], form="rough")  # type: ignore[arg-type]


def test_a_decomposition_is_least_squares_on_nested_models() -> None:
    """The share of a set of choices is what its indicators add to the fit of all smaller sets."""
    table = lightread("proteins")
    ops = get_space("proteins").ops
    mean = np.mean(
        [table[Arch(link, form)]["perf"] for link in LINKS
         for form in itertools.product(ops, repeat=4) if set(form) != {"skip"}]
    )  # fmt: skip
    rows, values = [], []
    for index, link in enumerate(LINKS):
        for form in itertools.product(ops, repeat=4):
            rows.append((index, *map(ops.index, form)))
            skipped = set(form) == {"skip"}
            values.append(mean if skipped else table[Arch(link, form)]["perf"])
    frame, figures = pd.DataFrame(rows), np.array(values)
    found = decompose(table)
    assert (found.forms, found.filled) == (len(rows), 9)
    assert found.variance == pytest.approx(figures.var())

    def explained(*choices: int) -> float:
        fitted = pd.Series(figures).groupby([frame[c] for c in choices]).transform("mean")
        return float(fitted.var(ddof=0) / figures.var())

    for number, share in enumerate(found.main.values()):
        assert share == pytest.approx(explained(number))
    names = list(found.main)
    for (one, other), share in found.pairs.items():
        i, j = names.index(one), names.index(other)
        assert share == pytest.approx(explained(i, j) - explained(i) - explained(j))
    total = sum(found.main.values()) + sum(found.pairs.values()) + found.higher
    assert total == pytest.approx(1)


def test_decompositions_are_those_computed_elsewhere(nine: dict[str, ArchTable]) -> None:
    cora, computers, arxiv = (decompose(nine[name]) for name in ("cora", "computers", "arxiv"))
    assert cora.main["links"] == pytest.approx(0.18, abs=0.006)
    assert sum(cora.pairs.values()) == pytest.approx(0.30, abs=0.006)
    assert cora.higher == pytest.approx(0.46, abs=0.006)
    assert computers.main["links"] == pytest.approx(0.01, abs=0.006)
    assert computers.main["op4"] == pytest.approx(0.135, abs=0.002)
    assert arxiv.main["op1"] == pytest.approx(0.16, abs=0.006)
    with pytest.raises(QueryError, match="needs all of them"):
        decompose(nine["cora"].top(100))


def test_groups_that_mean_nothing_explain_nothing_after_adjustment() -> None:
    rng = np.random.default_rng(0)
    shares = [
        adjusted_eta_squared(rng.normal(size=200), rng.integers(0, 40, 200)) for _ in range(300)
    ]
    assert abs(np.mean(shares)) < 0.01
    assert eta_squared(rng.normal(size=200), rng.integers(0, 40, 200)) > 0.1
