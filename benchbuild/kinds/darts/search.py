"""Differentiable search: DARTS of first order on the supernet of one link list.

In every epoch the architecture parameters take one step on the validation loss, then the weights
take one on the training loss. Neither loss reaches the other's parameters. The test nodes are
never looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from benchbuild.compute.devices import environment, reproducible, stream_seed
from benchbuild.compute.dropout import Dropout
from benchbuild.compute.features import Features, make_features
from benchbuild.compute.meters import MemoryMeter, Stopwatch
from benchbuild.compute.objective import Objective, accuracy, rocauc
from benchbuild.datasets.graph import Graph
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.darts.supernet import MixedNode, Supernet
from benchbuild.kinds.train.training.blocks import Adjacency, Block
from benchbuild.kinds.train.training.operations import on_hidden, store_by_column

HISTORY = ("train_loss", "valid_loss", "valid_perf")
"""What is measured in every epoch: the loss of the weights' step, then two in evaluation mode."""

ARCH_BETAS = (0.5, 0.999)
"""Adam's decay rates for the architecture parameters: those of DARTS."""

ARCH_SPREAD = 1e-3
"""Standard deviation of their initial values: that of DARTS."""


@dataclass(frozen=True)
class SearchSettings:
    """How the architecture parameters are learnt.

    Attributes:
        ops: The operations that every node mixes.
        arch_lr: Learning rate of Adam.
        arch_weight_decay: Its L2 penalty.
    """

    ops: tuple[str, ...]
    arch_lr: float
    arch_weight_decay: float


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What one search gave.

    Attributes:
        epochs_done: Epochs whose losses were finite; fewer than asked for if it diverged.
        weights: (epochs done, nodes of the cell, operations): the mixture after every epoch.
        history: (epochs done, 3), columns as in `HISTORY`.
        params: Number of parameters, without those of the architecture.
        train_seconds: Seconds of the whole search.
        peak_memory: Highest memory in bytes.
        environment: Device, threads and library versions.
    """

    epochs_done: int
    weights: np.ndarray
    history: np.ndarray
    params: int
    train_seconds: float
    peak_memory: int
    environment: dict[str, str]


@dataclass(frozen=True, eq=False)
class Split:
    """The training or the validation nodes.

    Attributes:
        block: What leaves are computed on to know these rows.
        labels: Their labels.
        metric: "accuracy" or "rocauc".
    """

    block: Block
    labels: Tensor
    metric: str

    def loss(self, logits: Tensor) -> Tensor:
        """Return the loss of the task."""
        return Objective(self.metric, (self.labels, self.labels, self.labels)).loss(logits)

    def score(self, logits: Tensor) -> float:
        """Return the metric of the task."""
        return float((accuracy if self.metric == "accuracy" else rocauc)(logits, self.labels))


class SearchGraph:
    """A graph made ready for searching; serves any number of supernets.

    Attributes:
        features: The raw features.
        whole: The block of all rows, for nodes with children.
        train: The nodes that the weights are learnt on.
        valid: The nodes that the architecture parameters are learnt on.
    """

    def __init__(self, graph: Graph, device: torch.device) -> None:
        """Prepare a graph; the propagation matrices follow when they are needed."""

        def split(mask: Tensor) -> Split:
            block = self.whole.cut(np.flatnonzero(mask.numpy()))
            return Split(block, graph.y[mask].to(device), graph.metric)

        self.features: Features = make_features(graph.x, device)
        self.whole = Block(Adjacency(graph), graph.num_nodes, device)
        self.train = split(graph.train_mask)
        self.valid = split(graph.valid_mask)


@lru_cache(maxsize=1)
def prepare(graph: Graph, device: torch.device) -> SearchGraph:
    """Prepare a graph for a device; the last one is kept for the searches that follow."""
    return SearchGraph(graph, device)


class SupernetRunner:
    """Runs one supernet on one graph, by the operations of the fast trainer."""

    def __init__(self, network: Supernet, graph: SearchGraph, dropout: Dropout) -> None:
        """Take over a supernet that is on the graph's device."""
        self.network = network
        self._graph = graph
        self._dropout = dropout
        self._nodes = [node for node in network.nodes if isinstance(node, MixedNode)]
        if graph.features.column_weights:
            store_by_column(network.pre)

    def loss(self, split: Split, mixture: Tensor) -> Tensor:
        """Return the loss on some nodes, with dropout and batch statistics."""
        self.network.train()
        dropped = self._graph.features.dropped(self._dropout)
        return split.loss(self._logits(dropped, split.block, mixture))

    @torch.no_grad()
    def logits(self, split: Split, mixture: Tensor) -> Tensor:
        """Logits of some nodes in evaluation mode.

        Args:
            split: Which nodes.
            mixture: (nodes of the cell, operations): the weight of each operation.
        """
        self.network.eval()
        return self._logits(self._graph.features, split.block, mixture)

    def _logits(self, x: Features, leaf_block: Block, mixture: Tensor) -> Tensor:
        """One forward pass; leaves are computed on the rows of their block only."""
        network, whole = self.network, self._graph.whole
        outputs = [x.times(network.pre.weight.t(), whole.targets) + network.pre.bias]
        for k, node in enumerate(self._nodes, start=1):
            block = leaf_block if k in network.leaves else whole
            z = self._activate(node, outputs[network.link[k - 1]], block)
            outputs.append(_mix(node, z, block, mixture[k - 1]))
        return leaf_block.wanted.of(network.output([outputs[k] for k in network.leaves]))

    def _activate(self, node: MixedNode, h: Tensor, block: Block) -> Tensor:
        """``dropout(relu(BN(h)))`` on the rows that the operations read."""
        y = block.sources.of(node.norm(h))
        if not self.network.training:
            return y.relu()
        return self._dropout.after_relu(y * self._dropout.scale)


def _mix(node: MixedNode, z: Tensor, block: Block, weights: Tensor) -> Tensor:
    """Return the weighted sum of all operations on the targets of a block."""
    outputs = [on_hidden(op, layer, z, block) for op, layer in node.ops.items()]
    return torch.stack([w * out for w, out in zip(weights, outputs, strict=True)]).sum(dim=0)


def search(
    link: Sequence[int],
    graph: Graph,
    hp: HyperParameters,
    settings: SearchSettings,
    *,
    seed: int,
    device: torch.device,
    threads: int = 1,
) -> SearchResult:
    """Search among all operations of the four nodes of a link list.

    The same arguments give the same numbers, apart from the seconds and bytes.

    Args:
        link: The link list.
        graph: The dataset.
        hp: Hyper-parameters, with a pre-process layer.
        settings: How the architecture parameters are learnt.
        seed: Seed of initial weights, of initial architecture parameters and of dropout.
        device: Where to run.
        threads: Threads on the CPU.

    Raises:
        HyperParameterError: If there is no pre-process layer.
    """
    memory = MemoryMeter(device)
    with reproducible(device, stream_seed("supernet", seed), threads):
        network = Supernet(link, settings.ops, graph.num_features, graph.num_classes, hp)
        alphas = ARCH_SPREAD * torch.randn(len(link), len(settings.ops))
        dropout = Dropout(hp.dropout, stream_seed("dropout", seed), device)
        prepared = prepare(graph, device)
        runner = SupernetRunner(network.to(device), prepared, dropout)
        watch = Stopwatch(device)
        turns = Turns(runner, prepared, alphas.to(device), hp, settings)
        weights, history = _run(turns, hp.epochs)
        seconds = watch.seconds()
    return SearchResult(
        epochs_done=len(weights),
        weights=weights,
        history=history,
        params=sum(parameter.numel() for parameter in network.parameters()),
        train_seconds=seconds,
        peak_memory=memory.peak(),
        environment=environment(device, threads),
    )


class Turns:
    """The two optimisers, which take turns.

    Attributes:
        alphas: The architecture parameters, (nodes of the cell, operations).
    """

    def __init__(
        self,
        runner: SupernetRunner,
        graph: SearchGraph,
        alphas: Tensor,
        hp: HyperParameters,
        settings: SearchSettings,
    ) -> None:
        """Give each optimiser its own parameters."""
        self.alphas = alphas.requires_grad_()
        self._runner = runner
        self._graph = graph
        kind = torch.optim.SGD if hp.optimizer == "sgd" else torch.optim.Adam
        self._weights = kind(runner.network.parameters(), lr=hp.lr, weight_decay=hp.weight_decay)
        self._architecture = torch.optim.Adam(
            [alphas], settings.arch_lr, ARCH_BETAS, weight_decay=settings.arch_weight_decay
        )

    def mixture(self) -> Tensor:
        """Return the weight of every operation, without a way back to the parameters."""
        return self.alphas.detach().softmax(dim=1)

    def step_architecture(self) -> None:
        """One step of the architecture parameters on the validation loss."""
        loss = self._runner.loss(self._graph.valid, self.alphas.softmax(dim=1))
        (self.alphas.grad,) = torch.autograd.grad(loss, [self.alphas])
        self._architecture.step()

    def step_weights(self) -> float:
        """One step of the weights on the training loss, which is returned."""
        self._weights.zero_grad(set_to_none=True)
        loss = self._runner.loss(self._graph.train, self.mixture())
        torch.autograd.backward(loss)
        self._weights.step()
        return float(loss.detach())

    def measure(self) -> tuple[float, float]:
        """Loss and metric on the validation nodes, in evaluation mode."""
        valid = self._graph.valid
        logits = self._runner.logits(valid, self.mixture())
        return float(valid.loss(logits)), valid.score(logits)


def _run(turns: Turns, epochs: int) -> tuple[np.ndarray, np.ndarray]:
    """Run all epochs, or those before the first one whose losses are not finite."""
    weights: list[np.ndarray] = []
    history: list[tuple[float, ...]] = []
    for _ in range(epochs):
        turns.step_architecture()
        measured = (turns.step_weights(), *turns.measure())
        if not np.isfinite(measured[:2]).all():
            break
        history.append(measured)
        weights.append(turns.mixture().cpu().numpy())
    shape = turns.alphas.shape
    return np.array(weights).reshape(-1, *shape), np.array(history).reshape(-1, len(HISTORY))
