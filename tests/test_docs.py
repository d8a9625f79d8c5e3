"""Every code block of the README and the docs runs, and prints what it says it prints.

``pycon`` blocks are doctests, ``python`` blocks are run as they stand; both share one
namespace a file. In ``console`` blocks each line after a ``$`` is run by a shell, and
what it prints, or why it fails, must be what follows. ``sh`` blocks may only name the
scripts that CI runs.
"""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import benchquery

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
MODULES = [
    module.name
    for package in ("benchquery", "benchbuild")
    for module in pkgutil.walk_packages([str(ROOT / package)], prefix=f"{package}.")
    if not module.name.endswith("__main__")
]
SLOW = {
    "analysis", "building", "condensation", "condensed-tasks", "differentiable", "fidelity",
    "graph-level", "images", "publishing", "search",
}  # fmt: skip
"""Pages whose examples train, condense or search for more than ten seconds."""
SCRIPTS = {"sh scripts/run.sh", "sh scripts/test.sh"}


def run_console(block: str, folder: Path, bin_folder: Path) -> None:
    """Run each command of a block and compare what it prints with what the block says."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, check=False, cwd=folder,
            env=os.environ | {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
                              "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        printed = (done.stderr if done.returncode else done.stdout).rstrip()
        lines = [line.rstrip() for line in printed.splitlines()]
        assert lines == [line.rstrip() for line in expected.rstrip().splitlines()], command


@pytest.fixture(scope="session")
def bin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the commands, so that they run whether or not they are installed."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("benchquery", "benchbuild"):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {name} "$@"\n')
        script.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=str(page.relative_to(ROOT)),
            marks=[pytest.mark.slow] if page.stem in SLOW else [],
        )
        for page in PAGES
    ],
)
def test_every_code_block_runs(
    page: Path, tmp_path: Path, bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    namespace: dict[str, Any] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    text = page.read_text()
    assert text.count("```") == 2 * len(FENCE.findall(text)), f"{page.name} has an odd fence"
    for number, (_, language, indented) in enumerate(FENCE.findall(text), start=1):
        where = f"{page.name}, block {number}"
        block = textwrap.dedent(indented)
        if language == "pycon":
            parsed = doctest.DocTestParser().get_doctest(block, namespace, where, str(page), 0)
            runner.run(parsed, clear_globs=False)
            namespace.update(parsed.globs)
            assert runner.failures == 0, where
        elif language == "python":
            exec(compile(block, where, "exec"), namespace)
        elif language == "console":
            run_console(block, tmp_path, bin_folder)
        elif language == "sh":
            assert set(block.strip().splitlines()) <= SCRIPTS, where
        else:
            assert language in {"text", "bibtex"}, f"{where}: nothing runs {language!r}"


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        test.globs |= {"Arch": benchquery.Arch, "lightread": benchquery.lightread}
        results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
        assert results.failed == 0, test.name


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
