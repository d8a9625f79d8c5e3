"""Condensed graphs: the small graphs themselves, and how they came to be.

``graphs.h5`` holds one group a configuration, named by its hash, with the arrays of what is kept
and ``trace``: one entry a snapshot, with its epoch, losses and validation figure. Every chunk and
all of HDF5's own structures carry checksums, and what is kept its SHA-256, so damage is noticed
when it is read.

Which arrays there are depends on the form of what is kept, see `benchquery.kinds.condensed.forms`:
the attribute ``form`` of a group says which one it has. A group without it is one graph. The group
``traces`` has the traces of configurations whose graphs were left out of the table, one each.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.errors import (
    QueryError,
    SchemaVersionError,
    UnknownHashError,
)
from benchquery.kinds.condensed.forms import FORMS, GRAPH, Form
from benchquery.table.hdf5 import (
    CHECKED,
    dataset,
    member,
    new_hdf5,
    open_hdf5,
    read_chunk,
    reading,
)

if TYPE_CHECKING:
    import h5py
    import numpy as np

    from benchquery._typing import Array
else:
    h5py = LazyModule("h5py", extra="curves")
    np = LazyModule("numpy")

GRAPHS = "graphs.h5"
"""The file of the condensed graphs in a table."""

_TRACE = "trace"
_TRACES = "traces"
_TRACED = frozenset({"epoch", "valid_perf"})
"""What the trace of every condensation has; losses are its method's."""
_DIGEST = "sha256"
_FORM = "form"
_SHOWN = 64


class NewGraphs:
    """A file of condensed graphs that is being written, as `new_graphs` gives it."""

    def __init__(self, file: h5py.File) -> None:
        self._file = file

    def add(
        self,
        config: str,
        graph: Mapping[str, Array],
        trace: Mapping[str, Array],
        form: str = GRAPH,
    ) -> str:
        """Add what is kept of a configuration.

        Args:
            config: The hash of the configuration.
            graph: Its arrays, as its form has them.
            trace: Figures of the snapshots by name: epoch, valid_perf and losses; all of one
                length.
            form: One of `benchquery.kinds.condensed.forms.FORMS`.

        Returns:
            The SHA-256 of the arrays.

        Raises:
            QueryError: If the arrays are not of the form, or there are some of this hash already.
        """
        if config in self._file:
            raise QueryError(f"the graph of {config} is there already")
        arrays = {name: np.ascontiguousarray(values) for name, values in graph.items()}
        if problem := FORMS[form].problem(arrays):
            raise QueryError(f"the graph of {config} can't be stored: {problem}")
        entries = _entries(config, trace)
        group = self._file.create_group(config)
        for name, values in {**arrays, _TRACE: entries}.items():
            group.create_dataset(name, data=values, chunks=values.shape, **CHECKED)
        if form != GRAPH:
            group.attrs[_FORM] = np.bytes_(form)
        digest = arrays_digest(arrays)
        group.attrs[_DIGEST] = np.bytes_(digest)
        return digest

    def add_trace(self, config: str, trace: Mapping[str, Array]) -> None:
        """Add how a configuration's graph came to be, and not the graph.

        Args:
            config: The hash of the configuration.
            trace: As `add` takes it.

        Raises:
            QueryError: If it is no trace.
        """
        entries = _entries(config, trace)
        traces = self._file.require_group(_TRACES)
        traces.create_dataset(config, data=entries, chunks=entries.shape, **CHECKED)


def _entries(config: str, trace: Mapping[str, Array]) -> Array:
    """Return a trace as it is stored: one entry a snapshot."""
    figures = {name: np.asarray(values) for name, values in trace.items()}
    if problem := trace_problem(figures):
        raise QueryError(f"the graph of {config} can't be stored: {problem}")
    entries = np.empty(
        len(next(iter(figures.values()))),
        dtype=[(name, values.dtype) for name, values in figures.items()],
    )
    for name, values in figures.items():
        entries[name] = values
    return entries


@contextlib.contextmanager
def new_graphs(path: Path) -> Iterator[NewGraphs]:
    """Make a file of condensed graphs and give it to be filled, graph by graph.

    Args:
        path: The file to write.
    """
    with new_hdf5(path) as file:
        yield NewGraphs(file)


class Graphs:
    """The condensed graphs of a table.

    Args:
        path: The ``graphs.h5`` of the table.

    Attributes:
        configs: The hashes of the configurations whose graphs are there.
        traced: Those of which is known how their graphs came to be, those left out included.

    Raises:
        CorruptTableError: If the file is not such a file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with reading(f"{path} is no file of condensed graphs"):
            self._file = open_hdf5(path)
            self.configs: frozenset[str] = frozenset(self._file) - {_TRACES}
            left_out = frozenset(self._group(_TRACES)) if _TRACES in self._file else frozenset()
            self.traced: frozenset[str] = self.configs | left_out

    def graph(self, config: str) -> Mapping[str, Array]:
        """Return the arrays of what is kept of a configuration, as its form has them.

        Args:
            config: The hash of a configuration.

        Raises:
            UnknownHashError: If there is no graph of this configuration.
            SchemaVersionError: If it is of a form that this version does not know.
            CorruptTableError: If the file is damaged there.
        """
        with self._reading(config, self.configs):
            group = self._group(config)
            form = self._form(config, group)
            _check_names(group, {*form.arrays, _TRACE})
            arrays = {
                name: read_chunk(dataset(group, name)) for name in form.arrays if name in group
            }
            problem = form.problem(arrays)
            if not problem and arrays_digest(arrays) != _text(group, _DIGEST):
                problem = "its SHA-256 is another"
            if problem:
                raise ValueError(problem)
        return MappingProxyType(arrays)

    def trace(self, config: str) -> Mapping[str, Array]:
        """Return the figures of every snapshot by name: epoch, losses and validation figure.

        Args:
            config: The hash of a configuration.

        Raises:
            UnknownHashError: If nothing is known of this configuration.
            CorruptTableError: If the file is damaged there.
        """
        with self._reading(config, self.traced):
            whole = config in self.configs
            group, name = (config, _TRACE) if whole else (_TRACES, config)
            entries = read_chunk(dataset(self._group(group), name))
            names = entries.dtype.names or ()
            figures = {name: np.ascontiguousarray(entries[name]) for name in names}
            if problem := trace_problem(figures):
                raise ValueError(problem)
        return MappingProxyType(figures)

    def form(self, config: str) -> str:
        """Return the form of what is kept of a configuration.

        Raises:
            UnknownHashError: If nothing is kept of this configuration.
            CorruptTableError: If the file is damaged there.
        """
        with self._reading(config, self.configs):
            return _form_of(self._group(config))

    def _form(self, config: str, group: h5py.Group) -> Form:
        """Return what form a configuration's payload has."""
        name = _form_of(group)
        if name not in FORMS:
            raise SchemaVersionError(
                f"{self._path}: what is kept of {config} is of the form {name!r}; this version "
                f"knows {', '.join(FORMS)}: update graphtab"
            )
        return FORMS[name]

    @contextlib.contextmanager
    def _reading(self, config: str, there: frozenset[str]) -> Iterator[None]:
        """Look at a configuration that is one of some; what goes wrong with it is damage."""
        if config not in there:
            left_out = ": it was left out, its trace is there" if config in self.traced else ""
            raise UnknownHashError(
                f"{self._path} has no graph of the configuration {config!r}{left_out}"
            )
        with reading(f"{self._path} is damaged at configuration {config}"):
            yield

    def _group(self, name: str) -> h5py.Group:
        """Return a group of the file."""
        found = member(self._file, name)
        if not isinstance(found, h5py.Group):
            raise ValueError(f"{name} is no group")
        return found


def _form_of(group: h5py.Group) -> str:
    return _text(group, _FORM) if _FORM in group.attrs else GRAPH


def _check_names(group: h5py.Group, allowed: set[str]) -> None:
    """Refuse a group that has other members than it may have; a name is no more than that."""
    if strange := set(group) - allowed:
        raise ValueError(f"it has {', '.join(sorted(strange))[:_SHOWN]}")


def _text(group: h5py.Group, name: str) -> str:
    """Return an attribute that is a short text."""
    found = group.attrs.get_id(name)
    if found.shape != () or found.dtype.kind != "S" or found.dtype.itemsize > _SHOWN:
        raise ValueError(f"its {name} is no short text")
    text: str = group.attrs[name].decode()
    return text


def trace_problem(figures: Mapping[str, Array]) -> str:
    """Say why arrays are not the trace of a condensation; nothing if they are.

    Args:
        figures: What may be one, by name: the epochs of the snapshots, their validation figures,
            and losses under names of their method.
    """
    if missing := _TRACED - figures.keys():
        return f"its trace has no {' and no '.join(sorted(missing))}"
    for name in figures:
        if not (0 < len(name) <= _SHOWN and name.isprintable()):
            shown = f"{name[:_SHOWN]!a}"
            return f"its trace has the name {shown}; allowed are 1 to {_SHOWN} printable characters"
    shapes = {values.shape for values in figures.values()}
    if len(shapes) != 1 or len(shape := shapes.pop()) != 1 or not shape[0]:
        return "the figures of its trace are not as many for each name, and at least one"
    if any(values.dtype.kind not in "fiu" for values in figures.values()):
        return "the figures of its trace are not numbers"
    return ""


def arrays_digest(arrays: Mapping[str, Array]) -> str:
    """Return the SHA-256 of named arrays: their names, types, shapes and values."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        values = arrays[name]
        digest.update(f"{name} {values.dtype.str} {values.shape}\n".encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def edge_weights(adjacency: Array, threshold: float) -> Array:
    """Return (nodes, nodes) the weight of every edge, each once, above the diagonal.

    A graph without an adjacency has none: it may have more nodes than pairs of them fit in memory.

    Args:
        adjacency: Symmetric weights. Loops are no edges.
        threshold: Edges with less weight are left out.
    """
    weights: Array = np.triu(adjacency.astype(np.float32), k=1)
    weights[weights < np.float32(threshold)] = 0
    return weights


def node_degrees(weights: Array) -> Array:
    """Return how many edges each node has, given weights as `edge_weights` does."""
    present = weights > 0
    degrees: Array = present.sum(axis=0) + present.sum(axis=1)
    return degrees
