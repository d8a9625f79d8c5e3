"""The condensation methods by name; a method's module is loaded when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import cast

from benchbuild.condense.base import Condenser
from benchquery.config import method_spec

MODULES = MappingProxyType(
    {
        "random": "randomly",
        "herding": "herding",
        "k-center": "k_center",
        "gcond": "gcond",
        "doscond": "doscond",
        "sgdd": "sgdd",
        "gcdm": "gcdm",
        "dm": "dm",
        "sfgc": "sfgc",
        "geom": "geom",
    }
)
"""Where each method of `benchquery.methods.METHODS` is: a module with a function ``condense``."""


def condenser(name: str) -> Condenser:
    """Return a method by name.

    Raises:
        ConfigError: If there is no such method.
    """
    method_spec(name)
    module = import_module(f"benchbuild.condense.{MODULES[name]}")
    return cast(Condenser, module.condense)
