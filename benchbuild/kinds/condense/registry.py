"""The condensation methods by name; a method's module is loaded when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from benchbuild.kinds.condense.method import Condenser
from benchquery.kinds.condensed.methods import find_method


def condenser(name: str) -> Condenser:
    """Return a method by name.

    Raises:
        ConfigError: If there is no such method.
    """
    return cast(Condenser, import_module(find_method(name).module).condense)
