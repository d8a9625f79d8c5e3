"""Hyper-parameters: how a network is built around its cell, and how it is trained.

Those of a dataset stand in its spec (`benchbuild.datasets`). They are Table 3 of NAS-Bench-Graph,
where two entries differ from what is printed: photo has no pre-process layer and physics no
post-process layer. The published parameter counts prove both. That CiteSeer's learning rate is 0.2,
as printed, and not 0.1 is shown by training with both (docs/fidelity.md).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, get_args

from benchbuild.errors import BenchBuildError, HyperParameterError
from benchbuild.typed import Typed, hints_of, short
from benchquery.allowed import Choice, Range

RECIPE_VERSION = "1"
"""Version of the training recipe. It changes whenever the numbers of a record would change."""

OPTIMIZERS = ("sgd", "adam")


Count = Annotated[int, Range(least=1, most=1_000_000)]
Width = Annotated[int, Range(least=1, most=65_536)]
Layers = Annotated[int, Range(least=0, most=1)]
Rate = Annotated[float, Range(above=0, most=1e38)]
Penalty = Annotated[float, Range(least=0, most=1e38)]
"""Beyond that, a number is infinite in single precision."""


@dataclass(frozen=True)
class HyperParameters(Typed):
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

    subject: ClassVar[str] = "hyper-parameter "
    refusal: ClassVar[type[BenchBuildError]] = HyperParameterError

    pre: Layers
    post: Layers
    hidden: Width
    dropout: Annotated[float, Range(least=0, below=1)]
    optimizer: Annotated[str, Choice(OPTIMIZERS)]
    lr: Rate
    weight_decay: Penalty
    epochs: Count
    heads: Width = 4

    def __post_init__(self) -> None:
        """Check every value, so that a wrong one is found before hours of training."""
        super().__post_init__()
        if self.hidden % self.heads:
            raise HyperParameterError(
                f"hyper-parameter heads={self.heads} is not allowed: must be a divisor of "
                f"hidden={self.hidden}"
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


def _convert(name: str, value: Any) -> int | float | str:
    """Return a value as the type of its field; text is read."""
    hints = hints_of(HyperParameters)
    if name not in hints:
        raise HyperParameterError(f"unknown hyper-parameter {name!r}; known: {', '.join(hints)}")
    kind, *_ = get_args(hints[name])
    try:
        converted: int | float | str = kind(value)
        if kind is int and not isinstance(value, str) and converted != value:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise HyperParameterError(
            f"hyper-parameter {name}={short(value)} is not of type {kind.__name__}"
        ) from None
    return converted.lower() if isinstance(converted, str) else converted


DEFAULT_HYPERPARAMETERS = HyperParameters(0, 1, 64, 0.5, "adam", 0.005, 5e-4, 200)
"""What a dataset without an entry of its own starts from."""
