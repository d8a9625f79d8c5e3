"""Torch's sparse CSR tensors, made without the notice that they are in beta."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor


def csr_tensor(
    indptr: Tensor,
    indices: Tensor,
    values: Tensor,
    size: tuple[int, int],
    *,
    check: bool = True,
) -> Tensor:
    """Make a sparse CSR tensor and check that it is a valid one, unless told not to.

    The check waits for the device. Torch says once in a process that this layout is in beta; nobody
    who trains can act on that.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(indptr, indices, values, size=size, check_invariants=check)
