"""Condensing sets of graphs with a class each: methods, initialisations, tasks and models.

Defaults are those of the methods' own repositories where not said otherwise; docs/graph-level.md
says what differs from them and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchquery.allowed import Choice, Pattern, Range, Value
from benchquery.kinds.condensed.domains.spec import NONE, DomainSpec, MethodSpec, TaskSpec
from benchquery.kinds.condensed.hyperparameters import ALLOWED

PUBLISHED = "published-"
_PUBLISHED = tuple(f"{PUBLISHED}{way}" for way in ("random", "herding", "k-center"))
INITS = ("noise", "sample", "herding", "k-center", *_PUBLISHED)
"""What synthetic graphs begin as: noise; training graphs of the class, drawn, herded or spread
out; those of a list that the authors of KiDD published."""
_DRAWN = ("noise", "sample", "herding", "k-center")
_REAL = ("sample", "herding", "k-center", *_PUBLISHED)
BACKBONES = ("gcn", "gin", "gntk", "none")
MOST = 1_000_000
"""The greatest value of whatever has no other bound."""


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
_CHOSEN_BY = {"embedding": Choice(("gcn", "propagated", "raw-padded", "published"))}

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

_REGRESSION: dict[str, Value] = {
    "epochs": 300,
    "evaluate_every": 20,
    "nodes": 0,
    "lr_feat": 1e-4,
    "batch": 128,
    "batch_synthetic": 16,
    "ridge": 1e-6,
    "orthogonality": 1e-3,
}
"""KiDD's; its epochs are updates, and 0 nodes are twice the average of the training graphs."""
_OF_REGRESSION = {
    "nodes": Range(least=0, most=MOST),
    "batch_synthetic": Range(least=1, most=MOST),
    "ridge": Range(above=0, most=MOST),
    "orthogonality": Range(least=0, most=MOST),
}
_FEW_LARGE: dict[str, Value] = {"nodes": 570, "batch": 8, "batch_synthetic": 8}
_MIRAGE: dict[str, Value] = {"depth": 2, "nodes": 0, "supports": "size"}
"""`supports` is the least support of each class, or ``size``: those whose patterns take the bytes
of `per_class` graphs of `nodes` nodes. 0 `nodes` are as many as for DosCond."""
_MIRAGE_BY_DATASET: dict[str, dict[str, Value]] = {
    "nci1": {"nodes": 30},
    "dd": {"nodes": 285, "depth": 1},
    "mutag": {"nodes": 18},
    "molbace": {"nodes": 34, "depth": 3},
    "molbbbp": {"nodes": 24},
    "molhiv": {"nodes": 26, "depth": 3},
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
                "nodes": Range(least=0, most=MOST),
                "pooling": Choice(("mean", "sum")),
                "loss": Choice(("softmax", "logistic")),
                "edges": Choice(("hard", "soft", "likely")),
                "decay_after": Range(least=1, most=MOST),
                "sparsity": Range(least=0, most=MOST),
                "bound": Range(least=0, most=MOST),
            },
            domain="graphs",
            begins=_DRAWN,
        ),
        "kidd-lr": MethodSpec(
            _on_graphs("kidd_lr"),
            "kernel",
            "herding",
            "gntk",
            {**_REGRESSION, "layers": 3, "rank": 16, "lr_adj": 1e-5},
            {
                "nci1": {"nodes": 90, "rank": 24},
                "dd": {**_FEW_LARGE, "rank": 32},
                "proteins-tu": {"nodes": 156, "lr_adj": 1e-6, "lr_feat": 1e-3},
                "molbace": {"nodes": 68, "lr_adj": 1e-6, "lr_feat": 1e-6},
                "molbbbp": {"nodes": 72, "rank": 32, "lr_adj": 1e-6, "lr_feat": 1e-3},
                "molhiv": {"nodes": 104, "lr_feat": 1e-2},
            },
            {
                "dd": {
                    1: {"lr_adj": 1e-6, "rank": 16},
                    10: {},
                    50: {"nodes": 855, "rank": 16},
                },
                "molbace": {1: {"nodes": 34}, 10: {}, 50: {"rank": 32}},
                "molbbbp": {1: {"nodes": 48, "rank": 16}, 10: {}},
                "molhiv": {1: {"lr_feat": 1e-4}, 10: {}, 50: {"lr_adj": 1e-6, "rank": 64}},
            },
            allowed={**_OF_REGRESSION, "rank": Range(least=1, most=MOST)},
            chosen_on_test=True,
            domain="graphs",
            begins=_REAL,
        ),
        "kidd-d": MethodSpec(
            _on_graphs("kidd_d"),
            "kernel",
            "herding",
            "gntk",
            {**_REGRESSION, "layers": 5, "lr_adj": 0.0},
            {
                "nci1": {"nodes": 90},
                "dd": _FEW_LARGE,
                "proteins-tu": {"nodes": 156, "lr_adj": 1e-6, "lr_feat": 1e-3},
                "molbace": {"nodes": 68, "lr_adj": 1e-6, "lr_feat": 1e-6},
                "molbbbp": {"nodes": 48},
                "molhiv": {"nodes": 104, "lr_feat": 1e-2},
            },
            {
                "dd": {50: {"nodes": 855}},
                "molbace": {1: {"nodes": 34}, 10: {}},
                "molhiv": {1: {"lr_feat": 1e-4}, 10: {}},
            },
            allowed=_OF_REGRESSION,
            chosen_on_test=True,
            domain="graphs",
            begins=_REAL,
        ),
        "mirage": MethodSpec(
            _on_graphs("mirage"),
            "mining",
            NONE,
            NONE,
            _MIRAGE,
            _MIRAGE_BY_DATASET,
            allowed={
                "depth": Range(least=1, most=8),
                "nodes": Range(least=0, most=MOST),
                "supports": Pattern(
                    "size|[1-9][0-9]*(,[1-9][0-9]*)+",
                    "size, or a whole number from 1 up for each class, as in 440,570",
                ),
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
        "epochs": 100,
        "lr": 0.01,
        "weight_decay": 0.0,
        "dropout": 0.0,
        "batch": 128,
        "pooling": "mean",
        "threshold": 0.5,
        "decay": "step",
        "norm": "none",
        "report": "best",
        "tried_every": 1,
        "full_graphs": 10_000,
    },
    by_model={"gin": {"layers": 5, "norm": "batch"}},
    allowed={
        "epochs": ALLOWED["expert_epochs"],
        "pooling": Choice(("mean", "sum")),
        "decay": Choice(("none", "half", "step")),
        "norm": Choice(("none", "batch")),
        "report": Choice(("best", "last")),
        "tried_every": Range(least=1, most=MOST),
        "full_graphs": Range(least=0, most=MOST),
    },
    presets={
        "doscond": {"layers": 3, "epochs": 500, "lr": 1e-3, "decay": "half", "norm": "none"},
        "gc-bench": {
            "layers": 5,
            "epochs": 200,
            "weight_decay": 5e-4,
            "norm": "batch",
            "report": "last",
        },
        "kidd": {
            "hidden": 64,
            "layers": 5,
            "epochs": 200,
            "lr": 1e-3,
            "weight_decay": 5e-4,
            "pooling": "sum",
            "norm": "batch",
            "report": "last",
        },
        "mirage": {
            "layers": 2,
            "epochs": 301,
            "lr": 1e-3,
            "dropout": 0.5,
            "batch": 500,
            "pooling": "sum",
            "decay": "none",
            "norm": "none",
        },
    },
)
"""Presets: the GCN of DosCond (molhiv: 100 epochs, ``pooling="sum"``), which is also that of
GC-Bench; the GIN of GC-Bench (molhiv: ``pooling="sum"``); the GIN of KiDD; both models of Mirage,
without its weight decay of 100. Of both GINs the last epoch is reported, as their code does; all
else reports the epoch of best validation. A model is tried after every `tried_every` epochs and
after the last one; the code of GC-Bench tries after every 30. Where there are more than
`full_graphs` training graphs, no model is trained on all of them."""

GRAPHS = DomainSpec(
    name="graphs",
    many="condensed sets of graphs",
    size="per_class",
    datasets=("nci1", "dd", "proteins-tu", "mutag", "molbace", "molbbbp", "molhiv", "motifs"),
    methods=METHODS,
    inits=INITS,
    backbones=BACKBONES,
    tasks=MappingProxyType({"graph-classification": _EVALUATION}),
    form="graphs",
    two_metrics=True,
    judge_epochs=50,
)
