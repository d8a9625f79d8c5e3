r"""The fast way to run the cell network: same parameters, same mathematics, other kernels.

What it does differently from the plain module, and nothing else:

* propagation is a sparse product with a matrix that was normalised once (``adjacency``),
  attention a sparse product with a softmax over segments (``attention``);
* the raw features stay sparse, dropout acts on their nonzeros (``features``);
* leaves are computed on the labelled rows only (``blocks``);
* the last two layers, linear with nothing between them, are one;
* ReLU and dropout are one pass with cheap random bits, the scale of dropout is part of the
  BatchNorm's affine map (``dropout``).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchbuild.compute.dropout import Dropout, StackedDropout
from benchbuild.compute.features import Features
from benchbuild.compute.stacks import split, spread
from benchbuild.kinds.train.network.cell import CellNetwork, CellNode
from benchbuild.kinds.train.training.blocks import Block, PreparedGraph
from benchbuild.kinds.train.training.operations import on_hidden, on_raw, own_rows, store_by_column

MOMENTUM = 0.1
"""Weight of a new batch in BatchNorm's running statistics: torch's default."""


class FastRunner:
    """Runs one network on one graph. The network's own parameters and statistics are used.

    A stack of networks (`benchbuild.kinds.train.network.stack`) is run as one; logits are then
    (trainings, nodes, classes).
    """

    def __init__(
        self, network: CellNetwork, prepared: PreparedGraph, seed: int, *others: int
    ) -> None:
        """Take over a network that is on the graph's device; the seed fixes the dropout.

        Args:
            network: The network.
            prepared: The graph.
            seed: Its seed.
            others: Those of the others, if it is a stack.
        """
        p, device = network.wiring.hp.dropout, prepared.device
        self.network = network
        self._graph = prepared
        self._dropout = (
            StackedDropout(p, (seed, *others), device) if others else Dropout(p, seed, device)
        )
        self._nodes = [node for node in network.nodes if isinstance(node, CellNode)]
        if prepared.features.column_weights:
            for layer in (network.pre, *(node.op for node in self._nodes if node.node.raw)):
                if layer is not None:
                    store_by_column(layer, network.head.weight.dim())

    @property
    def generators(self) -> Sequence[torch.Generator]:
        """All that it draws from."""
        return self._dropout.generators

    def training_logits(self) -> Tensor:
        """Return the logits of the training nodes, with dropout and batch statistics."""
        self.network.train()
        return self._logits(self._graph.features.dropped(self._dropout), self._graph.train)

    @torch.no_grad()
    def evaluation_logits(self) -> Tensor:
        """Return the logits of training, validation and test nodes, in this order, to evaluate."""
        self.network.eval()
        return self._logits(self._graph.features, self._graph.evaluate)

    @torch.no_grad()
    def all_logits(self) -> Tensor:
        """Return the logits of every node, layer by layer: what the latency is measured on."""
        self.network.eval()
        return self._logits(self._graph.features, self._graph.whole, folded=False)

    def _logits(self, x: Features, leaf_block: Block, *, folded: bool = True) -> Tensor:
        """One forward pass; ``outputs`` stays empty where the raw features are handed on."""
        whole, pre = self._graph.whole, self.network.pre
        outputs: list[Tensor | None] = [None]
        if pre is not None:
            out = x.times(pre.weight.mT, whole.targets)
            outputs[0] = out + spread(pre.bias, len(out))
        for cell_node in self._nodes:
            node = cell_node.node
            block = leaf_block if node.leaf else whole
            h = outputs[node.parent]
            if h is not None:
                z = self._activate(cell_node, h, block)
                outputs.append(on_hidden(node.op, cell_node.op, z, block))
            elif node.op == "skip":
                outputs.append(None)
            else:
                outputs.append(on_raw(node.op, cell_node.op, x, block))
        leaves = [leaf for k in self.network.wiring.leaves if (leaf := outputs[k]) is not None]
        output = self.network.folded_output if folded else self.network.output
        logits, count = leaf_block.wanted.of(output(leaves)), self.network.count
        return logits if count == 1 else split(logits, count)

    def _activate(self, cell_node: CellNode, h: Tensor, block: Block) -> Tensor:
        """``dropout(relu(BN(h)))`` on the rows that the node's operation reads."""
        norm, rows = cell_node.norm, own_rows(cell_node.node.op, block)
        if not self.network.training:
            return self._normalise(norm, rows.of(h), norm.weight, norm.bias).relu_()
        scale = self._dropout.scale
        y = self._normalise(norm, h, norm.weight * scale, norm.bias * scale)
        return self._dropout.after_relu(rows.of(y))

    def _normalise(self, norm: nn.BatchNorm1d, h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """``BN(h)`` with a given affine map; columns of a stack are normalised like any others."""
        assert norm.running_mean is not None
        assert norm.running_var is not None
        return functional.batch_norm(
            h,
            norm.running_mean.view(-1),
            norm.running_var.view(-1),
            weight.view(-1),
            bias.view(-1),
            training=self.network.training,
            momentum=MOMENTUM,
            eps=norm.eps,
        )
