"""What DC-Bench observes, held against its own printed tables and against those measured here."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from benchquery.analysis.statistics import correlation_interval
from benchquery.kinds.condensed.published import IMAGES_PAPER, WHOLE, Published, published
from papers.claim import NOTHING, Finding, Observation, counts, listed, of_many
from papers.results import (
    RAW,
    Results,
    leads,
    measured_images,
    printed_images,
)

SELECTION = ("random", "k-center")
SYNTHESIS = ("dc", "dsa", "dm", "kip", "tm")
AUGMENTATIONS = ("imagenet", "dsa", "autoaugment", "randaugment")
FEW, MANY = 10, 200
"""Images of a class up to which there are few, and from which there are many."""
LIKE = 2.0
"""Points within which two figures are called similar."""
WIDE = 5.0
"""Points from which a difference is called large."""
CONVNET, LARGE = "convnet", "resnet152"
NETWORKS = 100
"""How many networks of NAS-Bench-201 were ranked."""


def augmented() -> Mapping[tuple[str, str, float], Mapping[str, float]]:
    """Return Table 4 by dataset, method and size: figures by augmentation."""
    found: dict[tuple[str, str, float], dict[str, float]] = {}
    for name in ("none", *AUGMENTATIONS):
        for one in printed_images("4", name):
            for (method, size, _), value in one.cells.items():
                found.setdefault((one.name, method, size), {})[name] = value
    return found


def gain(figures: Mapping[str, float]) -> float | None:
    """Return what the best augmentation adds."""
    best = max((v for name, v in figures.items() if name != "none"), default=None)
    return None if best is None or "none" not in figures else best - figures["none"]


def ours_with_dsa() -> list[float]:
    """Return what DSA adds to what was measured here, by the same network."""
    plain = {one.name: one.cells for one in measured_images()}
    return [
        value - plain[one.name][cell]
        for one in measured_images("dsa")
        for cell, value in one.cells.items()
        if cell in plain.get(one.name, {})
    ]


def at_best(results: Sequence[Results], place: int, method: str) -> Finding:
    """Say at how many sizes a method is in one place among those that are synthesised."""
    answers = []
    for one in results:
        for size, model in one.sizes(CONVNET):
            found = one.at(size, model, SYNTHESIS)
            if method in found and len(found) > place:
                answers.append(sorted(found, key=found.__getitem__, reverse=True)[place] == method)
    return counts("at", answers, most=True)


def best_of_augmentations() -> list[Results]:
    """Return Table 1's figures with the best augmentation."""
    return list(printed_images("1", "best"))


def _drops(results: Sequence[Results], methods: Sequence[str], model: str | None) -> list[float]:
    """Return the points that other networks lose against the ConvNet."""
    return [
        one.cells[method, size, CONVNET] - value
        for one in results
        for (method, size, judge), value in one.cells.items()
        if judge != CONVNET and model in (None, judge) and method in methods
        and (method, size, CONVNET) in one.cells
    ]  # fmt: skip


def lower_elsewhere(results: Sequence[Results]) -> Finding:
    found = _drops(results, SYNTHESIS, None)
    return counts("lower than by ConvNet:", [drop > 0 for drop in found])


def orders_change(results: Sequence[Results]) -> Finding:
    """Say how many pairs of methods are in another order by another network."""
    answers = []
    for one in results:
        for size, model in one.sizes():
            if model == CONVNET:
                continue
            here, there = one.at(size, CONVNET), one.at(size, model)
            for a, b in itertools.combinations(sorted(here.keys() & there.keys()), 2):
                answers.append((here[a] > here[b]) != (there[a] > there[b]))
    if not answers:
        return NOTHING
    return Finding(
        f"{sum(answers)} of {len(answers)} pairs change their order",
        "yes" if any(answers) else "no",
    )


def catches_up(results: Sequence[Results]) -> Finding:
    """Say how far the best synthesis is above random images, by size."""
    said, shrinks = [], []
    for one in results:
        gaps = {
            size: lead
            for size, model in one.sizes(CONVNET)
            if (lead := one.lead(size, model, SYNTHESIS, ("random",))) is not None
        }
        if len(gaps) > 1:
            shrinks.append(gaps[max(gaps)] < gaps[min(gaps)])
            shown = ", ".join(f"{gap:.1f} at {size:.0f}" for size, gap in gaps.items())
            said.append(f"{one.name}: {shown}")
    return Finding("; ".join(said), of_many(sum(shrinks), len(shrinks))) if said else NOTHING


def few_images(results: Sequence[Results]) -> Finding:
    found = leads(results, SYNTHESIS, SELECTION, CONVNET, lambda size: size <= FEW)
    return counts(f"above up to {FEW} a class at", [lead > 0 for lead in found])


def random_grows(results: Sequence[Results]) -> Finding:
    answers = []
    for one in results:
        values = list(one.over_sizes("random", CONVNET).values())
        answers += [b > a for a, b in itertools.pairwise(values)]
    return counts("grows from size to size:", answers)


def many_images() -> Observation:
    (cifar,) = printed_images("6", None)
    gaps = {
        size: max(one.values()) - cifar.cells["random", size, CONVNET]
        for size, model in cifar.sizes(CONVNET)
        if (one := cifar.at(size, model, SYNTHESIS))
    }
    large = [gap for size, gap in gaps.items() if size > MANY]
    shown = ", ".join(f"{gap:.1f} at {size:.0f}" for size, gap in gaps.items())
    return Observation(
        f"Beyond {MANY} a class all methods are like random images",
        "4.3, Table 6",
        Finding(
            f"best synthesis above random: {shown}",
            of_many(sum(g < LIKE for g in large), len(large)),
        ),
    )


def dm_and_dsa() -> Observation:
    (cifar,) = printed_images("6", None)
    both = {
        size: (found["dm"] - found["dsa"])
        for size, model in cifar.sizes(CONVNET)
        if size >= 50 and len(found := cifar.at(size, model, ("dm", "dsa"))) == 2
    }
    shown = ", ".join(f"{lead:.1f} at {size:.0f}" for size, lead in both.items())
    holds = both[min(both)] > 0 and min(both.values()) < 0
    return Observation(
        "DM is above DSA at 50 a class, but not consistently beyond",
        "4.3, Table 6",
        Finding(f"DM above DSA by {shown}", "yes" if holds else "no"),
    )


def augmentation_helps(methods: Sequence[str], statement: str, where: str) -> Observation:
    gains = [
        value
        for (_, method, _), figures in augmented().items()
        if method in methods and (value := gain(figures)) is not None
    ]
    theirs = counts("the best one is above none:", [value > 0 for value in gains])
    ours = ours_with_dsa()
    helps = counts("gained", [value > 0 for value in ours])
    return Observation(
        statement,
        where,
        Finding(f"{theirs.said}, by {np.median(gains):.1f} points in the median", theirs.holds),
        Finding(f"points gained by DSA: {listed(ours, 1)}", helps.holds) if ours else NOTHING,
    )  # fmt: skip


def stated_gains() -> Observation:
    stated = {"dc": 6.56, "dsa": 9.4, "dm": 5.2, "tm": 10.2}
    table = augmented()
    found = {
        method: value
        for method in stated
        if (value := gain(table.get(("cifar10", method, 10.0), {}))) is not None
    }
    close = [abs(found[method] - stated[method]) < 0.1 for method in found]
    return Observation(
        "On CIFAR-10 at 10 DC, DSA, DM and TM gain 6.56, 9.4, 5.2 and 10.2 by augmentation",
        "4.2",
        Finding(
            ", ".join(f"{method} {value:.2f}" for method, value in found.items()),
            of_many(sum(close), len(close)),
        ),
    )


def underestimated_dc() -> Observation:
    gains = [
        value
        for (_, method, _), figures in augmented().items()
        if method == "dc" and (value := gain(figures)) is not None
    ]
    return Observation(
        "DC gains up to 6 points by the best augmentation: it was underestimated",
        "4.2, Table 4",
        Finding(f"{listed(sorted(gains), 1)} points", "yes" if round(max(gains)) >= 6 else "no"),
    )


def dsa_is_best() -> Observation:
    answers = [
        max(figures, key=figures.__getitem__) == "dsa"
        for figures in augmented().values()
        if len(figures) == len(AUGMENTATIONS) + 1
    ]
    return Observation(
        "DSA is overall the best augmentation", "4.2, Table 4",
        counts("the best of all five for", answers, most=True),
    )  # fmt: skip


def dsa_without() -> Observation:
    table = augmented()
    gaps = [
        figures["none"] - table[dataset, "dc", size]["none"]
        for (dataset, method, size), figures in table.items()
        if method == "dsa" and "none" in figures and "none" in table.get((dataset, "dc", size), {})
    ]
    return Observation(
        "Without augmentation DSA's images are like DC's in many cases",
        "4.2, Table 4",
        counts(f"within {LIKE:.0f} points at", [abs(gap) <= LIKE for gap in gaps], most=True),
    )


def wider_ranges() -> Observation:
    ranges: dict[str, list[float]] = {}
    for (_, method, _), figures in augmented().items():
        if len(figures) == len(AUGMENTATIONS) + 1:
            ranges.setdefault(method, []).append(max(figures.values()) - min(figures.values()))
    means = {method: float(np.mean(ranges[method])) for method in SYNTHESIS if method in ranges}
    wide = [means[method] > means["dm"] for method in ("dsa", "tm", "kip")]
    return Observation(
        "DSA, TM and KIP vary more with the augmentation than DM",
        "4.2, takeaway 2",
        Finding(
            "points from worst to best: " + ", ".join(f"{m} {v:.1f}" for m, v in means.items()),
            of_many(sum(wide), len(wide)),
        ),
    )


def selection_at_fifty() -> Observation:
    found = {
        f"{dataset} {method}": value
        for (dataset, method, size), figures in augmented().items()
        if size == 50 and method in SELECTION and (value := gain(figures)) is not None
    }
    return Observation(
        "At 50 a class selection gains over 5 points, on TinyImageNet 4.64",
        "4.2",
        Finding(
            ", ".join(f"{name} {value:.1f}" for name, value in found.items()),
            of_many(sum(value > 4.6 for value in found.values()), len(found)),
        ),
    )


def k_center_and_dc() -> Observation:
    leads_ = {
        one.name: lead
        for one in best_of_augmentations()
        if (lead := one.lead(50, CONVNET, ("k-center",), ("dc",))) is not None
    }
    return Observation(
        "At 50 a class K-Center outperforms DC on CIFAR-100 and TinyImageNet, and is on par on "
        "CIFAR-10",
        "4.2, Table 1",
        Finding(
            "K-Center above DC by " + ", ".join(f"{v:.1f} on {n}" for n, v in leads_.items()),
            of_many(sum(lead > -LIKE for lead in leads_.values()), len(leads_)),
        ),
        counts("K-Center above DC at", [
            lead > -LIKE for lead in leads(
                measured_images(), ("k-center",), ("dc",), CONVNET, lambda size: size == 50)
        ]),
    )  # fmt: skip


def large_networks() -> Observation:
    results = printed_images("5", None)
    drops = _drops(results, SYNTHESIS, LARGE)
    worst = [
        min(found, key=found.__getitem__) == LARGE
        for one in results
        for size in sorted({size for _, size, _ in one.cells})
        if size <= FEW
        for found in [{o: v for (m, s, o), v in one.cells.items() if (m, s) == ("random", size)}]
        if LARGE in found
    ]
    lost = counts("below ConvNet:", [drop > WIDE for drop in drops])
    return Observation(
        "No method transfers well to ResNet152; with few images it is the worst network",
        "4.4, Table 5",
        Finding(
            f"{lost.said} by more than {WIDE:.0f} points, median {np.median(drops):.1f}; the worst "
            f"on random images at {sum(worst)} of {len(worst)}",
            lost.holds,
        ),
    )


def tm_and_mlp() -> Observation:
    results = {one.name: one for one in printed_images("5", None)}["cifar10"]
    places = []
    for size in sorted({size for size, model in results.sizes("mlp")}):
        found = results.at(size, "mlp", (*SELECTION, *SYNTHESIS))
        if "tm" in found:
            order = sorted(found, key=found.__getitem__, reverse=True)
            places.append(order.index("tm") + 1)
    return Observation(
        "On CIFAR-10 TM's images transfer poorly to MLP",
        "4.4",
        Finding(
            f"its place among seven by MLP: {' '.join(map(str, places))}",
            of_many(sum(place > 3 for place in places), len(places)),
        ),
    )


def dc_and_k_center() -> Observation:
    results = {one.name: one for one in printed_images("5", None)}["cifar100"]
    flips = []
    for size, _ in results.sizes("resnet18"):
        here = results.lead(size, CONVNET, ("dc",), ("k-center",))
        there = results.lead(size, "resnet18", ("dc",), ("k-center",))
        if here is not None and there is not None:
            flips.append((size, here, there))
    return Observation(
        "On CIFAR-100 DC is above K-Center by ConvNet, and behind by ResNet",
        "4.4",
        Finding(
            "; ".join(f"{here:+.1f} and {there:+.1f} at {size:.0f}" for size, here, there in flips),
            of_many(sum(here > 0 > there for _, here, there in flips), len(flips)),
        ),
    )


def k_center_transfers() -> Observation:
    answers, said = [], []
    for one in printed_images("2", None):
        size = 10.0
        found = one.at(size, "transfer", SYNTHESIS)
        above = [m for m, v in found.items() if one.cells["k-center", size, "transfer"] > v]
        answers.append(len(above) > 1)
        said.append(f"{one.name} {len(above)} of {len(found)}")
    return Observation(
        "K-Center transfers better than several methods", "4.4, Table 2",
        Finding("above " + ", ".join(said), of_many(sum(answers), len(answers))),
    )  # fmt: skip


def rankings() -> Observation:
    found = {
        str(one.method): one.mean
        for one in published("3", IMAGES_PAPER, metric="spearman")
        if one.method != WHOLE and one.mean is not None
    }
    negative = {method for method, value in found.items() if value < 0}
    told = [
        method
        for method, value in found.items()
        if math.prod(correlation_interval(value, NETWORKS, ranked=True)) > 0
    ]
    return Observation(
        "Ranks of networks by condensed images correlate negatively, but by K-Center",
        "4.5, Table 3",
        Finding(
            listed(found.values()) + f" for {', '.join(found)}; with {NETWORKS} networks the 95% "
            f"interval leaves out 0 for {', '.join(told) or 'none'}",
            "yes" if negative == found.keys() - {"k-center"} else "no",
        ),
    )


def found_networks() -> Observation:
    found = {
        str(one.method): float(one.mean or 0)
        for one in published("3", IMAGES_PAPER, metric="top-1")
    }
    worst = sorted(found, key=found.__getitem__)[:3]
    return Observation(
        "The best network by DC's and DSA's images is poor", "4.5, Table 3",
        Finding(", ".join(f"{name} {value:.1f}" for name, value in found.items()),
                of_many(sum(name in worst for name in ("dc", "dsa")), 2)),
    )  # fmt: skip


def optimisers() -> Observation:
    cells: dict[tuple[object, object], dict[str, float]] = {}
    for one in published("7", IMAGES_PAPER):
        if one.mean is not None and one.optimizer:
            cells.setdefault((one.method, one.images_per_class), {})[one.optimizer] = one.mean
    gaps = [abs(c["sgd"] - c["adam"]) for c in cells.values() if len(c) == 2]
    if not gaps:
        return Observation("SGD and Adam do alike", "A.5, Table 7")
    return Observation(
        "SGD and Adam do alike", "A.5, Table 7",
        counts(f"within {LIKE:.0f} points for", [gap < LIKE for gap in gaps]),
    )  # fmt: skip


def does_not_scale() -> Observation:
    notes = [one for one in published("8", IMAGES_PAPER) if one.note and "memory" in one.note]
    where = sorted({f"{one.method} at {one.images_per_class}" for one in notes})
    alone = bool(notes) and all(one.method == "tm" for one in notes)
    return Observation(
        "TM does not scale: it runs out of memory", "4.3, Table 8",
        Finding(f"out of memory: {', '.join(where)}", "yes" if alone else "no"),
    )  # fmt: skip


def by_embedding() -> Observation:
    def embedding(one: Published) -> bool:
        return one.embedding == "raw"

    found = published("9", IMAGES_PAPER)
    raw = {(o.dataset, o.images_per_class): o.mean for o in found if embedding(o)}
    embedded = {(o.dataset, o.images_per_class): o.mean for o in found if not embedding(o)}
    theirs = [(embedded[key] or 0) > (value or 0) for key, value in raw.items() if value]
    ours = leads(measured_images(), ("k-center",), (RAW,), CONVNET)
    return Observation(
        "K-Center by embedding is above K-Center by raw pixels",
        "A.9, Table 9",
        counts("at", theirs),
        counts("at", [lead > 0 for lead in ours]),
    )


def k_center_and_random(results: Sequence[Results]) -> Finding:
    found = leads(results, ("k-center",), ("random",), CONVNET)
    return counts("at", [lead > 0 for lead in found])


def simple_datasets() -> Observation:
    said, close = [], []
    for one in measured_images():
        if one.name.startswith("fashion"):
            for size, model in one.sizes(CONVNET):
                found = one.at(size, model, SYNTHESIS).values()
                if len(found) > 1:
                    said.append(f"{max(found) - min(found):.1f} at {size:.0f}")
                    close.append(max(found) - min(found) < WIDE)
    return Observation(
        "On simple datasets such as Fashion-MNIST methods do quite alike",
        "3",
        ours=Finding(
            f"points from worst to best: {', '.join(said)}", of_many(sum(close), len(close))
        )
        if said
        else NOTHING,
    )


def observations() -> list[Observation]:
    """Return what the paper observes, checked."""
    best, ours = best_of_augmentations(), measured_images()
    networks = printed_images("5", None)
    larger = printed_images("6", None)
    return [
        Observation("TM is the best of the methods", "1, Table 1",
                    at_best(best, 0, "tm"), at_best(ours, 0, "tm")),
        Observation("DSA is often the second best", "1, Table 1",
                    at_best(best, 1, "dsa"), at_best(ours, 1, "dsa")),
        augmentation_helps(SYNTHESIS, "Augmentation improves all methods", "4.2, Table 4"),
        stated_gains(),
        underestimated_dc(),
        dsa_is_best(),
        dsa_without(),
        wider_ranges(),
        augmentation_helps(SELECTION, "Augmentation improves selection too", "4.2, Table 4"),
        selection_at_fifty(),
        k_center_and_dc(),
        Observation("Synthesis beats selection where few images are kept", "4.3, takeaway 1",
                    few_images(best), few_images(ours)),
        Observation("Random images catch up as more are kept", "4.3, Tables 1 and 6",
                    catches_up(larger), catches_up(ours)),
        many_images(),
        Observation("Random images get steadily better as more are kept", "2.1, Table 6",
                    random_grows(larger), random_grows(ours)),
        dm_and_dsa(),
        Observation("Synthesised images are worse for other networks", "4.4, Table 5",
                    lower_elsewhere(networks), lower_elsewhere(ours)),
        large_networks(),
        Observation("The order of methods is not kept by other networks", "4.4, Table 5",
                    orders_change(networks), orders_change(ours)),
        dc_and_k_center(),
        tm_and_mlp(),
        k_center_transfers(),
        rankings(),
        found_networks(),
        Observation("K-Center as a start takes 30% of the budget, and ends 1.3 points higher",
                    "4.6, Figure 4"),
        optimisers(),
        does_not_scale(),
        by_embedding(),
        Observation("K-Center is above random selection", "A.9, Table 1",
                    k_center_and_random(best), k_center_and_random(ours)),
        simple_datasets(),
    ]  # fmt: skip
