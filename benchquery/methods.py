"""The condensation methods: what each is called and what its hyper-parameters default to.

A method's code is one file in `benchbuild.condense`; its line here is what makes a configuration
canonical without that code, so that tables can be asked without torch. Defaults are the methods'
own recipes as GC-Bench runs them (https://github.com/RingBDStack/GC-Bench) where not said
otherwise. Changing a default needs a new `RECIPE`; a new hyper-parameter whose default keeps the
old behaviour does not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

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
        family: What it matches.
        init: Its usual initialisation; ``none`` if it selects nodes instead.
        backbone: The model it usually matches or embeds with.
        defaults: Its hyper-parameters.
        by_dataset: What differs on some datasets.
    """

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
    "feat_steps": 40,
    "adj_steps": 10,
    "evaluate_every": 20,
}
_STUDENT: dict[str, Value] = {
    "experts": 20,
    "expert_epochs": 1000,
    "expert_interval": 10,
    "expert_lr": 0.4,
    "hidden": 256,
    "epochs": 500,
    "steps": 100,
    "lr_feat": 1e-2,
    "lr_student": 0.3,
    "evaluate_every": 20,
}

METHODS: Mapping[str, MethodSpec] = MappingProxyType(
    {
        "random": MethodSpec("core-set", NONE, "gcn", {}),
        "herding": MethodSpec("core-set", NONE, "gcn", _EMBEDDING),
        "k-center": MethodSpec("core-set", NONE, "gcn", _EMBEDDING),
        "gcond": MethodSpec("gradient", "sample", "sgc", _MATCHING),
        "doscond": MethodSpec("gradient", "sample", "gcn", _MATCHING),
        "sgdd": MethodSpec("gradient", "sample", "sgc", _MATCHING),
        "gcdm": MethodSpec("distribution", "sample", "sgc", _MATCHING),
        "dm": MethodSpec("distribution", "sample", "sgc", _MATCHING),
        "sfgc": MethodSpec("trajectory", "k-center", "gcn", _STUDENT),
        "geom": MethodSpec("trajectory", "k-center", "gcn", _STUDENT),
    }
)
"""The methods by name, in the order in which they are listed."""
