"""Condensing sets of graphs with a class each: methods, initialisations, tasks and models.

Defaults are those of the methods' own repositories where not said otherwise; docs/graph-level.md
says what differs from them and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchquery.allowed import Choice, Value
from benchquery.kinds.condensed.domains.spec import NONE, DomainSpec, MethodSpec, TaskSpec
from benchquery.kinds.condensed.hyperparameters import ALLOWED

INITS = ("noise", "sample", "herding", "k-center")
"""What synthetic graphs begin as: noise; training graphs of the class, drawn, herded or spread
out."""
BACKBONES = ("gcn", "gin", "gntk", "none")


def _on_graphs(name: str) -> str:
    """Return the module of a method that condenses sets of graphs."""
    return f"benchbuild.kinds.condense.methods.graphs.{name}"


_EMBEDDING: dict[str, Value] = {"embedding": "gcn", "epochs": 50, "hidden": 128, "lr": 1e-3}
_CHOSEN_BY = {"embedding": Choice(("gcn", "raw-padded"))}

METHODS: Mapping[str, MethodSpec] = MappingProxyType(
    {
        "random": MethodSpec(_on_graphs("random"), "core-set", NONE, NONE, {}, domain="graphs"),
        "herding": MethodSpec(
            _on_graphs("herding"),
            "core-set",
            NONE,
            "gcn",
            _EMBEDDING,
            allowed=_CHOSEN_BY,
            domain="graphs",
        ),
        "k-center": MethodSpec(
            _on_graphs("k_center"),
            "core-set",
            NONE,
            "gcn",
            _EMBEDDING,
            allowed=_CHOSEN_BY,
            domain="graphs",
        ),
    }
)

_EVALUATION = TaskSpec(
    models=("gcn", "gin"),
    defaults={
        "hidden": 128,
        "layers": 3,
        "epochs": 200,
        "lr": 1e-3,
        "weight_decay": 0.0,
        "dropout": 0.0,
        "batch": 128,
        "pooling": "mean",
        "threshold": 0.5,
        "decay": "none",
        "norm": "none",
    },
    allowed={
        "epochs": ALLOWED["expert_epochs"],
        "pooling": Choice(("mean", "sum")),
        "decay": Choice(("none", "half", "step")),
        "norm": Choice(("none", "batch")),
    },
)

GRAPHS = DomainSpec(
    name="graphs",
    size="per_class",
    datasets=("nci1", "dd", "proteins-tu", "mutag", "molbace", "molbbbp", "molhiv", "motifs"),
    methods=METHODS,
    inits=INITS,
    backbones=BACKBONES,
    tasks=MappingProxyType({"graph-classification": _EVALUATION}),
    form="graphs",
    judge_epochs=100,
)
