r"""Nodes that a graph convolution can't tell apart, over all graphs of a set.

.. math:: c_{l+1}(i) = \{\!\{ (c_l(j), \hat{A}_{ij}) : \hat{A}_{ij} \ne 0 \}\!\}, \qquad
    c_0(i) = x_i

Nodes of equal colour :math:`c_l` have equal rows in layer l of every network of graph convolutions,
whatever its weights, so a layer need be computed once for each colour only. Molecules have few:
their atoms are of few elements and have few neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

_32 = np.uint64(32)


@dataclass(frozen=True, eq=False)
class Colours:
    """A colour for each node.

    Attributes:
        of: (nodes,) the colours, from 0 on.
        example: (colours,) a node of each.
    """

    of: np.ndarray
    example: np.ndarray

    def __len__(self) -> int:
        """Return how many colours there are."""
        return len(self.example)


def refined(matrix: csr_matrix, x: np.ndarray, layers: int) -> Iterator[Colours]:
    """Give the colours after each of some propagations.

    Nodes are told apart by 64-bit hashes: for a million nodes, the probability that any two that
    differ are taken for equal is below one in ten million.

    Args:
        matrix: What rows are propagated with.
        x: (nodes, features).
        layers: How many propagations.
    """
    features = csr_matrix(x, dtype=np.float32)
    hashes = _sums(features, _hashed(_bits(features) ^ (features.indices.astype(np.uint64) << _32)))
    weights = _hashed(_bits(matrix))
    for _ in range(layers):
        hashes = _sums(matrix, _hashed(hashes[matrix.indices] + weights))
        _, example, of = np.unique(hashes, return_index=True, return_inverse=True)
        yield Colours(of, example)


def _bits(matrix: csr_matrix) -> np.ndarray:
    """Return the bits of a matrix's entries in single precision as whole numbers."""
    bits: np.ndarray = matrix.data.view(np.uint32).astype(np.uint64)
    return bits


def _sums(matrix: csr_matrix, entries: np.ndarray) -> np.ndarray:
    """Return the sums over each row of a matrix, modulo two to the 64, given its entries."""
    total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries)])
    sums: np.ndarray = total[matrix.indptr[1:]] - total[matrix.indptr[:-1]]
    return sums


def _hashed(numbers: np.ndarray) -> np.ndarray:
    """Return 64 bits of noise for each number, the same for the same: Steele's splitmix64."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
