"""The tables and figures of GC-Bench, put together from whatever rows there are.

A table or figure is a list of cells: what was condensed how, and what is said of it. A cell's
figure of ours is the mean over condensation seeds of rows of the corrected protocol that have the
method's own settings and the usual evaluation. A cell that no row answers is missing, and said so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isclose, isnan, nan
from types import MappingProxyType
from typing import Any

from benchquery.errors import QueryError, UnknownNameError
from benchquery.kinds.condensed.config import PROTOCOLS, changed_values
from benchquery.kinds.condensed.domains import DOMAINS, domain_of_dataset
from benchquery.kinds.condensed.domains.nodes import NODES
from benchquery.kinds.condensed.leaderboard import tables_of
from benchquery.kinds.condensed.published import WHOLE, Published, published, published_tables
from benchquery.kinds.condensed.reaching import reaching
from benchquery.kinds.condensed.table import CondensedTable, means_of
from benchquery.naming import unknown
from benchquery.table.record import Record
from benchquery.table.store import PathLike

COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "accuracy": "perf",
        "roc-auc": "perf",
        "nmi": "nmi",
        "ari": "ari",
        "f1": "f1",
        "homophily": "homophily",
        "condensation-time": "condense_time_best",
        "cpu-memory": "peak_memory",
        "gpu-memory": "peak_gpu_memory",
    }
)
"""The columns of rows that figures of the paper are compared with, by the paper's metric."""
UNITS: Mapping[str, float] = MappingProxyType(
    {"percent": 100.0, "fraction": 1.0, "minutes": 1 / 60, "seconds": 1.0, "megabytes": 1e-6}
)
"""What a column is multiplied with to be in a unit."""
_BASELINES = ("daegc", "k-means")
"""Models that Table B6 lists as methods, trained on the whole graph."""
_OURS: Mapping[str, str] = MappingProxyType({"kidd": "kidd-lr"})
_LEARNT = tuple(name for name, one in NODES.methods.items() if one.family != "core-set")
TO_ACCURACY = "time-to-accuracy"
"""The metric of how long a method takes to the accuracy that all it is compared with reach."""
_STEPS = (1, 2, 5, 10, 15, 20)
"""The outer steps of Table A3."""


@dataclass(frozen=True)
class Cell:
    """A figure of a table or figure of the paper, and ours.

    Attributes:
        dataset: The dataset.
        method: The method; ``whole`` for the whole dataset.
        size: The ratio, or number of graphs of a class; NaN for the whole dataset.
        task: The task.
        model: The model that judged.
        init: What the method began with; empty for its own.
        backbone: What it matched; empty for its own.
        metric: What the figure is, by the paper's name.
        unit: What it is in.
        settings: Hyper-parameters that are not the method's defaults.
        paper: What the paper prints; NaN where it prints none.
        paper_std: With what deviation.
        ours: Our figure; NaN if it is missing.
        ours_std: Its deviation over condensation seeds.
        seeds: How many seeds it is the mean of.
        failed: How many more there are without a figure.
    """

    dataset: str
    method: str
    size: float
    task: str
    model: str
    init: str = ""
    backbone: str = ""
    metric: str = "accuracy"
    unit: str = "percent"
    settings: Mapping[str, Any] = field(default_factory=dict)
    paper: float = nan
    paper_std: float = nan
    ours: float = nan
    ours_std: float = nan
    seeds: int = 0
    failed: int = 0

    @property
    def missing(self) -> bool:
        """Whether no row answers it."""
        return isnan(self.ours)


def table_names() -> list[str]:
    """Return the tables of the paper that have figures of condensed graphs."""
    return [name for name in published_tables() if any(map(_is_cell, published(name)))]


def table_cells(
    name: str, source: PathLike | None = None, dataset: str | None = None
) -> list[Cell]:
    """Return the cells of a table of the paper with our figures.

    Args:
        name: The table, such as ``2`` or ``b5``.
        source: Where tables of rows are; None for all sources.
        dataset: Only this one's cells; None for all.

    Raises:
        UnknownNameError: If the paper has no such table, or it has no figures of condensed graphs.
        QueryError: If it says nothing of the dataset.
    """
    if name.lower() not in table_names():
        raise UnknownNameError(unknown("table", name, [one.upper() for one in table_names()]))
    cells = [_cell(figure) for figure in published(name.lower()) if _is_cell(figure)]
    return _filled(_of_dataset(cells, name, dataset), source)


def figure_cells(name: str, source: PathLike | None = None) -> list[Cell]:
    """Return the cells of a figure of the paper with our figures.

    Args:
        name: The figure, such as ``3a``.
        source: Where tables of rows are; None for all sources.

    Raises:
        UnknownNameError: If the paper has no such figure.
    """
    if name.lower() not in FIGURES:
        raise UnknownNameError(unknown("figure", name, FIGURES))
    return _filled(list(FIGURES[name.lower()]()), source)


def missing_parts(cells: Sequence[Cell]) -> list[str]:
    """Say which cells are missing, a line for each dataset and size."""
    groups: dict[tuple[str, float], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.dataset, cell.size), []).append(cell)
    lines = []
    for (dataset, size), group in groups.items():
        names = [_told(cell, group) for cell in group if cell.missing]
        if names:
            said = "all" if len(names) == len(group) else ", ".join(dict.fromkeys(names))
            lines.append(f"{dataset} {WHOLE if isnan(size) else f'{size:g}'}: {said}")
    return lines


def layout(cells: Sequence[Cell]) -> tuple[list[str], str]:
    """Return what tells rows apart and what columns, for a table of people's."""
    varying = [
        name
        for name in ("dataset", "size", "method", "init", "model", "metric", "settings")
        if len({str(getattr(cell, name)) for cell in cells}) > 1
    ]
    across = next(
        (name for name in ("metric", "settings", "init", "model", "method") if name in varying),
        "metric",
    )
    down = [name for name in varying if name != across]
    if across == "metric" and "method" in down:
        down = [name for name in down if name != "model"]
    return down or ["dataset"], across


def _is_cell(figure: Published) -> bool:
    """Tell whether a figure is one of condensed data, or of what it is compared with."""
    of_whole = figure.method == WHOLE and figure.metric == "homophily"
    return figure.method is not None and figure.metric in COLUMNS and not of_whole


def _cell(figure: Published) -> Cell:
    """Return the cell of a figure of the paper's tables."""
    domain = domain_of_dataset(figure.dataset)
    asked = str(figure.task)
    task = asked if asked in domain.tasks else domain.task
    size = figure.graphs_per_class if domain.size == "per_class" else figure.ratio
    method = str(figure.method)
    baseline = method in _BASELINES
    whole = method == WHOLE or baseline
    return Cell(
        dataset=figure.dataset,
        method=_OURS.get(method, method),
        size=nan if whole or size is None else float(size),
        task=task,
        model=method if baseline else figure.model or domain.tasks[task].models[0],
        init=figure.init or "",
        metric=str(figure.metric),
        unit=str(figure.unit),
        paper=nan if figure.mean is None else figure.mean,
        paper_std=nan if figure.std is None else figure.std,
    )


def _of_dataset(cells: list[Cell], name: str, dataset: str | None) -> list[Cell]:
    known = dict.fromkeys(cell.dataset for cell in cells)
    if dataset is not None and dataset not in known:
        raise QueryError(
            f"Table {name.upper()} says nothing of {dataset!r}; it has {', '.join(known)}"
        )
    return [cell for cell in cells if dataset in (None, cell.dataset)]


def _filled(cells: Iterable[Cell], source: PathLike | None) -> list[Cell]:
    """Return cells with our figures."""
    asked = list(cells)
    found = {name: _tables(name, source) for name in dict.fromkeys(one.dataset for one in asked)}
    means = {name: _means(tables) for name, tables in found.items()}
    filled = [_answered(cell, means[cell.dataset]) for cell in asked]
    return [
        _timed(cell, found[cell.dataset]) if cell.metric == TO_ACCURACY else cell for cell in filled
    ]


def answered(cells: Iterable[Cell], found: Sequence[CondensedTable]) -> list[Cell]:
    """Return cells of one dataset with our figures.

    Args:
        cells: The cells.
        found: The tables of the dataset.
    """
    means = _means(found)
    return [_answered(cell, means) for cell in cells]


def _tables(dataset: str, source: PathLike | None) -> list[CondensedTable]:
    """Open all tables of condensed data of a dataset; none if there is none."""
    try:
        return tables_of(dataset, source)
    except QueryError:
        return []


def _means(found: Sequence[CondensedTable]) -> list[Record]:
    """Return the means over seeds of all rows of some tables of a dataset, each row once."""
    rows: dict[tuple[str, str], Record] = {}
    for table in found:
        for record in table.records():
            rows.setdefault((record["config"], record["evaluation"]), record)
    means = means_of(rows.values(), ("seed",))
    return [
        mean
        for mean in means
        if mean["count"]
        and mean["protocol"] == PROTOCOLS[0]
        and not changed_values(mean["evaluation_text"])
    ]


def _answered(cell: Cell, means: Sequence[Record]) -> Cell:
    """Return a cell with our figure, if there is one."""
    if cell.metric not in COLUMNS:
        return cell
    column = COLUMNS[cell.metric]
    whole = isnan(cell.size)
    column = f"full_{column}" if whole else column
    for mean in means:
        value = mean.get(column, nan)
        if _fits(cell, mean, whole=whole) and not isnan(value):
            scale = UNITS[cell.unit]
            return replace(
                cell,
                ours=scale * value,
                ours_std=scale * mean.get(f"{column}_std", nan) if not whole else nan,
                seeds=mean["count"] if not whole else 0,
                failed=mean["failed"] if not whole else 0,
            )
    return cell


def _timed(cell: Cell, found: Sequence[CondensedTable]) -> Cell:
    """Return a cell with how soon its method got there, whatever it began with."""
    for table in found:
        rows = table.where(
            method=cell.method,
            protocol=PROTOCOLS[0],
            backbone=cell.backbone or NODES.methods[cell.method].backbone,
            **{table.size: cell.size},
        )
        if not len(rows) or cell.init not in rows.column("init"):
            continue
        alike = [one for one in reaching(rows) if one.init == cell.init and not one.settings]
        if alike and alike[0].reached:
            return replace(cell, ours=alike[0].seconds, seeds=alike[0].reached)
    return cell


def _fits(cell: Cell, mean: Record, *, whole: bool) -> bool:
    """Tell whether a mean over seeds is what a cell asks for."""
    if (cell.task, cell.model) != (mean["task"], mean["model"]):
        return False
    if whole:
        return True
    domain = DOMAINS[mean.get("domain", NODES.name)]
    spec = domain.methods.get(cell.method)
    if spec is None or mean["method"] != cell.method:
        return False
    return (
        isclose(mean[domain.size], cell.size)
        and mean["init"] == (cell.init or spec.init)
        and mean["backbone"] == (cell.backbone or spec.backbone)
        and mean["hyperparameters"] == dict(cell.settings)
        and mean.get("ratio_of", "nodes") == "nodes"
    )


def _told(cell: Cell, group: Sequence[Cell]) -> str:
    """Name a cell among those of its dataset and size."""
    rest = [
        str(getattr(cell, name))
        for name in ("init", "model", "metric")
        if len({getattr(one, name) for one in group}) > 1 and getattr(cell, name)
    ]
    steps = [f"{name}={value}" for name, value in cell.settings.items()]
    return " ".join([cell.method, *rest, *steps])


# --------------------------------------------------------------------- figures


def _on_citeseer(table: str) -> Callable[[], Iterator[Cell]]:
    """Figure 2 draws what tables of the appendix print, for citeseer."""
    return lambda: (_cell(one) for one in published(table, dataset="citeseer") if _is_cell(one))


def _across(backbone: str) -> Callable[[], Iterator[Cell]]:
    """Figure 3 (a, b): cora at 2.6%, condensed with one backbone, judged by seven models."""

    def cells() -> Iterator[Cell]:
        for model in NODES.tasks[NODES.task].models:
            for method in _LEARNT:
                yield Cell("cora", method, 0.026, NODES.task, model, backbone=backbone)

    return cells


def _steps() -> Iterator[Cell]:
    """Figure 3 (c): GCond with other numbers of matching steps, judged by seven models."""
    usual = NODES.methods["gcond"].hyperparameters("cora", 0.026)["outer"]
    for model in NODES.tasks[NODES.task].models:
        for outer in _STEPS:
            settings = {} if outer == usual else {"outer": outer}
            yield Cell("cora", "gcond", 0.026, NODES.task, model, settings=settings)


def _begun(dataset: str, ratio: float) -> Callable[[], Iterator[Cell]]:
    """Figure 4: how well and how soon GCond does, by what it begins with."""

    def cells() -> Iterator[Cell]:
        for init in NODES.inits:
            cell = Cell(dataset, "gcond", ratio, NODES.task, NODES.model, init=init)
            yield cell
            yield replace(cell, metric="condensation-time", unit="seconds")
            yield replace(cell, metric=TO_ACCURACY, unit="seconds")

    return cells


def _structures(dataset: str, ratio: float) -> Callable[[], Iterator[Cell]]:
    """Figures B.1 to B.4 show graphs; what can be said of them in a number is their homophily."""
    methods = ("gcdm", "dm", "doscond", "gcond", "sgdd")
    return lambda: (
        Cell(dataset, one, ratio, NODES.task, NODES.model, metric="homophily", unit="fraction")
        for one in methods
    )


FIGURES: Mapping[str, Callable[[], Iterator[Cell]]] = MappingProxyType(
    {
        "2a": _on_citeseer("b5"),
        "2b": _on_citeseer("b6"),
        "2c": _on_citeseer("b8"),
        "2d": _on_citeseer("b9"),
        "3a": _across("sgc"),
        "3b": _across("transformer"),
        "3c": _steps,
        "4a": _begun("cora", 0.0026),
        "4b": _begun("cora", 0.026),
        "4c": _begun("arxiv", 0.005),
        "5": lambda: (_cell(one) for one in published("b13") if _is_cell(one)),
        "b1": _structures("citeseer", 0.018),
        "b2": _structures("cora", 0.026),
        "b3": _structures("flickr", 0.005),
    }
)
"""The figures of the paper by name. Of most there are no printed values but those that tables
repeat; which ratios (a) and (b) of Figure 4 are, the text does not say."""
