"""Files and folders that may not be read or written: one clear line of the project's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import benchquery.search
from benchbuild.fuzzing.sample_runs import write_synthetic
from benchbuild.pipeline.merge import merge
from benchbuild.pipeline.runfolder import RUN
from tests.unprivileged import ROOT, as_nobody

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that everybody may look into, with a run, a table, traces and a place to write."""
    with tempfile.TemporaryDirectory() as made:
        path = Path(made)
        path.chmod(0o755)
        write_synthetic(path / "run")
        merge([path / "run"], path / "tables" / "table")
        traces = [benchquery.search.run("random", "cora", 5, seed=seed) for seed in (0, 1)]
        benchquery.search.save(traces, path / "traces.parquet")
        (path / "x.bench").write_bytes(b"N.")
        (path / "data" / "cora").mkdir(parents=True)
        for name in ("mine", "closed"):
            (path / name).mkdir()
        (path / "mine").chmod(0o777)
        (path / "closed").chmod(0)
        yield path


def forbidden(folder: Path, what: str, *inside: str, mode: int = 0) -> Path:
    """Copy something, and forbid the copy or what is inside it."""
    place = folder / "-".join(["no", what.replace("/", "-"), *inside, str(mode)]).replace("/", "-")
    if not place.exists():
        copy = shutil.copytree if (folder / what).is_dir() else shutil.copy
        copy(folder / what, place)
        for path in [place.joinpath(*inside)] if inside else [place]:
            path.chmod(mode)
    return place


def check(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> None:
    """Carry out commands as nobody; each must end with 2 and one line that names the thing."""
    for (_, words), (code, errors) in zip(pairs, as_nobody(pairs), strict=True):
        said = f"{' '.join(words)}: {code}: {errors}"
        assert code == 2, said
        assert errors.count("\n") == 1, said
        assert errors.startswith(f"{words[0]}: error: "), said
        assert "ermission denied" in errors, said
        assert "Errno" not in errors, said
        assert words[-1] in errors, said


def test_what_may_not_be_read_is_named(folder: Path) -> None:
    out = ["--out", str(folder / "mine" / "new")]
    cases: list[tuple[Sequence[str], str, Sequence[str]]] = [
        (["benchquery", "datasets", "--source"], "tables", ()),
        (["benchquery", "top", "table", "--source"], "tables", ()),
    ]
    for inside in ((), ("manifest.json",), ("summary.parquet",), ("curves.h5",)):
        cases.append((["benchquery", "verify"], "tables/table", inside))
        cases.append((["benchbuild", "verify"], "tables/table", inside))
    for inside in ((), (RUN,), ("parts",)):
        for words in (["status"], ["verify"], ["merge", *out]):
            cases.append((["benchbuild", *words], "run", inside))
    for inside in ((), (RUN,)):
        words = ["train", "--dataset", "karate", "--sample", "1", "--dry-run", "--out"]
        cases.append((["benchbuild", *words], "run", inside))
    pairs = []
    for number, (words, what, inside) in enumerate(cases):
        before = [f"{word}{number}" if word == out[1] else word for word in words]
        after = [word for word in words if word != "--dry-run"]
        bad = forbidden(folder, what, *inside)
        pairs.append(([*before, str(folder / what)], [*after, str(bad)]))
    check(pairs)


@pytest.mark.slow
def test_what_may_not_be_written_is_named(folder: Path) -> None:
    mine, theirs = str(folder / "mine"), str(folder / "theirs")
    Path(theirs).mkdir()
    shutil.copytree(folder / "run", Path(theirs) / "run")
    words = [
        ["benchquery", "export", "cora", "--out", "x.csv"],
        ["benchquery", "export", "cora", "--out", "x.parquet"],
        ["benchquery", "plot", "cora", "pareto", "--out", "x.svg"],
        ["benchquery", "explore", "--export", "site"],
        ["benchquery", "search", "cora", "--budget", "3", "--out", "x.parquet"],
        ["benchbuild", "merge", str(folder / "run"), "--out", "table"],
    ]
    pairs = [([*rest, f"{mine}/{name}"], [*rest, f"{theirs}/{name}"]) for *rest, name in words]
    train = ["benchbuild", "train", "--dataset", "karate", "--sample", "1", "--out"]
    pairs += [([*train, f"{mine}/dry", "--dry-run"], [*train, f"{theirs}/new"])]
    check(pairs)
    assert sorted(path.name for path in Path(theirs).iterdir()) == ["run"]


def test_a_table_among_others_is_left_out(folder: Path) -> None:
    source = folder / "several"
    shutil.copytree(folder / "tables", source)
    shutil.copytree(folder / "tables" / "table", source / "closed")
    before = ["benchquery", "datasets", "--source", str(folder / "tables")]
    (source / "closed" / "manifest.json").chmod(0)
    ((code, errors),) = as_nobody([(before, ["benchquery", "datasets", "--source", str(source)])])
    assert code == 0
    assert errors.startswith(f"left out: {source}/closed: ")
    assert errors.count("\n") == 1


@pytest.mark.slow
def test_values_from_python_are_refused_alike(folder: Path) -> None:
    """Traces, original files and data roots, which no command reads alone."""
    traces = forbidden(folder, "traces.parquet")
    bench = forbidden(folder, "x.bench")
    root = forbidden(folder, "data", "cora")
    script = f"""
import os, sys
from benchbuild.datasets import load
from benchbuild.errors import BenchBuildError
from benchquery import errors, read, search
import difflib, encodings.idna, requests, torch_geometric.datasets
uses = [
    (lambda: search.load({str(traces)!r}), errors.CorruptTableError),
    (lambda: read({str(bench)!r}), errors.CorruptTableError),
    (lambda: read({str(folder / "closed" / "x.bench")!r}), errors.CorruptTableError),
    (lambda: load("cora", {str(root)!r}), BenchBuildError),
]
try:
    load("cora", {str(folder / "data")!r})
except BenchBuildError:
    pass
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
for use, kind in uses:
    try:
        use()
    except kind as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    for line, path in zip(lines, (traces, bench, folder / "closed", root), strict=True):
        assert str(path) in line
        assert "ermission denied" in line
