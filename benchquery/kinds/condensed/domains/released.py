"""What GC-Bench released for condensing one graph: settings that differ from those of this project.

They are those of its configuration files and of the commands in its README
(https://github.com/RingBDStack/GC-Bench); what neither says is the default of its programs or, for
learning rates and experts on cora and citeseer, the method's own paper. Sizes are N'/N: its files
state shares of the labelled nodes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from benchquery.allowed import Value
from benchquery.kinds.condensed.domains.spec import MethodSpec

RECIPE = "2"
"""The recipe of the released settings. In recipe 1 the protocol kept faults and no settings."""

Settings = Mapping[str, Value]
ByDataset = Mapping[str, Settings]
BySize = Mapping[float, Settings]


@dataclasses.dataclass(frozen=True)
class _Release:
    """What differs in the released version of a method.

    Attributes:
        defaults: Its settings.
        by_dataset: Those of some datasets.
        by_size: Those of some sizes there.
        backbone: The model; empty if it is the same.
    """

    defaults: Settings
    by_dataset: ByDataset = dataclasses.field(default_factory=dict)
    by_size: Mapping[str, BySize] = dataclasses.field(default_factory=dict)
    backbone: str = ""


def _together(*parts: ByDataset) -> ByDataset:
    """Return what several say of datasets; of one setting the last counts."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {
        name: {key: value for part in parts for key, value in part.get(name, {}).items()}
        for name in names
    }


_PAIRS: Settings = {"edge_bias": 0.0, "edge_width": 128}
_WIDE: ByDataset = {key: {"edge_width": 256} for key in ("arxiv", "flickr", "reddit")}
_SAMPLED: Settings = {"edge_bias": 0.0, "fanout": "10,5"}
_SAMPLED_MORE: ByDataset = {key: {"fanout": "15,8"} for key in ("flickr", "reddit")}
_LOOPS: ByDataset = {"cora": {"inner": 15}, "citeseer": {"inner": 15}, "arxiv": {"inner": 0}}
_ONE_STEP_LOOPS: ByDataset = {"arxiv": {"outer": 5}}
_WHOLE_CLASSES: Settings = {
    **_PAIRS,
    "batch": 1_000_000,
    "epochs": 2000,
    "evaluate_every": 100,
    "lr_feat": 1e-3,
    "lr_adj": 1e-3,
}
_OPTIMAL_TRANSPORT: Settings = {"epochs": 800, "lr_adj": 0.01, "sample_nodes": 100}
_EXPERTS: Settings = {
    "experts": 200,
    "expert_interval": 100,
    "expert_lr": 0.4,
    "feature_scale": 1.0,
    "epochs": 2000,
    "evaluate_every": 100,
    "lr_rate": 1e-6,
}


def _trajectory(
    start: int, stretch: int, steps: int, lr_feat: float, lr_student: float
) -> Settings:
    """Return the settings of a student.

    The latest start is an epoch but used as the number of a checkpoint, of which there is one every
    ten epochs: students begin at ten times that epoch (fault N7). Experts are trained for no longer
    than a student may follow them, which changes nothing of what is matched.
    """
    return {
        "start_epochs": 10 * start,
        "expert_epochs": 10 * start + stretch,
        "steps": steps,
        "lr_feat": lr_feat,
        "lr_student": lr_student,
    }


_RELEASES: Mapping[str, _Release] = MappingProxyType(
    {
        "gcond": _Release(
            {**_PAIRS, **_SAMPLED, "epochs": 600, "inner": 10},
            _together(
                _LOOPS,
                _WIDE,
                _SAMPLED_MORE,
                {
                    "acm": {"epochs": 1000, "lr_feat": 0.01},
                    "dblp": {"lr_feat": 0.1, "lr_adj": 0.01},
                },
            ),
        ),
        "doscond": _Release(
            {**_PAIRS, **_SAMPLED, "epochs": 5000, "lr_feat": 1e-3, "lr_adj": 1e-3},
            _together(
                _ONE_STEP_LOOPS,
                _WIDE,
                _SAMPLED_MORE,
                {
                    "dblp": {
                        "distance": "cosine",
                        "epochs": 1000,
                        "lr_feat": 0.01,
                        "lr_adj": 0.01,
                    },
                },
            ),
        ),
        "sgdd": _Release(
            {**_SAMPLED, **_OPTIMAL_TRANSPORT, "inner": 10},
            _together(_LOOPS, _SAMPLED_MORE, {"acm": {"lr_feat": 1e-3}, "dblp": {"lr_feat": 0.01}}),
            {
                "cora": {
                    0.0026: {},
                    0.0052: {"epochs": 600, "lr_adj": 0.1, "sample_nodes": 50},
                    0.013: {"epochs": 600, "lr_feat": 1e-3},
                    0.026: {"lr_adj": 0.1, "sample_nodes": 50},
                    0.039: {"epochs": 1000, "lr_adj": 0.1},
                    0.052: {"lr_adj": 0.1, "sample_nodes": 50},
                },
                "citeseer": {
                    0.0018: {"epochs": 1000},
                    0.0036: {},
                    0.009: {"epochs": 600},
                    0.018: {"epochs": 1000, "sample_nodes": 50},
                    0.027: {"lr_adj": 1e-4, "lr_feat": 1e-3},
                    0.036: {"epochs": 600, "lr_adj": 0.1, "sample_nodes": 50},
                },
            },
        ),
        "gcdm": _Release(
            {**_WHOLE_CLASSES, "inner": 10},
            _together(_LOOPS, _WIDE, {"citeseer": {"lr_feat": 0.01, "lr_model": 0.1}}),
            backbone="sgc",
        ),
        "dm": _Release(_WHOLE_CLASSES, _together(_ONE_STEP_LOOPS, _WIDE)),
        "sfgc": _Release(
            {**_EXPERTS, **_trajectory(30, 1800, 600, 0.2, 0.2)},
            by_size={
                "cora": {
                    0.0026: _trajectory(50, 1500, 400, 1e-4, 0.5),
                    0.026: _trajectory(30, 1200, 500, 1e-4, 0.5),
                    0.039: _trajectory(30, 2000, 500, 1e-4, 0.5),
                },
                "citeseer": {
                    0.0018: {**_trajectory(30, 500, 200, 5e-4, 1.0), "epochs": 800},
                    0.0036: _trajectory(30, 500, 200, 5e-4, 1.0),
                    0.018: _trajectory(30, 500, 200, 1e-3, 1.0),
                    0.027: _trajectory(30, 400, 300, 1e-3, 0.6),
                },
                "acm": {
                    0.00033: _trajectory(30, 1900, 1200, 0.1, 0.1),
                    0.00066: _trajectory(10, 1900, 1000, 0.1, 0.1),
                },
                "dblp": {
                    0.00019: _trajectory(30, 1900, 1200, 0.1, 0.1),
                    0.00037: _trajectory(10, 1900, 1000, 0.1, 0.1),
                },
                "arxiv": {
                    0.005: _trajectory(10, 1900, 1200, 0.1, 0.1),
                    0.01: _trajectory(10, 1900, 1000, 0.1, 0.1),
                },
                "flickr": {
                    0.0005: _trajectory(30, 700, 600, 0.1, 0.3),
                    0.005: _trajectory(30, 900, 600, 0.01, 0.2),
                    0.01: _trajectory(30, 900, 900, 0.02, 0.2),
                },
                "reddit": {
                    0.0005: {**_trajectory(30, 900, 900, 0.02, 0.5), "epochs": 3000},
                    0.002: {**_trajectory(50, 900, 900, 0.05, 0.5), "epochs": 3000},
                    0.005: {**_trajectory(30, 900, 900, 0.2, 0.2), "epochs": 1500},
                },
            },
        ),
    }
)
_UNKNOWN: Mapping[str, str] = MappingProxyType(
    {
        "geom": "the released configurations lack its learning rates and start epochs, and the "
        "defaults of its program draw from an empty range",
    }
)


def with_release(name: str, spec: MethodSpec) -> MethodSpec:
    """Return a method that knows what of it was released.

    Args:
        name: The method.
        spec: What it is in this project.
    """
    if name in _UNKNOWN:
        return dataclasses.replace(spec, unreleased=_UNKNOWN[name])
    if name not in _RELEASES:
        return spec
    release = _RELEASES[name]
    released = dataclasses.replace(
        spec,
        backbone=release.backbone or spec.backbone,
        defaults={**spec.defaults, **release.defaults},
        by_dataset=release.by_dataset,
        by_size=release.by_size,
        recipe=RECIPE,
        recipes={},
    )
    return dataclasses.replace(spec, released=released)
