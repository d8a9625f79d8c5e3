"""Some of the rows of a matrix that has one row per node."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


class Rows:
    """A choice of rows, made once and used every epoch; compared by identity.

    Attributes:
        index: The chosen rows in order; None for all of them as they are.
    """

    def __init__(self, index: np.ndarray | None, device: torch.device) -> None:
        """Choose rows of matrices that live on a device."""
        self.index = index
        self._on_device = None if index is None else torch.from_numpy(index).to(device)

    def of(self, matrix: Tensor) -> Tensor:
        """Return the chosen rows of a matrix, with their gradient."""
        return matrix if self._on_device is None else matrix.index_select(-2, self._on_device)
