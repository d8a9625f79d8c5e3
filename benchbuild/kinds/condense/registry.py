"""The code of condensation methods; a method's module is loaded when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from benchbuild.kinds.condense.method import Condenser
from benchquery.kinds.condensed.config import CondenseConfig


def condenser(config: CondenseConfig) -> Condenser:
    """Return the method of a configuration.

    Raises:
        ConfigError: If it is not installed.
    """
    return cast(Condenser, import_module(config.spec.module).condense)
