"""Hyper-parameters: how a network is built around its cell, and how it is trained.

Those of a dataset stand in its spec (`benchbuild.datasets`). They are Table 3 of NAS-Bench-Graph,
where two entries differ from what is printed: photo has no pre-process layer and physics no
post-process layer. The published parameter counts prove both. That CiteSeer's learning rate is 0.2,
as printed, and not 0.1 is shown by training with both (docs/fidelity.md).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from benchbuild.errors import HyperParameterError

RECIPE_VERSION = "1"
"""Version of the training recipe. It changes whenever the numbers of a record would change."""

OPTIMIZERS = ("sgd", "adam")


@dataclass(frozen=True)
class HyperParameters:
    """How a network is built around its cell, and how it is trained.

    Attributes:
        pre: Number of pre-process layers (0 or 1): Linear(features, hidden) before the cell.
        post: Number of post-process layers (0 or 1): Linear(concatenation, hidden) after it.
        hidden: Width of every node of the cell.
        dropout: Probability that an input of the network or of a node is zeroed.
        optimizer: "sgd" (no momentum) or "adam".
        lr: Learning rate, constant.
        weight_decay: L2 penalty on all parameters.
        epochs: Number of full-batch steps.
        heads: Attention heads of ``gat``; their outputs are concatenated to ``hidden``.
    """

    pre: int
    post: int
    hidden: int
    dropout: float
    optimizer: str
    lr: float
    weight_decay: float
    epochs: int
    heads: int = 4

    def __post_init__(self) -> None:
        """Check every value, so that a wrong one is found before hours of training."""
        self._check("pre", self.pre in (0, 1), "0 or 1")
        self._check("post", self.post in (0, 1), "0 or 1")
        self._check("hidden", self.hidden >= 1, "an integer of at least 1")
        self._check("dropout", 0.0 <= self.dropout < 1.0, "in [0, 1)")
        self._check("optimizer", self.optimizer in OPTIMIZERS, " or ".join(OPTIMIZERS))
        self._check("lr", 0.0 < self.lr < math.inf, "a finite number above 0")
        self._check("weight_decay", 0.0 <= self.weight_decay < math.inf, "a finite number from 0")
        self._check("epochs", self.epochs >= 1, "an integer of at least 1")
        self._check(
            "heads",
            self.heads >= 1 and self.hidden % self.heads == 0,
            f"a divisor of hidden={self.hidden}",
        )

    def _check(self, name: str, fine: bool, allowed: str) -> None:
        if not fine:
            raise HyperParameterError(
                f"hyper-parameter {name}={getattr(self, name)!r} is not allowed: must be {allowed}"
            )

    def override(self, **changes: Any) -> HyperParameters:
        """Return a copy with some values changed.

        Args:
            **changes: New values by name. Text is converted to the type of the field.

        Raises:
            HyperParameterError: If a name does not exist or a value is not allowed.
        """
        typed: dict[str, Any] = {name: _convert(name, value) for name, value in changes.items()}
        return dataclasses.replace(self, **typed)

    def override_from(self, texts: Iterable[str]) -> HyperParameters:
        """Return a copy changed by ``name=value`` texts, as given on a command line.

        Raises:
            HyperParameterError: If a text is not of that form, a name does not exist or is given
                twice, or a value is not allowed.
        """
        return self.override(**assignments(texts))

    def to_dict(self) -> dict[str, Any]:
        """All values by name, in a fixed order: what a manifest records."""
        return dataclasses.asdict(self)


def assignments(texts: Iterable[str]) -> dict[str, str]:
    """Read ``name=value`` texts, as given on a command line.

    Raises:
        HyperParameterError: If a text is not of that form, or a name is given twice.
    """
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise HyperParameterError(
                f"hyper-parameter {text!r} is not of the form name=value, as in lr=0.05"
            )
        if name in values:
            raise HyperParameterError(f"hyper-parameter {name!r} is given twice")
        values[name] = value
    return values


_FIELD_TYPES = MappingProxyType(
    {
        "pre": int,
        "post": int,
        "hidden": int,
        "dropout": float,
        "optimizer": str,
        "lr": float,
        "weight_decay": float,
        "epochs": int,
        "heads": int,
    }
)


def _convert(name: str, value: Any) -> int | float | str:
    if name not in _FIELD_TYPES:
        raise HyperParameterError(
            f"unknown hyper-parameter {name!r}; known: {', '.join(_FIELD_TYPES)}"
        )
    kind = _FIELD_TYPES[name]
    try:
        converted: int | float | str = kind(value)
        if kind is int and not isinstance(value, str) and converted != value:
            raise ValueError
    except (TypeError, ValueError):
        raise HyperParameterError(
            f"hyper-parameter {name}={value!r} is not of type {kind.__name__}"
        ) from None
    return converted.lower() if isinstance(converted, str) else converted


DEFAULT_HYPERPARAMETERS = HyperParameters(0, 1, 64, 0.5, "adam", 0.005, 5e-4, 200)
"""What a dataset without an entry of its own starts from."""
