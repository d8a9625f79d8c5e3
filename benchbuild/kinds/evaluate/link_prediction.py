r"""Link prediction: an autoencoder learns the edges of a condensed graph, and is tried on others.

.. math:: p_{ij} = \sigma(z_i^\top z_j), \qquad \mathbf{Z} = \mathrm{model}(\mathbf{X}, \mathbf{A})

(Kipf and Welling, "Variational graph auto-encoders", 2016). The edges of the original graph are
dealt out once: 5% to validate, 10% to test, the rest is what a model may see of it. It is tried on
held-out edges and as many pairs of different nodes that are not joined. Those it learns from are
drawn anew every epoch. The figure is the share of pairs that are told right.

The public code of GC-Bench lets the model see the edges that it is tried on, and counts nodes
joined to themselves among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.utils import coalesce

from benchbuild.compute.objective import Objective
from benchbuild.datasets import Graph
from benchbuild.errors import EvaluationError
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.evaluate.operands import Operands, condensed_operands
from benchbuild.kinds.evaluate.trial import run_trial
from benchquery.kinds.condensed.config import EvalConfig

VALID_SHARE, TEST_SHARE = 0.05, 0.1
SPLIT_SEED = 0
"""One deal of the edges for all models and methods."""
EMBEDDING = 16
"""The width of z."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of nodes, first those that are joined, then as many that are not.

    Attributes:
        nodes: (2, pairs).
    """

    nodes: Tensor

    @classmethod
    def of(cls, links: Tensor, negatives: Tensor) -> Pairs:
        """Put links and pairs that are not joined together."""
        return cls(torch.cat([links, negatives], dim=1))

    @property
    def labels(self) -> Tensor:
        """1 for each link, 0 for each pair that is not joined."""
        count = self.nodes.shape[1]
        return torch.arange(count, device=self.nodes.device).lt(count // 2).long()

    def logits(self, z: Tensor) -> Tensor:
        """Return (pairs, 2): those of not being and of being joined; only the difference counts."""
        score = (z[self.nodes[0]] * z[self.nodes[1]]).sum(dim=1)
        return torch.stack([torch.zeros_like(score), score], dim=1)


@dataclass(frozen=True, eq=False)
class LinkSplit:
    """The edges of a graph, dealt out.

    Attributes:
        seen: (2, edges) what a model may see, each edge once.
        valid: What it is validated on.
        test: What it is tested on.
    """

    seen: Tensor
    valid: Pairs
    test: Pairs


def links_of(edge_index: Tensor) -> Tensor:
    """Return each edge between two different nodes once, the lower node first."""
    low, high = edge_index.min(dim=0).values, edge_index.max(dim=0).values
    links: Tensor = coalesce(torch.stack([low, high])[:, low < high])
    return links


class NegativeSamples:
    """The pairs of different nodes of a graph that are not joined, to draw from.

    Args:
        links: (2, links) what is joined, in one direction or both.
        num_nodes: The nodes of the graph.

    Raises:
        EvaluationError: If all pairs are joined.
    """

    def __init__(self, links: Tensor, num_nodes: int) -> None:
        first, second = links.cpu()
        itself = torch.arange(num_nodes) * (num_nodes + 1)
        joined = [first * num_nodes + second, second * num_nodes + first]
        taken = torch.from_numpy(np.unique(torch.cat([*joined, itself]).numpy()))
        self._free_before = taken - torch.arange(len(taken))
        self._free = num_nodes**2 - len(taken)
        self._num_nodes = num_nodes
        self._device = links.device
        if self._free == 0:
            raise EvaluationError("all nodes of the graph are joined: no pair to tell links from")

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Draw (2, count) pairs, each as likely; one may come twice.

        Pair (i, j) has the number i n + j. The k-th number that is not taken, by a link or a node
        with itself, is k plus how many taken ones have at most k free ones before them.

        Args:
            count: How many.
            generator: The source of the draws, on the CPU.
        """
        place = torch.randint(self._free, (count,), generator=generator)
        number = place + torch.searchsorted(self._free_before, place, right=True)
        pairs = [number // self._num_nodes, number % self._num_nodes]
        return torch.stack(pairs).to(self._device)


def split_links(edge_index: Tensor, num_nodes: int) -> LinkSplit:
    """Deal the edges of a graph out: always in the same way.

    Raises:
        EvaluationError: If there are too few to hold some out.
    """
    generator = torch.Generator().manual_seed(SPLIT_SEED)
    links = links_of(edge_index)
    total = links.shape[1]
    sizes = [round(share * total) for share in (VALID_SHARE, TEST_SHARE)]
    if not all(sizes):
        raise EvaluationError(f"the graph has {total} edges: too few to hold some out")
    order = torch.randperm(total, generator=generator).to(links.device)
    held, seen = links[:, order[: sum(sizes)]], links[:, order[sum(sizes) :]]
    apart = NegativeSamples(links, num_nodes).draw(sum(sizes), generator)
    valid, test = (
        Pairs.of(one, other)
        for one, other in zip(
            torch.split(held, sizes, dim=1), torch.split(apart, sizes, dim=1), strict=True
        )
    )
    return LinkSplit(seen, valid, test)


class _Linker:
    """A model with the graph whose links it learns, and what it is tried on."""

    def __init__(self, model: nn.Module, lesson: _Lesson, exam: _Exam, seed: int) -> None:
        self._model = model
        self._lesson = lesson
        self._exam = exam
        self._generator = torch.Generator().manual_seed(seed)

    def training_logits(self) -> Tensor:
        """Return logits of the links that are learnt and of as many drawn pairs, with dropout."""
        self._model.train()
        drawn = self._lesson.draw(self._generator)
        return drawn.logits(self._model(self._lesson.graph))

    @torch.no_grad()
    def evaluation_logits(self) -> Tensor:
        """Return the logits of training, validation and test pairs, in that order."""
        self._model.eval()
        tried = self._model(self._exam.graph)
        same = self._lesson.graph is self._exam.graph
        learnt = tried if same else self._model(self._lesson.graph)
        split = self._exam.split
        return torch.cat(
            [self._lesson.pairs.logits(learnt), split.valid.logits(tried), split.test.logits(tried)]
        )


@dataclass(frozen=True, eq=False)
class _Lesson:
    """A graph and those of its links that are to be learnt, each once."""

    graph: Operands
    links: Tensor

    @cached_property
    def _negatives(self) -> NegativeSamples:
        return NegativeSamples(self.links, self.graph.num_nodes)

    def draw(self, generator: torch.Generator) -> Pairs:
        """Return the links and as many pairs that are not joined."""
        return Pairs.of(self.links, self._negatives.draw(int(self.links.shape[1]), generator))

    @cached_property
    def pairs(self) -> Pairs:
        """Links and other pairs, the same in every epoch: for the training figures."""
        return self.draw(torch.Generator().manual_seed(SPLIT_SEED))


@dataclass(frozen=True, eq=False)
class _Exam:
    """The original graph with the edges that a model may see, and what it is tried on."""

    graph: Operands
    split: LinkSplit


class LinkPrediction:
    """The task of telling which nodes are joined.

    Args:
        graph: The dataset.
        device: Where to compute.
    """

    def __init__(self, graph: Graph, device: torch.device) -> None:
        self._graph = graph
        self._device = device

    def evaluate(self, condensed: CondensedGraph, config: EvalConfig) -> Evaluation:
        """Train a model on the edges of a condensed graph; try it on those of the original one.

        Raises:
            EvaluationError: If it has no edges, or all that there can be.
        """
        operands = condensed_operands(condensed, config.number("threshold"), self._device)
        source, target, _ = operands.edges
        links = links_of(torch.stack([source, target]))
        if links.shape[1] == 0:
            raise EvaluationError("the condensed graph has no edges to learn links from")
        return self._run(_Lesson(operands, links), config)

    def full(self, config: EvalConfig) -> Evaluation:
        """Train the same model on the edges of the original graph that it may see."""
        return self._run(_Lesson(self._exam.graph, self._exam.split.seen), config)

    def _run(self, lesson: _Lesson, config: EvalConfig) -> Evaluation:
        exam = self._exam
        tried = (lesson.pairs, exam.split.valid, exam.split.test)
        train, valid, test = (pairs.labels for pairs in tried)
        objective = Objective("accuracy", (train, valid, test))
        return run_trial(
            config,
            exam.graph,
            EMBEDDING,
            objective,
            lambda model: _Linker(model, lesson, exam, config.seed),
        )

    @cached_property
    def _exam(self) -> _Exam:
        graph = self._graph
        split = split_links(graph.edge_index.to(self._device), graph.num_nodes)
        both_ways = torch.cat([split.seen, split.seen.flip(0)], dim=1)
        return _Exam(Operands(graph.x, both_ways, None, self._device), split)
