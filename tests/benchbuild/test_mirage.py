"""Mirage: trees against tuples and networkx, sets against mlxtend, and what patterns must be."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from mlxtend.frequent_patterns import fpgrowth
from torch_geometric.nn import GINConv

from benchbuild.datasets.graphset import GraphBatch
from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.graphs.mining import (
    Enough,
    ItemSets,
    Transactions,
    frequent_sets,
)
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.graphs.tree_payload import CondensedTrees, StoredTrees
from benchbuild.kinds.condense.graphs.trees import Trees, distinct_rows, rows_in_heaps
from benchbuild.kinds.condense.method import Workspace
from benchbuild.kinds.condense.methods.graphs.mirage import condense
from benchquery.errors import ConfigError
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.forms import FORMS

pytestmark = pytest.mark.usefixtures("one_thread")
CPU = torch.device("cpu")


def random_graphs(
    seed: int, graphs: int = 6, *, labels: int = 2, bonds: int = 2, most: int = 6
) -> GraphBatch:
    """Return small graphs of two classes, with labels for nodes and edges."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, graphs)
    edges, fields, start = [], [], 0
    for size in sizes:
        for one, other in itertools.combinations(range(size), 2):
            if rng.random() < 0.5:
                edges += [(start + one, start + other), (start + other, start + one)]
                fields += [(rng.integers(bonds), 1)] * 2
        start += size
    x = np.eye(labels, 3)[rng.integers(labels, size=start)]
    return GraphBatch(
        torch.tensor(x).float(),
        torch.tensor(np.array(edges, np.int64).reshape(-1, 2)).T,
        torch.tensor(np.concatenate([[0], np.cumsum(sizes)])),
        torch.arange(graphs) % 2,
        torch.tensor(np.array(fields, np.int64).reshape(-1, 2)) if bonds > 1 else None,
    )


def as_tuple(graphs: GraphBatch, node: int, depth: int) -> tuple[Any, ...]:
    """Return a tree by its definition."""
    label = tuple(graphs.x[node].tolist())
    if not depth:
        return (label,)
    into = (graphs.edge_index[1] == node).nonzero().view(-1).tolist()
    return (
        label,
        *sorted(
            (
                () if graphs.edge_attr is None else tuple(graphs.edge_attr[edge].tolist()),
                as_tuple(graphs, int(graphs.edge_index[0, edge]), depth - 1),
            )
            for edge in into
        ),
    )


def as_networkx(trees: Trees, number: int) -> nx.DiGraph:
    """Return an unrolled tree."""
    forest = trees.unroll(np.array([number]))
    tree = nx.DiGraph()
    for node, (label, parent) in enumerate(zip(forest.labels, forest.parents, strict=True)):
        tree.add_node(node, label=(int(label), parent < 0))
        if parent >= 0:
            tree.add_edge(int(parent), node, label=int(forest.edge_labels[node]))
    return tree


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), depth=st.integers(0, 3), bonds=st.integers(1, 2))
def test_equal_numbers_are_equal_trees(seed: int, depth: int, bonds: int) -> None:
    graphs = random_graphs(seed, bonds=bonds)
    trees = Trees.of(graphs, depth)
    tuples = [as_tuple(graphs, node, depth) for node in range(graphs.num_nodes)]
    known = {tree: number for number, tree in zip(trees.of_node.tolist(), tuples, strict=True)}
    assert trees.of_node.tolist() == [known[tree] for tree in tuples]
    assert len(set(known.values())) == len(known) == len(trees)
    assert sorted(known.values()) == list(range(len(trees)))


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_unrolled_trees_are_isomorphic_only_to_themselves(seed: int) -> None:
    trees = Trees.of(random_graphs(seed, graphs=3, most=4), 2)
    unrolled = [as_networkx(trees, number) for number in range(len(trees))]
    assert [len(tree) for tree in unrolled] == trees.sizes.tolist()
    assert all(nx.is_arborescence(tree) for tree in unrolled)

    def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
        return one["label"] == other["label"]

    for one, other in itertools.combinations(unrolled, 2):
        assert not nx.is_isomorphic(one, other, node_match=same, edge_match=same)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_numbers_do_not_depend_on_the_order_of_nodes(seed: int) -> None:
    graphs = random_graphs(seed, graphs=1, most=9)
    order = torch.randperm(graphs.num_nodes, generator=torch.Generator().manual_seed(seed))
    again = GraphBatch(
        graphs.x[order.argsort()],
        order[graphs.edge_index],
        graphs.node_ptr,
        graphs.y,
        graphs.edge_attr,
    )
    numbers = Trees.of(again, 2).of_node[order.numpy()]
    assert numbers.tolist() == Trees.of(graphs, 2).of_node.tolist()


@pytest.mark.parametrize("heaps", [1, 2, 50])
def test_rows_of_one_heap_are_told_apart(heaps: int) -> None:
    rows = np.random.default_rng(0).integers(0, 3, (50, 4)).astype(np.float32)
    expected, which = np.unique(rows, axis=0, return_inverse=True)
    mixed_up = (which.reshape(-1) % heaps).astype(np.uint64)
    for found in (rows_in_heaps(rows, mixed_up), distinct_rows(rows)):
        assert np.array_equal(found[0], expected)
        assert np.array_equal(found[1], which.reshape(-1))


def test_negative_zero_is_zero() -> None:
    rows, which = distinct_rows(np.array([[0.0], [-0.0]], np.float32))
    assert (len(rows), which.tolist()) == (1, [0, 0])


def transactions_of(lists: list[set[int]], y: list[int]) -> Transactions:
    entries = [(item, owner) for owner, items in enumerate(lists) for item in items]
    items, owners = np.array(entries, np.int64).reshape(-1, 2).T
    return Transactions.of(items, owners, np.array(y), 2)


def groups_of(sets: ItemSets) -> list[list[int]]:
    """Return the items of all sets."""
    items, counts = sets.members(np.arange(len(sets)))
    rest = iter(items.tolist())
    return [list(itertools.islice(rest, count)) for count in counts.tolist()]


def as_dict(transactions: Transactions, label: int, enough: Enough) -> dict[frozenset[int], int]:
    sets = frequent_sets(transactions, label, enough)
    supports = sets.supports[:, label].tolist()
    return dict(zip(map(frozenset, groups_of(sets)), supports, strict=True))


baskets = st.lists(
    st.tuples(st.sets(st.integers(0, 6), max_size=6), st.integers(0, 1)), min_size=2, max_size=90
)


@settings(deadline=None, max_examples=60)
@given(drawn=baskets, support=st.integers(1, 6))
def test_sets_are_those_of_mlxtend(drawn: list[tuple[set[int], int]], support: int) -> None:
    lists, y = [items for items, _ in drawn], [label for _, label in drawn]
    transactions = transactions_of(lists, y)
    for label in (0, 1):
        own = [items for items, of in drawn if of == label]
        expected: dict[frozenset[int], int] = {}
        if len(own) >= support:
            table = pd.DataFrame([[item in items for item in range(7)] for items in own])
            found = fpgrowth(table, min_support=(support - 0.5) / len(own), use_colnames=True)
            expected = {
                frozenset(map(int, items)): round(share * len(own))
                for items, share in zip(found["itemsets"], found["support"], strict=True)
            }
        assert as_dict(transactions, label, Enough(support)) == expected


@settings(deadline=None, max_examples=30)
@given(drawn=baskets)
def test_supports_of_all_classes_and_large_sets_alone(drawn: list[tuple[set[int], int]]) -> None:
    lists, y = [items for items, _ in drawn], [label for _, label in drawn]
    transactions = transactions_of(lists, y)
    sets = frequent_sets(transactions, 0, Enough(1))
    groups = groups_of(sets)
    for group, supports in zip(groups, sets.supports, strict=True):
        holding = [label for held, label in drawn if held.issuperset(group)]
        assert supports.tolist() == [holding.count(0), holding.count(1)]
    assert sets.totals(np.arange(7) + 1).tolist() == [sum(group) + len(group) for group in groups]
    few = as_dict(transactions, 0, Enough(1, 2, 3))
    every = as_dict(transactions, 0, Enough(1))
    assert few == {s: n for s, n in every.items() if len(s) <= 2 or n >= 3}


def test_too_many_sets_are_refused() -> None:
    transactions = transactions_of([set(range(20))] * 2, [0, 1])
    with pytest.raises(CondenseError, match=r"class 1: more than 1,000 sets .* in 1 or more"):
        frequent_sets(transactions, 1, Enough(1), 1000)


def mined(graphs: GraphBatch, **changes: Any) -> tuple[CondensedTrees, dict[str, float]]:
    config = CondenseConfig("motifs", "mirage", per_class=changes.pop("per_class", 2), **changes)
    workspace = Workspace(Path("unused"), {})
    (snapshot,) = condense(GraphsProblem(graphs, 2), config, workspace)
    return snapshot.payload, dict(snapshot.losses)  # type: ignore[return-value]


def brute_patterns(
    graphs: GraphBatch, depth: int, supports: tuple[int, int]
) -> set[tuple[int, int, frozenset[Any]]]:
    """Return class, support and trees of every pattern, by the definition."""
    held = []
    for number in range(len(graphs)):
        nodes = range(int(graphs.node_ptr[number]), int(graphs.node_ptr[number + 1]))
        held.append({as_tuple(graphs, node, depth) for node in nodes})
    found = set()
    subsets = {
        frozenset(some)
        for trees in held
        for length in range(1, len(trees) + 1)
        for some in itertools.combinations(sorted(trees), length)
    }
    for some in subsets:
        counts = [0, 0]
        for trees, label in zip(held, graphs.y.tolist(), strict=True):
            counts[label] += some <= trees
        for label in (0, 1):
            if counts[label] >= supports[label] and counts[1 - label] < supports[1 - label]:
                found.add((label, counts[label], some))
    return found


def as_patterns(payload: CondensedTrees) -> list[tuple[int, frozenset[Any]]]:
    """Return class and trees of every pattern of a payload, read back from its batch."""
    batch = payload.batch(0.5, CPU)
    assert batch.pooled is not None
    roots = batch.pooled.nonzero().view(-1).tolist()
    trees: list[set[Any]] = [set() for _ in range(len(batch))]
    for root in roots:
        trees[int(batch.graph_of[root])].add(as_tuple(batch, root, 4))
    return [(int(y), frozenset(some)) for y, some in zip(batch.y, trees, strict=True)]


def pruned(tree: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a tree as one that is unrolled further than it goes: leaves have no children."""
    return (tree[0], *sorted((bond, pruned(child)) for bond, child in tree[1:]))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bonds", [1, 2])
def test_patterns_are_those_of_the_definition(seed: int, bonds: int) -> None:
    graphs = random_graphs(seed, graphs=60, labels=3, bonds=bonds, most=4)
    payload, _ = mined(graphs, depth=1, supports="3,2")
    expected = brute_patterns(graphs, 1, (3, 2))
    found = as_patterns(payload)
    assert set(found) == {(y, frozenset(map(pruned, trees))) for y, _, trees in expected}
    assert len(found) == len(expected)
    supports = {(y, frozenset(map(pruned, trees))): count for y, count, trees in expected}
    weights = payload.weights
    assert float(weights.mean()) == pytest.approx(1)
    for label in (0, 1):
        own = payload.y == label
        counts = torch.tensor([supports[pattern] for pattern in found])[own].float()
        expected_weights = counts / counts.sum() * len(found) / 2
        assert torch.allclose(weights[own], expected_weights)


def test_layers_see_the_same_at_a_root_as_at_the_node() -> None:
    graphs = random_graphs(3, graphs=30, labels=3, bonds=1)
    payload, _ = mined(graphs, depth=2, supports="2,2")
    batch = payload.batch(0.5, CPU)
    assert batch.pooled is not None
    torch.manual_seed(0)
    layers = [GINConv(torch.nn.Linear(3, 5)), GINConv(torch.nn.Linear(5, 4))]

    def embedded(some: GraphBatch) -> torch.Tensor:
        x = some.x
        for layer in layers:
            x = layer(x, some.edge_index).tanh()
        return x.detach()

    apart = embedded(batch)[batch.pooled][:, None] - embedded(graphs)
    assert float(apart.abs().amax(dim=2).min(dim=1).values.max()) < 1e-5


@pytest.mark.parametrize("bonds", [1, 2])
def test_what_is_kept_reads_back_exactly(bonds: int) -> None:
    payload, _ = mined(random_graphs(1, graphs=30, bonds=bonds), depth=1, supports="3,3")
    stored = payload.stored()
    arrays = stored.to_arrays()
    assert FORMS["trees"].problem(arrays) == ""
    record = stored.to_record()
    again = StoredTrees.from_record({**record, "payload": record["payload"]})
    assert again is not None
    for name, array in again.to_arrays().items():
        assert array.dtype == arrays[name].dtype
        assert np.array_equal(array, arrays[name])
    assert again.to_arrays().keys() == arrays.keys()
    assert ("bonds" in arrays) == (bonds > 1)
    back = again.payload().detach()
    for one, other in zip(as_patterns(back), as_patterns(payload), strict=True):
        assert one == other
    assert stored.is_finite
    assert stored.bytes == sum(array.nbytes for array in arrays.values())


def test_sizes_and_graphs_of_a_set() -> None:
    payload, _ = mined(random_graphs(1, graphs=30), depth=1, supports="3,3")
    stored = payload.stored()
    data = stored.data(0.5)
    columns = stored.columns(0.5)
    assert columns.keys() == StoredTrees.blank.keys()
    assert columns["items"] == len(data) == len(stored.y)
    assert columns["nodes"] == sum(one.num_nodes for one in data)
    assert columns["edges"] == sum(one.num_edges for one in data)
    dense = sum(4 * (one.num_nodes**2 + one.x.numel()) for one in data)
    assert columns["bytes_dense"] == dense
    assert 0 < columns["bytes_compact"] < dense
    for one in data:
        assert int(one.pooled.sum()) == one.num_nodes - one.num_edges


@pytest.mark.parametrize("per_class", [1, 4, 16])
def test_a_size_is_met_by_every_class(per_class: int) -> None:
    graphs = random_graphs(5, graphs=120, labels=3, most=7)
    payload, found = mined(graphs, depth=1, per_class=per_class, nodes=6)
    share = per_class * 4 * 6 * (6 + 3)
    sizes = [4 * one.num_nodes * (one.num_nodes + 3) for one in payload.stored().data(0.5)]
    supports = (int(found["support_0"]), int(found["support_1"]))
    every = brute_patterns(graphs, 1, supports)
    for label in (0, 1):
        own = [size for size, y in zip(sizes, payload.y.tolist(), strict=True) if y == label]
        trees = [some for y, _, some in every if y == label]
        whole = sum(4 * n * (n + 3) for n in (sum(len(tree) for tree in some) for some in trees))
        assert sum(own) <= share <= whole
        assert len(own) <= len(trees)


def test_the_same_job_gives_the_same_set() -> None:
    graphs = random_graphs(5, graphs=60, labels=3)
    one, other = (mined(graphs, seed=seed)[0].stored().to_arrays() for seed in (0, 1))
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_supports_that_leave_nothing_say_which_would() -> None:
    graphs = random_graphs(5, graphs=60, labels=3)
    with pytest.raises(CondenseError, match="supports 1000,2 leave class 0 without a pattern"):
        mined(graphs, supports="1000,2")
    with pytest.raises(CondenseError) as caught:
        mined(graphs, supports="1000,2")
    works = int(str(caught.value).rpartition("as they are, ")[2].split()[0])
    payload, _ = mined(graphs, supports=f"{works},2")
    assert sorted(set(payload.y.tolist())) == [0, 1]
    with pytest.raises(CondenseError, match=f"leave class 0 .* {works} or less leaves it one"):
        mined(graphs, supports=f"{works + 1},2")


def test_supports_are_one_for_each_class() -> None:
    graphs = random_graphs(5)
    with pytest.raises(CondenseError, match="for each of 2 classes, as in 100,100"):
        mined(graphs, supports="3,3,3")
    with pytest.raises(ConfigError, match="supports"):
        mined(graphs, supports="many")


def test_classes_that_are_alike_have_no_patterns() -> None:
    one = random_graphs(2, graphs=8)
    twice = one.select(torch.arange(8).repeat(2))
    alike = GraphBatch(
        twice.x, twice.edge_index, twice.node_ptr, torch.arange(16) // 8, twice.edge_attr
    )
    with pytest.raises(CondenseError, match="without a pattern"):
        mined(alike, supports="2,2")


def test_graphs_without_edges_are_their_labels() -> None:
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    graphs = GraphBatch(
        x,
        torch.empty((2, 0), dtype=torch.int64),
        torch.arange(5),
        torch.tensor([0, 1, 0, 1]),
    )
    payload, _ = mined(graphs, supports="2,2")
    assert payload.x.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert payload.parents.tolist() == [-1, -1]
    assert payload.batch(0.5, CPU).num_edges == 0
