"""Datasets that are drawn from a model: the model is named by its parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from benchbuild.errors import DatasetError


@dataclass(frozen=True)
class GeneratedModel:
    """What models share: their fields are numbers with defaults, given in the dataset's name.

    Attributes:
        family: The name of the dataset without parameters.
    """

    family: ClassVar[str]

    @classmethod
    def named(cls, parameters: Mapping[str, str]) -> Self:
        """Make the model that the parameters in a dataset's name describe.

        Raises:
            DatasetError: If a parameter does not exist or is not allowed.
        """
        kinds = {name: type(value) for name, value in dataclasses.asdict(cls()).items()}
        values = {}
        for key, text in parameters.items():
            if key not in kinds:
                raise DatasetError(
                    f"{cls.family}: unknown parameter {key!r}; known: {', '.join(kinds)}"
                )
            try:
                values[key] = kinds[key](text)
            except ValueError:
                raise DatasetError(
                    f"{cls.family}: {key}={text} is not of type {kinds[key].__name__}"
                ) from None
        return cls(**values)

    @property
    def name(self) -> str:
        """The name that gives this very model: the family and what differs from the defaults."""
        changed = [
            f"{field.name}={getattr(self, field.name)}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return ":".join([self.family, ",".join(changed)]) if changed else self.family

    def _check(self, name: str, fine: bool, allowed: str) -> None:
        """Refuse the value of a field unless it is fine.

        Raises:
            DatasetError: If it is not.
        """
        if not fine:
            raise DatasetError(f"{self.family}: {name}={getattr(self, name)} must be {allowed}")
