r"""Anomaly detection: DOMINANT learns to rebuild a condensed graph; what it can't rebuild is odd.

.. math:: s_i = \alpha \, \| x_i - \hat{x}_i \| + (1 - \alpha) \, \| a_i - \hat{a}_i \|

(Ding et al., "Deep anomaly detection on attributed networks", 2019): two layers of a GCN encode,
one decoder gives the features back and another the edges. Anomalies are put in as that paper does.

- **Contextual**: a node takes the features of the farthest of some randomly drawn nodes.
- **Structural**: some nodes are joined into cliques.

They are put among the test and among the validation nodes of the original graph, always the same
ones, and in the condensed graph that is trained on. The figure is the area under the ROC curve of s
over the test nodes. As in GC-Bench, a condensed graph that is too small gets one contextual anomaly
or two structural ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn
from torch.nn import functional

from benchbuild.compute.devices import reproducible
from benchbuild.datasets import Graph
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.evaluate.models import GCN
from benchbuild.kinds.evaluate.operands import Operands
from benchbuild.kinds.evaluate.unsupervised import check_pairs, dense_features, joined, reported
from benchquery.kinds.condensed.config import EvalConfig

SPLIT_SEED = 0
"""One set of anomalies in the original graph for all models and methods."""
LEAST: Mapping[str, int] = MappingProxyType({"contextual": 1, "structural": 2})
"""How many anomalies of a sort there are at least."""


@dataclass(frozen=True, eq=False)
class Plain:
    """A graph in plain arrays.

    Attributes:
        x: (nodes, features).
        edges: (2, edges) in both directions.
        weights: (edges,).
    """

    x: np.ndarray
    edges: np.ndarray
    weights: np.ndarray


Inject = Callable[[Plain, np.ndarray, EvalConfig, np.random.Generator], tuple[Plain, np.ndarray]]


def inject_contextual(
    graph: Plain, among: np.ndarray, config: EvalConfig, random: np.random.Generator
) -> tuple[Plain, np.ndarray]:
    """Give some nodes the features of others that are far from them.

    Args:
        graph: The graph; it stays as it is.
        among: The nodes that may become anomalies.
        config: Says how many do, and of how many nodes the farthest is taken.
        random: The source of the draws.

    Returns:
        The graph with anomalies, and which nodes they are.
    """
    chosen = random.permutation(among)[: _count(len(among), "contextual", config)]
    x = graph.x.copy()
    for node in chosen.tolist():
        others = random.permutation(np.delete(np.arange(len(x)), node))
        others = others[: config.count("candidates")]
        distance = np.linalg.norm(graph.x[others] - graph.x[node], axis=1)
        x[node] = graph.x[others[distance.argmax()]]
    return Plain(x, graph.edges, graph.weights), chosen


def inject_structural(
    graph: Plain, among: np.ndarray, config: EvalConfig, random: np.random.Generator
) -> tuple[Plain, np.ndarray]:
    """Join some nodes into cliques; see `inject_contextual`."""
    chosen = random.permutation(among)[: _count(len(among), "structural", config)]
    size = config.count("clique")
    cliques = [chosen[first : first + size] for first in range(0, len(chosen), size)]
    if len(cliques) > 1 and len(cliques[-1]) == 1:
        cliques[-2:] = [np.concatenate(cliques[-2:])]
    pairs = np.concatenate([_pairs(clique) for clique in cliques], axis=1)
    nodes = len(graph.x)
    known = np.isin(graph.edges[0] * nodes + graph.edges[1], pairs[0] * nodes + pairs[1])
    return Plain(
        graph.x,
        np.concatenate([graph.edges[:, ~known], pairs], axis=1),
        np.concatenate([graph.weights[~known], np.ones(pairs.shape[1])]),
    ), chosen


def _count(nodes: int, sort: str, config: EvalConfig) -> int:
    return min(max(round(config.number("anomalies") * nodes), LEAST[sort]), nodes)


def _pairs(clique: np.ndarray) -> np.ndarray:
    """Return all pairs of different nodes of a clique, in both directions."""
    first, second = np.meshgrid(clique, clique, indexing="ij")
    return np.stack([first[first != second], second[first != second]])


class Dominant(nn.Module):
    """A shared encoder and two decoders, all of graph convolutions.

    Args:
        features: Width of the features.
        hidden: Width of the embedding.
    """

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.encoder = GCN((features, hidden, hidden), 0.0)
        self.of_features = GCN((hidden, hidden, features), 0.0)
        self.of_edges = GCN((hidden, hidden), 0.0)

    def forward(self, graph: Operands) -> tuple[Tensor, Tensor]:
        """Return features and edges as they are rebuilt."""
        h = functional.relu(self.encoder(graph))
        x = h
        for place, layer in enumerate(self.of_features.layers):
            x = functional.relu(x) if place else x
            x = self.of_features.apply_layer(layer, graph, x)
        z = self.of_edges.apply_layer(self.of_edges.layers[0], graph, h)
        return x, torch.sigmoid(z @ z.T)


@dataclass(frozen=True, eq=False)
class _Odd:
    """A graph with anomalies, ready to be rebuilt."""

    graph: Operands
    x: Tensor
    edges: Tensor

    @classmethod
    def of(cls, graph: Plain, device: torch.device) -> _Odd:
        x = torch.from_numpy(graph.x).float()
        edges, weights = torch.from_numpy(graph.edges), torch.from_numpy(graph.weights).float()
        operands = Operands(x, edges, weights, device)
        return cls(operands, x.to(device), joined(operands))

    def errors(self, model: Dominant, weight: float) -> Tensor:
        """Return for each node how badly it is rebuilt."""
        x, edges = model(self.graph)
        of_x, of_edges = (
            (found - wanted).square().sum(dim=1).add(1e-12).sqrt()
            for found, wanted in ((x, self.x), (edges, self.edges))
        )
        errors: Tensor = weight * of_x + (1 - weight) * of_edges
        return errors


class AnomalyDetection:
    """The task of telling which nodes are odd.

    Args:
        graph: The dataset.
        device: Where to compute.
        inject: What puts anomalies of one sort in.
    """

    def __init__(self, graph: Graph, device: torch.device, inject: Inject) -> None:
        self._graph = graph
        self._device = device
        self._inject = inject
        self._exam = cache(self._make_exam)

    def evaluate(self, condensed: CondensedGraph, config: EvalConfig) -> Evaluation:
        """Train on a condensed graph with anomalies; find those of the original one.

        Raises:
            EvaluationError: If a graph is too large for that.
        """
        edges, weights = condensed.edges(config.number("threshold"))
        plain = Plain(condensed.x.cpu().numpy(), edges.numpy(), weights.numpy())
        check_pairs(len(plain.x))
        random = np.random.default_rng(config.seed)
        odd, _ = self._inject(plain, np.arange(len(plain.x)), config, random)
        return self._run(_Odd.of(odd, self._device), config)

    def full(self, config: EvalConfig) -> Evaluation:
        """Train on the original graph with its anomalies.

        Raises:
            EvaluationError: If it is too large for that.
        """
        return self._run(self._exam(config.replace(seed=0))[0], config)

    def _run(self, lesson: _Odd, config: EvalConfig) -> Evaluation:
        weight = config.number("attribute_weight")
        exam, places, are_odd = self._exam(config.replace(seed=0))
        losses: list[float] = []
        with reproducible(self._device, config.seed, threads=1):
            model = Dominant(exam.graph.num_features, config.count("hidden")).to(self._device)
            optimizer = torch.optim.Adam(
                model.parameters(),
                lr=config.number("lr"),
                weight_decay=config.number("weight_decay"),
            )
            for _ in range(config.count("epochs")):
                optimizer.zero_grad(set_to_none=True)
                loss = lesson.errors(model, weight).mean()
                torch.autograd.backward(loss)
                optimizer.step()
                losses.append(float(loss.detach()))
                if not np.isfinite(losses[-1]):
                    return reported(config, losses, (np.nan, np.nan))
            with torch.no_grad():
                found = exam.errors(model, weight).cpu().numpy()
        valid, test = (
            float(roc_auc_score(odd, found[nodes]))
            for nodes, odd in zip(places, are_odd, strict=True)
        )
        return reported(config, losses, (valid, test))

    def _make_exam(
        self, config: EvalConfig
    ) -> tuple[_Odd, tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """Return the original graph with anomalies, who is judged, and who of those is odd."""
        graph = self._graph
        check_pairs(graph.num_nodes)
        edges = graph.edge_index.numpy()
        plain = Plain(dense_features(graph.x), edges, np.ones(edges.shape[1]))
        random = np.random.default_rng(SPLIT_SEED)
        places = tuple(np.flatnonzero(mask.numpy()) for mask in (graph.valid_mask, graph.test_mask))
        odd = []
        for nodes in places:
            plain, chosen = self._inject(plain, nodes, config, random)
            odd.append(np.isin(nodes, chosen))
        return _Odd.of(plain, self._device), places, tuple(odd)
