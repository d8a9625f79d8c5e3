"""The operation weights of some searches as one array."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from benchquery.errors import QueryError
from benchquery.kinds.architectures.arch import NODES

if TYPE_CHECKING:
    from benchquery._typing import Floats


@dataclasses.dataclass(frozen=True, eq=False)
class OperationWeights:
    """The operation weights of some searches at their end.

    Attributes:
        dataset: What was searched on.
        ops: The operations that were mixed.
        searches: Link list, as in ``0012``, and seed of every search that ended well.
        values: (searches, nodes, operations); those of a node add up to 1.
    """

    dataset: str
    ops: tuple[str, ...]
    searches: tuple[tuple[str, int], ...]
    values: Floats

    def __post_init__(self) -> None:
        """Check that there is a weight for everything, and something at all.

        Raises:
            QueryError: If not.
        """
        if self.values.shape != (len(self.searches), NODES, len(self.ops)):
            raise QueryError(
                f"the weights of {len(self.searches)} searches over {len(self.ops)} operations "
                f"can't have the shape {self.values.shape}"
            )
        if not self.searches:
            raise QueryError(f"no search on {self.dataset!r} has ended well")
