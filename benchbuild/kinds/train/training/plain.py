"""The plain way to run the cell network: PyG's layers on ``edge_index`` and dense features.

The reference the fast way is tested against and measured with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from benchbuild.datasets.graph import Graph
from benchbuild.kinds.train.network.cell import CellNetwork


class PlainRunner:
    """Runs one network on one graph with a full forward pass every time.

    Attributes:
        generators: None of its own: it draws from torch's, which every CUDA graph knows.
    """

    generators: Sequence[torch.Generator] = ()

    def __init__(self, network: CellNetwork, graph: Graph, device: torch.device) -> None:
        """Take over a network that is on the device; dropout uses torch's global generator."""
        self.network = network
        self._x = graph.x.to_dense().to(device)
        self._edge_index = graph.edge_index.to(device)
        masks = (graph.train_mask, graph.valid_mask, graph.test_mask)
        rows = [mask.nonzero().flatten() for mask in masks]
        self._train_rows = rows[0].to(device)
        self._all_rows = torch.cat(rows).to(device)

    def training_logits(self) -> Tensor:
        """Return the logits of the training nodes, with dropout and batch statistics."""
        self.network.train()
        return cast(Tensor, self.network(self._x, self._edge_index))[self._train_rows]

    @torch.no_grad()
    def evaluation_logits(self) -> Tensor:
        """Return the logits of training, validation and test nodes, in this order, to evaluate."""
        self.network.eval()
        return cast(Tensor, self.network(self._x, self._edge_index))[self._all_rows]
