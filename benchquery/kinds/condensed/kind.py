"""What tables of condensed graphs tell the rest of the house."""

from __future__ import annotations

from types import MappingProxyType

from benchquery.kinds.condensed.columns import COLUMNS
from benchquery.kinds.condensed.config import MODELS, PROTOCOLS, RATIOS_OF, TASKS
from benchquery.kinds.condensed.domains import DOMAINS
from benchquery.kinds.condensed.domains.spec import NONE
from benchquery.kinds.condensed.graphs import GRAPHS
from benchquery.table.kind import Picture, TableKind
from benchquery.table.manifest import CURVES

_HERE = "benchquery.kinds.condensed"
_FIGURES = f"{_HERE}.figures"


def _all(names: str, *more: str) -> tuple[str, ...]:
    """Return the names of some sort that any domain has, each once."""
    found = (name for domain in DOMAINS.values() for name in getattr(domain, names))
    return tuple(dict.fromkeys([*found, *more]))


TABLE = TableKind(
    name="condensed",
    one="condensed graph",
    many="condensed graphs",
    columns=COLUMNS,
    key=("config",),
    brief=(
        "config", "method", "ratio", "per_class", "init", "seed", "model", "valid_perf", "perf",
        "retained", "condense_time",
    ),
    expense="condense_time_best",
    values=MappingProxyType(
        {
            "method": f"{_HERE}.methods:method_names",
            "domain": tuple(DOMAINS),
            "init": _all("inits", NONE),
            "backbone": _all("backbones", NONE),
            "protocol": PROTOCOLS,
            "ratio_of": RATIOS_OF,
            "task": TASKS,
            "model": MODELS,
            "status": ("ok", "diverged", "oom", "failed"),
        }
    ),
    reader="condread",
    table=f"{_HERE}.table:CondensedTable",
    by_dataset=True,
    check=f"{_HERE}.checks:check_condensed",
    show=f"{_HERE}.show:show_configuration",
    show_more=f"{_HERE}.show:show_evaluations",
    pictures=MappingProxyType(
        {
            "ratios": Picture(f"{_FIGURES}:ratios", "test performance by size"),
            "costs": Picture(f"{_FIGURES}:costs", "test performance by what condensing took"),
            "models": Picture(f"{_FIGURES}:models", "how graphs serve other models"),
            "trace": Picture(f"{_FIGURES}:trace", "how a condensation went", GRAPHS, of_one=True),
            "graph": Picture(
                f"{_FIGURES}:graph", "the graph itself", GRAPHS, of_one=True,
                where=("ratio_of", "nodes"),
            ),
            "images": Picture(
                f"{_FIGURES}:images", "its images", GRAPHS, of_one=True, where=("domain", "images")
            ),
            "curve": Picture(f"{_FIGURES}:curve", "a model learning on it", CURVES, of_one=True),
        }
    ),
    report=f"{_HERE}.report:report_rows",
    view=f"{_HERE}.view:VIEW",
    commands=(f"{_HERE}.command",),
    analyses=MappingProxyType({"usual_means": f"{_HERE}.analysis:usual_means"}),
    lists=MappingProxyType(
        {
            "methods": f"{_HERE}.listing:methods",
            "models": f"{_HERE}.listing:models",
            "grids": f"{_HERE}.listing:grids",
        }
    ),
)  # fmt: skip
