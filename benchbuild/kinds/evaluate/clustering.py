r"""Node clustering: DAEGC learns clusters on a condensed graph, and is tried on the original one.

.. math:: \mathcal{L} = \mathrm{BCE}(\mathbf{A}, \sigma(\mathbf{Z} \mathbf{Z}^\top))
    + \gamma \, \mathrm{KL}(P \| Q), \qquad
    q_{iu} \propto (1 + \| z_i - \mu_u \|^2)^{-1}, \qquad p_{iu} \propto q_{iu}^2 / \sum_i q_{iu}

(Wang et al., "Attributed graph clustering: a deep attentional embedding approach", 2019). As in
GC-Bench, the encoder is a GCN. It learns to tell which nodes are joined for some epochs, K-means on
its embeddings Z gives the first centres, then both are learnt together. Nodes of the original graph
go to the cluster of greatest q. With pre-training the encoder first learns the classes of the
condensed graph.

K-means beside it clusters the features alone.

There are as many clusters as classes. Accuracy and F1 match clusters with classes in the best way.
Test figures are of all nodes whose class is known; the validation figure is that of the validation
nodes, matched by themselves. No label chooses anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, f1_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from threadpoolctl import threadpool_limits
from torch import Tensor, nn
from torch.nn import functional

from benchbuild.compute.devices import reproducible
from benchbuild.datasets import Graph
from benchbuild.errors import EvaluationError
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.evaluate.models import GCN
from benchbuild.kinds.evaluate.operands import Operands, condensed_operands
from benchbuild.kinds.evaluate.unsupervised import check_pairs, dense_features, joined, reported
from benchbuild.kinds.train.training.operations import store_by_column
from benchquery.kinds.condensed.config import EvalConfig

STARTS = 20
"""How often K-means begins anew."""


@dataclass(frozen=True)
class Agreement:
    """How well clusters agree with classes: four figures, of which 1 is the best."""

    accuracy: float
    nmi: float
    ari: float
    f1: float


def agreement(clusters: np.ndarray, classes: np.ndarray) -> Agreement:
    """Compare clusters with classes.

    Args:
        clusters: (nodes,) the cluster of each.
        classes: (nodes,) the class of each.
    """
    counts = contingency_matrix(classes, clusters)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    names, found = np.unique(classes), np.unique(clusters)
    outside = int(names.max()) + 1
    meant = dict.fromkeys(found.tolist(), outside)
    meant |= dict(zip(found[columns].tolist(), names[rows].tolist(), strict=True))
    matched = np.array([meant[one] for one in clusters.tolist()])
    return Agreement(
        accuracy=float(counts[rows, columns].sum() / len(classes)),
        nmi=float(normalized_mutual_info_score(classes, clusters)),
        ari=float(adjusted_rand_score(classes, clusters)),
        f1=float(f1_score(classes, matched, labels=names, average="macro", zero_division=0)),
    )


def soft_assignment(z: Tensor, centres: Tensor) -> Tensor:
    """Return q: how much each embedding belongs to each centre, by Student's t."""
    near = 1.0 / (1.0 + torch.cdist(z, centres).square())
    return near / near.sum(dim=1, keepdim=True)


def sharpened(q: Tensor) -> Tensor:
    """Return p: q with what is likely made likelier, and large clusters made smaller."""
    weight = q.square() / q.sum(dim=0)
    return weight / weight.sum(dim=1, keepdim=True)


@dataclass(frozen=True, eq=False)
class _Lesson:
    """A graph to learn clusters on.

    Attributes:
        graph: The graph.
        x: Its features.
        rows: Its nodes whose classes may be learnt from.
        labels: Those classes.
    """

    graph: Operands
    x: Tensor
    rows: Tensor
    labels: Tensor


class NodeClustering:
    """The task of finding the classes of nodes without being told them.

    Args:
        graph: The dataset.
        device: Where to compute.
    """

    def __init__(self, graph: Graph, device: torch.device) -> None:
        self._graph = graph
        self._device = device

    def evaluate(self, condensed: CondensedGraph, config: EvalConfig) -> Evaluation:
        """Learn clusters on a condensed graph; try them on all nodes of the original one.

        Raises:
            EvaluationError: If it has fewer nodes than there are classes.
        """
        operands = condensed_operands(condensed, config.number("threshold"), self._device)
        rows = torch.arange(operands.num_nodes, device=self._device)
        return self._run(_Lesson(operands, condensed.x, rows, condensed.y.to(self._device)), config)

    def full(self, config: EvalConfig) -> Evaluation:
        """Learn clusters on the original graph.

        Raises:
            EvaluationError: If it is too large for that.
        """
        graph = self._graph
        rows = graph.train_mask.nonzero().view(-1)
        known = rows.to(self._device), graph.y[rows].to(self._device)
        return self._run(_Lesson(self._exam, graph.x, *known), config)

    def _run(self, lesson: _Lesson, config: EvalConfig) -> Evaluation:
        count = self._graph.num_classes
        if lesson.graph.num_nodes < count:
            raise EvaluationError(
                f"the graph has {lesson.graph.num_nodes} nodes: too few for {count} clusters"
            )
        clusters, losses = _LEARNERS[config.model](self, lesson, config)
        if clusters is None:
            return reported(config, losses, (np.nan, np.nan))
        classes, valid = self._graph.y.numpy(), self._graph.valid_mask.numpy()
        known = classes >= 0
        found = agreement(clusters[known], classes[known])
        on_valid = agreement(clusters[valid], classes[valid]).accuracy
        return reported(
            config, losses, (on_valid, found.accuracy), (found.nmi, found.ari, found.f1)
        )

    @cached_property
    def _exam(self) -> Operands:
        return Operands(self._graph.x, self._graph.edge_index, None, self._device)

    def by_features(
        self, lesson: _Lesson, config: EvalConfig
    ) -> tuple[np.ndarray | None, list[float]]:
        """Return the cluster of every node of the original graph by K-means on features."""
        model = _k_means(self._graph.num_classes, config.seed)
        with threadpool_limits(1):
            model.fit(dense_features(lesson.x))
            return model.predict(dense_features(self._graph.x)), []

    def by_daegc(
        self, lesson: _Lesson, config: EvalConfig
    ) -> tuple[np.ndarray | None, list[float]]:
        """Return the cluster of every node of the original graph by DAEGC, and its losses."""
        check_pairs(lesson.graph.num_nodes)
        exam, device = self._exam, self._device
        with reproducible(device, config.seed, threads=1):
            sizes = (exam.num_features, config.count("hidden"), config.count("embedding"))
            encoder = GCN(sizes, 0.0).to(device)
            if lesson.graph.has_sparse_features:
                store_by_column(encoder)
            if "pretraining" in config:
                self._pretrain(encoder, lesson, config)
            return _learn(encoder, lesson, exam, config, self._graph.num_classes)

    def _pretrain(self, encoder: nn.Module, lesson: _Lesson, config: EvalConfig) -> None:
        """Teach the encoder the classes of the lesson's nodes."""
        head = nn.Linear(config.count("embedding"), self._graph.num_classes).to(self._device)
        optimizer = _adam([*encoder.parameters(), *head.parameters()], config)
        for _ in range(config.count("pretraining")):
            logits = head(encoder(lesson.graph)[lesson.rows])
            _step(optimizer, functional.cross_entropy(logits, lesson.labels))


Learner = Callable[[NodeClustering, _Lesson, EvalConfig], tuple[np.ndarray | None, list[float]]]
_LEARNERS: Mapping[str, Learner] = MappingProxyType(
    {"daegc": NodeClustering.by_daegc, "k-means": NodeClustering.by_features}
)


def _learn(
    encoder: nn.Module, lesson: _Lesson, exam: Operands, config: EvalConfig, count: int
) -> tuple[np.ndarray | None, list[float]]:
    """Train an encoder and the centres; return the clusters of the nodes it is tried on."""
    wanted = joined(lesson.graph)

    def embedded(graph: Operands) -> Tensor:
        return functional.normalize(encoder(graph), dim=1)

    def rebuilt(z: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(z @ z.T, wanted)

    optimizer = _adam(list(encoder.parameters()), config)
    for _ in range(config.count("warmup")):
        _step(optimizer, rebuilt(embedded(lesson.graph)))
    with torch.no_grad():
        z = embedded(lesson.graph)
        if not bool(z.isfinite().all()):
            return None, [np.nan]
        with threadpool_limits(1):
            first = _k_means(count, config.seed).fit(z.cpu().numpy()).cluster_centers_
    centres = nn.Parameter(torch.from_numpy(first).to(z))
    optimizer.add_param_group({"params": [centres]})
    losses: list[float] = []
    for epoch in range(config.count("epochs")):
        z = embedded(lesson.graph)
        q = soft_assignment(z, centres)
        if epoch % config.count("update_every") == 0:
            p = sharpened(q.detach())
        apart = functional.kl_div(q.log(), p, reduction="batchmean")
        loss = rebuilt(z) + config.number("cluster_weight") * apart
        _step(optimizer, loss)
        losses.append(float(loss.detach()))
        if not np.isfinite(losses[-1]):
            return None, losses
    with torch.no_grad():
        return soft_assignment(embedded(exam), centres).argmax(dim=1).cpu().numpy(), losses


def _k_means(count: int, seed: int) -> KMeans:
    return KMeans(count, n_init=STARTS, random_state=seed % 2**32)


def _adam(parameters: list[nn.Parameter], config: EvalConfig) -> torch.optim.Optimizer:
    return torch.optim.Adam(
        parameters, lr=config.number("lr"), weight_decay=config.number("weight_decay")
    )


def _step(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad(set_to_none=True)
    torch.autograd.backward(loss)
    optimizer.step()
