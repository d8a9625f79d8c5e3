"""The keys of condensation tables: how a graph was condensed, and how the result was judged.

Both are immutable and canonical: what is not said is filled in from the method's defaults, so two
spellings of one configuration are equal and have one hash. The hash is the same in every process,
on every machine and in every version with the same recipe of the method.

A configuration that is read back may be of a method that is not installed here, or of a recipe that
this version doesn't have. It is then what its text says and no more: tables can be asked for it,
but it can't be run.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from numbers import Integral
from types import MappingProxyType
from typing import Any, Literal, Self, cast, get_args

from benchquery.allowed import Allowed, Value
from benchquery.errors import ConfigError
from benchquery.kinds.condensed.hyperparameters import ALLOWED, changes
from benchquery.kinds.condensed.methods import (
    BACKBONES,
    RECIPE,
    MethodSpec,
    canonical_method,
    find_method,
)
from benchquery.naming import match_name, suggestion
from benchquery.table.sealed import parse_object

ProtocolName = Literal["corrected", "as-released"]
RatioOf = Literal["nodes", "labelled"]
PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)
RATIOS_OF: tuple[RatioOf, ...] = get_args(RatioOf)
SEEDS = 2**63
"""How many seeds there are: tables keep them in 64 bits."""
_DIGITS = 16
_FIXED = (
    "recipe", "dataset", "method", "ratio", "ratio_of", "init", "backbone", "seed", "protocol",
    "task", "model",
)  # fmt: skip
"""What a configuration's text holds beside hyper-parameters."""


class Config(ABC):
    """A canonical set of named values. Equal if all values are; hashable; read-only."""

    __slots__ = ("_hyperparameters", "_key", "_problem", "_values")

    def _fill(
        self,
        recipe: str,
        fixed: Mapping[str, Value],
        hyperparameters: Mapping[str, Value],
        changed: Mapping[str, Value],
        problem: str = "",
    ) -> None:
        """Take all values.

        Args:
            recipe: The recipe that they follow.
            fixed: The values that every configuration has.
            hyperparameters: All hyper-parameters.
            changed: Those of them that are not the default.
            problem: Why the configuration can't be run here; empty if it can.
        """
        self._values = MappingProxyType({**fixed, **hyperparameters})
        self._hyperparameters = MappingProxyType(dict(hyperparameters))
        self._key = json.dumps(
            {"recipe": recipe, **fixed, **changed}, sort_keys=True, separators=(",", ":")
        )
        self._problem = problem

    @property
    def text(self) -> str:
        """The configuration in one line of JSON; `from_text` reads it back."""
        return self._key

    def valid_hash(self) -> str:
        """Return the hash: the key of tables."""
        return text_hash(self._key)

    @property
    def recipe(self) -> str:
        """The version of what defaults and names mean in it."""
        return str(json.loads(self._key)["recipe"])

    @property
    def hyperparameters(self) -> Mapping[str, Value]:
        """The hyper-parameters: all of them, or those in its text if it can't be run here."""
        return self._hyperparameters

    def check_runnable(self) -> None:
        """Refuse a configuration that can be looked up but not run.

        Raises:
            ConfigError: If its method is not installed, or it follows another recipe than the
                method or task does here, or a value is not allowed.
        """
        if self._problem:
            raise ConfigError(f"{self!r} can't be run here: {self._problem}")

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
        """Return a value that is a number.

        Raises:
            ConfigError: If there is no such value, or it is none, as may be in a configuration
                that can't be run here.
        """
        try:
            return float(self[name])
        except (ValueError, OverflowError) as error:
            raise ConfigError(f"{name} of {self!r} is no number") from error

    def count(self, name: str) -> int:
        """Return a value that is a whole number; see `number`."""
        number = self.number(name)
        if not number.is_integer():
            raise ConfigError(f"{name} of {self!r} is no whole number")
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
        if self._problem:
            return f"{type(self).__name__}.from_text({self._key!r})"
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self._given.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_text, (self._key,))

    def replace(self, **changes: Value) -> Self:
        """Return the same configuration but for some values.

        Raises:
            ConfigError: If a name is unknown or a value not allowed, or the configuration can't be
                run here, so that it is not known what its other values are.
        """
        self.check_runnable()
        return type(self)(**{**self._given, **changes})

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read a configuration back.

        One whose method is not installed, that follows another recipe than this version does, or
        has a value that this version doesn't allow, keeps what its text says. It can be looked up,
        compared and shown; `check_runnable` refuses it.

        Raises:
            ConfigError: If it is no configuration.
        """
        try:
            values = parse_object(text)
            recipe = _name("recipe", values.pop("recipe"), RECIPE)
            fixed = cls._fixed(values)
            if wrong := [name for name, value in values.items() if not isinstance(value, Value)]:
                raise ConfigError(f"{', '.join(wrong)}: not a number, a text, true or false")
        except KeyError as error:
            raise ConfigError(f"{text!r} is no configuration: it has no {error}") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise ConfigError(f"{text!r} is no configuration: {error}") from error
        try:
            known = cls._recipe_of(fixed)
            if recipe == known:
                return cls(**values)
            problem = (
                f"it follows recipe {recipe!r}, and this version knows {known!r}: use the version "
                "that made it"
            )
        except ConfigError as error:
            problem = str(error)
        said = {name: value for name, value in values.items() if name not in fixed}
        made = cls.__new__(cls)
        made._fill(recipe, fixed, said, said, problem)
        return made

    @classmethod
    @abstractmethod
    def _fixed(cls, values: Mapping[str, Any]) -> dict[str, Value]:
        """Return the values that every configuration has, out of all values of one.

        Raises:
            KeyError: If one is missing.
            ConfigError: If one can't be.
        """

    @classmethod
    @abstractmethod
    def _recipe_of(cls, fixed: Mapping[str, Value]) -> str:
        """Return the recipe that this version has for a configuration.

        Raises:
            ConfigError: If it has none.
        """


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
        protocol: ProtocolName = "corrected",
        *,
        ratio_of: RatioOf = "nodes",
        **hyperparameters: Value,
    ) -> None:
        spec = find_method(method)
        fixed = self._fixed(
            {
                "dataset": dataset,
                "method": canonical_method(method),
                "ratio": ratio,
                "init": _one_of("init", init or spec.init, spec.inits),
                "backbone": _one_of("backbone", backbone or spec.backbone, BACKBONES),
                "seed": seed,
                "protocol": protocol,
                "ratio_of": ratio_of,
            }
        )
        defaults = spec.hyperparameters(dataset)
        changed = changes(f"method {fixed['method']!r}", hyperparameters, defaults, spec.allowed)
        self._fill(spec.recipe, fixed, {**defaults, **changed}, changed)

    @classmethod
    def _fixed(cls, values: Mapping[str, Any]) -> dict[str, Value]:
        ratio = values["ratio"]
        if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not 0 < ratio <= 1:
            raise ConfigError(
                f"ratio is {ratio!r}; it is a fraction above 0 and up to 1, as in 0.026 for 2.6%"
            )
        return {
            "dataset": _name("dataset", values["dataset"], "cora"),
            "method": _name("method", values["method"], "gcond"),
            "ratio": float(ratio),
            "init": _name("init", values["init"], "sample"),
            "backbone": _name("backbone", values["backbone"], "gcn"),
            "seed": _seed(values["seed"]),
            "protocol": _one_of("protocol", values["protocol"], PROTOCOLS),
            "ratio_of": _one_of("ratio_of", values["ratio_of"], RATIOS_OF),
        }

    @classmethod
    def _recipe_of(cls, fixed: Mapping[str, Value]) -> str:
        try:
            return find_method(str(fixed["method"])).recipe
        except ConfigError as error:
            raise ConfigError(f"{error}; install the package that publishes the method") from error

    @property
    def spec(self) -> MethodSpec:
        """The method, as it is installed here.

        Raises:
            ConfigError: If the configuration can't be run here; see `check_runnable`.
        """
        self.check_runnable()
        return find_method(self.method)

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
    def protocol(self) -> ProtocolName:
        """Whether the faults of the published code are kept."""
        return cast("ProtocolName", self["protocol"])


TASKS = ("node-classification", "link-prediction")
TASK_RECIPES: Mapping[str, str] = MappingProxyType(dict.fromkeys(TASKS, RECIPE))
"""By task, the version of what evaluations do and default to; part of the hash of each of a task's
evaluations and of no other's."""
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
_ALLOWED: Mapping[str, Allowed] = MappingProxyType({"epochs": ALLOWED["expert_epochs"]})
"""What is allowed in an evaluation and not what it is in a condensation."""


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
        fixed = self._fixed(
            {
                "task": _one_of("task", task, TASKS),
                "model": _one_of("model", model, MODELS),
                "seed": seed,
            }
        )
        changed = changes("an evaluation", hyperparameters, _EVALUATION, _ALLOWED)
        self._fill(self._recipe_of(fixed), fixed, {**_EVALUATION, **changed}, changed)

    @classmethod
    def _fixed(cls, values: Mapping[str, Any]) -> dict[str, Value]:
        return {
            "task": _name("task", values["task"], TASKS[0]),
            "model": _name("model", values["model"], MODELS[0]),
            "seed": _seed(values["seed"]),
        }

    @classmethod
    def _recipe_of(cls, fixed: Mapping[str, Value]) -> str:
        return TASK_RECIPES[_one_of("task", fixed["task"], TASKS)]

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
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= int(seed) < SEEDS:
        raise ConfigError(f"seed is {seed!r}; it is a whole number from 0 up and below {SEEDS:,}")
    return int(seed)


def _one_of(what: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return the one of some names that is meant, whatever its letter case."""
    found = match_name(value, allowed)
    if found is None:
        guess = suggestion(value, allowed)
        raise ConfigError(f"{what} is {value!r}{guess or ';'} allowed: {', '.join(allowed)}")
    return found


def _name(what: str, value: object, example: str) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{what} is {value!r}; it is a name such as {example!r}")
    return value
