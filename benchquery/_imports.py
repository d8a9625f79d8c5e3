"""Packages that are imported when first used.

To look one number up takes no package at all: not even numpy, whose import would be most
of the time that a small program takes. So packages are held as a `LazyModule`, which
imports itself on first use, and turns a missing package into an error that says what to
install.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

from benchquery.errors import MissingPackageError


class LazyModule(types.ModuleType):
    """Stands in for a module until one of its attributes is asked for.

    Args:
        name: The module's full name.
        extra: The extra of ``graphtab`` that installs it; None for a core dependency.
    """

    def __init__(self, name: str, extra: str | None = None) -> None:
        super().__init__(name)
        self._extra = extra

    def __getattr__(self, attribute: str) -> Any:
        """Import the module and hand out its attribute.

        Raises:
            MissingPackageError: If the package is not installed.
            AttributeError: For ``__wrapped__``, which Python's inspection asks any object for.
        """
        if attribute == "__wrapped__":
            raise AttributeError(attribute)
        try:
            module = importlib.import_module(self.__name__)
        except ModuleNotFoundError as error:
            package = self.__name__.partition(".")[0]
            target = f"graphtab[{self._extra}]" if self._extra else package
            raise MissingPackageError(
                f"this needs the package {package!r}: pip install '{target}'"
            ) from error
        value = getattr(module, attribute)
        setattr(self, attribute, value)
        return value
