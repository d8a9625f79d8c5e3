"""Hyper-parameters: of what type each is, and which values it may have.

A hyper-parameter's type is that of its default. What values it may have is said once for every
name, for all methods and evaluations; a method may say otherwise of its own. One of which nothing
is said may have any value of its type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType

from benchquery.allowed import Allowed, Choice, Pattern, Range, Value
from benchquery.errors import ConfigError
from benchquery.naming import suggestion, unknown

_MOST, _WIDEST, _DEEPEST, _FASTEST = 1_000_000, 65_536, 10_000, 1e38
_COUNT, _COUNT_OR_NONE = Range(least=1, most=_MOST), Range(least=0, most=_MOST)
_RATE, _RATE_OR_NONE = Range(above=0, most=_FASTEST), Range(least=0, most=_FASTEST)
_SHARE = Range(least=0, most=1)

ALLOWED: Mapping[str, Allowed] = MappingProxyType(
    {
        "adj_steps": _COUNT_OR_NONE,
        "batch": _COUNT,
        "beta": _RATE_OR_NONE,
        "curriculum_epochs": _COUNT,
        "curriculum_share": Range(above=0, most=1),
        "distance": Choice(("cosine", "mse")),
        "dropout": Range(least=0, below=1),
        "edge_bias": Range(least=-100, most=100),
        "edge_width": Range(least=1, most=_WIDEST),
        "epochs": _COUNT_OR_NONE,
        "evaluate_every": _COUNT,
        "expert_epochs": _COUNT,
        "expert_interval": _COUNT,
        "expert_lr": _RATE,
        "experts": _COUNT,
        "fanout": Pattern(
            "full| *[1-9][0-9]{0,5} *(, *[1-9][0-9]{0,5} *)*",
            "full, or a whole number from 1 up for each layer, as in 10,5 for 2",
        ),
        "feat_steps": _COUNT_OR_NONE,
        "feature_scale": _RATE,
        "feature_share": _SHARE,
        "hidden": Range(least=1, most=_WIDEST),
        "inner": _COUNT_OR_NONE,
        "layers": Range(least=1, most=_DEEPEST),
        "lr": _RATE,
        "lr_adj": _RATE_OR_NONE,
        "lr_feat": _RATE_OR_NONE,
        "lr_label": _RATE_OR_NONE,
        "lr_model": _RATE_OR_NONE,
        "lr_rate": _RATE_OR_NONE,
        "lr_student": _RATE,
        "outer": _COUNT,
        "sample_nodes": _COUNT,
        "start_epochs": _COUNT_OR_NONE,
        "start_first": _COUNT_OR_NONE,
        "steps": _COUNT,
        "stretch": _COUNT,
        "threshold": _SHARE,
        "transport": _RATE_OR_NONE,
        "weight_decay": _RATE_OR_NONE,
    }
)
"""What is allowed, by name. A learning rate of 0 keeps what it is of as it begins; 0 epochs give
what a method begins with. Beyond 1e38 a rate is infinite in single precision, and beyond an
`edge_bias` of 100 edges are 0 or 1 in it."""


def _too_few_steps(values: Mapping[str, Value]) -> str:
    if values["adj_steps"] or values["feat_steps"]:
        return ""
    return "adj_steps and feat_steps are 0; at least one of them must be above 0"


def _fanout_of_other_layers(values: Mapping[str, Value]) -> str:
    fanout, layers = str(values["fanout"]), values["layers"]
    if fanout == "full" or len(fanout.split(",")) == layers:
        return ""
    return f"fanout is {fanout!r}; it must be full or have one number for each of {layers} layers"


def _nothing_left_to_match(values: Mapping[str, Value]) -> str:
    names = ("expert_epochs", "start_epochs", "expert_interval")
    epochs, latest, interval = (int(values[name]) for name in names)
    if epochs // interval > latest // interval:
        return ""
    return (
        f"start_epochs is {latest}; it must leave at least one expert_interval, {interval}, of "
        f"the {epochs} expert_epochs"
    )


def _beyond_the_end(values: Mapping[str, Value]) -> str:
    epochs, latest, stretch = (
        int(values[name]) for name in ("expert_epochs", "start_epochs", "stretch")
    )
    if latest + stretch <= epochs:
        return ""
    return (
        f"start_epochs is {latest} and stretch is {stretch}; together they must be at most the "
        f"{epochs} expert_epochs"
    )


_TOGETHER: Mapping[tuple[str, ...], Callable[[Mapping[str, Value]], str]] = MappingProxyType(
    {
        ("adj_steps", "feat_steps"): _too_few_steps,
        ("fanout", "layers"): _fanout_of_other_layers,
        ("expert_epochs", "start_epochs", "expert_interval"): _nothing_left_to_match,
        ("expert_epochs", "start_epochs", "stretch"): _beyond_the_end,
    }
)
"""Names whose values have to go together: a function says why they don't."""


def changes(
    whose: str,
    given: Mapping[str, Value],
    defaults: Mapping[str, Value],
    own: Mapping[str, Allowed] = MappingProxyType({}),
) -> dict[str, Value]:
    """Return the given hyper-parameters that differ from the default, each of its type.

    Args:
        whose: What has the hyper-parameters, for messages.
        given: Those that are given.
        defaults: All that there are.
        own: What is allowed of some, where that is not what `ALLOWED` says.

    Raises:
        ConfigError: If a name is unknown, a value not allowed, or two don't go together.
    """
    allowed = {**ALLOWED, **own}
    changed = {}
    for name, value in given.items():
        if name not in defaults:
            raise ConfigError(f"{whose} has an {unknown('hyper-parameter', name, defaults)}")
        typed = _as_type_of(defaults[name], name, value)
        if name in allowed:
            typed = _checked(allowed[name], name, typed)
        if typed != defaults[name]:
            changed[name] = typed
    values = {**defaults, **changed}
    for names, problem_of in _TOGETHER.items():
        shared = values.keys() >= set(names) and not own.keys() & set(names)
        if shared and (problem := problem_of(values)):
            raise ConfigError(problem)
    return changed


def _checked(allowed: Allowed, name: str, value: Value) -> Value:
    meant = allowed.meant(value)
    if meant is None:
        guess = suggestion(value, allowed.words) if isinstance(allowed, Choice) else ""
        raise ConfigError(f"{name} is {value!r}; it must be {allowed}{guess}")
    return meant


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
