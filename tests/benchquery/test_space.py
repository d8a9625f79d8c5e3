from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nas_bench_graph.architecture import all_archs

from benchquery import LINKS, OPS, SPACES, Arch, get_space
from benchquery.errors import QueryError, UnknownHashError, UnknownNameError
from benchquery.kinds.architectures.arch import RAW_LINKS, RAW_OPS
from benchquery.kinds.architectures.encoding import ENCODINGS, FACTS

FULL, PROTEINS = SPACES["full"], SPACES["proteins"]
members = st.sampled_from(FULL.hashes.tolist()).map(Arch.from_hash)


def test_full_space_is_the_published_one() -> None:
    published = {Arch(arch.link, arch.ops).valid_hash() for arch in all_archs()}
    assert len(FULL) == 26_206
    assert set(FULL.hashes.tolist()) == published


def test_proteins_space_is_the_published_table(published: tuple[str, dict[int, object]]) -> None:
    name, table = published
    space = PROTEINS if name == "proteins" else FULL
    assert sorted(table) == space.hashes.tolist()


@pytest.mark.parametrize("space", [FULL, PROTEINS], ids=["full", "proteins"])
def test_order_index_and_membership_agree(space: object) -> None:
    assert isinstance(space, type(FULL))
    assert [arch.valid_hash() for arch in space] == sorted(space.hashes.tolist())
    for position in (0, 1, len(space) // 2, len(space) - 1, -1):
        arch = space[position]
        assert arch in space
        assert space.index(arch) == position % len(space)
        assert arch.valid_hash() in space
    assert space[:3] == list(itertools.islice(space, 3))
    with pytest.raises(IndexError):
        space[len(space)]


def test_strangers_are_refused() -> None:
    stranger = Arch([0, 0, 0, 0], ["gat"] * 4)
    assert stranger not in PROTEINS
    assert 88888 not in FULL
    for ask in (PROTEINS.index, PROTEINS.neighbours, PROTEINS.raw_forms):
        with pytest.raises(UnknownHashError, match="proteins"):
            ask(stranger)
    with pytest.raises(UnknownNameError, match=r"'huge'.*full, proteins"):
        get_space("huge")


def test_samples_are_seeded_distinct_and_fixed_for_ever() -> None:
    drawn = FULL.sample(500, seed=7)
    assert drawn == FULL.sample(500, seed=7)
    assert drawn != FULL.sample(500, seed=8)
    assert len({arch.valid_hash() for arch in drawn}) == 500
    assert [arch.valid_hash() for arch in FULL.sample(3, seed=0)] == [55288, 86356, 61103]
    assert FULL.sample(0, seed=0) == []
    with pytest.raises(QueryError, match="2022 of the 2,021"):
        PROTEINS.sample(2022, seed=0)
    with pytest.raises(UnknownNameError, match=r"'rows'.*architectures, raw"):
        FULL.sample(1, seed=0, over="rows")


def test_sampling_over_raw_forms_draws_forms_evenly() -> None:
    forms = PROTEINS.sample(24 * 5**4 - 24, seed=0, over="raw")
    assert len({(arch.link, arch.ops) for arch in forms}) == 24 * 5**4 - 24
    seen = Counter(arch.link for arch in FULL.sample(12_000, seed=1, over="raw"))
    assert set(seen) == set(RAW_LINKS)
    assert max(seen.values()) < 1.3 * min(seen.values())


def test_raw_forms_are_all_that_mean_the_same() -> None:
    total = 0
    for arch in PROTEINS:
        forms = PROTEINS.raw_forms(arch)
        assert all(form == arch for form in forms)
        total += len({(form.link, form.ops) for form in forms})
    assert total == 24 * (5**4 - 1)


def brute_force_neighbours(arch: Arch) -> set[int]:
    """Every architecture with a raw form that differs in one place from one of this one's."""
    found = set()
    for link in RAW_LINKS:
        for ops in RAW_OPS[:-1]:
            if Arch(link, ops) != arch:
                continue
            for node in range(4):
                for op in OPS:
                    changed = [*ops[:node], op, *ops[node + 1 :]]
                    if set(changed) != {"skip"}:
                        found.add(Arch(link, changed).valid_hash())
            for other in RAW_LINKS:
                if sum(a != b for a, b in zip(link, other, strict=True)) == 1:
                    found.add(Arch(other, ops).valid_hash())
    return found - {arch.valid_hash()}


def test_neighbours_are_those_of_brute_force_and_mutual() -> None:
    for number in (61237, 88882, 0):
        arch = Arch.from_hash(number)
        neighbours = FULL.neighbours(arch)
        assert {other.valid_hash() for other in neighbours} == brute_force_neighbours(arch)
        assert all(arch in FULL.neighbours(other) for other in neighbours[::9])


def test_neighbours_stay_in_the_space() -> None:
    for arch in PROTEINS.sample(50, seed=0):
        assert all(other in PROTEINS for other in PROTEINS.neighbours(arch))


@given(members, st.integers(0, 2**32))
def test_mutation_reaches_a_neighbour(arch: Arch, seed: int) -> None:
    child = FULL.mutate(arch, random.Random(seed))
    assert child != arch
    assert child in FULL.neighbours(arch)
    assert child == FULL.mutate(arch, random.Random(seed))


@given(members, members, st.integers(0, 2**32))
def test_crossover_takes_every_node_from_a_parent(first: Arch, second: Arch, seed: int) -> None:
    child = FULL.crossover(first, second, random.Random(seed))
    for node in range(4):
        gene = (child.link[node], child.ops[node])
        assert gene in {(parent.link[node], parent.ops[node]) for parent in (first, second)}
    assert FULL.crossover(first, first, random.Random(seed)) == first


@pytest.mark.parametrize("kind", ENCODINGS)
def test_encodings_tell_all_architectures_apart(kind: str) -> None:
    sample = FULL.sample(2_000, seed=0)
    rows = FULL.encode(sample, kind)
    assert rows.shape[0] == 2_000
    assert rows.dtype == np.float32
    assert set(np.unique(rows)) == {0.0, 1.0}
    if kind != "path":
        assert len(np.unique(FULL.encode(kind=kind), axis=0)) == len(FULL)
    one_by_one = [FULL.encode([arch], kind)[0] for arch in sample[:50]]
    np.testing.assert_array_equal(rows[:50], one_by_one)


def test_adjacency_is_the_graph() -> None:
    for arch in FULL.sample(200, seed=1):
        form = arch.canonical()
        matrix = np.zeros((6, 6))
        for node, parent in enumerate(form.link, start=1):
            matrix[parent, node] = 1
        for leaf in form.leaves:
            matrix[leaf, 5] = 1
        row = FULL.encode([arch], "adjacency")[0]
        np.testing.assert_array_equal(row[:15], matrix[np.triu_indices(6, 1)])
        hot = row[15:].reshape(4, 9).argmax(axis=1)
        assert [OPS[index] for index in hot] == list(form.ops)


def test_paths_are_the_ways_through_the_graph() -> None:
    sequences = [seq for size in range(1, 5) for seq in itertools.product(OPS, repeat=size)]
    for arch in FULL.sample(100, seed=2):
        form = arch.canonical()
        ways = set()
        for leaf in form.leaves:
            way: list[str] = []
            while leaf:
                way.insert(0, form.ops[leaf - 1])
                leaf = form.link[leaf - 1]  # noqa: PLW2901
            ways.add(tuple(way))
        row = FULL.encode([arch], "path")[0]
        assert {sequences[index] for index in np.flatnonzero(row)} == ways


def test_facts_are_those_of_the_architectures() -> None:
    sample = FULL.sample(300, seed=3)
    hashes = np.array([arch.valid_hash() for arch in sample])
    facts = {name: fact(hashes).tolist() for name, fact in FACTS.items()}
    assert facts["depth"] == [arch.depth for arch in sample]
    assert facts["leaves"] == [len(arch.leaves) for arch in sample]
    assert facts["link"] == ["".join(map(str, arch.canonical().link)) for arch in sample]
    for op in OPS:
        assert facts[op] == [arch.canonical().ops.count(op) for arch in sample]
    assert len(LINKS) == 9


def test_unknown_encoding_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r"'graph2vec'.*one-hot, adjacency, path"):
        FULL.encode(FULL[:2], "graph2vec")
