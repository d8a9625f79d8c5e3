"""Where synthetic features begin: the right classes, the published mistake, the features' scale."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import Tensor

from benchbuild.datasets import load
from benchbuild.errors import DatasetError
from benchbuild.kinds.condense.domains import find_domain
from benchbuild.kinds.condense.nodes.init import initial_features
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.scaling import scaled
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.domains.nodes import INITS
from tests.benchbuild.condensing import CPU, path_graph, problem, settings

pytestmark = pytest.mark.usefixtures("one_thread")


def first(given: Problem, config: CondenseConfig) -> tuple[Tensor, Tensor]:
    labels = given.synthetic_labels(config)
    generator = torch.Generator().manual_seed(config.seed)
    return initial_features(given, config, labels, generator), labels


def classes_of(rows: Tensor, given: Problem) -> list[set[int]]:
    """Return the classes of the training nodes that have exactly the features of each row."""
    train = given.x[given.train_nodes]
    return [set(given.train_labels[(train == row).all(dim=1)].tolist()) for row in rows]


@pytest.fixture(scope="module")
def tagged() -> Problem:
    """A graph whose classes first appear as 2, 0, 1 and whose features say the class."""
    y = torch.tensor([2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 0, 1])
    x = torch.stack([y.float() + 1, torch.arange(14) / 14], dim=1)
    return problem(path_graph(x, y))


@pytest.mark.parametrize("init", ["sample", "k-means"])
@pytest.mark.parametrize("ratio", [0.1, 0.2])
def test_every_sampled_row_has_its_class(init: str, ratio: float) -> None:
    given = problem()
    x, labels = first(given, settings("gcond", ratio, init=init))
    assert classes_of(x, given) == [{label} for label in labels.tolist()]
    assert len(x.unique(dim=0)) == len(x)


def test_as_released_mislabels_the_sample_as_published(tagged: Problem) -> None:
    right, labels = first(tagged, settings("gcond", 0.5))
    wrong, _ = first(tagged, settings("gcond", 0.5, protocol="as-released"))
    assert (right[:, 0] - 1).tolist() == labels.tolist() == [0, 0, 0, 1, 1, 2, 2]
    # Labels are listed as 2, 0, 1 and features as 0, 1, 2; here both are sorted by label.
    assert (wrong[:, 0] - 1).tolist() == [0, 1, 1, 2, 2, 0, 0]
    assert right[:, 0].sort().values.tolist() == wrong[:, 0].sort().values.tolist()


@pytest.mark.parametrize(
    ("method", "init"), [("dm", "sample"), ("sgdd", "sample"), ("gcond", "k-means")]
)
def test_as_released_labels_right_where_the_release_does(
    tagged: Problem, method: str, init: str
) -> None:
    x, labels = first(tagged, settings(method, 0.5, init=init, protocol="as-released"))
    assert (x[:, 0] - 1).tolist() == labels.tolist()


def test_trajectories_as_released_begin_at_nodes() -> None:
    given = problem()
    x, labels = first(given, settings("sfgc", protocol="as-released"))
    assert classes_of(x, given) == [{label} for label in labels.tolist()]
    centres, _ = first(given, settings("sfgc"))
    assert set() in classes_of(centres, given)


def test_center_is_the_mean_of_the_class() -> None:
    given = problem()
    x, labels = first(given, settings("gcond", init="center"))
    train = given.x[given.train_nodes]
    for row, label in zip(x, labels, strict=True):
        torch.testing.assert_close(row, train[given.train_labels == label].mean(dim=0))


def test_k_center_rows_are_means_of_parts_of_the_class() -> None:
    given = problem()
    x, labels = first(given, settings("gcond", 0.2, init="k-center"))
    train = given.x[given.train_nodes]
    for label in range(4):
        members = train[given.train_labels == label]
        centres = x[labels == label]
        nearest = torch.cdist(members, centres).argmin(dim=1)
        for cluster in range(len(centres)):
            mean = members[nearest == cluster].mean(dim=0)
            torch.testing.assert_close(centres[cluster], mean, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("init", INITS)
def test_more_synthetic_than_training_nodes(init: str) -> None:
    given = problem()
    x, labels = first(given, settings("gcond", 0.9, init=init))
    assert x.shape == (180, 12)
    assert len(labels) == 180
    assert bool(x.isfinite().all())


@pytest.mark.parametrize("init", INITS)
def test_the_seed_decides(init: str) -> None:
    given = problem()
    once, again, other = (first(given, settings("gcond", init=init, seed=s))[0] for s in (0, 0, 1))
    assert torch.equal(once, again)
    assert torch.equal(once, other) == (init == "center")


def test_bags_of_words_sum_to_one() -> None:
    words = (torch.rand(30, 6, generator=torch.Generator().manual_seed(0)) > 0.6).float()
    words[3] = 0.0
    graph = dataclasses.replace(path_graph(words, torch.arange(30) % 2), name="cora")
    sparse = dataclasses.replace(graph, x=words.to_sparse_csr())
    x = scaled(graph).x
    torch.testing.assert_close(x.sum(dim=1), (words.sum(dim=1) > 0).float())
    torch.testing.assert_close(scaled(sparse).x.to_dense(), x)
    torch.testing.assert_close(scaled(scaled(graph)).x, x)


def test_other_features_are_standardised_by_the_training_nodes_only() -> None:
    graph = dataclasses.replace(load("csbm"), name="arxiv")
    x = scaled(graph).x
    known = x[graph.train_mask]
    torch.testing.assert_close(known.mean(dim=0), torch.zeros(32), atol=1e-5, rtol=0)
    torch.testing.assert_close(known.std(dim=0, correction=0), torch.ones(32))
    changed = graph.x.clone()
    changed[~graph.train_mask] *= 7
    again = scaled(dataclasses.replace(graph, x=changed)).x
    assert torch.equal(again[graph.train_mask], known)


def test_a_worker_gives_methods_scaled_features() -> None:
    graph = dataclasses.replace(load("csbm"), name="arxiv")
    domain = find_domain(graph.sort)
    given = domain.make_problem(domain.prepare(graph), CPU)
    assert isinstance(given, Problem)
    assert torch.equal(given.x, scaled(graph).x)


def test_data_of_no_domain_is_refused() -> None:
    with pytest.raises(DatasetError, match="sort 'poems' can't be condensed; allowed: nodes"):
        find_domain("poems")
