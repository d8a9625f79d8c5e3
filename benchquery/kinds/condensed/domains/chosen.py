"""Settings that were chosen by validation: what ``benchbuild tune --method`` found.

What was drawn from, at which size and with what budget is written down in
`benchbuild.kinds.choose.searches`; all trials and what each came to are in
``benchmarks/settings``, and a test compares the two. The searches saw validation nodes of
condensation seed 0 alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from benchquery.allowed import Value
from benchquery.kinds.condensed.domains.spec import MethodSpec

RECIPE = "2"
"""The recipe of chosen settings. Those of recipe 1 were settled with test figures in view."""

CHOSEN: Mapping[str, Mapping[str, Mapping[str, Value]]] = MappingProxyType(
    {
        "gcond": {
            "cora": {"epochs": 200},
            "citeseer": {"epochs": 200},
            "acm": {"epochs": 200, "lr_feat": 1e-2},
            "dblp": {"epochs": 200, "lr_adj": 1e-3, "lr_feat": 1e-2},
        },
        "sgdd": {
            "cora": {"epochs": 100, "lr_feat": 1e-3, "transport": 0.1},
            "citeseer": {"epochs": 100},
        },
        "doscond": {
            "cora": {"distance": "cosine", "epochs": 1000, "lr_adj": 1e-4},
            "citeseer": {"epochs": 1000, "lr_adj": 1e-4, "lr_feat": 1e-3},
        },
        "gcdm": {"cora": {"epochs": 150}, "citeseer": {"epochs": 150}},
        "dm": {
            "cora": {"epochs": 1000},
            "citeseer": {"epochs": 1000},
            "acm": {"epochs": 1000, "lr_adj": 1e-4},
            "dblp": {"epochs": 1000, "lr_feat": 1e-3},
        },
        "sfgc": {
            "citeseer": {
                "feature_scale": 4.0,
                "lr_feat": 2e-3,
                "lr_student": 0.1,
                "start_epochs": 40,
            },
            "acm": {"feature_scale": 32.0, "lr_feat": 2e-3, "lr_student": 1.0, "start_epochs": 20},
            "dblp": {"feature_scale": 1.0, "lr_feat": 2e-3, "lr_student": 1.0, "start_epochs": 20},
        },
        "geom": {
            name: {
                "beta": 0.0,
                "feature_scale": 16.0,
                "lr_feat": 2e-3,
                "lr_label": 1e-4,
                "lr_student": 0.1,
                "start_epochs": 10,
            }
            for name in ("cora", "citeseer")
        },
    }
)
"""By method and dataset. A dataset that is missing keeps what it had."""


def with_choice(name: str, spec: MethodSpec) -> MethodSpec:
    """Return a method with the settings that were chosen for it.

    Args:
        name: The method.
        spec: What it is otherwise.
    """
    if name not in CHOSEN:
        return spec
    chosen = {key: {**spec.by_dataset.get(key, {}), **own} for key, own in CHOSEN[name].items()}
    return dataclasses.replace(
        spec,
        by_dataset={**spec.by_dataset, **chosen},
        recipes=dict.fromkeys(chosen, RECIPE),
    )
