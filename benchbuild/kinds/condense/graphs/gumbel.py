r"""Edges that are drawn and can be learnt: the relaxed Bernoulli distribution.

.. math::
    A_{ij} = A_{ji} = \sigma\Bigl( \frac{\tfrac12 (\omega_{ij} + \omega_{ji}) + \log u_{ij} -
        \log(1 - u_{ij})}{\tau} \Bigr), \quad A_{ii} = 0, \quad u_{ij} = u_{ji} \sim
        \mathcal{U}(0, 1)

(Maddison et al., "The concrete distribution", 2017). As the temperature falls, samples go to 0 and
1 with the probability :math:`\sigma(\tfrac12 (\omega_{ij} + \omega_{ji}))` of an edge.
"""

from __future__ import annotations

import torch
from torch import Tensor

COLDEST = 0.01
COOLING = 200
"""The temperature falls from 1 to `COLDEST` in this many steps and stays there."""
_LEAST = 1e-7


def temperature(step: int) -> float:
    """Return the temperature of a step, from 0 on."""
    return float(max(COLDEST, COLDEST ** (step / COOLING)))


def probabilities(logits: Tensor) -> Tensor:
    """Return the probability of each edge: symmetric, 0 on the diagonal."""
    return _mirrored(_mean(logits).sigmoid())


def relaxed_sample(logits: Tensor, heat: float, generator: torch.Generator) -> Tensor:
    """Return drawn edges, from 0 to 1 each: symmetric, 0 on the diagonal.

    Args:
        logits: (graphs, nodes, nodes).
        heat: The temperature.
        generator: The source of noise, on the CPU.
    """
    noise = torch.rand(logits.shape, generator=generator).to(logits.device).logit_(_LEAST)
    return _mirrored(((_mean(logits) + noise) / heat).sigmoid())


def _mean(logits: Tensor) -> Tensor:
    return (logits + logits.mT) / 2


def _mirrored(edges: Tensor) -> Tensor:
    """Return what is above the diagonal, and the same below it."""
    above = edges.triu(1)
    return above + above.mT
