r"""The supernet of DARTS: every node of a cell computes all operations at once and mixes them.

.. math::
    \mathbf{h}_k = \sum_{o} \pi_{ko} \, o\big(\mathrm{dropout}(\mathrm{relu}(\mathrm{BN}_k(
    \mathbf{h}_{\mathrm{parent}(k)})))\big), \qquad \pi_k = \mathrm{softmax}(\alpha_k)

With all weight on one operation a node it is the network of that architecture. The mixture adds
outputs up, so they must have one width, the raw features' own being that of a skip: a
pre-process layer always stands before the cell, as DARTS has a stem before its cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn

from benchbuild.errors import HyperParameterError
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.network.cell import make_operation


class MixedNode(nn.Module):
    """One computing node with the layers of all operations, behind one BatchNorm."""

    def __init__(self, ops: Sequence[str], hp: HyperParameters) -> None:
        """Make the layers."""
        super().__init__()
        self.norm = nn.BatchNorm1d(hp.hidden)
        self.ops = nn.ModuleDict({op: make_operation(op, hp.hidden, hp) for op in ops})


class Supernet(nn.Module):
    """The whole supernet of one link list; the architecture parameters are not part of it.

    Attributes:
        link: Where each node takes its input from, as in `benchquery.kinds.architectures.arch`.
        leaves: The nodes that no other reads, counted from 1.
    """

    def __init__(
        self,
        link: Sequence[int],
        ops: Sequence[str],
        num_features: int,
        num_classes: int,
        hp: HyperParameters,
    ) -> None:
        """Make all layers, drawing their weights from torch's global generator.

        Raises:
            HyperParameterError: If there is no pre-process layer.
        """
        super().__init__()
        if not hp.pre:
            raise HyperParameterError(
                "hyper-parameter pre=0 is not allowed here: a supernet mixes operations of one "
                "width, so it needs the pre-process layer, pre=1"
            )
        self.link = tuple(link)
        self.leaves = tuple(k for k in range(1, len(link) + 1) if k not in link)
        cell_width = len(self.leaves) * hp.hidden
        self.pre = nn.Linear(num_features, hp.hidden)
        self.nodes = nn.ModuleList(MixedNode(ops, hp) for _ in link)
        self.post = nn.Linear(cell_width, hp.hidden) if hp.post else None
        self.head = nn.Linear(hp.hidden if hp.post else cell_width, num_classes)

    def output(self, leaves: Sequence[Tensor]) -> Tensor:
        """Logits from the outputs of the leaves."""
        h = torch.cat(list(leaves), dim=1).relu_()
        return cast(Tensor, self.head(h if self.post is None else self.post(h)))
