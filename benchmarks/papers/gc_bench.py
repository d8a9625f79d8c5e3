"""What GC-Bench observes, held against its own printed tables and against those measured here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

import benchquery
from benchquery.analysis.known import known_part
from benchquery.kinds.condensed.published import WHOLE, published
from papers.claim import NOTHING, Finding, Observation, counts, listed, mostly, of_many
from papers.results import (
    CORESETS,
    KIDD,
    Results,
    condensed,
    leads,
    measured,
    printed_graphs,
    printed_nodes,
    taught,
)

GRADIENT, DISTRIBUTION, TRAJECTORY = ("gcond", "doscond", "sgdd"), ("dm", "gcdm"), ("sfgc", "geom")
CONDENSERS = GRADIENT + DISTRIBUTION + TRAJECTORY
HETEROGENEOUS = ("acm", "dblp")
LARGE = ("arxiv", "flickr")
TASKS = "cora-condensed-tasks"
NEAR = 1.0
"""Points below the whole dataset that still count as the same."""
WIDE = 5.0
"""Points from which a difference is called large."""

Check = Callable[[Sequence[Results]], Finding]


def both(statement: str, where: str, check: Check, nodes: bool) -> Observation:
    """Check a statement by the paper's figures and by ours."""
    theirs, ours = (
        (printed_nodes(), measured("nodes")) if nodes else (printed_graphs(), measured("graphs"))
    )
    return Observation(statement, where, check(theirs), check(ours))


def lossless(results: Sequence[Results]) -> Finding:
    found = {
        one.name: (best, one.full["gcn"])
        for one in results
        if "gcn" in one.full and (best := one.best(CONDENSERS, "gcn")) is not None
    }
    if not found:
        return NOTHING
    said = "; ".join(f"{name} {best:.1f} of {full:.1f}" for name, (best, full) in found.items())
    return Finding(said, of_many(sum(b >= f for b, f in found.values()), len(found)))


def beat_coresets(results: Sequence[Results]) -> Finding:
    found = leads(results, CONDENSERS, CORESETS, "gcn")
    return counts("best method above the best core-set at", [lead > 0 for lead in found])


def more_where_little_is_kept(results: Sequence[Results]) -> Finding:
    narrower = []
    for one in results:
        for model in sorted({model for _, model in one.sizes()}):
            gaps = leads([one], sorted(one.others(*CORESETS)), CORESETS, model)
            if len(gaps) > 1:
                narrower.append(gaps[-1] < gaps[0])
    return counts("lead over core-sets smaller at the largest size than at the smallest for",
                  narrower, most=True)  # fmt: skip


def distribution_is_behind(results: Sequence[Results]) -> Finding:
    behind = []
    for one in results:
        bests = [one.best(group, "gcn") for group in (DISTRIBUTION, GRADIENT, TRAJECTORY)]
        known = [best for best in bests if best is not None]
        if len(known) == len(bests):
            behind.append(known[0] < min(known[1:]))
    return counts("behind both on", behind, most=True)


def saturate(results: Sequence[Results]) -> Finding:
    deep, cores = [], []
    for one in results:
        for method, model in sorted({(m, o) for m, _, o in one.cells}):
            by_size = one.over_sizes(method, model)
            if len(by_size) > 1:
                (cores if method in CORESETS else deep).append(
                    max(by_size, key=by_size.__getitem__) < max(by_size)
                )
    if not deep:
        return NOTHING
    said = f"the largest size is not the best for {sum(deep)} of {len(deep)} methods"
    if cores:
        said += f", and for {sum(cores)} of {len(cores)} core-sets"
    return Finding(said, "yes" if any(deep) else "no")


def coresets_improve(results: Sequence[Results]) -> Finding:
    grow = []
    for one in results:
        for method, model in sorted({(m, o) for m, _, o in one.cells if m in CORESETS}):
            values = list(one.over_sizes(method, model).values())
            if len(values) > 1:
                grow.append(values[-1] > values[0])
    return counts("better at the largest size than at the smallest:", grow, most=True)


def heterogeneous(results: Sequence[Results]) -> Finding:
    return _near_the_whole([one for one in results if one.name in HETEROGENEOUS])


def heterophilous(results: Sequence[Results]) -> Finding:
    return _near_the_whole([one for one in results if one.name == "flickr"])


def _near_the_whole(results: Sequence[Results]) -> Finding:
    near, said = [], []
    for one in results:
        best = one.best(CONDENSERS, "gcn")
        assert best is not None
        near.append(best >= one.full["gcn"] - NEAR)
        said.append(f"{one.name} {best:.1f} of {one.full['gcn']:.1f}")
    return Finding("; ".join(said), of_many(sum(near), len(near))) if near else NOTHING


def gap_of_sets(results: Sequence[Results]) -> Finding:
    said, below = [], []
    for one in results:
        for model, full in sorted(one.full.items()):
            best = one.best({method for method, _, _ in one.cells}, model)
            if best is not None:
                below.append(best < full - NEAR)
                said.append(f"{one.name}, {model} {best:.1f} of {full:.1f}")
    return Finding("; ".join(said), of_many(sum(below), len(below))) if below else NOTHING


def leads_with(methods: Sequence[str], model: str) -> Check:
    def check(results: Sequence[Results]) -> Finding:
        found = leads(results, methods, None, model)
        return counts("ahead of all others at", [lead > 0 for lead in found])

    return check


def kidd_by_model(results: Sequence[Results]) -> Finding:
    shares = []
    for model in ("gin", "gcn"):
        found = leads(results, KIDD, None, model)
        if not found:
            return NOTHING
        shares.append((sum(lead > 0 for lead in found), len(found)))
    said = ", ".join(
        f"{n} of {m} by {model}" for (n, m), model in zip(shares, ("GIN", "GCN"), strict=True)
    )
    (gin, of_gin), (gcn, of_gcn) = shares
    return Finding(f"ahead at {said}", "yes" if gin / of_gin > gcn / of_gcn else "no")


def kidd_underperforms(results: Sequence[Results]) -> Finding:
    found = leads(results, KIDD, None, "gcn")
    return counts("behind the best of the others at", [lead < 0 for lead in found], most=True)


def not_consistent(results: Sequence[Results]) -> Finding:
    said, verdicts = [], []
    for method in ("doscond", "mirage"):
        found = leads(results, (method,), CORESETS, None)
        if found:
            said.append(f"{method} above them at {sum(f > 0 for f in found)} of {len(found)}")
            verdicts.append(any(lead <= 0 for lead in found))
    return Finding("; ".join(said), "yes" if all(verdicts) else "no") if said else NOTHING


def above_the_whole_of_molbace(results: Sequence[Results]) -> Finding:
    for one in results:
        if one.name.startswith("molbace") and "gcn" in one.full:
            bests = {method: one.best((method,), "gcn") for method in ("doscond", "mirage")}
            known = {method: best for method, best in bests.items() if best is not None}
            said = ", ".join(f"{method} {best:.1f}" for method, best in known.items())
            above = [best > one.full["gcn"] for best in known.values()]
            return Finding(f"{said} of {one.full['gcn']:.1f}", of_many(sum(above), len(above)))
    return NOTHING


def mirage_on_dd(results: Sequence[Results]) -> Finding:
    for one in results:
        mirage = one.over_sizes("mirage", "gcn")
        kidd = one.best(KIDD, "gcn")
        doscond = one.over_sizes("doscond", "gcn").get(1.0)
        if one.name.startswith("dd") and mirage and kidd is not None and doscond is not None:
            value = mirage[1.0]
            said = f"mirage {value:.1f}, kidd at most {kidd:.1f}, doscond at 1 {doscond:.1f}"
            return Finding(said, "yes" if value > max(kidd, doscond) else "no")
    return NOTHING


def low_rank_kidd(results: Sequence[Results]) -> Finding:
    found = leads(results, ("kidd-lr",), ("kidd-d",), None)
    return counts("kidd-lr above kidd-d at", [lead > 0 for lead in found], most=True)


def printed_costs(metric: str, table: str) -> dict[str, float]:
    """Return a cost of each method, as a table prints it."""
    return {
        str(one.method): one.mean
        for one in published(table, metric=metric)
        if one.mean is not None and one.method
    }


def measured_costs(column: str, domain: str) -> dict[str, float]:
    """Return the median of a cost of each method over the tables measured here."""
    values: dict[str, list[float]] = {}
    for table in condensed(domain).values():
        for record in taught(table):
            spent = record["condense_time"] + record["expert_time"]
            value = spent if column == "time" else record[column]
            if np.isfinite(value):
                values.setdefault(record["method"], []).append(float(value))
    return {method: float(np.median(found)) for method, found in values.items()}


def _gradient_costs_more(costs: dict[str, dict[str, float]]) -> Finding:
    said, answers = [], []
    for what, values in costs.items():
        groups = [[values[m] for m in group if m in values]
                  for group in (GRADIENT, DISTRIBUTION, TRAJECTORY)]  # fmt: skip
        if all(groups):
            means = [float(np.mean(group)) for group in groups]
            said.append(f"{what} {' '.join(f'{mean:,.0f}' for mean in means)}")
            answers.append(means[0] > max(means[1:]))
    return Finding("; ".join(said), of_many(sum(answers), len(answers))) if said else NOTHING


def gradients_cost_more() -> Observation:
    return Observation(
        "Gradient matching takes more time and memory than the other families",
        "3.6, Figure 5; mean of gradient, distribution, trajectory",
        _gradient_costs_more({
            "minutes": printed_costs("condensation-time", "b13"),
            "CPU MB": printed_costs("peak-cpu-memory", "b13"),
            "GPU MB": printed_costs("peak-gpu-memory", "b13"),
        }),
        _gradient_costs_more({
            "seconds": measured_costs("time", "nodes"),
            "MB": {m: v / 1e6 for m, v in measured_costs("peak_memory", "nodes").items()},
        }),
    )  # fmt: skip


def out_of_memory() -> Observation:
    out = [one for one in published("2") if one.note == "OOM"]
    groups = [
        sum(one.method in group for one in out) for group in (GRADIENT, DISTRIBUTION, TRAJECTORY)
    ]
    said = (
        f"{len(out)} cells on {', '.join(sorted({one.dataset for one in out}))}: gradient "
        f"{groups[0]}, distribution {groups[1]}, trajectory {groups[2]}"
    )
    return Observation(
        "Gradient and distribution matching run out of memory on large datasets",
        "3.6, Table 2",
        Finding(said, "yes" if min(groups[:2]) else "no"),
    )


def expert_sizes() -> Observation:
    sizes = {one.dataset: one.mean for one in published("b15") if one.mean is not None}
    name = max(sizes, key=sizes.__getitem__)
    ours = max(
        (float(record["expert_bytes"]), key)
        for key, table in condensed("nodes").items()
        for record in table.records()
    )
    return Observation(
        "Expert trajectories occupy up to 764 GB",
        "B.6, Table B15",
        Finding(f"{sizes[name]:.0f} GB on {name}", "yes" if sizes[name] == 764 else "no"),
        Finding(f"at most {ours[0] / 1e9:.1f} GB of one run ({ours[1]})", "not at our sizes"),
    )


def mirage_is_quick() -> Observation:
    theirs, ours = printed_costs("condensation-time", "b14"), measured_costs("time", "graphs")

    def share(times: dict[str, float]) -> Finding:
        known = [times[m] for m in ("doscond", *KIDD) if m in times]
        if "mirage" not in times or not known:
            return NOTHING
        shares = sorted(times["mirage"] / value for value in known)
        return Finding(
            f"{100 * shares[0]:.1f}% to {100 * shares[-1]:.1f}% of the time of the others",
            "yes" if shares[-1] < 0.02 else "no",
        )

    return Observation(
        "Mirage takes 1% of the time of the other methods", "B.6, Table B14",
        share(theirs), share(ours),
    )  # fmt: skip


def homophily() -> Observation:
    whole = {one.dataset: one.mean for one in published("b4", method=WHOLE)}
    apart = [
        abs((one.mean or 0) - (whole[one.dataset] or 0)) > 0.1
        for one in published("b4")
        if one.method != WHOLE
    ]
    ours = [
        abs(float(mean["homophily"]) - float(whole[mean["dataset"]] or 0)) > 0.1
        for table in condensed("nodes").values()
        for mean in taught(table)
        if mean["method"] in CONDENSERS and np.isfinite(mean["homophily"])
        if mean["dataset"] in whole
    ]
    return Observation(
        "Condensed graphs often do not preserve homophily",
        "B.2, Table B4",
        counts("off by more than .1:", apart, most=True),
        counts("off by more than .1:", ours, most=True),
    )


def flickr_homophily() -> Observation:
    (whole,) = (one.mean or 0 for one in published("b4", method=WHOLE, dataset="flickr"))
    above = [
        (one.mean or 0) > whole for one in published("b4", dataset="flickr") if one.method != WHOLE
    ]
    return Observation(
        "On Flickr homophily increases under most methods and ratios", "B.2, Table B4",
        counts("above the whole graph's:", above, most=True),
    )  # fmt: skip


def _links() -> Sequence[Results]:
    return printed_nodes("b5")


def _task(task: str) -> list[Results]:
    """Return what was measured here of another task."""
    table = known_part(benchquery.open(TASKS).where(task=task), "perf")
    cells = {
        (record["method"], float(record["ratio"]), "gcn"): 100 * float(record["perf"])
        for record in taught(table)
    }
    full = {"gcn": 100 * float(np.mean(table.column("full_perf")))}
    return [Results(TASKS, cells, full)] if cells else []


def below_the_whole(results: Sequence[Results]) -> Finding:
    below = [value < one.full["gcn"] for one in results if one.full for value in one.cells.values()]
    return counts("below the whole graph:", below, most=True)


def links_by_dataset(results: Sequence[Results]) -> Finding:
    """Say how far below the whole graph links are predicted, dataset by dataset."""
    gaps = {
        one.name: one.full["gcn"] - np.mean([v for (m, _, _), v in one.cells.items() if m in own])
        for one in results
        if one.full and (own := one.others(*CORESETS))
    }
    said = ", ".join(f"{name} {gap:.1f}" for name, gap in gaps.items())
    named, rest = (
        [gap for name, gap in gaps.items() if (name in LARGE) == large] for large in (True, False)
    )
    if not named or not rest:
        return NOTHING
    return Finding(
        f"points below the whole graph on average: {said}",
        of_many(sum(gap > max(rest) for gap in named), len(named)),
    )


def links_below_coresets(results: Sequence[Results]) -> Finding:
    below = [
        value < max(one.at(size, model, CORESETS).values())
        for one in results
        for (method, size, model), value in one.cells.items()
        if method in CONDENSERS and one.at(size, model, CORESETS)
    ]
    return counts("below the best core-set:", below, most=True)


def gradients_transfer_better(results: Sequence[Results]) -> Finding:
    found = leads(results, GRADIENT, DISTRIBUTION + TRAJECTORY, None)
    return counts("the best of them above the best of the others at",
                  [lead > 0 for lead in found], most=True)  # fmt: skip


def clustering() -> Observation:
    plain = printed_nodes("b6")
    whole = {
        one.name: max(v for (m, _, _), v in one.cells.items() if m in ("k-means", "daegc"))
        for one in plain
    }
    below = [
        value < whole[one.name]
        for one in plain
        for (method, _, _), value in one.cells.items()
        if method not in ("k-means", "daegc")
    ]
    return Observation(
        "Condensed graphs are worse at node clustering than the whole graph",
        "B.3, Tables B6 and B7",
        counts("accuracy below the better baseline on the whole graph:", below, most=True),
        below_the_whole(_task("node-clustering-pretrained")),
    )


def pretraining_helps() -> Observation:
    plain = {one.name: one.cells for one in printed_nodes("b6")}
    gains = {
        one.name: [value - plain[one.name][c] for c, value in one.cells.items()]
        for one in printed_nodes("b7")
    }
    helped = {name: sum(gain > 0 for gain in found) for name, found in gains.items()}
    said = ", ".join(f"{name} {n} of {len(gains[name])}" for name, n in helped.items())
    most = [2 * n > len(gains[name]) for name, n in helped.items()]
    return Observation(
        "Pre-training by node classification improves clustering significantly",
        "B.3, Tables B6 and B7",
        Finding(f"accuracy higher: {said}", of_many(sum(most), len(most))),
    )


def no_better_than_chance() -> Observation:
    found = [
        one.mean <= 0
        for one in published("b6", metric="ari")
        if one.mean is not None and one.method not in ("k-means", "daegc")
    ]
    return Observation(
        "Some clusterings without pre-training have an adjusted Rand index of 0 or below",
        "B.3, Table B6",
        Finding(f"{sum(found)} of {len(found)}", "yes" if any(found) else "no"),
    )


def anomalies() -> Observation:
    found = []
    for table in ("b8", "b9"):
        cells = {
            (one.dataset, one.method, one.ratio): one.percent
            for one in published(table)
            if one.percent is not None
        }
        for dataset, ratio in sorted({(d, r) for d, _, r in cells}):
            gradient, trajectory = (
                [v for (d, m, r), v in cells.items() if (d, r) == (dataset, ratio) and m in group]
                for group in (GRADIENT, TRAJECTORY)
            )
            found.append(max(gradient) > max(trajectory))
    return Observation(
        "Structure-free methods are behind gradient matching at anomaly detection",
        "3.3, Tables B8 and B9",
        counts("best of one below the best of the other at", found, most=True),
    )


def _spreads(table: str, methods: Iterable[str]) -> dict[str, float]:
    """Return how far apart initialisations are, by method."""
    found: dict[str, list[float]] = {}
    for one in published(table):
        if one.percent is not None and one.method in methods:
            found.setdefault(str(one.method), []).append(one.percent)
    return {method: max(values) - min(values) for method, values in found.items()}


def initialisation() -> Observation:
    spreads = [
        spread for table in ("b11", "b12") for spread in _spreads(table, CONDENSERS).values()
    ]
    return Observation(
        "Initialisation has little impact on the final accuracy",
        "3.5, Tables B11 and B12",
        Finding(
            f"{listed(sorted(spreads), 1)} points between the best and the worst of a method",
            mostly(sum(spread < WIDE for spread in spreads), len(spreads)),
        ),
    )


def sensitive_distribution() -> Observation:
    groups = {
        table: [_spreads(table, group) for group in (DISTRIBUTION, GRADIENT)]
        for table in ("b11", "b12")
    }
    above = [min(ours.values()) > max(others.values()) for ours, others in groups.values()]
    said = "; ".join(
        f"{name}: {listed(ours.values(), 1)} points, gradient matching {listed(others.values(), 1)}"
        for name, (ours, others) in zip(("2.6%", "0.26%"), groups.values(), strict=True)
    )
    return Observation(
        "Distribution matching is highly sensitive to initialisation", "B.5, Tables B11 and B12",
        Finding(said, of_many(sum(above), len(above))),
    )  # fmt: skip


def trajectories_and_noise() -> Observation:
    said, answers = [], []
    for table in ("b11", "b12"):
        for method in TRAJECTORY:
            values = {one.init: one.percent for one in published(table, method=method)}
            noise = values.pop("noise")
            rest = min(value for value in values.values() if value is not None)
            said.append("none" if noise is None else f"{noise:.1f}")
            answers.append(noise is None or noise < rest)
    return Observation(
        "Trajectory matching does poorly from noise and often fails to converge",
        "B.5, Tables B11 and B12",
        Finding(f"from noise {' '.join(said)}: the worst of all each time"
                if all(answers) else f"from noise {' '.join(said)}",
                of_many(sum(answers), len(answers))),
    )  # fmt: skip


def preferred_initialisation() -> Observation:
    firsts = {
        (table, str(one.method))
        for table in ("b11", "b12")
        for one in published(table)
        if one.percent is not None
        and one.init == "center"
        and one.percent == max(o.percent or 0 for o in published(table, method=one.method))
    }
    return Observation(
        "Initialisations: each dataset prefers its own, Center is quicker on Cora by 25% and 71%",
        "3.5, Figure 4",
        Finding(f"times stand in no table; in accuracy Center is the first for {len(firsts)} of 14 "
                "methods and sizes", "not checked"),
    )  # fmt: skip


def observations() -> list[Observation]:
    """Return what the paper observes, checked."""
    links, our_links = _links(), _task("link-prediction")
    return [
        both("Node-level condensation can be lossless", "5 of 7 datasets (3.1, Table 2)",
             lossless, nodes=True),
        both("Methods outperform core-sets", "3.1, Table 2", beat_coresets, nodes=True),
        both("above all where little is kept: core-sets narrow the gap", "3.1, Table 2",
             more_where_little_is_kept, nodes=True),
        both("the same of sets of graphs", "3.1, Tables 3 and B3",
             more_where_little_is_kept, nodes=False),
        both("Core-sets improve as more is kept", "3.1, Table 2", coresets_improve, nodes=True),
        both("the same of sets of graphs", "3.1, Tables 3 and B3", coresets_improve, nodes=False),
        both("Distribution matching is behind gradient and trajectory matching",
             "6 of 7 datasets (3.1)", distribution_is_behind, nodes=True),
        both("A larger ratio does not always mean better performance", "takeaway 2, Table 2",
             saturate, nodes=True),
        both("the same of sets of graphs", "takeaway 2, Tables 3 and B3", saturate, nodes=False),
        both("Heterogeneous graphs are kept comparably to the whole", "3.2, Table 2",
             heterogeneous, nodes=True),
        both("A heterophilous graph, Flickr, is kept almost as well as the whole", "3.2, Table 2",
             heterophilous, nodes=True),
        both("Graph-level condensation is far from the whole dataset", "takeaway 1, Tables 3, B3",
             gap_of_sets, nodes=False),
        both("KiDD with GIN leads", "18 of 25 cases (3.1, Table 3)",
             leads_with(KIDD, "gin"), nodes=False),
        both("KiDD performs well by GIN, and less well by GCN", "3.1, Tables 3 and B3",
             kidd_by_model, nodes=False),
        both("KiDD underperforms by GCN", "in most scenarios (B.1, Table B3)",
             kidd_underperforms, nodes=False),
        both("DosCond with GCN leads", "12 of 25 cases (B.1, Table B3)",
             leads_with(("doscond",), "gcn"), nodes=False),
        both("DosCond and Mirage do not consistently outperform core-sets", "3.1, Table 3",
             not_consistent, nodes=False),
        both("DosCond and Mirage outperform the whole dataset on molbace by GCN",
             "B.1, Table B3", above_the_whole_of_molbace, nodes=False),
        both("Mirage's one result on DD surpasses all of KiDD's, and DosCond's at 1, by GCN",
             "B.1, Table B3", mirage_on_dd, nodes=False),
        both("KiDD-LR is generally better than KiDD-D", "A.2", low_rank_kidd, nodes=False),
        homophily(),
        flickr_homophily(),
        Observation("Link prediction is worse on condensed graphs", "3.3, Table B5",
                    below_the_whole(links), below_the_whole(our_links)),
        Observation("most of them below core-sets", "B.3, Table B5",
                    links_below_coresets(links), links_below_coresets(our_links)),
        Observation("and is worst on ogbn-arxiv and Flickr", "B.3, Table B5",
                    links_by_dataset(links), links_by_dataset(our_links)),
        clustering(),
        pretraining_helps(),
        no_better_than_chance(),
        Observation("Gradient matching transfers better to other tasks: link prediction",
                    "3.3, Table B5", gradients_transfer_better(links),
                    gradients_transfer_better(our_links)),
        anomalies(),
        Observation("What SGC condensed serves other models; what a transformer condensed does not",
                    "3.4, Figure 3"),
        Observation("DosCond transfers better between models; more matching steps transfer worse",
                    "3.4, Figure 3"),
        initialisation(),
        sensitive_distribution(),
        trajectories_and_noise(),
        preferred_initialisation(),
        gradients_cost_more(),
        out_of_memory(),
        expert_sizes(),
        mirage_is_quick(),
    ]  # fmt: skip
