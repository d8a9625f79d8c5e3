r"""A small graph network that predicts figures of architectures, in numpy.

An architecture is a graph of six nodes: input, four operations, output. With :math:`A` its edges
both ways and loops, rows summing to 1, and :math:`X` the kinds of the nodes as indicators,

.. math::
    \hat y = w^\top \operatorname{mean}\, \sigma(A\, \sigma(A X W_1)\, W_2)

where :math:`\sigma` cuts off what is negative. It is trained by Adam on the squared error of
standardised figures, with weight decay, all rows at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.kinds.architectures.arch import LINKS, NODES, OPS
from benchquery.kinds.architectures.encoding import link_indices, op_indices

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")

_WIDTH, _STEPS, _RATE, _DECAY = 32, 200, 0.01, 0.1
_NODES = NODES + 2


class GraphNetwork:
    """Predicts figures of architectures after it was fitted to some.

    Args:
        seed: The seed of the first weights.
    """

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        sizes = ((len(OPS) + 2, _WIDTH), (_WIDTH, _WIDTH), (_WIDTH, 1))
        self._weights = [rng.standard_normal(size) * np.sqrt(2 / size[0]) for size in sizes]
        self._mean, self._scale = 0.0, 1.0

    def fit(self, hashes: Ints, values: Floats) -> GraphNetwork:
        """Learn the figures of some architectures."""
        self._mean, self._scale = float(values.mean()), float(values.std()) or 1.0
        target = (values - self._mean) / self._scale
        kinds, edges = _graphs(hashes)
        first, second = ([np.zeros_like(one) for one in self._weights] for _ in range(2))
        for step in range(1, _STEPS + 1):
            for place, gradient in enumerate(self._gradients(kinds, edges, target)):
                first[place] += 0.1 * (gradient - first[place])
                second[place] += 0.001 * (gradient**2 - second[place])
                scale = np.sqrt(second[place] / (1 - 0.999**step)) + 1e-8
                move = first[place] / (1 - 0.9**step) / scale
                self._weights[place] -= _RATE * (move + _DECAY * self._weights[place])
        return self

    def predict(self, hashes: Ints) -> Floats:
        """Return the figures to expect of some architectures."""
        *_, pooled = self._forward(*_graphs(hashes))
        predicted: Floats = self._mean + self._scale * (pooled @ self._weights[2])[:, 0]
        return predicted

    def _forward(self, kinds: Floats, edges: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return both layers, what the second one is made of, and the mean over nodes."""
        first = np.maximum(edges @ kinds @ self._weights[0], 0.0)
        mixed = edges @ first
        second = np.maximum(mixed @ self._weights[1], 0.0)
        return first, mixed, second, second.mean(axis=1)

    def _gradients(self, kinds: Floats, edges: Floats, target: Floats) -> list[Floats]:
        """Return the gradients of half the mean squared error."""
        first, mixed, second, pooled = self._forward(kinds, edges)
        error = ((pooled @ self._weights[2])[:, 0] - target) / len(target)
        into_second = (
            error[:, None, None] * self._weights[2][:, 0] / _NODES * (second > 0)
        )  # (n, nodes, width)
        into_first = edges.transpose(0, 2, 1) @ (into_second @ self._weights[1].T) * (first > 0)
        return [
            np.einsum("nki,nkj->ij", edges @ kinds, into_first),
            np.einsum("nki,nkj->ij", mixed, into_second),
            pooled.T @ error[:, None],
        ]


def _graphs(hashes: Ints) -> tuple[Floats, Floats]:
    """Return the kinds of the nodes (n, 6, 11) and the edges (n, 6, 6) of architectures."""
    every = np.zeros((len(LINKS), _NODES, _NODES))
    for matrix, link in zip(every, np.array(LINKS), strict=True):
        nodes = np.arange(1, NODES + 1)
        matrix[link, nodes] = 1
        matrix[np.setdiff1d(nodes, link), NODES + 1] = 1
    every = every + every.transpose(0, 2, 1) + np.eye(_NODES)
    every /= every.sum(axis=2, keepdims=True)
    kinds = np.zeros((len(hashes), _NODES, len(OPS) + 2))
    kinds[:, 1:-1, : len(OPS)] = np.eye(len(OPS))[op_indices(hashes)]
    kinds[:, 0, -2] = kinds[:, -1, -1] = 1
    return kinds, every[link_indices(hashes)]
