"""Condensing one graph with labelled nodes: methods, initialisations, backbones, tasks and models.

Defaults are the methods' own recipes where not said otherwise; those that were chosen by validation
are in `benchquery.kinds.condensed.domains.chosen`, those that GC-Bench released in
`benchquery.kinds.condensed.domains.released`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchquery.allowed import Choice, Range, Value
from benchquery.kinds.condensed.domains.chosen import with_choice
from benchquery.kinds.condensed.domains.released import with_release
from benchquery.kinds.condensed.domains.spec import NONE, DomainSpec, MethodSpec, TaskSpec
from benchquery.kinds.condensed.hyperparameters import ALLOWED

INITS = ("noise", "sample", "center", "k-center", "k-means")
"""What the features of synthetic nodes begin as: Gaussian noise; training nodes of the class;
the class mean; the centres of clusters of the class; a node out of each cluster."""
BACKBONES = ("sgc", "gcn", "transformer")

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


def _on_nodes(name: str) -> str:
    """Return the module of a method that condenses one graph with labelled nodes."""
    return f"benchbuild.kinds.condense.methods.nodes.{name}"


_METHODS: Mapping[str, MethodSpec] = MappingProxyType(
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
        ),
        "gcdm": MethodSpec(
            _on_nodes("gcdm"),
            "distribution",
            "sample",
            "gcn",
            _EMBEDDINGS,
            {"citeseer": {"epochs": 200}},
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
METHODS: Mapping[str, MethodSpec] = MappingProxyType(
    {name: with_release(name, with_choice(name, spec)) for name, spec in _METHODS.items()}
)

CONTROLS = ("none", "labels", "structure")
"""What of a condensed graph may be shuffled among its nodes before it is judged: a figure that does
not suffer was not owed to it."""
_CONTROL: dict[str, Value] = {"control": "none"}
_CONTROL_OF = {"control": Choice(CONTROLS)}

_EVALUATION = TaskSpec(
    models=("gcn", "sgc", "sage", "appnp", "cheby", "mlp", "transformer"),
    defaults={
        "hidden": 256,
        "layers": 2,
        "epochs": 600,
        "lr": 0.01,
        "weight_decay": 5e-4,
        "dropout": 0.5,
        "threshold": 0.05,
        **_CONTROL,
    },
    allowed={"epochs": ALLOWED["expert_epochs"], **_CONTROL_OF},
)
"""GC-Bench's evaluation; edges of the condensed graph below `threshold` are left out."""

_UNSUPERVISED: dict[str, Value] = {
    "hidden": 256,
    "epochs": 200,
    "lr": 1e-3,
    "weight_decay": 0.0,
    "threshold": 0.05,
    "report": "last",
    **_CONTROL,
}
_UNSUPERVISED_OF = {
    "epochs": ALLOWED["expert_epochs"],
    "report": Choice(("last",)),
    **_CONTROL_OF,
}
"""Of tasks that no label may choose an epoch of: the last one is reported."""


def _clustering(models: tuple[str, ...], **more: Value) -> TaskSpec:
    """Return node clustering as GC-Bench has it: DAEGC with a GCN as its encoder."""
    return TaskSpec(
        models=models,
        defaults={
            **_UNSUPERVISED,
            "embedding": 16,
            "warmup": 50,
            "cluster_weight": 10.0,
            "update_every": 5,
            **more,
        },
        allowed={
            **_UNSUPERVISED_OF,
            "embedding": ALLOWED["hidden"],
            "warmup": ALLOWED["epochs"],
            "cluster_weight": ALLOWED["beta"],
            "update_every": ALLOWED["evaluate_every"],
            **dict.fromkeys(more, ALLOWED["epochs"]),
        },
        measures=("nmi", "ari", "f1"),
    )


_ANOMALIES = TaskSpec(
    models=("dominant",),
    defaults={
        **_UNSUPERVISED,
        "hidden": 64,
        "lr": 5e-3,
        "anomalies": 0.05,
        "clique": 15,
        "candidates": 50,
        "attribute_weight": 0.8,
    },
    allowed={
        **_UNSUPERVISED_OF,
        "anomalies": Range(above=0, most=0.5),
        "clique": Range(least=2, most=10_000),
        "candidates": ALLOWED["batch"],
        "attribute_weight": Range(least=0, most=1),
    },
)
"""Anomaly detection by DOMINANT, with the anomalies of its paper."""

NODES = DomainSpec(
    name="nodes",
    many="condensed graphs",
    size="ratio",
    datasets=(),
    methods=METHODS,
    inits=INITS,
    backbones=BACKBONES,
    tasks=MappingProxyType(
        {
            "node-classification": _EVALUATION,
            "link-prediction": _EVALUATION,
            "node-clustering": _clustering(("daegc", "k-means")),
            "node-clustering-pretrained": _clustering(("daegc",), pretraining=200),
            "structural-anomaly-detection": _ANOMALIES,
            "contextual-anomaly-detection": _ANOMALIES,
        }
    ),
    form="graph",
)
