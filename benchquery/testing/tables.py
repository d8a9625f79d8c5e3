"""What a table on disk must be and do, whatever its kind."""

from __future__ import annotations

import copy
import importlib.util
import itertools
import json
import os
import pickle
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import CorruptTableError, QueryError, UnknownNameError
from benchquery.table import store
from benchquery.table.kind import resolve
from benchquery.table.record import Record
from benchquery.table.rows import RowTable
from benchquery.testing.claims import claim, refuses, same, works

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    from benchquery._typing import Floats
else:
    np = LazyModule("numpy")
    pa = LazyModule("pyarrow")
    pa_csv = LazyModule("pyarrow.csv")
    pq = LazyModule("pyarrow.parquet")

_SOME = 40
"""How many keys, or files of the explorer, are looked at where there are more."""
_PLAIN = re.compile(r"[\w.:-]+")
"""Texts that stand in a condition as they are."""


def check_table(folder: str | os.PathLike[str], *, pictures: bool = True) -> None:
    """Check a table of any kind from end to end.

    It opens by its name and by its folder and verifies; what its verbs answer goes together; it
    pickles, prints and goes into other programs; a changed byte in any of its files is found; its
    pictures and its report are drawn; the explorer serves it. Nothing is written beside the table.

    Args:
        folder: The folder of the table.
        pictures: Whether to draw; without matplotlib nothing is drawn either way.

    Raises:
        AssertionError: If something is wrong; the message names it.
    """
    folder = Path(folder).resolve()
    table = _opened(folder)
    records = _check_rows(table)
    _check_keys(table)
    _check_conditions(table)
    directed = [column.name for column in table.manifest.columns if column.direction]
    for name in directed:
        if not np.isnan(table.column(name).astype(np.float64)).all():
            _check_ranking(table, name)
    _check_refusals(table)
    _check_front(table, directed)
    _check_copies(table)
    _check_texts(table, records)
    with tempfile.TemporaryDirectory() as scratch:
        _check_exchange(table, Path(scratch))
        _check_damage(folder, Path(scratch))
        if pictures and importlib.util.find_spec("matplotlib"):
            _check_pictures(table, Path(scratch))
    _check_explorer(table, folder)


def _opened(folder: Path) -> RowTable[Any]:
    with works(f"the table in {folder} does not verify"):
        store.verify(folder)
    with works(f"the table in {folder} can't be opened by its folder"):
        table = store.open_table(folder)
    whose = _whose(table)
    with works(f"{whose} can't be opened by its name"):
        by_name = store.open_table(folder.name, source=folder.parent)
    claim(
        by_name.manifest.to_json() == table.manifest.to_json(),
        f"{whose}: another table opens by its name",
    )
    claim(
        isinstance(table, resolve(table.kind.table)),
        f"{whose} opens as {type(table).__name__}, its kind says {table.kind.table}",
    )
    claim(
        folder in store.table_folders(folder.parent),
        f"{whose} is not listed among the tables of {folder.parent}",
    )
    return table


def _whose(table: RowTable[Any]) -> str:
    return f"table {table.name!r}"


def _some(things: Sequence[Any]) -> Sequence[Any]:
    """Return some of many things, spread over all of them."""
    return things[:: -(-len(things) // _SOME)] if things else things


# -------------------------------------------------------------------- rows and keys


def _check_rows(table: RowTable[Any]) -> list[Record]:
    """Check columns against what is said of them, and records against columns."""
    whose = _whose(table)
    records = table.records()
    claim(
        len(records) == table.num_rows,
        f"{whose}: it has {table.num_rows} rows, and {len(records)} records",
    )
    for name in table.columns:
        values, described = table.column(name), table.described(name)
        with works(f"{whose}: its kind does not know the column {name!r}"):
            table.kind.column(name)
        claim(len(values) == table.num_rows, f"{whose}: column {name!r} is not as long as others")
        claim(not values.flags.writeable, f"{whose}: column {name!r} can be changed")
        wanted = "object" if described.dtype == "string" else described.dtype
        claim(
            values.dtype == wanted,
            f"{whose}: column {name!r} is of type {values.dtype}, it says {described.dtype}",
        )
        claim(
            same([record[name] for record in records], values),
            f"{whose}: records and column {name!r} differ",
        )
    for name in table.kind.brief:
        claim(
            not records or name in records[0] or _is_column(table, name),
            f"{whose}: its kind is brief by {name!r}, which is no column and no fact of a row",
        )
    return records


def _is_column(table: RowTable[Any], name: str) -> bool:
    return name in {column.name for column in table.kind.columns}


def _keys(table: RowTable[Any]) -> list[Any]:
    """Return the key of every row as the columns have it."""
    cells = [table.column(name).tolist() for name in table.kind.key]
    return cells[0] if len(cells) == 1 else list(zip(*cells, strict=True))


def _check_keys(table: RowTable[Any]) -> None:
    """Check that keys lead to rows, and rows to keys."""
    whose, listed = _whose(table), list(table)
    claim(
        listed == list(dict.fromkeys(_keys(table))),
        f"{whose}: the keys that it lists are not those in its columns",
    )
    claim(len(table) == len(listed), f"{whose}: its length is not the number of its keys")
    some = _some(listed)
    looked_up = table.lookup(some)
    claim(
        set(looked_up) == set(table.columns),
        f"{whose}: looking keys up does not give all columns",
    )
    for place, key in enumerate(some):
        claim(key in table, f"{whose}: it lists the key {key!r} and says that it has none such")
        for name, value in table[key].items():
            claim(
                name not in looked_up or same(value, looked_up[name][place]),
                f"{whose}: {name!r} of {key!r} is {value!r}, and another where it is looked up",
            )
        cells = key if len(table.kind.key) > 1 else (key,)
        named = {name: str(cell) for name, cell in zip(table.kind.key, cells, strict=True)}
        with works(f"{whose}: no row is found by {named}"):
            row = table.pick(**named)
        claim(_keys(table.take([row])) == [key], f"{whose}: another row is found by {named}")
    nothing = object()
    claim(table.get(nothing) is None, f"{whose}: it has a record of what is no key")
    claim(nothing not in table, f"{whose}: it says that it has what is no key")


# -------------------------------------------------------------------- conditions


def _check_conditions(table: RowTable[Any]) -> None:
    """Check `where` with masks, texts and values against the columns themselves."""
    whose = _whose(table)
    mask = np.arange(table.num_rows) % 2 == 0
    _check_part(table, table.where(mask), mask, "every second row")
    _check_part(table, table.where(), np.ones(table.num_rows, bool), "no condition")
    for name in table.columns:
        values = table.column(name)
        if values.dtype == object:
            _check_texts_of(table, name, sorted({value for value in values.tolist() if value}))
        elif values.dtype != bool and table.num_rows:
            bound = float(np.sort(values)[len(values) // 2])
            if np.isfinite(bound):
                condition = f"{name} >= {bound!r}"
                _check_part(table, table.where(condition), values >= bound, condition)
                both = table.where(mask).where(condition)
                claim(
                    same(both.positions, table.where(mask, condition).positions),
                    f"{whose}: two conditions at once and one after the other differ: {condition}",
                )
    for wrong in ("no_such_column > 1", "nonsense"):
        with refuses(f"{whose}: the condition {wrong!r}", QueryError):
            table.where(wrong)


def _check_texts_of(table: RowTable[Any], name: str, texts: Sequence[str]) -> None:
    """Check conditions on a column of texts: one of them, and one of several."""
    values = table.column(name)
    for text in texts[:2]:
        _check_part(table, table.where(**{name: text}), values == text, f"{name}={text!r}")
        if _PLAIN.fullmatch(text):
            condition = f"{name} == {text}"
            _check_part(table, table.where(condition), values == text, condition)
    if texts:
        several = list(texts[:2])
        fits = np.isin(values.astype(str), several)
        _check_part(table, table.where(**{name: several}), fits, f"{name}={several!r}")


def _check_part(table: RowTable[Any], part: RowTable[Any], mask: Any, condition: str) -> None:
    """Check that some rows are those of a mask, and have the same values there."""
    which = f"{_whose(table)}, where {condition}"
    rows = np.flatnonzero(mask)
    claim(type(part) is type(table), f"{which}: that is a {type(part).__name__}")
    claim(same(part.positions, table.positions[rows]), f"{which}: other rows than those that fit")
    for name in table.columns:
        claim(
            same(part.column(name), table.column(name)[rows]),
            f"{which}: column {name!r} is not that of these rows",
        )


# -------------------------------------------------------------------- rankings


def _figures(table: RowTable[Any], name: str) -> Floats:
    """Return a column as numbers; NaN for rows that failed, whatever the column has of them."""
    values: Floats = table.column(name).astype(np.float64)
    if "status" in table.columns and table.kind.ranked_by in table.columns:
        ranked = table.column(table.kind.ranked_by).astype(np.float64)
        values = np.where(np.isnan(ranked) & (table.column("status") != "ok"), np.nan, values)
    return values


def _costs(table: RowTable[Any], name: str) -> Floats:
    """Return a column turned so that less is better."""
    values = _figures(table, name)
    return -values if table.described(name).direction == "higher" else values


def _check_ranking(table: RowTable[Any], by: str) -> None:
    """Check that all verbs that rank by a column rank alike."""
    which = f"{_whose(table)}, by {by!r}"
    ordered = table.top(max(table.num_rows, 1), by)
    costs = _costs(ordered, by)
    known = costs[~np.isnan(costs)]
    claim(same(known, costs[: len(known)]), f"{which}: rows without a figure don't come last")
    claim((np.diff(known) >= 0).all(), f"{which}: top gives a better row after a worse one")
    few = table.top(3) if by == table.ranking_column() else table.top(3, by)
    claim(same(few.positions, ordered.positions[:3]), f"{which}: top 3 are not the first of all")
    if not len(known):
        return
    claim(
        repr(table.best(by)) == repr(few.records()[0]),
        f"{which}: the best row is not the first of the top",
    )
    ranks, regrets = table.standing(by)
    missing = np.isnan(_figures(table, by))
    claim(ranks.min() >= 1, f"{which}: a rank is below 1")
    claim(
        same(np.isnan(regrets), missing), f"{which}: regrets and figures are not of the same rows"
    )
    claim((regrets[~missing] >= 0).all(), f"{which}: a regret is below 0")
    first = int(ordered.positions[0])
    claim(
        (ranks[first], regrets[first]) == (1, 0),
        f"{which}: the best row has rank {ranks[first]} and regret {regrets[first]}",
    )
    claim(
        (np.diff(ranks[ordered.positions]) >= 0).all(),
        f"{which}: standing and top order rows in different ways",
    )
    rows: dict[Any, list[int]] = {}
    for row, key in enumerate(_keys(table)):
        rows.setdefault(key, []).append(row)
    for key in _some(list(table)):
        claim(
            table.rank(key, by) in ranks[rows[key]],
            f"{which}: the rank of {key!r} is {table.rank(key, by)}, standing says otherwise",
        )
        claim(
            np.isclose(table.regret(key, by), regrets[rows[key]], atol=1e-9, equal_nan=True).any(),
            f"{which}: the regret of {key!r} is {table.regret(key, by)}, standing says otherwise",
        )


def _check_refusals(table: RowTable[Any]) -> None:
    """Check that nothing is ranked by what has no better direction, or is not there."""
    plain = [column.name for column in table.manifest.columns if column.direction is None]
    for name in plain[:1]:
        with refuses(f"{_whose(table)}: ranking by {name!r}", QueryError):
            table.top(by=name)
    with refuses(f"{_whose(table)}: ranking by a column that is not there", UnknownNameError):
        table.top(by="no_such_column")
    with refuses(f"{_whose(table)}: the front of no column", QueryError):
        table.pareto(maximise=(), minimise=())


def _check_front(table: RowTable[Any], directed: Sequence[str]) -> None:
    """Check that a Pareto front is dominated by nothing, and dominates all else."""
    up = [name for name in directed if table.described(name).direction == "higher"][:1]
    expense = table.kind.expense
    down = [name for name in directed if table.described(name).direction == "lower"]
    down = [expense] if expense in down and expense is not None else down[:1]
    if not up + down:
        return
    which = f"{_whose(table)}: the front of {' and '.join(up + down)}"
    front = table.pareto(maximise=up, minimise=down).positions
    rows = np.sort(table.top(max(table.num_rows, 1), directed[0]).positions)
    costs = np.stack([_costs(table, name) for name in up + down], axis=1)
    rows = rows[~np.isnan(costs[rows]).any(axis=1)]
    claim(np.isin(front, rows).all(), f"{which} has rows without a figure, or not to be compared")
    dominated = np.zeros(table.num_rows, dtype=bool)
    for row in front:
        dominated |= (costs[row] <= costs).all(axis=1) & (costs[row] < costs).any(axis=1)
    claim(not dominated[front].any(), f"{which} has a row that another one beats in everything")
    rest = np.setdiff1d(rows, front)
    claim(dominated[rest].all(), f"{which} lacks a row that no other one beats")


# -------------------------------------------------------------------- good citizens


def _check_copies(table: RowTable[Any]) -> None:
    """Check that a table, and some rows of it, pickle and copy."""
    for one in (table, table.take(range(min(2, table.num_rows)))):
        with works(f"{_whose(table)} can't be pickled"):
            other = pickle.loads(pickle.dumps(one))
        _check_part(one, other, np.ones(one.num_rows, bool), "pickled")
        with works(f"{_whose(table)} can't be copied"):
            deep = copy.deepcopy(one)
        _check_part(one, deep, np.ones(one.num_rows, bool), "copied")


def _check_texts(table: RowTable[Any], records: Sequence[Record]) -> None:
    """Check what is printed, and that records are plain data."""
    whose = _whose(table)
    with works(f"{whose} can't be printed"):
        text, page = repr(table), table._repr_html_()
    for printed in (text, page):
        claim(table.name in printed, f"{whose}: what is printed of it does not name it")
    with works(f"{whose}: its records are no plain data"):
        again = json.loads(json.dumps(records))
    claim(len(again) == len(records), f"{whose}: records are lost in JSON")
    for row in range(min(2, table.num_rows)):
        with works(f"{whose}: row {row} can't be shown"):
            json.dumps(table.detail(row))
            for show in (table.kind.show, table.kind.show_more):
                if show is not None:
                    claim(
                        isinstance(resolve(show)(table, row), str),
                        f"{whose}: {show} returns no text",
                    )


def _check_exchange(table: RowTable[Any], scratch: Path) -> None:
    """Check Arrow, pandas and the files for other programs against the columns."""
    whose = _whose(table)
    with works(f"{whose}: it can't be handed to Arrow"):
        arrow = pa.table(table)
    claim(arrow.equals(table.arrow()) or _has_nan(table), f"{whose}: Arrow's stream differs")
    claim(arrow.num_rows == table.num_rows, f"{whose}: Arrow has {arrow.num_rows} rows of it")
    for name in table.columns:
        claim(
            name in arrow.column_names and same(arrow.column(name).to_numpy(), table.column(name)),
            f"{whose}: column {name!r} is another in Arrow",
        )
    if importlib.util.find_spec("pandas"):
        frame = table.frame().reset_index()
        claim(
            set(frame.columns) == set(arrow.column_names) and len(frame) == table.num_rows,
            f"{whose}: its frame has other columns or rows than Arrow has",
        )
    for ending, written in _exported(table, scratch):
        claim(
            written == (arrow.column_names, table.num_rows),
            f"{whose}: exported to {ending}, it has other columns or rows",
        )


def _has_nan(table: RowTable[Any]) -> bool:
    """Tell whether a table holds a NaN, which Arrow takes for unequal to itself."""
    floats = (table.column(name) for name in table.columns if table.column(name).dtype.kind == "f")
    return any(np.isnan(values).any() for values in floats)


def _exported(table: RowTable[Any], scratch: Path) -> Iterator[tuple[str, tuple[list[str], int]]]:
    """Export a table to every format; give the columns and the number of rows in each file."""
    for ending in (".csv", ".parquet", ".json"):
        path = scratch / f"rows{ending}"
        with works(f"{_whose(table)} can't be exported to {ending}"):
            table.export(path)
            if ending == ".json":
                rows = json.loads(path.read_text(encoding="utf-8"))
                yield ending, (list(rows[0]) if rows else table.arrow().column_names, len(rows))
            else:
                options = pa_csv.ParseOptions(newlines_in_values=True)
                read = (
                    pq.read_table(path)
                    if ending == ".parquet"
                    else pa_csv.read_csv(path, parse_options=options)
                )
                yield ending, (read.column_names, read.num_rows)


def _check_damage(folder: Path, scratch: Path) -> None:
    """Check that a changed byte in any file is found."""
    damaged = scratch / folder.name
    shutil.copytree(folder, damaged)
    for name in store.verify(folder).files:
        path = damaged / name
        whole = path.read_bytes()
        middle = len(whole) // 2
        path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
        with refuses(
            f"{folder.name}: verifying it with a changed byte in {name}", CorruptTableError
        ):
            store.verify(damaged)
        path.write_bytes(whole)


# -------------------------------------------------------------------- pictures and the explorer


def _check_pictures(table: RowTable[Any], scratch: Path) -> None:
    """Check every picture that a table has files for; the report, which has all, renders them."""
    from matplotlib.figure import Figure

    from benchquery.figures.page import write_report
    from benchquery.table.plots import drawable

    whose = _whose(table)
    for name in drawable(table):
        chosen = {"key": next(iter(table.top(1)))} if table.kind.pictures[name].of_one else {}
        with works(f"{whose}: the picture {name!r} can't be drawn"):
            figure = getattr(table.plot, name)(**chosen)
        claim(isinstance(figure, Figure), f"{whose}: the picture {name!r} is no figure")
    report = scratch / "report.html"
    with works(f"{whose}: its report can't be written"):
        write_report(table, report)
    claim(table.name in report.read_text(encoding="utf-8"), f"{whose}: its report does not name it")


def _check_explorer(table: RowTable[Any], folder: Path) -> None:
    """Check that the explorer lists a table and serves its files."""
    from benchquery.explorer.site import Site

    whose = _whose(table)
    with works(f"{whose}: the explorer can't show it"):
        site = Site(folder)
    claim(site.names == (table.name,), f"{whose}: the explorer leaves it out: {site.left_out}")
    with works(f"{whose}: the explorer can't list its files"):
        paths = [path for path in site.paths() if path.startswith("data/")]
    sections = itertools.groupby(sorted(paths), key=lambda path: path.split("/")[:2])
    for path in [path for _, section in sections for path in _some(list(section))]:
        with works(f"{whose}: the explorer can't serve {path}"):
            claim(site.read(path).body, f"{whose}: the explorer serves nothing at {path}")
    shown = json.loads(site.read("data/catalogue.json").body)
    claim(table.name in json.dumps(shown), f"{whose}: the explorer's catalogue lacks it")
