"""What a method makes, and what is kept of it: all that the pipeline asks of either.

A payload is what methods and models compute with; a stored payload is the same in plain arrays and
in the precision of storage. A payload is judged as it is kept, so what a table says of it holds of
the very arrays in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

if TYPE_CHECKING:
    from torch.utils.data import TensorDataset
    from torch_geometric.data import Data


class Payload(Protocol):
    """What a method makes, for computing with."""

    def detach(self) -> Self:
        """Return a copy that later optimisation steps don't change."""

    def stored(self) -> StoredPayload:
        """Return what is kept of it."""


class StoredPayload(Protocol):
    """What is kept of a payload.

    Attributes:
        form: What files call its form: a name in `benchbuild.kinds.condense.forms.FORMS`.
        blank: What a table says in the columns of `columns` where nothing is kept.
    """

    form: ClassVar[str]
    blank: ClassVar[Mapping[str, int | float]]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """Read a payload out of the arrays of a table's file."""

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that a table's file keeps, by name."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self | None:
        """Read the payload in a record of a run; None if it has none."""

    def to_record(self) -> dict[str, Any]:
        """Return what a record of a run says of it: numbers and flat arrays."""

    def payload(self) -> Payload:
        """Return the payload, for computing with."""

    def columns(self, threshold: float) -> dict[str, Any]:
        """Return what a table says of it: how large it is, and how it looks.

        Args:
            threshold: What an evaluation leaves out is not counted.
        """

    def data(self, threshold: float) -> Data | list[Data] | TensorDataset:
        """Return it as PyG's: one graph, or a list of them; images as torch's own.

        Args:
            threshold: Edges with less weight are left out.
        """

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite in the precision of storage."""

    @property
    def bytes(self) -> int:
        """The size of the arrays."""
