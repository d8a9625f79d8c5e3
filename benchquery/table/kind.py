"""What a kind of table tells the rest of the house.

A kind is a folder, and one value of the class below. Finding, opening, checking, asking, drawing
and exploring tables go through that value and name no kind. What it takes code to say is named by
a reference, ``package.module:name``, as entry points are, and imported when it is first needed: so
a look-up in one kind of table imports nothing of pictures, pages or other kinds.

Kinds of other packages are published in the entry point group ``graphtab.kinds``, as an object
that is called ``TABLE``; see `benchquery.table.registry` and docs/adding-a-kind.md.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Mapping
from typing import Any

from benchquery.errors import UnknownNameError
from benchquery.naming import unknown
from benchquery.table.schema import PER_SEED, Column

Reference = str
"""Where something is: ``package.module:name``."""

REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def resolve(reference: Reference) -> Any:
    """Import what a reference names."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture that can be drawn of tables of a kind.

    Attributes:
        draw: A function of the table, or of a mapping from name to table for a picture of
            several, that returns a matplotlib figure.
        title: What it shows, in a few words.
        needs: The file of the table that it is drawn from, if not only from the summary.
        of_one: Whether it shows one row, which the argument ``key`` names.
        where: A column and the value that the rows of a table have where there is such a picture of
            it; None if every table has one.
    """

    draw: Reference
    title: str
    needs: str | None = None
    of_one: bool = False
    where: tuple[str, str] | None = None


@dataclasses.dataclass(frozen=True)
class TableKind:
    """A kind of table.

    Attributes:
        name: Its name, in manifests.
        one: What a row is called.
        many: What rows are called.
        columns: The columns that its tables may have.
        key: The columns that name a row.
        brief: The columns that fit on a line, for lists.
        ranked_by: The column that rows are ranked by if none is named.
        expense: The column that `pareto` minimises if none is named; None if there is none.
        values: The texts that columns, or facts of rows, may hold where their rows need not have
            all of them: a tuple, or a reference to a function without arguments.
        reader: The function of `benchquery` that opens such tables.
        table: The class of its tables, a `benchquery.table.rows.RowTable`.
        by_dataset: Whether the dataset's name opens a table, where there is one of it.
        check: A function of a table and its folder that raises `CorruptTableError` if its rows
            are not what they must be.
        show: A function of a table and the position of a row that returns what is said of it
            before its figures: what it is, a drawing; None for its key alone.
        show_more: The same for what is said after them.
        pictures: What can be drawn of one table, by name.
        pictures_of_several: What can be drawn of several tables, by name.
        report: A function of a table that returns the rows of its report by heading.
        view: How the explorer shows it, a `benchquery.explorer.view.View`; None for the view
            that serves every kind.
        commands: Modules of commands of its own; each has ``add(commands)``.
        analyses: Functions of such tables by the name that `benchquery.analysis` has them under.
        lists: What ``benchquery ls`` can list of it: functions without arguments, by name, that
            return rows.
        foreign: A function of a file of others and a folder that writes the table of the file there
            and says whether it is one of this kind; see `benchquery.table.foreign`.
    """

    name: str
    one: str
    many: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    brief: tuple[str, ...]
    ranked_by: str = "valid_perf"
    expense: str | None = None
    values: Mapping[str, tuple[str, ...] | Reference] = dataclasses.field(default_factory=dict)
    reader: str = "open"
    table: Reference = "benchquery.table.rows:RowTable"
    by_dataset: bool = False
    check: Reference | None = None
    show: Reference | None = None
    show_more: Reference | None = None
    pictures: Mapping[str, Picture] = dataclasses.field(default_factory=dict)
    pictures_of_several: Mapping[str, Picture] = dataclasses.field(default_factory=dict)
    report: Reference | None = None
    view: Reference | None = None
    commands: tuple[str, ...] = ()
    analyses: Mapping[str, Reference] = dataclasses.field(default_factory=dict)
    lists: Mapping[str, Reference] = dataclasses.field(default_factory=dict)
    foreign: Reference | None = None

    def column(self, name: str) -> Column:
        """Return the description of a column.

        A name such as ``perf_seed2`` is the column ``perf`` of the seed 2 alone; where rows are
        evaluated, that is an evaluation seed.

        Raises:
            UnknownNameError: If its tables have no such column.
        """
        known = {column.name: column for column in self.columns}
        if name in known:
            return known[name]
        match = PER_SEED.fullmatch(name)
        if match and match["base"] in known:
            base = known[match["base"]]
            return dataclasses.replace(
                base, name=name, description=f"{base.description} Seed {match['seed']} alone."
            )
        raise UnknownNameError(
            f"{unknown(f'column of {self.many}', name, known)}, and each of them with a suffix "
            "such as _seed0"
        )
