"""The keys of condensation tables: how a graph was condensed, and how the result was judged.

Both are immutable and canonical: what is not said is filled in from the method's defaults, so two
spellings of one configuration are equal and have one hash. The hash is the same in every process,
on every machine and in every version with the same recipe.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from math import isfinite
from numbers import Integral
from types import MappingProxyType
from typing import Any, Literal, Self, cast, get_args

from benchquery.errors import ConfigError
from benchquery.kinds.condensed.methods import BACKBONES, RECIPE, Value, find_method

Protocol = Literal["corrected", "as-released"]
RatioOf = Literal["nodes", "labelled"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
RATIOS_OF: tuple[RatioOf, ...] = get_args(RatioOf)
_DIGITS = 16
_FIXED = (
    "recipe", "dataset", "method", "ratio", "ratio_of", "init", "backbone", "seed", "protocol",
    "task", "model",
)  # fmt: skip
"""What a configuration's text holds beside hyper-parameters."""


class Config:
    """A canonical set of named values. Equal if all values are; hashable; read-only."""

    __slots__ = ("_key", "_values")

    def __init__(self, fields: Mapping[str, Value], changed: Mapping[str, Value]) -> None:
        """Take all values by name, and of the hyper-parameters those that are not the default."""
        self._values = MappingProxyType(dict(fields))
        self._key = json.dumps({"recipe": RECIPE, **changed}, sort_keys=True, separators=(",", ":"))

    @property
    def text(self) -> str:
        """The configuration in one line of JSON; `from_text` reads it back."""
        return self._key

    def valid_hash(self) -> str:
        """Return the hash: the key of tables."""
        return text_hash(self._key)

    @property
    def _given(self) -> dict[str, Any]:
        """What it takes to make the configuration: all but the hyper-parameters' defaults."""
        return {name: value for name, value in json.loads(self._key).items() if name != "recipe"}

    def __getitem__(self, name: str) -> Value:
        """Return a value by name.

        Raises:
            ConfigError: If there is no such value.
        """
        if name not in self._values:
            raise ConfigError(f"{self!r} has no {name!r}; it has {', '.join(self._values)}")
        return self._values[name]

    def number(self, name: str) -> float:
        """Return a value that is a number."""
        return float(self[name])

    def count(self, name: str) -> int:
        """Return a value that is a whole number."""
        return int(self[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    @property
    def values(self) -> Mapping[str, Value]:
        """All values by name, defaults included."""
        return self._values

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._key == self._key

    def __hash__(self) -> int:
        return hash((type(self), self._key))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._given.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_text, (self._key,))

    def replace(self, **changes: Value) -> Self:
        """Return the same configuration but for some values.

        Raises:
            ConfigError: If a name is unknown or a value not allowed.
        """
        return type(self)(**{**self._given, **changes})

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read a configuration back.

        Raises:
            ConfigError: If it is no configuration, or one of another recipe.
        """
        try:
            values = json.loads(text)
            recipe = values.pop("recipe")
            made = cls(**values) if recipe == RECIPE else None
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise ConfigError(f"{text!r} is no configuration: {error}") from error
        if made is None:
            raise ConfigError(
                f"{text!r} follows recipe {recipe!r}; this version knows {RECIPE!r}: use the "
                "version of graphtab that made it"
            )
        return made


class CondenseConfig(Config):
    """How a graph was condensed.

    Args:
        dataset: The graph, for example ``cora``.
        method: A name in `benchquery.kinds.condensed.methods.METHODS`.
        ratio: Size of the condensed graph relative to what `ratio_of` says.
        init: What the synthetic features begin as; None for the method's own.
        backbone: The model that is matched; None for the method's own.
        seed: Seed of everything random in the condensation.
        protocol: ``corrected``, or ``as-released``: with the faults of the published code kept
            on purpose, to explain a published number.
        ratio_of: Whether the ratio is that to all ``nodes``, as in the papers (2.6% of Cora are
            70 nodes), or to the ``labelled`` training nodes.
        hyperparameters: Those of the method; the others keep their defaults.

    Raises:
        ConfigError: If a name is unknown or a value not allowed.

    Example:
        >>> config = CondenseConfig("cora", "gcond", 0.026)
        >>> config == CondenseConfig("cora", "gcond", 0.026, init="sample", epochs=300)
        True
    """

    __slots__ = ()

    def __init__(  # noqa: PLR0917  (a configuration is written in this order)
        self,
        dataset: str,
        method: str,
        ratio: float,
        init: str | None = None,
        backbone: str | None = None,
        seed: int = 0,
        protocol: Protocol = "corrected",
        *,
        ratio_of: RatioOf = "nodes",
        **hyperparameters: Value,
    ) -> None:
        spec = find_method(method)
        if not isinstance(dataset, str) or not dataset:
            raise ConfigError(f"dataset is {dataset!r}; it is a name such as 'cora'")
        if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not 0 < ratio <= 1:
            raise ConfigError(
                f"ratio is {ratio!r}; it is a fraction above 0 and up to 1, as in 0.026 for 2.6%"
            )
        fixed: dict[str, Value] = {
            "dataset": dataset,
            "method": method,
            "ratio": float(ratio),
            "init": _one_of("init", init or spec.init, spec.inits),
            "backbone": _one_of("backbone", backbone or spec.backbone, BACKBONES),
            "seed": _seed(seed),
            "protocol": _one_of("protocol", protocol, PROTOCOLS),
            "ratio_of": _one_of("ratio_of", ratio_of, RATIOS_OF),
        }
        defaults = spec.hyperparameters(dataset)
        changed = _changes(f"method {method!r}", hyperparameters, defaults)
        super().__init__({**fixed, **defaults, **changed}, {**fixed, **changed})

    @property
    def dataset(self) -> str:
        """The graph."""
        return str(self["dataset"])

    @property
    def method(self) -> str:
        """The method."""
        return str(self["method"])

    @property
    def ratio(self) -> float:
        """The size of the condensed graph."""
        return float(self["ratio"])

    @property
    def init(self) -> str:
        """What the features begin as."""
        return str(self["init"])

    @property
    def backbone(self) -> str:
        """The model that is matched."""
        return str(self["backbone"])

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self["seed"])

    @property
    def protocol(self) -> Protocol:
        """Whether the faults of the published code are kept."""
        return cast("Protocol", self["protocol"])

    @property
    def hyperparameters(self) -> Mapping[str, Value]:
        """The hyper-parameters of the method, all of them."""
        names = find_method(self.method).defaults
        return MappingProxyType({name: self[name] for name in self if name in names})


TASKS = ("node-classification", "link-prediction")
MODELS = ("gcn", "sgc", "sage", "appnp", "cheby", "mlp", "transformer")
_EVALUATION: Mapping[str, Value] = MappingProxyType(
    {
        "hidden": 256,
        "layers": 2,
        "epochs": 600,
        "lr": 0.01,
        "weight_decay": 5e-4,
        "dropout": 0.5,
        "threshold": 0.05,
    }
)
"""GC-Bench's evaluation; edges of the condensed graph below `threshold` are left out."""


class EvalConfig(Config):
    """How a condensed graph was judged: what was trained on it.

    Args:
        task: A name in `TASKS`.
        model: A name in `MODELS`.
        seed: Seed of the weights and of dropout.
        hyperparameters: Those of the training; the others keep their defaults.

    Raises:
        ConfigError: If a name is unknown or a value not allowed.
    """

    __slots__ = ()

    def __init__(
        self,
        task: str = TASKS[0],
        model: str = "gcn",
        seed: int = 0,
        **hyperparameters: Value,
    ) -> None:
        fixed: dict[str, Value] = {
            "task": _one_of("task", task, TASKS),
            "model": _one_of("model", model, MODELS),
            "seed": _seed(seed),
        }
        changed = _changes("an evaluation", hyperparameters, _EVALUATION)
        super().__init__({**fixed, **_EVALUATION, **changed}, {**fixed, **changed})

    @property
    def task(self) -> str:
        """The task."""
        return str(self["task"])

    @property
    def model(self) -> str:
        """The model."""
        return str(self["model"])

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self["seed"])


def changed_values(text: str) -> dict[str, Value]:
    """Return the hyper-parameters of a configuration's text, which are those not the default."""
    return {name: value for name, value in json.loads(text).items() if name not in _FIXED}


def text_hash(text: str) -> str:
    """Return the hash of a configuration's text."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ConfigError(f"seed is {seed!r}; it is a whole number from 0 up")
    return int(seed)


def _one_of(what: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ConfigError(f"{what} is {value!r}; allowed: {', '.join(allowed)}")
    return value


def _changes(
    whose: str, given: Mapping[str, Value], defaults: Mapping[str, Value]
) -> dict[str, Value]:
    """Return the given hyper-parameters that differ from the default, each of its type."""
    changed = {}
    for name, value in given.items():
        if name not in defaults:
            allowed = ", ".join(defaults) or "none"
            raise ConfigError(f"{whose} has no hyper-parameter {name!r}; it has {allowed}")
        typed = _as_type_of(defaults[name], name, value)
        if typed != defaults[name]:
            changed[name] = typed
    return changed


def _as_type_of(default: Value, name: str, value: Value) -> Value:
    """Return a value as the type of its default: texts are read, whole numbers may be floats."""
    kind = type(default)
    try:
        if kind is bool:
            made: Value = {"true": True, "false": False}[str(value).lower()]
        else:
            made = kind(value) + 0.0 if kind is float else kind(value)
        if (kind is int and float(value) != made) or (kind is float and not isfinite(float(value))):
            raise ValueError
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise ConfigError(
            f"{name} is {value!r}; it is of the type {kind.__name__}, as in {default!r}"
        ) from error
    return made
