r"""A' as a function of X': which synthetic nodes are joined, and how strongly.

.. math:: A'_{ij} = \sigma\bigl( \tfrac12 (m_{ij} + m_{ji}) \bigr), \quad A'_{ii} = 0, \quad
    m_{ij} = \mathrm{MLP}([x_i; x_j])

with three layers of width 128, batch normalisation and relu (GCond, "Graph condensation for graph
neural networks", 2022). The first layer is split, :math:`[x_i; x_j] W = x_i W_a + x_j W_b`, so it
costs two products with :math:`n` rows instead of one with :math:`n^2`. Its batch normalisation is
split too: over all pairs, the mean of a sum is the sum of the means, and so is the variance. Biases
before a normalisation are left out, since they have no effect.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.compute.products import product
from benchbuild.kinds.condense.nodes.backbones import Weights, linear_weights
from benchbuild.kinds.condense.nodes.pairs import EPSILON, pair_scores
from benchbuild.kinds.condense.nodes.problem import Problem
from benchquery.kinds.condensed.config import CondenseConfig

WIDTH = 128


class Structure(Protocol):
    """A function from X' to A' that can be learnt.

    Attributes:
        weights: Its parameters.
    """

    weights: Weights

    def __call__(self, x: Tensor) -> Tensor:
        """Return the (n, n) edge weights: symmetric, from 0 to 1, zero on the diagonal."""

    def penalty(self, adjacency: Tensor) -> Tensor | None:
        """Return what learning the structure should keep small beside the matching loss."""


class PairNetwork:
    """An MLP on pairs of rows, one layer at a time.

    Args:
        rows: The width of the rows.
        edge_bias: What to add to the bias of its output at the beginning.
        generator: The source of the first weights.
        device: Where to compute.
        width: Of its hidden layers.
    """

    def __init__(
        self,
        rows: int,
        edge_bias: float,
        generator: torch.Generator,
        device: torch.device,
        width: int = WIDTH,
    ) -> None:
        first, _, second, _, last, bias = linear_weights(
            (2 * rows, width, width, 1), generator, device
        )
        gains = [torch.ones(width, device=device) for _ in range(2)]
        shifts = [torch.zeros(width, device=device) for _ in range(2)]
        bias += edge_bias
        self.weights = [first, gains[0], shifts[0], second, gains[1], shifts[1], last, bias]

    def halves(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return what rows add to the first layer of pairs, before relu: two of (width, n)."""
        weight, gain, shift = self.weights[:3]
        products = product(weight.view(-1, x.shape[1]), x.T).view(len(gain), 2, -1)
        centred = products - products.mean(dim=2, keepdim=True)
        variance = centred.square().mean(dim=2).sum(dim=1)
        scale = gain * (variance + EPSILON).rsqrt()
        left, right = (centred * scale[:, None, None]).unbind(dim=1)
        return left + shift[:, None], right

    def first(self, x: Tensor) -> Tensor:
        """Return the first layer of all ordered pairs of rows, (n * n, width)."""
        left, right = (half.T.contiguous() for half in self.halves(x))
        pairs: Tensor = left[:, None] + right
        return pairs.relu_().flatten(0, 1)

    def second(self, pairs: Tensor) -> Tensor:
        """Return the second layer of pairs."""
        weight, gain, shift = self.weights[3:6]
        return functional.batch_norm(
            product(pairs, weight.T), None, None, gain, shift, training=True, eps=EPSILON
        ).relu_()

    def last(self, pairs: Tensor) -> Tensor:
        """Return the one output of each pair."""
        weight, bias = self.weights[6:]
        return pairs @ weight.T + bias


class PairwiseMlp:
    """GCond's structure.

    Args:
        problem: The graph that is condensed.
        config: Says ``edge_bias``, the larger the more edges there are at the beginning: at 0 all
            nodes are joined by about one half; and ``edge_width``, if it is not 128.
        generator: The source of the first weights.
    """

    def __init__(
        self, problem: Problem, config: CondenseConfig, generator: torch.Generator
    ) -> None:
        self._network = PairNetwork(
            int(problem.x.shape[1]),
            config.number("edge_bias"),
            generator,
            problem.device,
            int(config.values.get("edge_width", WIDTH)),
        )
        self.weights = self._network.weights

    def __call__(self, x: Tensor) -> Tensor:
        """See `Structure`."""
        network = self._network
        return edge_weights(pair_scores(*network.halves(x), network.weights[3:]), len(x))

    def penalty(self, adjacency: Tensor) -> Tensor | None:
        """Return None: the matching loss is all there is."""
        return None


def edge_weights(scores: Tensor, nodes: int) -> Tensor:
    """Return the adjacency of the scores of all ordered pairs.

    One half is mirrored: on some processors, equal scores have sigmoids that differ in the last
    bit, depending on where they stand.
    """
    square = scores.view(nodes, nodes)
    above = ((square + square.T) / 2).sigmoid().triu(1)
    return above + above.T
