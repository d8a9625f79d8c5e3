"""DC-Bench's figures: typed over without contradiction between its tables."""

from __future__ import annotations

import pytest

from benchquery.errors import UnknownNameError
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.published import paper_accuracy, published, published_tables


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
    assert published_tables("dc-bench") == ("4", "6", "9")
    counts = {name: len(published(name, "dc-bench")) for name in published_tables("dc-bench")}
    assert counts == {"4": 62 * 5 - 5 * 3 + 3, "6": 13 * 5, "9": 18}
    for figure in published("4", "dc-bench"):
        assert (figure.mean is None) == bool(figure.note)
        assert figure.mean is None or 0 < figure.mean < 100


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


def test_there_are_no_other_tables() -> None:
    for table, paper in (("1", "dc-bench"), ("2", "nope")):
        with pytest.raises(UnknownNameError, match="there is no published table"):
            published(table, paper)
