"""The condensation methods by name, those of other packages included.

A method's code is one file in `benchbuild.kinds.condense.methods`; what makes its configurations
canonical without that code is its `MethodSpec`, in the file of its domain beside this one. Other
packages add methods through the entry point group ``graphtab.methods``; each entry is a
`MethodSpec`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from benchquery.errors import ConfigError
from benchquery.kinds.condensed.domains import DOMAINS
from benchquery.kinds.condensed.domains.nodes import NODES
from benchquery.kinds.condensed.domains.spec import MethodSpec
from benchquery.naming import match_name, unknown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["ENTRY_POINT_GROUP", "MethodSpec", "canonical_method", "find_method", "method_names"]

ENTRY_POINT_GROUP = "graphtab.methods"


def method_names(domain: str | None = None) -> list[str]:
    """Return the names of all methods, those of other packages last.

    Args:
        domain: Only those that condense this sort of data; None for all.
    """
    own = [one for one in DOMAINS.values() if domain in (None, one.name)]
    published = [
        name for name in _published(tuple(sys.path)) if domain is None or _is_of(name, domain)
    ]
    return list(dict.fromkeys([*(name for one in own for name in one.methods), *published]))


def canonical_method(name: str, domain: str = NODES.name) -> str:
    """Return the name of a method, which may be given in any letter case.

    Raises:
        ConfigError: If there is no such method, here or in another package that is installed.
    """
    if isinstance(name, str) and name in DOMAINS[domain].methods:
        return name
    known = method_names(domain)
    found = match_name(name, known)
    if found is None:
        raise ConfigError(_nowhere(name, domain, known))
    return found


def find_method(name: str, domain: str = NODES.name) -> MethodSpec:
    """Return a method by name, of this package or another one.

    Raises:
        ConfigError: If there is no such method, or another package publishes no `MethodSpec`.
    """
    name = canonical_method(name, domain)
    own = DOMAINS[domain].methods
    return own[name] if name in own else _load(name)


def _nowhere(name: object, domain: str, known: list[str]) -> str:
    """Say that a domain has no such method, and which one has."""
    others = [
        one.name for one in DOMAINS.values() if one.name != domain and match_name(name, one.methods)
    ]
    hint = f"; it condenses {' and '.join(others)}, not {domain}" if others else ""
    return unknown("method", name, known) + hint


def _is_of(name: str, domain: str) -> bool:
    """Tell whether a method of another package condenses a sort of data; one in doubt does."""
    try:
        return _load(name).domain == domain
    except ConfigError:
        return True


def _load(name: str) -> MethodSpec:
    """Return the method that another package publishes under a name."""
    entry = _published(tuple(sys.path))[name]
    try:
        spec = entry.load()
    except Exception as error:
        raise ConfigError(
            f"method {name!r}: can't import {entry.value}: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(spec, MethodSpec):
        raise ConfigError(f"method {name!r} is {entry.value}, which is no MethodSpec")
    return spec


@cache
def _published(path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Return the methods that packages on Python's path publish, by name; looked up once a path."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINT_GROUP)}
