"""Who condenses best: methods at one size, judged alike, with what the papers print beside them.

Measured rows of any number of tables are ranked by validation; their test figures are shown and
rank nothing. Rows of the protocol with faults kept, and figures that were only published, are
listed below without a rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose, isnan, nan
from typing import Any

from benchquery.errors import QueryError
from benchquery.kinds.condensed.analysis import peculiarities
from benchquery.kinds.condensed.config import PROTOCOLS, EvalConfig
from benchquery.kinds.condensed.published import (
    WHOLE,
    Published,
    mean_accuracy,
    published,
)
from benchquery.kinds.condensed.table import CondensedTable, means_of
from benchquery.table.record import Record
from benchquery.table.store import PathLike, tables

MEASURED, PUBLISHED = "measured", "published"


@dataclass(frozen=True)
class Standing:
    """A line of a leaderboard. Figures are percent, NaN where there is none.

    Attributes:
        rank: Its rank by validation, the best is 1; None for what is not ranked.
        method: The method.
        settings: What of its settings is not as usual.
        origin: Whether its figures were measured here or are a paper's alone.
        protocol: ``corrected``, ``as-released``; a paper's figures have none.
        nodes: Nodes of its graphs on average.
        seeds: How many condensation seeds the figures are means of.
        failed: How many more there are without a figure.
        valid: Validation figure.
        valid_std: Its standard deviation over condensation seeds.
        test: Test figure.
        test_std: Its standard deviation over condensation seeds.
        paper: What the paper prints.
        paper_std: With what deviation.
        tables: The tables that the rows are from.
    """

    rank: int | None
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    origin: str = MEASURED
    protocol: str = ""
    nodes: float = nan
    seeds: int = 0
    failed: int = 0
    valid: float = nan
    valid_std: float = nan
    test: float = nan
    test_std: float = nan
    paper: float = nan
    paper_std: float = nan
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Leaderboard:
    """The lines of a leaderboard and what they share.

    Attributes:
        dataset: The dataset.
        size: The ratio, or number of a class.
        model: The model that judged.
        evaluation: How it judged, as text: `EvalConfig.from_text` reads it.
        standings: The lines, the best first.
    """

    dataset: str
    size: float
    model: str
    evaluation: str
    standings: tuple[Standing, ...]


def tables_of(dataset: str, source: PathLike | None = None) -> list[CondensedTable]:
    """Open all tables of condensed data of a dataset.

    Raises:
        QueryError: If there is none.
    """
    from benchquery.kinds.condensed.reading import condread

    infos = tables(source, "condensed", left_out=[])
    found = [condread(info.path) for info in infos if dataset in (info.dataset, info.name)]
    if not found:
        known = ", ".join(dict.fromkeys(info.dataset for info in infos)) or "none"
        raise QueryError(f"no table of condensed data is of {dataset!r}; there are of: {known}")
    return found


def leaderboard(
    found: Sequence[CondensedTable], size: float, model: str | None = None
) -> Leaderboard:
    """Rank the methods of one size.

    Rows that were judged otherwise than most are left out: of all evaluations by the model the
    usual one counts, or else the one with most figures. A way to condense without any figure is on
    no line.

    Args:
        found: Tables of one dataset; a row that several hold counts once.
        size: The ratio, or number of a class.
        model: The model that judged; None for the usual one.

    Raises:
        QueryError: If no table has rows of that size, judged by that model, with a figure.
    """
    model = model or found[0].domain.model
    records, places = _records(found, size, model)
    counts = Counter(record["evaluation"] for record in records if not isnan(record["perf"]))
    if not counts:
        raise _nothing(found, size, model)
    usual = found[0].usual_evaluation(model)
    chosen = usual if usual in counts else counts.most_common(1)[0][0]
    alike = [record for record in records if record["evaluation"] == chosen]
    means = [mean for mean in means_of(alike, ("seed",)) if mean["count"]]
    ranked = sorted(
        (mean for mean in means if mean["protocol"] == PROTOCOLS[0]),
        key=lambda mean: (isnan(mean["valid_perf"]), -mean["valid_perf"], mean["method"]),
    )
    others = [mean for mean in means if mean["protocol"] != PROTOCOLS[0]]
    lines = [_measured(rank + 1, mean, places) for rank, mean in enumerate(ranked)]
    lines += [_measured(None, mean, places) for mean in others]
    there = {line.method for line in lines}
    lines += [one for one in _only_published(found[0], size, model) if one.method not in there]
    text = alike[0]["evaluation_text"]
    return Leaderboard(found[0].dataset, size, model, text, tuple(lines))


def _records(
    found: Sequence[CondensedTable], size: float, model: str
) -> tuple[list[Record], dict[str, list[str]]]:
    """Return the rows of a size, each once, and the names of their tables by configuration."""
    records: dict[tuple[str, str], Record] = {}
    places: dict[str, list[str]] = {}
    for table in found:
        for record in table.records():
            same = isclose(record[table.size], size, rel_tol=1e-5) and record["model"] == model
            if same and record["task"] == table.domain.task:
                records.setdefault((record["config"], record["evaluation"]), record)
                places.setdefault(record["config"], []).append(table.name)
    return list(records.values()), places


def _measured(rank: int | None, mean: Record, places: Mapping[str, list[str]]) -> Standing:
    paper = None if mean["hyperparameters"].get("epochs") == 0 else mean_accuracy(mean)
    return Standing(
        rank=rank,
        method=mean["method"],
        settings={name: one for name, one in peculiarities(mean).items() if name != "protocol"},
        protocol=mean["protocol"],
        nodes=mean.get("nodes", nan),
        seeds=mean["count"],
        failed=mean["failed"],
        tables=tuple(dict.fromkeys(name for one in mean["configs"] for name in places[one])),
        **{
            name + end: 100 * mean[column + end]
            for name, column in (("valid", "valid_perf"), ("test", "perf"))
            for end in ("", "_std")
        },
        **_printed(paper),
    )


def _only_published(table: CondensedTable, size: float, model: str) -> list[Standing]:
    """Return what a paper prints of this dataset and size, by whatever method."""
    if table.size != "ratio" or model != table.domain.model:
        return []
    figures = published("2", dataset=table.dataset, ratio=size, metric="accuracy")
    return [
        Standing(None, str(figure.method), origin=PUBLISHED, **_printed(figure))
        for figure in figures
        if figure.mean is not None and figure.method != WHOLE
    ]


def _printed(figure: Published | None) -> dict[str, Any]:
    if figure is None or figure.percent is None:
        return {}
    std = figure.percent_std
    return {"paper": figure.percent, "paper_std": nan if std is None else std}


def _nothing(found: Sequence[CondensedTable], size: float, model: str) -> QueryError:
    judged = [
        record
        for table in found
        for record in table.records()
        if record["task"] == table.domain.task and not isnan(record["perf"])
    ]
    sizes = ", ".join(f"{one:g}" for one in sorted({row[found[0].size] for row in judged}))
    models = ", ".join(dict.fromkeys(row["model"] for row in judged))
    return QueryError(
        f"no graph of {found[0].dataset!r} has the {found[0].size} {size:g} and was judged by "
        f"{model!r} with a figure; sizes: {sizes or 'none'}; models: {models or 'none'}"
    )


def protocol_of(board: Leaderboard) -> str:
    """Say in words how everything on a leaderboard was judged."""
    config = EvalConfig.from_text(board.evaluation)
    settings = ", ".join(f"{name} {value}" for name, value in config.hyperparameters.items())
    return f"{config.task} by {config.model}: {settings}"
