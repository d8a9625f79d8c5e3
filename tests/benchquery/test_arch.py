from __future__ import annotations

import copy
import pickle
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nas_bench_graph.architecture import Arch as PublishedArch

from benchquery import LINKS, OPS, Arch
from benchquery.errors import AllSkipError, ArchitectureError, UnknownHashError
from benchquery.kinds.architectures.arch import RAW_LINKS, RAW_OPS

raw_forms = st.tuples(st.sampled_from(RAW_LINKS), st.sampled_from(RAW_OPS[:-1]))


def test_hash_equals_the_published_one_on_every_raw_form() -> None:
    hashes = set()
    for link in RAW_LINKS:
        for ops in RAW_OPS[:-1]:
            ours = Arch(link, ops).valid_hash()
            assert ours == PublishedArch(list(link), list(ops)).valid_hash(), (link, ops)
            hashes.add(ours)
    assert len(RAW_LINKS) * len(RAW_OPS) == 157_464
    assert len(hashes) == 26_206


@pytest.mark.parametrize("link", RAW_LINKS)
def test_all_skip_is_a_named_error(link: tuple[int, ...]) -> None:
    with pytest.raises(AllSkipError, match="four skips"):
        Arch(link, ["skip"] * 4)


@given(raw_forms)
def test_canonical_form_is_a_fixed_point(form: tuple[tuple[int, ...], tuple[str, ...]]) -> None:
    arch = Arch(*form)
    canonical = arch.canonical()
    assert (arch.link, arch.ops) == form
    assert canonical == arch
    assert hash(canonical) == hash(arch)
    assert canonical.link in LINKS
    assert Arch.from_hash(arch.valid_hash()) == arch
    assert (canonical.canonical().link, canonical.canonical().ops) == (
        canonical.link,
        canonical.ops,
    )


@given(raw_forms)
def test_repr_copies_and_pickles_keep_the_raw_form(
    form: tuple[tuple[int, ...], tuple[str, ...]],
) -> None:
    arch = Arch(*form)
    for twin in (eval(repr(arch)), copy.deepcopy(arch), pickle.loads(pickle.dumps(arch))):
        assert twin == arch
        assert (twin.link, twin.ops) == form


def test_architectures_are_immutable_and_distinct() -> None:
    arch = Arch([0, 1, 2, 1], ["gcn", "gin", "fc", "cheb"])
    with pytest.raises(AttributeError):
        arch.link = (0, 0, 0, 0)  # type: ignore[misc]
    with pytest.raises(AttributeError):
        arch.extra = 1  # type: ignore[attr-defined]
    assert arch != Arch([0, 1, 2, 1], ["gcn", "gin", "fc", "gat"])
    assert arch != arch.valid_hash()
    link = [0, 1, 2, 1]
    kept = Arch(link, ["gcn", "gin", "fc", "cheb"])
    link[1] = 0
    assert kept.link == (0, 1, 2, 1)


@pytest.mark.parametrize(
    ("link", "ops", "named"),
    [
        ([0, 0, 0, 4], ["gcn"] * 4, r"link\[3\] is 4.*from 0 to 3"),
        ([1, 0, 0, 0], ["gcn"] * 4, r"link\[0\] is 1.*from 0 to 0"),
        ([0, -1, 0, 0], ["gcn"] * 4, r"link\[1\] is -1"),
        ([0, "1", 0, 0], ["gcn"] * 4, r"link\[1\] is '1'"),
        ([0, 0.5, 0, 0], ["gcn"] * 4, r"link\[1\] is 0\.5"),
        ([0, 0, 0], ["gcn"] * 4, "link must have 4 entries, not 3"),
        ([0] * 4, ["gcn"] * 5, "ops must have 4 entries, not 5"),
        ([0] * 4, ["gcn", "gcn", "mlp", "gcn"], "unknown operation 'mlp'.*gat, gcn"),
        ([0] * 4, ["gcn", [], "fc", "gcn"], r"unknown operation \[\]"),
        (3, ["gcn"] * 4, "lists of 4 entries, not 3"),
        ([0] * 4, None, "lists of 4 entries, not .* and None"),
    ],
)
def test_bad_forms_are_named(link: object, ops: object, named: str) -> None:
    with pytest.raises(ArchitectureError, match=named):
        Arch(link, ops)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [88888, 99999, 100000, -1, 10, 1.0, "61237", None, 3210])
def test_unknown_hashes_are_named(number: object) -> None:
    with pytest.raises(UnknownHashError, match=str(number)):
        Arch.from_hash(number)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("link", "depth", "leaves"),
    [
        ((0, 0, 0, 0), 1, (1, 2, 3, 4)),
        ((0, 0, 1, 2), 2, (3, 4)),
        ((0, 1, 1, 2), 3, (3, 4)),
        ((0, 1, 2, 3), 4, (4,)),
    ],
)
def test_depth_and_leaves(link: tuple[int, ...], depth: int, leaves: tuple[int, ...]) -> None:
    arch = Arch(link, ["gat", "gcn", "gin", "cheb"])
    assert (arch.depth, arch.leaves) == (depth, leaves)


def test_space_of_an_architecture() -> None:
    assert Arch([0, 1, 2, 3], ["gcn", "sage", "arma", "fc"]).is_in("proteins")
    assert not Arch([0, 1, 2, 3], ["gcn", "sage", "arma", "gat"]).is_in("proteins")
    assert Arch([0, 1, 2, 3], ["gcn", "sage", "arma", "gat"]).is_in("full")


@given(raw_forms)
def test_drawings_show_every_operation(form: tuple[tuple[int, ...], tuple[str, ...]]) -> None:
    arch = Arch(*form)
    text = arch.draw()
    for op in OPS:
        assert text.replace("─", " ").split().count(op) == arch.canonical().ops.count(op)
    assert text.count("output") == len(arch.leaves)
    assert len({len(line) for line in text.splitlines()}) == 1
    drawing = ET.fromstring(arch.to_svg())
    names = [node.text for node in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert names == ["input", *arch.canonical().ops, "output"]
    edges = list(drawing.iter("{http://www.w3.org/2000/svg}path"))
    assert len(edges) == 4 + len(arch.leaves)
