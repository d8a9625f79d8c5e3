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

from benchquery.allowed import Value
from benchquery.errors import ArchitectureError, ConfigError
from benchquery.kinds.condensed.domains import DOMAINS, domain_of_dataset, domain_of_task
from benchquery.kinds.condensed.domains.nodes import NODES
from benchquery.kinds.condensed.domains.spec import (
    AS_RELEASED,
    NONE,
    RECIPE,
    DomainSpec,
    MethodSpec,
    TaskSpec,
)
from benchquery.kinds.condensed.hyperparameters import changes
from benchquery.kinds.condensed.methods import canonical_method, find_method
from benchquery.naming import match_name, suggestion
from benchquery.table.sealed import parse_object

ProtocolName = Literal["corrected", "as-released"]
RatioOf = Literal["nodes", "labelled"]
PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)
RATIOS_OF: tuple[RatioOf, ...] = get_args(RatioOf)
SEEDS = 2**63
"""How many seeds there are: tables keep them in 64 bits."""
_DIGITS = 16
MOST = 1_000_000
"""How many of a class a condensed set may have at most."""
_FIXED = (
    "recipe", "domain", "dataset", "method", "ratio", "ratio_of", "per_class", "init", "backbone",
    "seed", "protocol", "task", "model",
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
    """How something was condensed: a graph, a set of graphs, a set of images.

    How large the result is, is said by ``ratio`` for one graph and by ``per_class`` for a set.

    Args:
        dataset: What was condensed, for example ``cora`` or ``nci1``.
        method: A name that `benchquery.kinds.condensed.methods.method_names` lists.
        ratio: Size of the condensed graph relative to what `ratio_of` says.
        init: What the result begins as; None for the method's own.
        backbone: The model that is matched; None for the method's own.
        seed: Seed of everything random in the condensation.
        protocol: ``corrected``, or ``as-released``: with the settings and faults of the published
            code, to explain a published number.
        ratio_of: Whether the ratio is that to all ``nodes``, as in the papers (2.6% of Cora are
            70 nodes), or to the ``labelled`` training nodes.
        per_class: How many graphs or images of each class a condensed set has.
        domain: The sort of data; None for that of the dataset's name, which is one graph with
            labelled ``nodes`` where the name is not one of the house.
        hyperparameters: Those of the method; the others keep their defaults.

    Raises:
        ConfigError: If a name is unknown or a value not allowed.

    Example:
        >>> config = CondenseConfig("cora", "gcond", 0.026)
        >>> config == CondenseConfig("cora", "gcond", 0.026, init="sample", epochs=200)
        True
        >>> CondenseConfig("nci1", "random", per_class=10)["domain"]
        'graphs'
    """

    __slots__ = ()

    def __init__(  # noqa: PLR0917  (a configuration is written in this order)
        self,
        dataset: str,
        method: str,
        ratio: float | None = None,
        init: str | None = None,
        backbone: str | None = None,
        seed: int = 0,
        protocol: ProtocolName = "corrected",
        *,
        ratio_of: RatioOf = "nodes",
        per_class: int | None = None,
        domain: str | None = None,
        **hyperparameters: Value,
    ) -> None:
        sort = _domain(domain) if domain else domain_of_dataset(_name("dataset", dataset, "cora"))
        _check_size(sort, dataset, ratio, per_class)
        protocol = cast("ProtocolName", _one_of("protocol", protocol, PROTOCOLS))
        known = find_method(method, sort.name)
        if protocol == AS_RELEASED and known.unreleased:
            raise ConfigError(f"{method!r} has no protocol {protocol!r}: {known.unreleased}")
        spec = known.under(protocol)
        inits = (NONE,) if spec.init == NONE else spec.begins or sort.inits
        has_none = spec.backbone == NONE and NONE not in sort.backbones
        backbones = (NONE,) if has_none else sort.backbones
        fixed = self._fixed(
            {
                "domain": sort.name,
                "dataset": dataset,
                "method": canonical_method(method, sort.name),
                "ratio": ratio,
                "per_class": per_class,
                "init": _one_of("init", init or spec.init, inits),
                "backbone": _one_of("backbone", backbone or spec.backbone, backbones),
                "seed": seed,
                "protocol": protocol,
                "ratio_of": ratio_of,
            }
        )
        defaults = spec.hyperparameters(dataset, float(fixed[sort.size]))
        changed = changes(f"method {fixed['method']!r}", hyperparameters, defaults, spec.allowed)
        self._fill(spec.recipe_on(dataset), fixed, {**defaults, **changed}, changed)

    @classmethod
    def _fixed(cls, values: Mapping[str, Any]) -> dict[str, Value]:
        domain = _domain(values.get("domain", NODES.name))
        shared: dict[str, Value] = {
            "dataset": _name("dataset", values["dataset"], "cora"),
            "method": _name("method", values["method"], "gcond"),
            "init": _name("init", values["init"], "sample"),
            "backbone": _name("backbone", values["backbone"], "gcn"),
            "seed": _seed(values["seed"]),
            "protocol": _one_of("protocol", values["protocol"], PROTOCOLS),
        }
        if domain.size == "ratio":
            ratio_of = _one_of("ratio_of", values["ratio_of"], RATIOS_OF)
            return {**shared, "ratio": _ratio(values["ratio"]), "ratio_of": ratio_of}
        return {**shared, "domain": domain.name, "per_class": _per_class(values["per_class"])}

    @classmethod
    def _recipe_of(cls, fixed: Mapping[str, Value]) -> str:
        try:
            known = find_method(str(fixed["method"]), cls._domain_name(fixed))
            return known.under(str(fixed["protocol"])).recipe_on(str(fixed["dataset"]))
        except ConfigError as error:
            raise ConfigError(f"{error}; install the package that publishes the method") from error

    @staticmethod
    def _domain_name(values: Mapping[str, Value]) -> str:
        """Return the name of the domain; one graph's is not written."""
        return str(values.get("domain", NODES.name))

    @property
    def spec(self) -> MethodSpec:
        """The method, as it is installed here.

        Raises:
            ConfigError: If the configuration can't be run here; see `check_runnable`.
        """
        self.check_runnable()
        return find_method(self.method, self.domain.name).under(self.protocol)

    @property
    def domain(self) -> DomainSpec:
        """The sort of data that is condensed."""
        return DOMAINS[self._domain_name(self.values)]

    @property
    def size(self) -> float:
        """How large the result is: the ratio, or the number of graphs or images of each class."""
        return float(self[self.domain.size])

    @property
    def dataset(self) -> str:
        """What is condensed."""
        return str(self["dataset"])

    @property
    def method(self) -> str:
        """The method."""
        return str(self["method"])

    @property
    def ratio(self) -> float:
        """The size of a condensed graph.

        Raises:
            ConfigError: If it is a set, whose size is said by ``per_class``.
        """
        return float(self["ratio"])

    @property
    def init(self) -> str:
        """What the result begins as."""
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
        """Whether settings and faults are those of the published code."""
        return cast("ProtocolName", self["protocol"])


TASKS = tuple(task for domain in DOMAINS.values() for task in domain.tasks)
MODELS = tuple(dict.fromkeys(model for domain in DOMAINS.values() for model in domain.models))
_THRESHOLD = "threshold"


class EvalConfig(Config):
    """How condensed data was judged: what was trained on it.

    Args:
        task: A name in `TASKS`.
        model: One of the models that can do it; None for the usual one.
        seed: Seed of the weights and of dropout.
        hyperparameters: Those of the training; the others keep the task's defaults.

    Raises:
        ConfigError: If a name is unknown or a value not allowed.
    """

    __slots__ = ()

    def __init__(
        self,
        task: str = TASKS[0],
        model: str | None = None,
        seed: int = 0,
        **hyperparameters: Value,
    ) -> None:
        name = _one_of("task", task, TASKS)
        spec = _task(name)
        fixed = self._fixed(
            {
                "task": name,
                "model": _model(spec, model),
                "seed": seed,
            }
        )
        defaults = spec.hyperparameters(str(fixed["model"]))
        changed = changes("an evaluation", hyperparameters, defaults, spec.allowed)
        self._fill(spec.recipe, fixed, {**defaults, **changed}, changed)

    @classmethod
    def preset(
        cls,
        name: str,
        task: str = TASKS[0],
        model: str | None = None,
        seed: int = 0,
        **hyperparameters: Value,
    ) -> EvalConfig:
        """Return an evaluation with the settings of a paper.

        Args:
            name: One of the task's presets.
            task: See `EvalConfig`, as for all that follows.
            model: The same.
            seed: The same.
            hyperparameters: What differs from the paper's.

        Raises:
            ConfigError: If there is no such preset, or as `EvalConfig` does.
        """  # fmt: skip
        presets = _task(_one_of("task", task, TASKS)).presets
        chosen = presets[_one_of("preset", name, tuple(presets))]
        return cls(task, model, seed, **{**chosen, **hyperparameters})

    @classmethod
    def _fixed(cls, values: Mapping[str, Any]) -> dict[str, Value]:
        return {
            "task": _name("task", values["task"], TASKS[0]),
            "model": _name("model", values["model"], MODELS[0]),
            "seed": _seed(values["seed"]),
        }

    @classmethod
    def _recipe_of(cls, fixed: Mapping[str, Value]) -> str:
        return _task(_one_of("task", fixed["task"], TASKS)).recipe

    @property
    def measures(self) -> tuple[str, ...]:
        """Further test figures of the task, by the names of their columns."""
        return _task(self.task).measures if self.task in TASKS else ()

    @property
    def threshold(self) -> float:
        """The weight that edges of condensed data must have to count; 0 if there are none."""
        return float(self.values.get(_THRESHOLD, 0.0))

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


def model_order(model: str) -> tuple[int, str]:
    """Return what models are sorted by: named ones as they are listed, then members of families."""
    return (MODELS.index(model), "") if model in MODELS else (len(MODELS), model)


def _model(spec: TaskSpec, model: str | None) -> str:
    """Return the canonical name of a model that can do a task; None for the usual one."""
    if model is None:
        return spec.models[0]
    try:
        member = spec.member(model) if isinstance(model, str) else None
    except ArchitectureError as error:
        raise ConfigError(str(error)) from error
    families = (f"{family}:ARCHITECTURE" for family in spec.families)
    return member or _one_of("model", model, (*spec.models, *families))


def _task(name: str) -> TaskSpec:
    return domain_of_task(name).tasks[name]


def _domain(name: object) -> DomainSpec:
    return DOMAINS[_one_of("domain", name, tuple(DOMAINS))]


def _check_size(
    domain: DomainSpec, dataset: str, ratio: float | None, per_class: int | None
) -> None:
    """Refuse a size that is not said in the way of the domain."""
    given = {"ratio": ratio, "per_class": per_class}
    other = next(name for name in given if name != domain.size)
    example = "ratio=0.026" if domain.size == "ratio" else "per_class=10"
    if given[domain.size] is None or given[other] is not None:
        raise ConfigError(
            f"{dataset!r} is of the domain {domain.name!r}, where the size is said by "
            f"{domain.size}, as in {example}"
            + (f", not by {other}" if given[other] is not None else "")
        )


def _ratio(ratio: object) -> float:
    if isinstance(ratio, bool) or not isinstance(ratio, (int, float)) or not 0 < ratio <= 1:
        raise ConfigError(
            f"ratio is {ratio!r}; it is a fraction above 0 and up to 1, as in 0.026 for 2.6%"
        )
    return float(ratio)


def _per_class(count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, Integral) or not 0 < int(count) <= MOST:
        raise ConfigError(f"per_class is {count!r}; it is a whole number from 1 to {MOST:,}")
    return int(count)


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
