"""Condensing sets of images: methods, initialisations, networks and how results are judged.

Defaults are those of the methods' own repositories, and of DC-Bench for the evaluation, where not
said otherwise; docs/images.md says what differs from them and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchquery.allowed import Allowed, Choice, Range, Value
from benchquery.kinds.cells.cell import Cell, sample_cells
from benchquery.kinds.condensed.domains.spec import (
    EVERY,
    NONE,
    DomainSpec,
    MethodSpec,
    ModelFamily,
    TaskSpec,
)
from benchquery.kinds.condensed.hyperparameters import ALLOWED

INITS = ("noise", "sample", "k-center")
"""What synthetic images begin as: noise; training images of the class, drawn or spread out."""
BACKBONES = ("convnet", "ntk", "none")
AUGMENTATIONS = ("none", "imagenet", "dsa", "autoaugment", "randaugment")


def _on_images(name: str) -> str:
    """Return the module of a method that condenses sets of images."""
    return f"benchbuild.kinds.condense.methods.images.{name}"


_NETWORK: dict[str, Value] = {"width": 128, "depth": 0}
"""The ConvNet's; a depth of 0 is 3 blocks, 4 for images of 64 pixels, 2 for those of 8."""
_COUNT, _RATE_OR_NONE = ALLOWED["outer"], ALLOWED["lr_feat"]
_MOMENTUM = Range(least=0, below=1)
_OF_NETWORK: dict[str, Allowed] = {
    "depth": Range(least=0, most=10),
    "width": Range(least=1, most=4_096),
}
_LEARNT: dict[str, Allowed] = {
    **_OF_NETWORK,
    "augmentation": Choice(("none", "dsa")),
    "lr_image": _RATE_OR_NONE,
    "momentum": _MOMENTUM,
}

_GRADIENT: dict[str, Value] = {
    **_NETWORK,
    "epochs": 1000,
    "evaluate_every": 100,
    "outer": 0,
    "inner": 0,
    "batch": 256,
    "batch_model": 256,
    "distance": "cosine",
    "lr_image": 0.1,
    "momentum": 0.5,
    "lr_model": 0.01,
}
"""DC's; 0 `outer` and 0 `inner` loops are those of the paper for so many images of a class."""
_OF_GRADIENT: dict[str, Allowed] = {
    **_LEARNT,
    "batch_model": _COUNT,
    "outer": Range(least=0, most=1_000),
    "inner": Range(least=0, most=1_000),
}

METHODS: Mapping[str, MethodSpec] = MappingProxyType(
    {
        "random": MethodSpec(_on_images("random"), "core-set", NONE, NONE, {}, domain="images"),
        "k-center": MethodSpec(
            _on_images("k_center"),
            "core-set",
            NONE,
            "convnet",
            {
                **_NETWORK,
                "embedding": "convnet",
                "choice": "k-means",
                "epochs": 1,
                "batch": 256,
                "lr": 0.01,
            },
            allowed={
                **_OF_NETWORK,
                "embedding": Choice(("convnet", "raw")),
                "choice": Choice(("k-means", "farthest")),
            },
            domain="images",
        ),
        "dc": MethodSpec(
            _on_images("dc"),
            "gradient",
            "noise",
            "convnet",
            {**_GRADIENT, "augmentation": "none"},
            allowed=_OF_GRADIENT,
            domain="images",
        ),
        "dsa": MethodSpec(
            _on_images("dsa"),
            "gradient",
            "sample",
            "convnet",
            {**_GRADIENT, "augmentation": "dsa"},
            allowed=_OF_GRADIENT,
            domain="images",
        ),
        "dm": MethodSpec(
            _on_images("dm"),
            "distribution",
            "sample",
            "convnet",
            {
                **_NETWORK,
                "epochs": 20_000,
                "evaluate_every": 2_000,
                "batch": 256,
                "augmentation": "dsa",
                "lr_image": 1.0,
                "momentum": 0.5,
            },
            by_size={EVERY: {100: {"lr_image": 10.0}}},
            allowed=_LEARNT,
            domain="images",
        ),
        "tm": MethodSpec(
            _on_images("tm"),
            "trajectory",
            "sample",
            "convnet",
            {
                **_NETWORK,
                "epochs": 5_000,
                "evaluate_every": 500,
                "augmentation": "dsa",
                "batch_student": 256,
                "experts": 100,
                "expert_epochs": 50,
                "expert_interval": 1,
                "expert_lr": 0.01,
                "expert_batch": 256,
                "start_epochs": 24,
                "stretch": 3,
                "steps": 20,
                "lr_image": 1_000.0,
                "lr_rate": 1e-5,
                "lr_student": 0.01,
                "momentum": 0.5,
            },
            allowed={
                **_LEARNT,
                "batch_student": _COUNT,
                "expert_batch": _COUNT,
            },
            domain="images",
        ),
        "kip": MethodSpec(
            _on_images("kip"),
            "kernel",
            "sample",
            "ntk",
            {
                "epochs": 1_000,
                "evaluate_every": 100,
                "kernel": "convnet",
                "pooling": "average",
                "depth": 3,
                "batch": 256,
                "ridge": 1e-6,
                "lr_image": 0.04,
            },
            allowed={
                "kernel": Choice(("convnet", "fc")),
                "pooling": Choice(("none", "average", "global")),
                "depth": Range(least=1, most=100),
                "ridge": Range(above=0, most=1_000),
                "lr_image": _RATE_OR_NONE,
            },
            domain="images",
        ),
    }
)

CELLS = "nas-bench-201"
"""The family of cell networks: ``nas-bench-201:|none~0|+...`` is one of them."""


def _cell(text: str) -> str:
    return Cell.parse(text).text


def _sample(count: int, seed: int) -> tuple[str, ...]:
    return tuple(cell.text for cell in sample_cells(count, seed))


_EVALUATION = TaskSpec(
    models=("convnet", "mlp", "resnet18", "resnet152", "vit"),
    defaults={
        "epochs": 300,
        "optimizer": "sgd",
        "lr": 0.01,
        "momentum": 0.9,
        "weight_decay": 5e-4,
        "decay": "half",
        "batch": 256,
        "augmentation": "none",
        "draws": "per-batch",
        "width": 0,
        "depth": 0,
        "tried_every": 10,
        "full_epochs": 30,
        "full_images": 5_000,
    },
    allowed={
        "epochs": ALLOWED["expert_epochs"],
        "optimizer": Choice(("sgd", "adam")),
        "momentum": _MOMENTUM,
        "decay": Choice(("none", "half")),
        "augmentation": Choice(AUGMENTATIONS),
        "draws": Choice(("per-batch", "per-image")),
        "width": Range(least=0, most=4_096),
        "depth": Range(least=0, most=10),
        "tried_every": _COUNT,
        "full_epochs": _COUNT,
        "full_images": ALLOWED["epochs"],
    },
    presets={
        "dc-bench": {"epochs": 1_000, "augmentation": "dsa"},
        "dc-bench-adam": {"optimizer": "adam", "lr": 3e-3, "momentum": 0.0, "decay": "none"},
        "short": {"epochs": 60, "tried_every": 20, "full_epochs": 5},
        "dc-bench-nas": {"epochs": 50, "depth": 1},
    },
    families={CELLS: ModelFamily(_cell, _sample)},
)
"""A width or depth of 0 is the network's own; the depth of a cell network are the cells of each
stage. A model is tried after every `tried_every` epochs and
after the last one. What condensed data is compared with is the same model, trained for
`full_epochs` on all training images; where these are more than `full_images`, there is no such
figure."""

IMAGES = DomainSpec(
    name="images",
    many="condensed sets of images",
    size="per_class",
    datasets=(
        *("cifar10", "cifar10-jpeg", "cifar100", "tinyimagenet", "mnist", "fashion-mnist"),
        *("digits", "own-images"),
    ),
    methods=METHODS,
    inits=INITS,
    backbones=BACKBONES,
    tasks=MappingProxyType({"image-classification": _EVALUATION}),
    form="images",
    judge_epochs=100,
)
