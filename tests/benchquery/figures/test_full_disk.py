"""Files that find no room: nothing half-written is left, and what was there before stays."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from benchquery import lightread
from benchquery.errors import QueryError
from benchquery.figures.page import save, write_report
from benchquery.figures.style import new_figure
from benchquery.search import run
from benchquery.search import save as save_traces

ROOM = 500


@contextmanager
def little_room() -> Iterator[None]:
    """Let no file become larger than some bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def draw(path: Path) -> None:
    figure = new_figure(2, 2)
    figure.subplots().plot([0, 1], [0, 1])
    save(figure, path)


WRITERS: dict[str, Callable[[Path], None]] = {
    "a.png": draw,
    "a.svg": draw,
    "a.pdf": draw,
    "a.html": draw,
    "report.html": lambda path: write_report(lightread("proteins").take(np.arange(0)), path),
    "a.csv": lambda path: lightread("proteins").export(path),
    "a.json": lambda path: lightread("proteins").export(path),
    "a.parquet": lambda path: save_traces([run("random", "proteins", 5)], path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_files_are_there_whole_or_not_at_all(tmp_path: Path, name: str) -> None:
    path, write = tmp_path / name, WRITERS[name]
    with little_room(), pytest.raises(QueryError, match=f"can't write .*{name}: File too large"):
        write(path)
    assert not list(tmp_path.iterdir())
    write(path)
    whole = path.read_bytes()
    assert len(whole) > ROOM
    with little_room(), pytest.raises(QueryError, match="can't write"):
        write(path)
    assert path.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [path]
