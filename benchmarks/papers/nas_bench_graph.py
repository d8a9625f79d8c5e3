"""What the NAS-Bench-Graph paper says about its tables, and what the tables say."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
from table2 import DATASETS, PAPER, TOP_5, Cell, kept, verdicts

from benchbuild.datasets.registry import dataset_spec
from benchquery import SPACES, Arch, ArchTable, lightread
from benchquery.analysis import (
    agreement_matrix,
    decompose,
    eta_squared,
    frequencies,
    landscape,
    metric_correlations,
    node_importance,
    noise,
    op_frequencies,
    smoothness,
    transfer_matrix,
)
from benchquery.analysis.known import known_part
from benchquery.kinds.architectures.encoding import depths, op_indices
from benchquery.search import random_search_exactly
from papers.claim import Claim, listed, of_many

FIRST_FOUR = ("cora", "citeseer", "pubmed", "cs")
TOP = 0.05


@cache
def nine() -> Mapping[str, ArchTable]:
    return {name: lightread(name) for name in DATASETS}


def best_of(table: ArchTable) -> ArchTable:
    return table.top(round(TOP * len(table)), by="perf")


def top_lines() -> Claim:
    lines = {name: 100 * np.quantile(t.column("perf"), 0.95) for name, t in nine().items()}
    off = {name: line for name, line in lines.items() if round(line, 2) != TOP_5[name]}
    said = ", ".join(f"{name} {line:.3f} (printed {TOP_5[name]})" for name, line in off.items())
    equal = len(lines) - len(off)
    return Claim(
        "Table 2: the line of the top 5%",
        listed(TOP_5.values()),
        f"{equal} are equal; not: {said}",
        of_many(equal, len(lines)),
    )


def all_beat_the_line() -> Claim:
    below = [
        f"{row.name} {figures[0]} on {name} ({TOP_5[name]})"
        for row in PAPER
        for name, figures in row.figures.items()
        if figures[0] < TOP_5[name]
    ]
    return Claim(
        "All algorithms outperform the top 5%",
        "Table 2",
        f"the paper's own figures below its line: {'; '.join(below) or 'none'}",
        "no" if below else "yes",
    )


def common_and_rare() -> Claim:
    near = {
        points: [
            float((t.column("perf") >= t.column("perf").max() - points / 100).mean())
            for t in nine().values()
        ]
        for points in (5, 1)
    }
    holds = sum(wide > 0.2 and narrow < 0.2 for wide, narrow in zip(near[5], near[1], strict=True))
    return Claim(
        "Good results are common, exceptional ones rare",
        "Figure 2",
        f"within 5 points of the best {listed(near[5])}; within 1 point {listed(near[1], 4)}",
        of_many(holds, 9),
    )


def latency_of_the_best() -> Claim:
    ratios = [
        np.divide(*np.quantile(best_of(t).column("latency"), [0.95, 0.05])) for t in nine().values()
    ]
    return Claim(
        "Latency of top architectures varies greatly",
        "Figure 2",
        f"95th over 5th percentile among the top 5%: {listed(ratios, 1)}",
        of_many(sum(r > 1.5 for r in ratios), 9),
    )


def parameters_and_latency() -> Claim:
    values = [float(metric_correlations(t)[1, 2]) for t in nine().values()]
    weak = sum(abs(value) < 0.05 for value in values)
    return Claim(
        "Parameters and latency correlate positively",
        "Figure 9",
        f"Pearson {listed(values)}; {weak} are within .05 of 0",
        of_many(sum(value > 0 for value in values), 9),
    )


def performance_and_costs() -> Claim:
    found = [metric_correlations(t)[0, 1:] for t in nine().values()]
    latency, para = zip(*found, strict=True)
    holds = sum(bool((pair > 0).all()) for pair in found)
    return Claim(
        "Better performance means more latency and parameters",
        "Figure 9",
        f"latency {listed(latency)}; parameters {listed(para)}",
        of_many(holds, 9) + ", but weakly" * (holds == 9),
    )


def depth_shares(table: ArchTable) -> Mapping[int, float]:
    found = depths(best_of(table).hashes)
    return {depth: float((found == depth).mean()) for depth in range(1, 5)}


def two_layers() -> Claim:
    shares = [depth_shares(nine()[name])[2] for name in FIRST_FOUR[:3]]
    return Claim(
        "Cora, CiteSeer and PubMed choose DAGs of two layers",
        "Figure 3",
        f"{listed(shares)} of the top 5%",
        of_many(sum(s > 0.5 for s in shares), 3),
    )


def one_layer() -> Claim:
    lifts = [frequencies(nine()[name]).links[0].lift for name in ("pubmed", "cs")]
    return Claim(
        "PubMed and CS also like one layer",
        "Figure 3",
        f"lift of 0000: {listed(lifts, 1)}",
        of_many(sum(x > 1 for x in lifts), 2),
    )


def balanced() -> Claim:
    names = ("physics", "photo", "computers")
    divergences = [divergence(nine()[name]) for name in names]
    return Claim(
        "Physics, Photo and Computers are balanced",
        "Figure 3",
        f"divergence of link lists from the space: {listed(divergences)} "
        f"(cora {listed([divergence(nine()['cora'])])})",
        of_many(sum(d < 0.1 for d in divergences), 3),
    )


def divergence(table: ArchTable) -> float:
    """Return the divergence of the best's link lists from the space, by Kullback and Leibler."""
    used = (link for link in frequencies(table).links if link.share)
    return float(sum(link.share * np.log(link.lift) for link in used))


def deep() -> Claim:
    shares = [1 - sum(depth_shares(nine()[n])[d] for d in (1, 2)) for n in ("arxiv", "proteins")]
    return Claim(
        "arXiv and Proteins choose deep DAGs",
        "Figure 3",
        f"depth of 3 or more: {listed(shares, 3)}",
        of_many(sum(s > 0.9 for s in shares), 2),
    )


def gcn_and_gat_lead() -> Claim:
    both, one = 0, 0
    for table in nine().values():
        ops = op_frequencies(table)
        ranked = sorted(ops, key=ops.__getitem__, reverse=True)
        both += set(ranked[:2]) == {"gcn", "gat"}
        one += ranked[0] in ("gcn", "gat")
    return Claim(
        "GCN and GAT are the most frequent almost everywhere",
        "Figure 3",
        f"they are the first two on {both} of 8 (Proteins has no GAT); one of them leads on "
        f"{one} of 9",
        f"{both} of 8",
    )


def gin_and_graph() -> Claim:
    lifts = {
        name: [
            lift.lift for lift in frequencies(nine()[name]).ops if lift.choice in ("gin", "graph")
        ]
        for name in ("cora", "citeseer", "pubmed", "physics", "photo", "computers", "arxiv")
    }
    small = list(itertools.chain(*list(lifts.values())[:3]))
    large = list(itertools.chain(*list(lifts.values())[3:]))
    return Claim(
        "GIN and k-GNN are chosen on the small datasets only",
        "Figure 3",
        f"lift {listed([min(small), max(small)])} on the first three, at most "
        f"{listed([max(large)])} on physics, photo, computers, arxiv",
        "yes" if min(small) > max(large) else "no",
    )


def identity() -> Claim:
    found = {
        name: next(lift for lift in frequencies(t).ops if lift.choice == "skip")
        for name, t in nine().items()
    }
    base, preferred = found["cora"].base, [n for n, lift in found.items() if lift.low > 1]
    return Claim(
        "Identity is hardly chosen anywhere",
        "Figure 3",
        f"its share in the canonical space is {listed([base], 4)}; lift "
        f"{listed(lift.lift for lift in found.values())}",
        f"no: a base rate; preferred on {', '.join(preferred) or 'none'}",
    )


@cache
def agreeing(measure: str) -> np.ndarray:
    return agreement_matrix(nine(), measure)


def pairs_of(measure: str, names: Sequence[str]) -> list[float]:
    places = [DATASETS.index(name) for name in names]
    return [float(agreeing(measure)[i, j]) for i, j in itertools.combinations(places, 2)]


def citation_graphs_correlate() -> Claim:
    pearson, kendall = (pairs_of(m, FIRST_FOUR[:3]) for m in ("pearson", "kendall"))
    other = float(agreeing("pearson")[0, DATASETS.index("cs")])
    return Claim(
        "Cora, CiteSeer and PubMed correlate strongly",
        "Figure 4",
        f"Pearson {listed(pearson)}, Kendall {listed(kendall)}; cora with cs {listed([other])}",
        of_many(sum(value > 0.5 for value in pearson), 3),
    )


def large_graphs_correlate() -> Claim:
    inside = pairs_of("pearson", ("physics", "photo", "computers", "arxiv"))
    across = [
        agreeing("pearson")[DATASETS.index(a), DATASETS.index(b)]
        for a in FIRST_FOUR[:3]
        for b in ("physics", "photo", "computers", "arxiv")
    ]
    return Claim(
        "Physics, Photo, Computers and arXiv correlate relatively highly",
        "Figure 4",
        f"Pearson {listed([min(inside), max(inside)])}; with the first three "
        f"{listed([min(across), max(across)])}",
        "roughly" if np.median(inside) > np.median(across) else "no",
    )


def little_overlap() -> Claim:
    overlap = agreeing("top_overlap")[~np.eye(9, dtype=bool)]
    ceiling = noise(nine()["cora"]).top_overlap
    return Claim(
        "The top 5% overlap by at most .3",
        "Figure 4",
        f"at most {listed([overlap.max()])}, {(overlap < TOP).sum() // 2} of 36 pairs below "
        f"chance (.05); cora with itself, run again: {listed([ceiling])}",
        "yes" if overlap.max() <= 0.3 else "no",
    )


@cache
def smooth() -> list[tuple[float, float, float]]:
    found = [smoothness(t) for t in nine().values()]
    return [(s.ops[1] / s.random, s.links[1] / s.random, s.links[3] / s.random) for s in found]


def mutations() -> Claim:
    ops, links, three = zip(*smooth(), strict=True)
    worse = [value for value in three if value > 1.05]
    worst = f" ({listed([min(worse), max(worse)])})" if worse else ""
    return Claim(
        "Mutated architectures differ considerably less than random ones",
        "Figure 5",
        f"one change, of random: {listed([min(ops + links), max(ops + links)])}; three links: "
        f"above 1.05 times random on {len(worse)} of 9{worst}",
        "few changes only" if worse else "yes",
    )


def operations_change_less() -> Claim:
    count = sum(ops < links for ops, links, _ in smooth())
    return Claim(
        "Operations usually change less than links",
        "Figure 5",
        f"one change: on {count} of 9",
        of_many(count, 9),
    )


def suffixes() -> Claim:
    shares = [node_importance(t) for t in nine().values()]
    deeper = sum(one["suffix"][0] > one["prefix"][0] for one in shares)
    alone = 0
    for table in nine().values():
        ops = op_indices(table.hashes)
        first, last = (eta_squared(table.column("perf"), ops[:, node]) for node in (0, 3))
        alone += first > last
    raw = sum(d.main["op4"] > d.main["op1"] for d in map(decompose, nine().values()))
    return Claim(
        "Suffixes explain more than prefixes",
        "Figure 6",
        f"on {deeper} of 9, but 34 groups against 9: the first node's link is constant. By "
        f"operation alone the first node explains more on {alone} of 9; over raw forms, "
        f"exactly, the last operation does on {raw} of 9",
        "confounded",
    )


def gcn_by_depth() -> Claim:
    shares = [
        op_frequencies(nine()[name], first=first)["gcn"]
        for name in ("citeseer", "proteins")
        for first in (True, False)
    ]
    holds = (shares[0] > shares[1]) + (shares[2] < shares[3])
    return Claim(
        "GCN stands in front on CiteSeer, deep on Proteins",
        "Figure 10",
        f"on the input and deeper: {listed(shares[:2], 3)}; {listed(shares[2:], 3)}",
        of_many(holds, 2),
    )


def transfers() -> Claim:
    matrix = transfer_matrix(nine())

    def rate(search: str, judge: str) -> float:
        return float(matrix[DATASETS.index(search), DATASETS.index(judge)])

    well = [rate("citeseer", "cora"), rate("physics", "arxiv")]
    out, back = (
        [rate(*pair) for pair in pairs]
        for pairs in (
            [("computers", name) for name in FIRST_FOUR],
            [(name, "computers") for name in FIRST_FOUR],
        )
    )
    holds = min(well) > 0.9 and all(a > b for a, b in zip(out, back, strict=True))
    return Claim(
        "CiteSeer transfers to Cora and Physics to arXiv; Computers only one way",
        "Figure 11",
        f"{listed(well)}; from computers {listed(out)}, to it {listed(back)}",
        "yes" if holds else "no",
    )


def leaders() -> Claim:
    found = {name: op_frequencies(nine()[name]) for name in ("cora", "computers")}
    first = {name: max(ops, key=ops.__getitem__) for name, ops in found.items()}
    return Claim(
        "GAT leads Cora's best, GCN those of Computers",
        "Figure 7",
        ", ".join(f"{first[n]} {listed([found[n][first[n]]], 3)}" for n in found),
        "yes" if list(first.values()) == ["gat", "gcn"] else "no",
    )


RAW_LINKS, RAW_OPS, NODES = 9, 9, 4
STATISTICS = {
    "cora": (2708, 1433, 7), "citeseer": (3327, 3703, 6), "pubmed": (19717, 500, 3),
    "cs": (18333, 6805, 15), "physics": (34493, 8415, 5), "photo": (7487, 745, 8),
    "computers": (13381, 767, 10), "arxiv": (169343, 128, 40), "proteins": (132534, 8, 112),
}  # fmt: skip
"""Vertices, features and classes, as Table 1 prints them."""
LINKS = (5429, 4732, 44338, 81894, 247962, 119043, 245778, 1166243, 39561252)
"""Links, as Table 1 prints them."""
RANGES = (2, 2, 3, 9, 2, 9, 2, 4)
"""How many values each hyper-parameter may have, as Section 3.3 lists them."""
RATES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
CHOSEN_RATES = (0.1, 0.2, 0.2, 0.5, 0.01, 0.0002, 0.005, 0.002, 0.01)
"""Learning rates: those that were to choose from, and those of Table 3."""
HOURS = 8000
SECONDS = {"computers": 9.8, "arxiv": 71.0, "proteins": 3000.0}
"""Mean times of a training, as far as Table 4 says which dataset they are of."""
SEEDS = 3
CLOSE = 1e-6
"""How near to a whole number of nodes a figure must come."""
FOUR_SPLIT = ("cs", "physics", "photo", "computers")
FIVE = {row.name: row.ours for row in PAPER if row.ours}
"""The paper's methods, and the strategies here that they are."""


def size_of_the_space() -> Claim:
    raw = RAW_LINKS * RAW_OPS**NODES
    links = len({arch.link for arch in nine()["cora"].archs()})
    sizes_ = {len(nine()[name]) for name in DATASETS[:-1]}, len(nine()["proteins"])
    own = len(SPACES["full"]), len(SPACES["proteins"])
    holds = sizes_ == ({own[0]}, own[1]) == ({26206}, 2021)
    return Claim(
        "9 DAGs with 9 operations at 4 nodes are 59,049 architectures, 26,206 of them different; "
        "2,021 on Proteins",
        "3.1, 3.2 and A.5",
        f"{raw:,} raw forms; {links} link lists; tables of {max(sizes_[0]):,} and {sizes_[1]:,} "
        f"rows, which is what the definition gives: {own[0]:,} and {own[1]:,}",
        "yes" if holds else "no",
    )


def two_ways_to_write() -> Claim:
    ops = ["gcn", "cheb", "gin", "fc"]
    first = Arch([0, 1, 2, 1], ["gcn", "gin", "fc", "cheb"]).valid_hash()
    printed, meant = (Arch(link, ops).valid_hash() for link in ([0, 1, 1, 2], [0, 1, 1, 3]))
    return Claim(
        "[0,1,2,1] gcn,gin,fc,cheb and [0,1,1,2] gcn,cheb,gin,fc are the same architecture",
        "C.1, Figure 12",
        f"hashes {first} and {printed}: in the second fc follows cheb, in the first gin; "
        f"[0,1,1,3] has {meant}",
        "yes" if first == printed else "no",
    )


def dataset_statistics() -> Claim:
    off, equal = [], 0
    for name, printed in STATISTICS.items():
        spec = dataset_spec(name)
        found = (spec.num_nodes, spec.num_features, spec.num_classes)
        equal += found == printed
        if found != printed:
            off.append(f"{name} {' '.join(f'{value:,}' for value in found)}")
    return Claim(
        "Table 1: vertices, features and classes",
        "photo 7,487 745 8, computers 13,381 767 10, proteins 132,534 8 112 and six others",
        f"{equal} are equal; not: {'; '.join(off) or 'none'}",
        of_many(equal, len(STATISTICS)),
    )


def whole_counts(name: str, nodes: int) -> float:
    """Return the share of test figures that three seeds on so many nodes can have."""
    counted = SEEDS * nodes * nine()[name].column("perf")
    return float((np.abs(counted - np.round(counted)) < CLOSE).mean())


def three_seeds() -> Claim:
    shares = [whole_counts(name, 1000) for name in ("cora", "citeseer", "pubmed")]
    return Claim(
        "All figures are means of three seeds",
        "3.3",
        "figures on cora, citeseer and pubmed that are a multiple of 1/3 of one of the 1,000 test "
        f"nodes: {listed(shares)}",
        of_many(sum(share == 1 for share in shares), len(shares)),
    )


def rates_in_range() -> Claim:
    outside = [
        f"{name} {rate}"
        for name, rate in zip(DATASETS, CHOSEN_RATES, strict=True)
        if rate not in RATES
    ]
    return Claim(
        "Hyper-parameters are from the stated ranges",
        "3.3 and Table 3",
        f"learning rates outside: {', '.join(outside) or 'none'}; all others are inside",
        of_many(len(DATASETS) - len(outside), len(DATASETS)),
    )


def hours_of_training() -> Claim:
    known = sum(SEEDS * len(nine()[name]) * took / 3600 for name, took in SECONDS.items())
    rest = HOURS - known
    each = rest * 3600 / (SEEDS * sum(len(nine()[n]) for n in DATASETS if n not in SECONDS))
    return Claim(
        "It took about 8,000 GPU hours",
        "3.3, A.4 and Table 4",
        f"three seeds of computers, arxiv and proteins by Table 4: {known:,.0f} h; the rest "
        f"leaves {each:.0f} s for a training on the six others, of which our copy has 6.2 and 15.4",
        "yes" if 6.2 <= each <= 15.4 else "no",
    )


def costs_differ() -> Claim:
    spans = {
        cost: [
            float(np.divide(*np.nanquantile(known_part(t, cost).column(cost), [0.95, 0.05])))
            for t in nine().values()
        ]
        for cost in ("latency", "para")
    }
    wide = sum(min(pair) > 1.5 for pair in zip(*spans.values(), strict=True))
    return Claim(
        "Latency and numbers of parameters differ greatly",
        "Figure 2",
        f"95th over 5th percentile: latency {listed(spans['latency'], 1)}; parameters "
        f"{listed(spans['para'], 1)}",
        of_many(wide, 9),
    )


def one_layer_elsewhere() -> Claim:
    lifts = {n: frequencies(t).links[0] for n, t in nine().items() if n not in ("pubmed", "cs")}
    return Claim(
        "One layer is hardly chosen on the other datasets",
        "Figure 3",
        f"share of 0000 {listed((lift.share for lift in lifts.values()), 3)}, in the space "
        f"{listed([lifts['cora'].base], 3)}; lift {listed(lift.lift for lift in lifts.values())}",
        of_many(sum(lift.high < 1 for lift in lifts.values()), len(lifts)),
    )


def distances(choices: Sequence[Mapping[str, float]]) -> list[float]:
    """Return how far apart shares are, for all pairs: half of the sum of their differences."""
    return [
        sum(abs(a.get(name, 0) - b.get(name, 0)) for name in a.keys() | b.keys()) / 2
        for a, b in itertools.combinations(choices, 2)
    ]


def operations_are_more_alike() -> Claim:
    eight = [t for n, t in nine().items() if n != "proteins"]
    links, ops = (
        distances([{lift.choice: lift.share for lift in found} for found in choices])
        for choices in (
            [frequencies(t).links for t in eight],
            [frequencies(t).ops for t in eight],
        )
    )
    closer = sum(o < w for o, w in zip(ops, links, strict=True))
    return Claim(
        "Datasets differ in the DAGs they choose, and are more alike in operations",
        "Figure 3",
        f"distance of shares, mean over pairs of eight datasets: DAGs {listed([np.mean(links)])}, "
        f"operations {listed([np.mean(ops)])}; operations are closer for {closer} of {len(ops)} "
        "pairs",
        "yes" if np.mean(ops) < np.mean(links) else "no",
    )


def blocks() -> Claim:
    groups = (FIRST_FOUR[:3], ("physics", "photo", "computers", "arxiv"))
    inside = [v for group in groups for v in pairs_of("kendall", group)]
    across = [
        float(agreeing("kendall")[DATASETS.index(a), DATASETS.index(b)])
        for a in groups[0]
        for b in groups[1]
    ]
    return Claim(
        "Correlations have roughly block structure",
        "Figure 4",
        f"Kendall, mean inside the two groups {listed([np.mean(inside)])}, between them "
        f"{listed([np.mean(across)])}; least inside {listed([min(inside)])}, most between "
        f"{listed([max(across)])}",
        "yes" if min(inside) > max(across) else "on average",
    )


def transfer_is_not_optimal() -> Claim:
    regrets = []
    for search, judge in itertools.permutations(DATASETS, 2):
        best = nine()[search].best(by="perf")["hash"]
        if best in nine()[judge]:
            perf = nine()[judge].column("perf")
            regrets.append(100 * float(perf.max() - nine()[judge][best]["perf"]))
    return Claim(
        "Transferring the best architecture may not lead to the optimum",
        "4.3",
        f"points below the best on the other dataset: {min(regrets):.1f} to {max(regrets):.1f}, "
        f"median {np.median(regrets):.1f}, over {len(regrets)} pairs",
        "yes" if min(regrets) > 0 else "no",
    )


def more_mutations() -> Claim:
    found = [smoothness(t) for t in nine().values()]
    ops, links = (
        sum(list(one.values()) == sorted(one.values()) for one in (getattr(s, what) for s in found))
        for what in ("ops", "links")
    )
    return Claim(
        "The difference grows with the number of mutations",
        "Figure 5",
        f"with every further operation on {ops} of 9, with every further link on {links} of 9",
        of_many(ops + links, 18),
    )


def longer_explains_more() -> Claim:
    shares = [node_importance(t) for t in nine().values()]
    gains = [float(one[part][2] / one[part][0]) for one in shares for part in ("prefix", "suffix")]
    free = sum(
        bool((np.diff(one[part]) > 0).all()) for one in shares for part in ("prefix", "suffix")
    )
    return Claim(
        "Longer prefixes and suffixes explain significantly more",
        "Figure 6",
        f"growing on {free} of 18; three nodes explain {min(gains):.1f} to {max(gains):.1f} times "
        "what one does. More groups always do, even of noise",
        of_many(free, 18),
    )


def stacking() -> Claim:
    ranks = []
    for table in nine().values():
        same = [arch for arch in table.archs() if len(set(arch.ops) - {"skip"}) == 1]
        perf = table.column("perf")
        best = max(table[arch]["perf"] for arch in same)
        ranks.append(int((perf > best).sum()) + 1)
    return Claim(
        "Stacking one and the same operation does not lead to the optimum",
        "B.2",
        f"rank of the best architecture of one operation and skips: "
        f"{' '.join(f'{rank:,}' for rank in ranks)}",
        of_many(sum(rank > 1 for rank in ranks), 9),
    )


@cache
def searched() -> Mapping[tuple[str, str], Cell]:
    """Return the kept searches that were rewarded with test, by strategy and dataset."""
    return {(c.strategy, c.dataset): c for c in kept() if c.protocol == "leaky-test"}


def no_winner() -> Claim:
    printed = {
        name: max(full, key=lambda row: row.figures[name][0]).name
        for name in DATASETS
        if len(full := [row for row in PAPER if row.ours and name in row.figures]) == len(FIVE)
    }
    firsts = {
        name: max(FIVE, key=lambda row: searched()[FIVE[row], name].perf) for name in DATASETS
    }
    said = ", ".join(f"{name} {row.partition(' (')[0]}" for name, row in firsts.items())
    return Claim(
        "No algorithm wins on all datasets",
        "Table 2: " + ", ".join(f"{n} {row.partition(' (')[0]}" for n, row in printed.items()),
        f"the first of the five, rewarded with test: {said}",
        "yes" if len(set(firsts.values())) > 1 else "no",
    )


def random_is_strong() -> Claim:
    random_ = FIVE["Random (NNI)"]
    others = [FIVE[row] for row in FIVE if FIVE[row] != random_]
    first, behind = 0, 0
    for name in DATASETS:
        mine = searched()[random_, name]
        best = max((searched()[other, name] for other in others), key=lambda cell: cell.perf)
        first += mine.perf >= best.perf
        error = float(np.hypot(mine.perf_error, best.perf_error))
        behind += best.perf - mine.perf > 2 * error
    return Claim(
        "Random search is a strong baseline, and the best on two datasets",
        "5; first on none of the three datasets that our copy has whole",
        f"first on {first} of 9; more than two standard errors behind the first on {behind} of 9",
        "yes" if first > 1 and 2 * behind < 9 else f"strong on {9 - behind}, the best on {first}",
    )


def jumps() -> Claim:
    known = [
        name
        for name in DATASETS
        if all(searched()[ours, name].jump is not None for ours in FIVE.values())
    ]
    found = {
        row.partition(" (")[0]: float(np.mean([searched()[ours, n].jump or 0 for n in known]))
        for row, ours in FIVE.items()
        if known
    }
    said = ", ".join(f"{name} {100 * value:.2f}" for name, value in found.items())
    larger = [found[name] > found["RL"] for name in ("EA", "Auto-GNN") if found]
    return Claim(
        "EA and Auto-GNN show a few jumps, RL grows smoothly",
        "Figure 8",
        "largest step of the best so far after the first tenth of the queries, mean over searches, "
        f"in points, on {', '.join(known)}: {said}",
        of_many(sum(larger), len(larger)),
    )


def table_2() -> Claim:
    _, *rows = verdicts(kept())
    off = [f"{row.partition(' (')[0]} on {name}" for row, name, *_, same in rows if same == "no"]
    return Claim(
        "Table 2: what five methods find with 2% of the architectures",
        f"the {len(rows)} figures that our copy names the method of",
        "against searches of ours that were rewarded with test, by Welch's test, corrected for all "
        f"of them, at 5%: {len(rows) - len(off)} can't be told apart; not: "
        f"{', '.join(off) or 'none'}",
        of_many(len(rows) - len(off), len(rows)),
    )


def numbers_of_links() -> Claim:
    found = [(dataset_spec(name).num_edges or 0) // 2 for name in DATASETS]
    off = [
        f"{name} {own:,} (printed {printed:,})"
        for name, own, printed in zip(DATASETS, found, LINKS, strict=True)
        if own != printed
    ]
    return Claim(
        "Table 1: links",
        "cora 5,429, arxiv 1,166,243 and seven others",
        f"links between two different nodes, each once: {len(LINKS) - len(off)} are equal; not: "
        f"{', '.join(off) or 'none'}",
        of_many(len(LINKS) - len(off), len(LINKS)),
    )


def splits() -> Claim:
    shares = []
    for name in FOUR_SPLIT:
        spec = dataset_spec(name)
        tested = (spec.num_nodes or 0) - 50 * (spec.num_classes or 0)
        shares.append(whole_counts(name, tested))
    return Claim(
        "Coauthor and Amazon: 20 nodes a class for training, 30 for validation, the rest for "
        "testing",
        "3.2",
        f"figures on {', '.join(FOUR_SPLIT)} that are a multiple of 1/3 of one of as many test "
        f"nodes: {listed(shares)}",
        of_many(sum(share == 1 for share in shares), len(shares)),
    )


def billions() -> Claim:
    settings = math.prod(RANGES)
    pairs, forms = settings * len(SPACES["full"]), settings * RAW_LINKS * RAW_OPS**NODES
    return Claim(
        "Architectures and hyper-parameters together make billions of pairs",
        "3.3",
        f"{settings:,} settings: {pairs / 1e9:.2f} billion pairs, {forms / 1e9:.2f} with every way "
        "to write an architecture",
        "yes" if pairs >= 1e9 else "no",
    )


def skips_move() -> Claim:
    first, second = (
        Arch([0, 1, 2, 3], ops).valid_hash()
        for ops in (["skip", "gcn", "fc", "fc"], ["gcn", "skip", "fc", "fc"])
    )
    return Claim(
        "An identity before a GCN layer is the same as one behind it",
        "A.5",
        f"hashes {first} and {second}",
        "yes" if first == second else "no",
    )


def darts_weights() -> Claim:
    return Claim(
        "DARTS gives the largest weight to GAT on Cora and to GCN on Computers",
        "Figure 7",
        "no table; one search on cora gives it to gcn ([how](differentiable.md))",
        "not checked",
    )


def what_fails_on_proteins() -> Claim:
    return Claim(
        "On Proteins GIN and k-GNN explode, GAT and ChebNet run out of memory",
        "3.2",
        "no table: the space of Proteins leaves them out",
        "not checked",
    )


NAS_BENCH_GRAPH: Sequence[Callable[[], Claim]] = (
    top_lines,
    all_beat_the_line,
    common_and_rare,
    latency_of_the_best,
    parameters_and_latency,
    performance_and_costs,
    two_layers,
    one_layer,
    balanced,
    deep,
    gcn_and_gat_lead,
    gin_and_graph,
    identity,
    citation_graphs_correlate,
    large_graphs_correlate,
    little_overlap,
    mutations,
    operations_change_less,
    suffixes,
    gcn_by_depth,
    transfers,
    leaders,
    size_of_the_space,
    two_ways_to_write,
    dataset_statistics,
    three_seeds,
    rates_in_range,
    hours_of_training,
    costs_differ,
    one_layer_elsewhere,
    operations_are_more_alike,
    blocks,
    transfer_is_not_optimal,
    more_mutations,
    longer_explains_more,
    stacking,
    no_winner,
    random_is_strong,
    jumps,
    darts_weights,
    what_fails_on_proteins,
    table_2,
    numbers_of_links,
    splits,
    billions,
    skips_move,
)


def beside() -> str:
    """Say what no paper says, but every reader of their figures should know."""
    cora = nine()["cora"]
    found, parts = noise(cora), decompose(cora)
    exact = random_search_exactly(cora, 524)
    above = [
        name
        for name, t in nine().items()
        if 30341 in t and (t.column("perf") < t[30341]["perf"]).mean() > 0.9
    ]
    ops = [parts.main[f"op{node}"] for node in range(1, 5)]
    ends = [landscape(t).good_ends for t in nine().values()]
    return textwrap.dedent(f"""\
        - A mean of three seeds on cora has a standard error of {100 * found.top_error:.2f} points
          in the top tenth, where architectures differ by {100 * found.top_spread:.2f}.
        - Its best figure, {100 * found.best:.2f}, is expected at {100 * found.again:.1f}
          [{100 * found.again_low:.1f}, {100 * found.again_high:.1f}] if it is run again.
        - Of its variance over raw forms, links explain {listed([parts.main["links"]])}, single
          operations {listed(ops)}, pairs {listed([sum(parts.pairs.values())])}, and
          {listed([parts.higher])} is due to more choices together.
        - Random search with 2% by validation finds {100 * exact.perf[0]:.2f} on test on average;
          five seeds have a standard error of {100 * exact.deviation[0] / 5**0.5:.2f}.
        - One architecture, 30341, is above the 90th percentile on {len(above)} of 8 full tables.
        - Steepest ascent ends among the top 1% from {listed(ends)} of all starts.
    """).rstrip()
