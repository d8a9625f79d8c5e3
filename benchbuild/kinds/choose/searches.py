"""What settings of condensation methods are chosen from, on what, and with what budget.

All of it is written down here, before anything is run. A search sees validation figures only, and
only those of `SEED`, which is not what is reported. Trial 0 has the settings that a method had
before it was searched, but for the epochs that all trials have, so a search changes them only for
something that does better. What came of it is in `benchquery.kinds.condensed.domains.chosen`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchbuild.errors import PlanError
from benchquery.allowed import Value

SEED = 0
"""The condensation seed of searches; what is reported has others."""

ANCHORS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {"cora": (0.026,), "citeseer": (0.018,), "acm": (0.00066,), "dblp": (0.00037,)}
)
"""The sizes that settings are tried at, by dataset; what they give there is used at all sizes."""

Ranges = Mapping[str, tuple[Value, ...]]


@dataclass(frozen=True)
class Search:
    """A search among settings.

    Attributes:
        ranges: What each hyper-parameter is drawn from.
        trials: How many choices are tried, the present one included.
    """

    ranges: Ranges
    trials: int


_RATES = (1e-5, 1e-4, 1e-3, 1e-2)
_STUDENTS: Ranges = MappingProxyType(
    {
        "lr_feat": (1e-4, 5e-4, 2e-3),
        "lr_student": (0.1, 0.5, 1.0),
        "start_epochs": (10, 20, 40),
        "feature_scale": (1.0, 4.0, 16.0, 32.0),
    }
)


def _matching(epochs: int, **more: tuple[Value, ...]) -> Ranges:
    """Return what methods that match choose from.

    Args:
        epochs: How many all trials have: about a third of what has been run before, since rates are
            chosen anew too, and what is chosen has to be run with many seeds.
        more: What is particular to a method.
    """
    rates = {"lr_feat": (1e-4, 1e-3, 1e-2), "lr_adj": (1e-4, 1e-3)}
    return MappingProxyType({"epochs": (epochs,), **rates, "edge_bias": (0.0, -5.0), **more})


_NODES: Mapping[str, Search] = MappingProxyType(
    {
        "gcond": Search(_matching(200), 5),
        "doscond": Search(_matching(1000, distance=("cosine", "mse")), 6),
        "sgdd": Search(
            {
                "epochs": (100,),
                "lr_feat": (1e-4, 1e-3),
                "lr_adj": (0.01, 0.1),
                "transport": (0.1, 1.0, 10.0),
            },
            5,
        ),
        "gcdm": Search(_matching(150), 5),
        "dm": Search(_matching(1000, lr_feat=_RATES), 8),
        "sfgc": Search(_STUDENTS, 10),
        "geom": Search({**_STUDENTS, "lr_label": _RATES, "beta": (0.0, 0.01, 0.1)}, 10),
    }
)
SEARCHES: Mapping[str, Mapping[str, Search]] = MappingProxyType({"nodes": _NODES})
"""By domain and method; core-sets have nothing to choose."""
_UNSCALED = Search(
    {"epochs": (1000,), "lr_feat": (1e-4, 1e-3, 1e-2, 1e-1), "lr_adj": (1e-4, 1e-3)}, 8
)
ELSEWHERE: Mapping[tuple[str, str], Search] = MappingProxyType(
    {("acm", "dm"): _UNSCALED, ("dblp", "dm"): _UNSCALED}
)
"""By dataset and method, what takes the place of those.

Features of ACM and DBLP are on scales of their own, so DM draws its steps from a wider range there.
Its edges begin as few: it was never better where they begin as many.
"""
NOTHING = Search({}, 12)
"""The search of a method for which nothing is written down: all that is drawn has to be said."""


def search_of(dataset: str, domain: str, method: str) -> Search:
    """Return the search that is written down for a method; `NOTHING` if there is none."""
    usual = SEARCHES.get(domain, {}).get(method, NOTHING)
    return ELSEWHERE.get((dataset, method), usual)


def anchors_of(dataset: str) -> tuple[float, ...]:
    """Return the sizes that settings are tried at.

    Raises:
        PlanError: If none are written down for a dataset.
    """
    if dataset not in ANCHORS:
        raise PlanError(
            f"dataset {dataset!r} has no size that settings are tried at, say it with --size; "
            f"there are some for {', '.join(ANCHORS)}"
        )
    return ANCHORS[dataset]
