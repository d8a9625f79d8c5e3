"""Code written for the published package runs on these tables: the same names, the same answers."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import nas_bench_graph as theirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import benchquery.compat.nas_bench_graph as ours
from benchquery.errors import ArchitectureError
from benchquery.kinds.architectures.arch import LINKS, OPS, RAW_LINKS

SCRIPT = """
import random
{imported}
from nas_bench_graph import light_read, Arch, gnn_list, gnn_list_proteins, all_archs

def reward(links, ops, bench):
    code = Arch(links, ops).valid_hash()
    if code == "88888" or code == 88888:
        return 0
    return bench[code]["perf"]

rng = random.Random(7)
for name, operations in (("cora", gnn_list), ("proteins", gnn_list_proteins)):
    bench = light_read(name)
    best = max(
        reward([rng.randint(0, place) for place in range(4)],
               [rng.choice(operations) for _ in range(4)], bench)
        for _ in range(50)
    )
    print(name, len(bench), best, reward([0, 1, 2, 3], ["skip"] * 4, bench))
"""
"""What AutoGL's example and the published one for NNI do with the package, without those."""


def test_tables_are_equal(published: tuple[str, dict[int, dict[str, float]]]) -> None:
    name, table = published
    assert ours.light_read(name) == table


def test_names_are_equal() -> None:
    assert ours.gnn_list == theirs.gnn_list
    assert ours.gnn_list_proteins == theirs.gnn_list_proteins
    assert ours.link_list == theirs.link_list


def test_all_architectures_come_in_the_same_order() -> None:
    found, expected = (
        [(arch.link, arch.ops) for arch in package.all_archs()] for package in (ours, theirs)
    )
    assert found == expected


@given(st.sampled_from(RAW_LINKS), st.tuples(*[st.sampled_from(OPS)] * 4))
def test_hashes_are_equal(link: tuple[int, ...], ops: tuple[str, ...]) -> None:
    expected = theirs.Arch(list(link), list(ops)).valid_hash()
    assert ours.Arch(list(link), list(ops)).valid_hash() == expected


@given(st.sampled_from(LINKS), st.tuples(*[st.sampled_from(OPS)] * 4))
def test_forms_are_equal(link: tuple[int, ...], ops: tuple[str, ...]) -> None:
    other, arch = theirs.Arch(list(link), list(ops)), ours.Arch(link, ops)
    assert arch.hash_arch() == other.hash_arch()
    assert arch.check_isomorph() == other.check_isomorph()
    assert (arch.link, arch.ops) == (other.link, other.ops)
    known = [op for op in ops if op in ours.gnn_list_proteins]
    few = (known * 4)[:4]
    if few:
        assert ours.Arch(link, few).hash_arch(use_proteins=True) == theirs.Arch(
            list(link), few
        ).hash_arch(use_proteins=True)


def test_an_architecture_may_be_drawn_and_changed() -> None:
    arch = ours.Arch()
    with pytest.raises(ArchitectureError):
        arch.valid_hash()
    random.seed(3)
    arch.random_arch()
    assert arch.valid_hash() in ours.light_read("cora")
    arch.link, arch.ops = [0, 1, 2, 3], ["skip"] * 4
    assert arch.valid_hash() == ours.ALL_SKIP == 88888


def test_hyper_parameters_print_as_theirs() -> None:
    names = [list(json.loads(repr(package.random_hp()))) for package in (ours, theirs)]
    assert names[0] == names[1]
    hp = ours.HP()
    hp.lr = 0.1  # type: ignore[attr-defined]
    assert repr(hp) == '{"lr": 0.1}'


def test_scripts_print_the_same_by_either_package(tmp_path: Path) -> None:
    shown = []
    for imported in ("", "from benchquery.compat import install; install()"):
        script = tmp_path / "search.py"
        script.write_text(SCRIPT.format(imported=imported))
        done = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        shown.append(done.stdout)
    assert shown[0] == shown[1]
    assert shown[0].startswith("cora 26206 0.")
