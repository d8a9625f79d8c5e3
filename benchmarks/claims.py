"""What the papers say of their tables, checked number by number: makes docs/paper-claims.md.

    python benchmarks/claims.py > docs/paper-claims.md

The published tables of NAS-Bench-Graph come with GraphTab, so all that its paper says of them can
be checked. What GC-Bench and DC-Bench say is about trainings of their own; it is held against the
tables that were measured here, and where there is none yet, the page says so.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from table2 import DATASETS, PAPER, TOP_5

import benchquery
from benchquery import ArchTable, lightread
from benchquery.analysis import (
    agreement_matrix,
    decompose,
    eta_squared,
    frequencies,
    metric_correlations,
    node_importance,
    noise,
    op_frequencies,
    smoothness,
    transfer_matrix,
)
from benchquery.analysis.known import known_part
from benchquery.kinds.architectures.encoding import depths, op_indices
from benchquery.kinds.condensed.analysis import usual_means
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.search import random_search_exactly
from benchquery.table.store import tables

FIRST_FOUR = ("cora", "citeseer", "pubmed", "cs")
TOP = 0.05


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, with what it prints, what is measured and whether it holds."""

    statement: str
    printed: str
    measured: str
    holds: str


@cache
def nine() -> Mapping[str, ArchTable]:
    return {name: lightread(name) for name in DATASETS}


def listed(values: Iterable[float], digits: int = 2) -> str:
    """Return numbers as the page writes them: short, in the order of the datasets."""
    shown = (f"{value:.{digits}f}" for value in values)
    return " ".join(
        text.replace("0.", ".", 1) if text.lstrip("-")[:2] == "0." else text for text in shown
    )


def of_many(count: int, total: int) -> str:
    """Return a verdict: yes, no, or how many of how many."""
    if not total:
        return "not checked"
    return {total: "yes", 0: "no"}.get(count, f"{count} of {total}")


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
)


Cells = Mapping[tuple[str, float, str], float]
"""By method, size and model, the mean test figure over condensation seeds."""

CORESETS = ("random", "herding", "k-center")
GRADIENT, DISTRIBUTION, TRAJECTORY = ("gcond", "doscond", "sgdd"), ("dm", "gcdm"), ("sfgc", "geom")


@cache
def condensed(domain: str) -> Mapping[str, CondensedTable]:
    """Return the tables of condensed data of one domain, by name."""
    found = {}
    for info in tables():
        if info.kind == "condensed":
            table = benchquery.open(info.name)
            if table.domain.name == domain:
                found[info.name] = table
    return found


def cells_of(table: CondensedTable, model: str | None = None) -> Cells:
    """Return the mean of each usual method at each size; what has no figure is not there."""
    judges = sorted(set(known_part(table, "perf").column("model").tolist()))
    models = [judge for judge in judges if model in (None, judge)]
    return {
        (method, float(mean[table.size]), one): float(mean["perf"])
        for one in models
        for method, means in usual_means(table, one).items()
        for mean in means
    }


def full_of(table: CondensedTable, model: str) -> float:
    return float(np.nanmean(table.where(model=model).column("full_perf")))


def sizes(cells: Cells) -> list[tuple[float, str]]:
    return sorted({(size, model) for _, size, model in cells})


def at(
    cells: Cells, size: float, model: str, methods: Iterable[str] | None = None
) -> dict[str, float]:
    """Return the methods at one size, judged by one model."""
    chosen = None if methods is None else set(methods)
    return {
        m: v
        for (m, s, o), v in cells.items()
        if (s, o) == (size, model) and (chosen is None or m in chosen)
    }


def counted(
    tables_: Mapping[str, CondensedTable],
    count: Callable[[Cells, float, str], bool | None],
    model: str | None = None,
) -> tuple[int, int]:
    """Count the cells of size and model of which something is true; None is not counted."""
    answers = [
        count(cells, size, judge)
        for cells in (cells_of(table, model) for table in tables_.values())
        for size, judge in sizes(cells)
    ]
    known = [answer for answer in answers if answer is not None]
    return sum(known), len(known)


def beats(
    cells: Cells, size: float, model: str, ours: Iterable[str], theirs: Iterable[str]
) -> bool | None:
    """Tell whether the best of some methods beats the best of others; None if one has none."""
    one, other = at(cells, size, model, ours), at(cells, size, model, theirs)
    return max(one.values()) > max(other.values()) if one and other else None


def lossless() -> Claim:
    found = {}
    for name, table in condensed("nodes").items():
        cells, full = cells_of(table, "gcn"), full_of(table, "gcn")
        figures = [(v, m) for (m, _, _), v in cells.items() if m not in CORESETS]
        if figures:
            best, method = max(figures)
            found[name] = (100 * best, 100 * full, method)
    holds = sum(best >= full for best, full, _ in found.values())
    said = "; ".join(f"{n}: {m} {b:.1f} of {f:.1f}" for n, (b, f, m) in found.items())
    return Claim(
        "Node-level condensation can be lossless",
        "5 of 7 datasets (Table 2)",
        said,
        of_many(holds, len(found)),
    )


def beat_coresets() -> Claim:
    count, total = counted(
        condensed("nodes"),
        lambda c, s, o: beats(c, s, o, GRADIENT + DISTRIBUTION + TRAJECTORY, CORESETS),
        "gcn",
    )
    return Claim(
        "They outperform core-sets, above all where little is kept",
        "Table 2",
        f"the best method beats the best core-set at {count} of {total} sizes",
        of_many(count, total),
    )


def distribution_matching() -> Claim:
    count, total = counted(
        condensed("nodes"),
        lambda c, s, o: beats(c, s, o, GRADIENT + TRAJECTORY, DISTRIBUTION),
        "gcn",
    )
    return Claim(
        "Distribution matching is behind gradient and trajectory matching",
        "6 of 7 datasets",
        f"at {count} of {total} sizes",
        of_many(count, total),
    )


def gap_of_sets() -> Claim:
    found = []
    for name, table in condensed("graphs").items():
        cells = cells_of(table)
        for model in sorted({model for _, _, model in cells}):
            best = max((v, m) for (m, _, o), v in cells.items() if o == model)
            found.append(
                (f"{name}, {model}: {best[1]} {100 * best[0]:.1f}", best[0], full_of(table, model))
            )
    holds = sum(best < full for _, best, full in found)
    return Claim(
        "Graph-level condensation is far from the whole dataset",
        "Table 3",
        "; ".join(f"{text} of {100 * full:.1f}" for text, _, full in found),
        of_many(holds, len(found)),
    )


def more_is_not_better() -> Claim:
    not_largest, total = 0, 0
    for table in (*condensed("nodes").values(), *condensed("graphs").values()):
        cells = cells_of(table)
        for method, model in sorted({(m, o) for m, _, o in cells if m not in CORESETS}):
            by_size = {s: v for (m, s, o), v in cells.items() if (m, o) == (method, model)}
            if len(by_size) > 1:
                total += 1
                not_largest += max(by_size, key=by_size.__getitem__) != max(by_size)
    return Claim(
        "A larger ratio does not always mean better performance",
        "Tables 2 and 3",
        f"the largest is not the best for {not_largest} of {total} methods and models",
        "yes" if not_largest else "no",
    )


def kidd_leads(cells: Cells, size: float, model: str) -> bool | None:
    """Tell whether one of the KiDDs is the best of all methods."""
    others = {method for method, _, _ in cells} - {"kidd-d", "kidd-lr"}
    return beats(cells, size, model, ("kidd-d", "kidd-lr"), others)


def kidd_with_gin() -> Claim:
    count, total = counted(condensed("graphs"), kidd_leads, "gin")
    return Claim(
        "KiDD with GIN leads",
        "18 of 25 cases (Table 3)",
        f"{count} of {total}",
        of_many(count, total),
    )


def kidd_with_gcn() -> Claim:
    with_gin, with_gcn = (
        counted(condensed("graphs"), kidd_leads, model) for model in ("gin", "gcn")
    )
    return Claim(
        "KiDD performs well by GIN, and less well by GCN",
        "Table 3 and B.1",
        f"it leads at {with_gin[0]} of {with_gin[1]} sizes by GIN, {with_gcn[0]} of "
        f"{with_gcn[1]} by GCN",
        "yes" if with_gin[0] > with_gcn[0] else "no",
    )


def not_consistent() -> Claim:
    found = {
        method: counted(
            condensed("graphs"), lambda c, s, o, m=method: beats(c, s, o, (m,), CORESETS)
        )
        for method in ("doscond", "mirage")
    }
    return Claim(
        "DosCond and Mirage do not consistently outperform core-sets",
        "Table 3",
        "; ".join(f"{m}: better at {c} of {t}" for m, (c, t) in found.items()),
        "yes" if all(c < t for c, t in found.values()) else "no",
    )


def slow_gradients() -> Claim:
    medians = {}
    for table in condensed("nodes").values():
        for record in table.records():
            spent = record["condense_time"] + record["expert_time"]
            medians.setdefault(record["method"], []).append(spent)
    groups = {
        name: [float(np.median(medians[m])) for m in methods if m in medians]
        for name, methods in (
            ("gradient", GRADIENT),
            ("distribution", DISTRIBUTION),
            ("trajectory", TRAJECTORY),
        )
    }
    others = groups["distribution"] + groups["trajectory"]
    holds = sum(min(groups["gradient"], default=0.0) > other for other in others)
    return Claim(
        "Gradient matching takes the most time",
        "Figure 5, on ogbn-arxiv",
        "; ".join(f"{name} {listed(values, 0)} s" for name, values in groups.items()),
        of_many(holds, len(others)),
    )


def synthesis_beats_selection() -> Claim:
    count, total = counted(
        condensed("images"),
        lambda c, s, o: beats(c, s, o, ("dc", "dsa", "dm", "tm", "kip"), ("random", "k-center")),
        "convnet",
    )
    return Claim(
        "Synthesis beats selection where few images are kept",
        "Table 1",
        f"at {count} of {total} sizes",
        of_many(count, total),
    )


def trajectories_lead() -> Claim:
    count, total = counted(
        condensed("images"), lambda c, s, o: beats(c, s, o, ("tm",), ("dc", "dsa", "dm")), "convnet"
    )
    return Claim(
        "TM is the best of the methods",
        "Table 1",
        f"at {count} of {total} sizes",
        of_many(count, total),
    )


def other_networks() -> Claim:
    drops = []
    for table in condensed("images").values():
        cells = cells_of(table)
        for (method, size, model), value in cells.items():
            own = cells.get((method, size, "convnet"))
            if model != "convnet" and own is not None and method not in ("random", "k-center"):
                drops.append(value < own)
    return Claim(
        "Condensed images lose when other networks learn from them",
        "Figure 3",
        f"{sum(drops)} of {len(drops)} are below ConvNet",
        of_many(sum(drops), len(drops)),
    )


def k_center() -> Claim:
    count, total = counted(
        condensed("images"), lambda c, s, o: beats(c, s, o, ("k-center",), ("random",)), "convnet"
    )
    return Claim(
        "K-Center is better than random selection",
        "Table 1",
        f"at {count} of {total} sizes",
        of_many(count, total),
    )


NODE_LEVEL = (lossless, beat_coresets, distribution_matching, slow_gradients)
GRAPH_LEVEL = (gap_of_sets, kidd_with_gin, kidd_with_gcn, not_consistent)
IMAGES = (synthesis_beats_selection, trajectories_lead, other_networks, k_center)


def checked(domain: str, claims: Sequence[Callable[[], Claim]]) -> list[Claim]:
    """Check claims about one domain; nothing if there is no table of it."""
    return [claim() for claim in claims] if condensed(domain) else []


def markdown(claims: Iterable[Claim]) -> str:
    lines = ["| # | statement | printed | measured | holds? |", "|---|---|---|---|---|"]
    lines += [
        f"| {number} | {c.statement} | {c.printed} | {c.measured} | {c.holds} |"
        for number, c in enumerate(claims, start=1)
    ]
    return "\n".join(lines)


def named(domain: str) -> str:
    return ", ".join(f"`{name}`" for name in condensed(domain)) or "none"


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
    """).rstrip()


_PAGE = """\
# What the papers say, checked

`python benchmarks/claims.py` makes this page from the tables that come with GraphTab; a test holds
the two together. Numbers are in the order {order} unless said.

## NAS-Bench-Graph

Every statement of the paper about its tables that a number can check.

{nas}

What stands in no paper, but belongs beside these figures ([analyses](analysis.md)):

{beside}

## GC-Bench

Its figures are of its own trainings. These are of tables measured here, of single graphs ({nodes})
and of sets of graphs ({graphs}). They are few datasets and few seeds: a count of them neither
confirms nor refutes a table of the paper. Statements about other tasks, about transformers as
backbones and about initialisation are not checked: no table has such rows.

{gc}

## DC-Bench

Tables of images: {images}.

{dc}
"""
_NOTHING = "There is no such table yet, so nothing is checked."


def page() -> str:
    """Return the whole page."""
    both = checked("nodes", NODE_LEVEL) + checked("graphs", GRAPH_LEVEL)
    if both:
        both.append(more_is_not_better())
    images = checked("images", IMAGES)
    return _PAGE.format(
        order=", ".join(DATASETS),
        nas=markdown(claim() for claim in NAS_BENCH_GRAPH),
        beside=beside(),
        nodes=named("nodes"),
        graphs=named("graphs"),
        gc=markdown(both) if both else _NOTHING,
        images=named("images"),
        dc=markdown(images) if images else _NOTHING,
    )


if __name__ == "__main__":
    print(page(), end="")
