"""The condensation methods: what each is called and what its hyper-parameters default to.

A method's code is one file in `benchbuild.kinds.condense.methods`; its line here is what makes a
configuration canonical without that code, so that tables can be asked without torch. Other packages
add methods through the entry point group ``graphtab.methods``; each entry is a `MethodSpec`.

Defaults are the methods' own recipes as GC-Bench runs them
(https://github.com/RingBDStack/GC-Bench) where not said otherwise. Changing a default of a method,
or what it does, needs a new `MethodSpec.recipe`; a new hyper-parameter whose default keeps the old
behaviour does not.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from benchquery.allowed import Allowed, Value
from benchquery.errors import ConfigError
from benchquery.naming import match_name, unknown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "graphtab.methods"
RECIPE = "1"
"""The recipe that every method and every task of evaluation begins with."""

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
        allowed: What values some of its hyper-parameters may have, where
            `benchquery.kinds.condensed.hyperparameters.ALLOWED` says nothing or something else.
        diagnostics: Figures of its snapshots that need validation labels, by name: who judges them
            works those out, and the trace has them beside the losses.
        recipe: Version of its defaults and of what it does; part of the hash of each of its
            configurations and of no other's.
    """

    module: str
    family: Family
    init: str
    backbone: str
    defaults: Mapping[str, Value]
    by_dataset: Mapping[str, Mapping[str, Value]] = dataclasses.field(default_factory=dict)
    allowed: Mapping[str, Allowed] = dataclasses.field(default_factory=dict)
    diagnostics: tuple[str, ...] = ()
    recipe: str = RECIPE

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


def _on_nodes(name: str) -> str:
    """Return the module of a method that condenses one graph with labelled nodes."""
    return f"benchbuild.kinds.condense.methods.nodes.{name}"


METHODS: Mapping[str, MethodSpec] = MappingProxyType(
    {
        "random": MethodSpec(_on_nodes("random"), "core-set", NONE, "gcn", {}),
        "herding": MethodSpec(_on_nodes("herding"), "core-set", NONE, "gcn", _EMBEDDING),
        "k-center": MethodSpec(_on_nodes("k_center"), "core-set", NONE, "gcn", _EMBEDDING),
        "gcond": MethodSpec(
            _on_nodes("gcond"),
            "gradient",
            "sample",
            "sgc",
            _MATCHING,
            _early(300, 300),
        ),
        "doscond": MethodSpec(
            _on_nodes("doscond"),
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
            _on_nodes("sgdd"),
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
            _on_nodes("gcdm"),
            "distribution",
            "sample",
            "gcn",
            _EMBEDDINGS,
            _early(300, 200),
        ),
        "dm": MethodSpec(
            _on_nodes("dm"),
            "distribution",
            "sample",
            "sgc",
            {**_EMBEDDINGS, **_ONE_STEP, "lr_adj": 1e-3, "epochs": 2000, "evaluate_every": 100},
        ),
        "sfgc": MethodSpec(
            _on_nodes("sfgc"),
            "trajectory",
            "k-center",
            "gcn",
            _STUDENT,
            _BAGS_OF_WORDS,
            diagnostics=("gntk",),
        ),
        "geom": MethodSpec(
            _on_nodes("geom"),
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


def method_names() -> list[str]:
    """Return the names of all methods, those of other packages last."""
    return list(dict.fromkeys([*METHODS, *_published(tuple(sys.path))]))


def canonical_method(name: str) -> str:
    """Return the name of a method, which may be given in any letter case.

    Raises:
        ConfigError: If there is no such method, here or in another package that is installed.
    """
    if isinstance(name, str) and name in METHODS:
        return name
    known = method_names()
    found = match_name(name, known)
    if found is None:
        raise ConfigError(unknown("method", name, known))
    return found


def find_method(name: str) -> MethodSpec:
    """Return a method by name, of this package or another one.

    Raises:
        ConfigError: If there is no such method, or another package publishes no `MethodSpec`.
    """
    name = canonical_method(name)
    if name in METHODS:
        return METHODS[name]
    entry = _published(tuple(sys.path))[name]
    try:
        spec = entry.load()
    except Exception as error:
        raise ConfigError(
            f"method {name!r}: can't import {entry.value}: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(spec, MethodSpec):
        raise ConfigError(f"method {name!r} is {entry.value}, which is no MethodSpec")
    return spec


@cache
def _published(path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Return the methods that packages on Python's path publish, by name; looked up once a path."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
