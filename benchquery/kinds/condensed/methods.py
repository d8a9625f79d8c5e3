"""The condensation methods: what each is called and what its hyper-parameters default to.

A method's code is one file in `benchbuild.condense`; its line here is what makes a configuration
canonical without that code, so that tables can be asked without torch. Other packages add methods
through the entry point group ``graphtab.methods``; each entry is a `MethodSpec`.

Defaults are the methods' own recipes as GC-Bench runs them
(https://github.com/RingBDStack/GC-Bench) where not said otherwise. Changing a default needs a new
`RECIPE`; a new hyper-parameter whose default keeps the old behaviour does not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from benchquery.errors import ConfigError

ENTRY_POINT_GROUP = "graphtab.methods"
RECIPE = "1"
"""Version of all defaults below; part of every configuration's hash."""

Value = bool | int | float | str
Family = Literal["core-set", "gradient", "distribution", "trajectory"]

INITS = ("noise", "sample", "center", "k-center", "k-means")
"""What the features of synthetic nodes begin as: Gaussian noise; training nodes of the class;
the class mean; the centres of clusters of the class; a node out of each cluster."""
BACKBONES = ("sgc", "gcn", "transformer")
NONE = "none"
"""The initialisation of a method that makes no features."""


@dataclasses.dataclass(frozen=True)
class MethodSpec:
    """A condensation method.

    Attributes:
        module: The module that has its function ``condense``.
        family: What it matches.
        init: Its usual initialisation; ``none`` if it selects nodes instead.
        backbone: The model it usually matches or embeds with.
        defaults: Its hyper-parameters.
        by_dataset: What differs on some datasets.
    """

    module: str
    family: Family
    init: str
    backbone: str
    defaults: Mapping[str, Value]
    by_dataset: Mapping[str, Mapping[str, Value]] = dataclasses.field(default_factory=dict)

    @property
    def inits(self) -> tuple[str, ...]:
        """The initialisations that it can begin with."""
        return (NONE,) if self.init == NONE else INITS

    def hyperparameters(self, dataset: str) -> dict[str, Value]:
        """Return the hyper-parameters on a dataset, in the order of their names."""
        return dict(sorted({**self.defaults, **self.by_dataset.get(dataset, {})}.items()))


_EMBEDDING: dict[str, Value] = {
    "epochs": 600,
    "hidden": 256,
    "lr": 0.01,
    "weight_decay": 5e-4,
    "dropout": 0.5,
}
_MATCHING: dict[str, Value] = {
    "epochs": 600,
    "outer": 20,
    "inner": 15,
    "lr_feat": 1e-4,
    "lr_adj": 1e-4,
    "lr_model": 0.01,
    "hidden": 256,
    "layers": 2,
    "batch": 256,
    "fanout": "full",
    "distance": "cosine",
    "edge_bias": 0.0,
    "feat_steps": 40,
    "adj_steps": 10,
    "evaluate_every": 20,
}
_ONE_STEP: dict[str, Value] = {"outer": 1, "inner": 0}
_FEW_EDGES = -5.0
"""An `edge_bias` at which A' begins with hardly an edge, as where no structure is learnt. Squared
distances, unlike cosines, take long to leave the nearly complete graph that a bias of 0 gives."""
_EMBEDDINGS: dict[str, Value] = {
    **{name: value for name, value in _MATCHING.items() if name != "distance"},
    "edge_bias": _FEW_EDGES,
}
_STUDENT: dict[str, Value] = {
    "experts": 10,
    "expert_epochs": 120,
    "expert_interval": 10,
    "expert_lr": 0.5,
    "start_epochs": 20,
    "feature_scale": 1.0,
    "hidden": 256,
    "layers": 2,
    "epochs": 200,
    "steps": 100,
    "lr_feat": 5e-4,
    "lr_student": 0.5,
    "lr_rate": 1e-2,
    "evaluate_every": 20,
}
"""Far less than what is published, 200 experts of 2,500 epochs and 2,000 epochs of 500 steps: all
features are multiplied with `feature_scale`, at which experts are trained in a hundred epochs."""
_BAGS_OF_WORDS: dict[str, dict[str, Value]] = {
    "cora": {"feature_scale": 16.0},
    "citeseer": {"feature_scale": 32.0, "expert_epochs": 80},
}


def _early(cora: int, citeseer: int) -> dict[str, dict[str, Value]]:
    """Return fewer epochs for the small graphs: on cora, validation says that more don't help."""
    return {"cora": {"epochs": cora}, "citeseer": {"epochs": citeseer}}


METHODS: Mapping[str, MethodSpec] = MappingProxyType(
    {
        "random": MethodSpec(
            "benchbuild.kinds.condense.methods.nodes.random", "core-set", NONE, "gcn", {}
        ),
        "herding": MethodSpec(
            "benchbuild.kinds.condense.methods.nodes.herding", "core-set", NONE, "gcn", _EMBEDDING
        ),
        "k-center": MethodSpec(
            "benchbuild.kinds.condense.methods.nodes.k_center", "core-set", NONE, "gcn", _EMBEDDING
        ),
        "gcond": MethodSpec(
            "benchbuild.kinds.condense.methods.nodes.gcond",
            "gradient",
            "sample",
            "sgc",
            _MATCHING,
            _early(300, 300),
        ),
        "doscond": MethodSpec(
            "benchbuild.kinds.condense.methods.nodes.doscond",
            "gradient",
            "sample",
            "gcn",
            {
                **_MATCHING,
                **_ONE_STEP,
                "distance": "mse",
                "edge_bias": _FEW_EDGES,
                "epochs": 5000,
                "lr_adj": 1e-3,
                "evaluate_every": 100,
            },
            _early(1500, 1500),
        ),
        "sgdd": MethodSpec(
            "benchbuild.kinds.condense.methods.nodes.sgdd",
            "gradient",
            "sample",
            "sgc",
            {
                **_MATCHING,
                "epochs": 800,
                "lr_adj": 0.1,
                "feature_share": 0.5,
                "sample_nodes": 50,
                "transport": 1.0,
            },
            _early(200, 200),
        ),
        "gcdm": MethodSpec(
            "benchbuild.kinds.condense.methods.nodes.gcdm",
            "distribution",
            "sample",
            "gcn",
            _EMBEDDINGS,
            _early(300, 200),
        ),
        "dm": MethodSpec(
            "benchbuild.kinds.condense.methods.nodes.dm",
            "distribution",
            "sample",
            "sgc",
            {**_EMBEDDINGS, **_ONE_STEP, "lr_adj": 1e-3, "epochs": 2000, "evaluate_every": 100},
        ),
        "sfgc": MethodSpec(
            "benchbuild.kinds.condense.methods.nodes.sfgc",
            "trajectory",
            "k-center",
            "gcn",
            _STUDENT,
            _BAGS_OF_WORDS,
        ),
        "geom": MethodSpec(
            "benchbuild.kinds.condense.methods.nodes.geom",
            "trajectory",
            "k-center",
            "gcn",
            {
                **_STUDENT,
                "start_first": 0,
                "curriculum_share": 0.75,
                "curriculum_epochs": 60,
                "lr_label": 1e-3,
                "beta": 0.01,
            },
            _BAGS_OF_WORDS,
        ),
    }
)
"""The methods by name, in the order in which they are listed; those of other packages apart."""


def method_names() -> tuple[str, ...]:
    """Return the names of all methods: those here, then those of other packages."""
    from importlib.metadata import entry_points

    return (*METHODS, *(point.name for point in entry_points(group=ENTRY_POINT_GROUP)))


def find_method(name: str) -> MethodSpec:
    """Return a method by name, of this package or another one.

    Raises:
        ConfigError: If there is no such method, or another package publishes no `MethodSpec`.
    """
    if name in METHODS:
        return METHODS[name]
    from importlib.metadata import entry_points

    found = {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in found:
        raise ConfigError(f"unknown method {name!r}; allowed: {', '.join([*METHODS, *found])}")
    try:
        spec = found[name].load()
    except Exception as error:
        raise ConfigError(
            f"method {name!r}: can't import {found[name].value}: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(spec, MethodSpec):
        raise ConfigError(f"method {name!r} is {found[name].value}, which is no MethodSpec")
    return spec
