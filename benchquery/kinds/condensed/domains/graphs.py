"""Condensing sets of graphs with a class each: methods, initialisations, tasks and models.

Defaults are those of the methods' own repositories where not said otherwise; docs/graph-level.md
says what differs from them and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchquery.allowed import Choice, Range, Value
from benchquery.kinds.condensed.domains.spec import NONE, DomainSpec, MethodSpec, TaskSpec
from benchquery.kinds.condensed.hyperparameters import ALLOWED

INITS = ("noise", "sample", "herding", "k-center")
"""What synthetic graphs begin as: noise; training graphs of the class, drawn, herded or spread
out."""
BACKBONES = ("gcn", "gin", "gntk", "none")


def _on_graphs(name: str) -> str:
    """Return the module of a method that condenses sets of graphs."""
    return f"benchbuild.kinds.condense.methods.graphs.{name}"


_EMBEDDING: dict[str, Value] = {
    "embedding": "gcn",
    "epochs": 50,
    "batch": 128,
    "hidden": 128,
    "layers": 3,
    "lr": 1e-3,
}
_FEWER_EPOCHS: dict[str, dict[str, Value]] = {"dd": {"epochs": 20}, "molhiv": {"epochs": 10}}
_CHOSEN_BY = {"embedding": Choice(("gcn", "propagated", "raw-padded"))}

_DOSCOND: dict[str, Value] = {
    "epochs": 1000,
    "evaluate_every": 100,
    "nodes": 0,
    "batch": 256,
    "hidden": 128,
    "layers": 3,
    "pooling": "mean",
    "loss": "softmax",
    "distance": "mse",
    "joint": False,
    "lr_feat": 0.01,
    "lr_adj": 0.01,
    "decay_after": 401,
    "sparsity": 0.1,
    "bound": 0.0,
    "edges": "hard",
}
"""0 `nodes` are as many as a training graph has on average, rounded up."""
_DOSCOND_BY_DATASET: dict[str, dict[str, Value]] = {
    "nci1": {"nodes": 30, "lr_adj": 1.0},
    "dd": {"nodes": 285, "lr_adj": 2.0},
    "mutag": {"nodes": 18, "lr_adj": 0.1},
    "molbace": {"nodes": 34, "loss": "logistic", "joint": True},
    "molbbbp": {"nodes": 24, "loss": "logistic", "lr_adj": 2.0},
    "molhiv": {"nodes": 26, "loss": "logistic", "pooling": "sum", "bound": 1.0},
}

METHODS: Mapping[str, MethodSpec] = MappingProxyType(
    {
        "random": MethodSpec(_on_graphs("random"), "core-set", NONE, NONE, {}, domain="graphs"),
        "herding": MethodSpec(
            _on_graphs("herding"),
            "core-set",
            NONE,
            "gcn",
            _EMBEDDING,
            _FEWER_EPOCHS,
            allowed=_CHOSEN_BY,
            domain="graphs",
        ),
        "k-center": MethodSpec(
            _on_graphs("k_center"),
            "core-set",
            NONE,
            "gcn",
            _EMBEDDING,
            _FEWER_EPOCHS,
            allowed=_CHOSEN_BY,
            domain="graphs",
        ),
        "doscond": MethodSpec(
            _on_graphs("doscond"),
            "gradient",
            "sample",
            "gcn",
            _DOSCOND,
            _DOSCOND_BY_DATASET,
            allowed={
                "nodes": Range(least=0),
                "pooling": Choice(("mean", "sum")),
                "loss": Choice(("softmax", "logistic")),
                "edges": Choice(("hard", "soft")),
                "decay_after": Range(least=1),
                "sparsity": Range(least=0),
                "bound": Range(least=0),
            },
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
