"""The house keeps its layers: imports, lazy ones too, only go down, and never in a circle.

A kind is found through a registry of reference texts, so nothing below a kind imports it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("benchquery", "benchbuild")
KINDS = {
    "benchquery": ("architectures", "condensed", "weights", "cells"),
    "benchbuild": ("tune", "darts", "condense", "evaluate", "choose"),
}
"""Kinds whose names mean nothing else: ``train`` is also a part of a split."""

LAYERS = {
    "benchquery": (
        ("", "errors", "_imports", "_typing", "naming", "allowed", "text", "pickles", "program"),
        ("places", "units"),
        ("table",),
        ("remote",),
        ("analysis", "figures"),
        ("kinds",),
        ("search",),
        ("adapters", "compat"),
        ("explorer", "commands"),
        ("testing", "fuzzing", "cli", "__main__"),
    ),
    "benchbuild": (
        ("", "errors"),
        ("typed",),
        ("hyperparameters",),
        ("pipeline",),
        ("engines",),
        ("datasets",),
        ("compute",),
        ("kinds",),
        ("publishing",),
        ("commands", "api"),
        ("testing", "fuzzing", "cli", "__main__"),
    ),
}
"""Lowest first. What a part of a package may import: its own layer and those below it."""

UPSTAIRS = re.compile(r"\.(commands?|view|options|inspect|plan)(\.|$)")
"""Modules of a kind that belong to the command line or the explorer, whose layer they share."""


@cache
def modules() -> dict[str, Path]:
    """All modules of both packages by name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers see."""
    for child in ast.iter_child_nodes(tree):
        if is_type_checking(child):
            assert isinstance(child, ast.If)
            for other in child.orelse:
                yield from statements(ast.Module([other], []))
            continue
        yield child
        yield from statements(child)


def named(node: ast.AST) -> Iterator[str]:
    """The names that an import statement asks for, from the most special one on."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imports(name: str) -> frozenset[str]:
    """The modules of this project that a module imports, wherever in its code."""
    found = set()
    for node in statements(ast.parse(modules()[name].read_text())):
        for full in named(node):
            target = full if full in modules() else full.rpartition(".")[0]
            if target in modules() and target != name:
                found.add(target)
    return frozenset(found)


def layer(name: str) -> int:
    package, _, rest = name.partition(".")
    part = rest.partition(".")[0]
    layers = LAYERS[package]
    if part == "kinds" and UPSTAIRS.search(name):
        part = "commands"
    return next(level for level, parts in enumerate(layers) if part in parts)


def test_every_part_of_the_packages_has_a_layer() -> None:
    for name in modules():
        assert layer(name) >= 0


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_go_down(package: str) -> None:
    wrong = [
        f"{name} imports {target}"
        for name in modules()
        if name.partition(".")[0] == package
        for target in imports(name)
        if target.partition(".")[0] == package and layer(target) > layer(name)
    ]
    assert not wrong


def test_benchquery_imports_neither_benchbuild_nor_torch() -> None:
    for name, path in modules().items():
        if name.startswith("benchquery"):
            for node in statements(ast.parse(path.read_text())):
                heads = {full.partition(".")[0] for full in named(node)}
                assert not heads & {"torch", "torch_geometric", "benchbuild"}, name


def test_there_are_no_circles() -> None:
    """Walk the imports depth first; a module that is met on its own way up is in a circle."""
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, f"circle: {' -> '.join([*above[above.index(name) :], name])}"
        if name not in done:
            for target in sorted(imports(name)):
                visit(target, (*above, name))
            done.add(name)

    for name in modules():
        visit(name, ())


@pytest.mark.parametrize("package", PACKAGES)
def test_only_kinds_and_registries_name_a_kind(package: str) -> None:
    """What serves every kind compares with no kind's name and has no list of them."""
    listed = "|".join(KINDS[package])
    pattern = re.compile(rf"""(?:==|!=|\bin\b|\bcase\b|kind=)[^\n]*["'](?:{listed})["']""")
    for name, path in modules().items():
        if name.startswith(package) and ".kinds" not in name and not name.endswith("registry"):
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                assert not pattern.search(line), (
                    f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
                )


def test_condense_does_not_import_evaluate() -> None:
    for name in modules():
        if name.startswith("benchbuild.kinds.condense"):
            assert not [t for t in imports(name) if t.startswith("benchbuild.kinds.evaluate")], name
