"""DC-Bench's figures: typed over without contradiction between its tables."""

from __future__ import annotations

import pytest

from benchquery.errors import UnknownNameError
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.published import (
    paper_accuracy,
    published,
    published_tables,
    whole_accuracy,
)

PAPER = "dc-bench"
OTHERS = ("mlp", "resnet18", "resnet152", "vit")
ODD = {
    ("cifar10", "k-center", 1, "best"),
    ("cifar100", "kip", 1, "none"),
    ("tinyimagenet", "k-center", 50, "average"),
}
"""Figures of Table 1 that are not what Table 4 comes to, as printed."""


def test_tables_say_the_same_where_they_overlap() -> None:
    for figure in published("6", "dc-bench"):
        same = {"method": figure.method, "images_per_class": figure.images_per_class}
        for other in published("4", "dc-bench", dataset="cifar10", augmentation="dsa", **same):
            assert (other.mean, other.std) == (figure.mean, figure.std)
    for figure in published("9", "dc-bench", embedding="convnet"):
        same = {"dataset": figure.dataset, "images_per_class": figure.images_per_class}
        (other,) = published("4", "dc-bench", method="k-center", augmentation="dsa", **same)
        assert other.mean == figure.mean


def test_there_are_as_many_figures_as_printed() -> None:
    """Tables without a method or size have no row of it; what can't be read has a row that says so.

    KIP was run on CIFAR-10 and, with 1 and 10 images of a class, on CIFAR-100.
    """
    sets = 6 * 9 + 3 + 2
    counts = {name: len(published(name, PAPER)) for name in published_tables(PAPER)}
    assert counts == {
        "1": 3 * sets + 3, "2": 7 * 6 - 2, "3": 8 * 2, "4": 62 * 5 - 5 * 3 + 3, "5": 5 * sets,
        "6": 13 * 5, "7": 2 * 3 * 7, "8": 5 * 3 * 2, "9": 18,
    }  # fmt: skip
    lost = {name: sum(one.mean is None for one in published(name, PAPER)) for name in counts}
    assert lost | {"4": 0} == {
        "1": 41, "2": 0, "3": 0, "4": 0, "5": 3, "6": 0, "7": 20, "8": 2, "9": 0,
    }  # fmt: skip
    for name in counts:
        for figure in published(name, PAPER):
            assert figure.note or figure.mean is not None
            assert figure.unit != "percent" or figure.mean is None or 0 < figure.mean < 100


def values(table: str, **equals: object) -> list[float]:
    """The figures of a table that can be read."""
    return [one.mean for one in published(table, PAPER, **equals) if one.mean is not None]


def test_table_1_is_what_table_4_comes_to() -> None:
    """KIP's averages leave out DSA instead of no augmentation."""
    compared = 0
    for figure in published("1", PAPER):
        if figure.mean is None or figure.method == "whole":
            continue
        same = {name: getattr(figure, name) for name in ("dataset", "method", "images_per_class")}
        plain = values("4", **same, augmentation="none")
        left_out = ("none", "dsa")[figure.method == "kip"]
        others = [one for one in published("4", PAPER, **same) if one.augmentation != left_out]
        augmented = [one.mean for one in others if one.mean is not None]
        if not plain or len(augmented) < 4:
            continue
        odd = (figure.dataset, figure.method, figure.images_per_class, figure.augmentation)
        compared += 1
        if figure.augmentation == "average":
            close = abs(figure.mean - sum(augmented) / 4) < 0.02
        elif figure.augmentation == "best":
            close = figure.mean == max(values("4", **same, augmentation="dsa") + augmented)
        else:
            close = figure.mean == plain[0]
        assert close != (odd in ODD), (odd, figure.mean, plain, augmented)
    assert compared > 100


def test_table_2_is_what_table_5_comes_to() -> None:
    for figure in published("2", PAPER):
        same = {"dataset": figure.dataset, "method": figure.method, "images_per_class": 10}
        own = values("5", **same, model="convnet") or values("4", **same, augmentation="dsa")
        others = [one for net in OTHERS for one in values("5", **same, model=net)]
        assert figure.mean is not None
        if figure.model == "transfer":
            assert len(others) == 4
            assert abs(figure.mean - sum(others) / 4) < 0.15, figure
        else:
            assert (figure.mean == own[0]) == (not figure.note), figure


def test_tables_5_and_7_have_the_figures_of_table_4() -> None:
    compared = 0
    for figure in (
        *published("5", PAPER, model="convnet"),
        *published("7", PAPER, optimizer="sgd"),
    ):
        same = {name: getattr(figure, name) for name in ("dataset", "method", "images_per_class")}
        kip = figure.method == "kip"
        for mean in values("4", **same, augmentation="autoaugment" if kip else "dsa"):
            assert figure.mean in (None, mean)
            compared += figure.mean is not None
    assert compared > 50


def test_search_and_costs_are_as_printed() -> None:
    (whole,) = published("3", PAPER, method="whole", metric="spearman")
    assert (whole.mean, whole.unit) == (0.7487, "1")
    assert values("3", method="kip") == [-0.5, 92.91]
    times = published("8", PAPER, method="tm", metric="seconds an iteration")
    assert [(one.mean, one.std) for one in times] == [(0.36, 0.23), (0.40, 0.20), (None, None)]
    assert times[2].note == "out of memory"
    assert values("8", method="dc", metric="GPU memory") == [3515, 3621, 4527]


def test_a_configuration_finds_its_figure() -> None:
    config = CondenseConfig("cifar10", "dm", per_class=10)
    found = paper_accuracy(config, "convnet", "image-classification", "dsa")
    assert found is not None
    assert (found.mean, found.std) == (47.64, 0.55)
    assert found.source.startswith("Cui et al.")
    plain = paper_accuracy(config, "convnet", "image-classification")
    assert plain is not None
    assert plain.mean == 42.45
    large = CondenseConfig("cifar10", "random", per_class=1000)
    found = paper_accuracy(large, "convnet", "image-classification", "dsa")
    assert found is not None
    assert found.mean == 78.38
    assert paper_accuracy(large, "vit", "image-classification", "dsa") is None
    other = paper_accuracy(config, "mlp", "image-classification", "dsa")
    assert other is not None
    assert (other.table, other.mean) == ("5", 34.44)
    matched = config.replace(method="tm", init="sample")
    adam = paper_accuracy(matched, "convnet", "image-classification", "dsa", "adam")
    assert adam is not None
    assert (adam.table, adam.mean) == ("7", 64.94)
    assert paper_accuracy(config, "convnet", "image-classification", "dsa", "adam") is None
    whole = whole_accuracy("cifar10", "convnet", "image-classification", "dsa")
    assert whole is not None
    assert whole.mean == 85.95
    assert whole_accuracy("cifar10", "convnet", "image-classification") is None


def test_there_are_no_other_tables() -> None:
    for table, paper in (("10", "dc-bench"), ("2", "nope")):
        with pytest.raises(UnknownNameError, match="there is no published table"):
            published(table, paper)
