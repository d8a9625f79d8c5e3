r"""What the features of synthetic nodes begin as (GC-Bench, B.5.1).

========  =====================================================================================
noise     :math:`\mathcal{N}(0, 1)`
sample    training nodes of the class, drawn without replacement
center    the mean of the training nodes of the class
k-center  the means of clusters of the class, one for every synthetic node
k-means   a node out of each of those clusters
========  =====================================================================================

The clusters are K-Means'. A class that gets more synthetic nodes than it has training nodes uses
them again from the first.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
from torch import Tensor

from benchbuild.kinds.condense.nodes.coreset import embedding
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.scaling import dense_rows
from benchbuild.kinds.condense.selection import farthest
from benchquery.kinds.condensed.config import CondenseConfig, RatioOf
from benchquery.kinds.condensed.domains.spec import AS_RELEASED
from benchquery.kinds.condensed.faults import keeps


def initial_features(
    problem: Problem, config: CondenseConfig, labels: Tensor, generator: torch.Generator
) -> Tensor:
    """Return the features that synthetic nodes begin with.

    Under the protocol ``as-released``, GCond and DosCond from a random sample begin with the
    features of wrong classes, as the published code does: there, labels are listed in the order in
    which classes first appear among the training nodes, features in the order of classes. And
    trajectories begin at nodes that the method K-Center selects instead of centres of clusters.

    Args:
        problem: The graph that is condensed.
        config: Says which initialisation, and the protocol.
        labels: The classes of the synthetic nodes, ascending.
        generator: The source of everything random.
    """
    x = dense_rows(problem.x, problem.train_nodes)
    if config.init == "k-center" and config.protocol == AS_RELEASED and _matches_paths(config):
        return x[_k_center_nodes(problem, config, labels)]
    parts = [
        _of_class(x[problem.train_labels == label], int((labels == label).sum()), config, generator)
        for label in torch.bincount(labels).nonzero()
    ]
    features = torch.cat(parts)
    if config.init == "sample" and keeps(config, "N2"):
        features = features[_released_order(problem.train_labels, labels)]
    return features


def _matches_paths(config: CondenseConfig) -> bool:
    return config.spec.family == "trajectory"


def _k_center_nodes(problem: Problem, config: CondenseConfig, labels: Tensor) -> Tensor:
    """Return which training nodes the method K-Center selects, by place, class by class."""
    selecting = CondenseConfig(
        config.dataset,
        "k-center",
        config.ratio,
        seed=config.seed,
        ratio_of=cast("RatioOf", config["ratio_of"]),
    )
    embeddings = embedding(problem, selecting)
    chosen = []
    for label, count in enumerate(torch.bincount(labels).tolist()):
        members = (problem.train_labels == label).nonzero().view(-1)
        if count:
            found = members[farthest(embeddings[members], min(count, len(members)))]
            chosen.append(found[torch.arange(count, device=found.device) % len(found)])
    return torch.cat(chosen)


def _of_class(
    members: Tensor, count: int, config: CondenseConfig, generator: torch.Generator
) -> Tensor:
    """Return the first features of a class's synthetic nodes from those of its training nodes."""
    again = torch.arange(count, device=members.device) % len(members)
    match config.init:
        case "noise":
            shape = (count, members.shape[1])
            return torch.randn(shape, generator=generator).to(members.device)
        case "sample":
            return members[torch.randperm(len(members), generator=generator).to(again)[again]]
        case "center":
            return members.mean(dim=0).expand(count, -1)
        case "k-center":
            centres, _ = _clusters(members, count, config.seed)
            return centres[again]
        case _:
            _, cluster = _clusters(members, count, config.seed)
            order = torch.randperm(len(members), generator=generator)
            groups = torch.bincount(cluster).nonzero()
            chosen = [order[cluster[order] == group][0] for group in groups]
            return members[torch.stack(chosen).to(again)[again % len(chosen)]]


def _clusters(members: Tensor, count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return the centres of at most `count` clusters and the cluster of each member, on the CPU."""
    points = members.cpu().numpy().astype(np.float64)
    model = KMeans(min(count, len(points)), n_init=1, random_state=seed)
    with threadpool_limits(1):
        cluster = model.fit_predict(points)
    return torch.from_numpy(model.cluster_centers_).to(members), torch.from_numpy(cluster).long()


def _released_order(train_labels: Tensor, labels: Tensor) -> Tensor:
    """Return which row of class-ordered features the published code puts beside each label."""
    counts = torch.bincount(train_labels)
    first: dict[int, int] = {}
    for place, label in enumerate(train_labels.tolist()):
        first.setdefault(label, place)
    listed = sorted(set(labels.tolist()), key=lambda label: (int(counts[label]), first[label]))
    released = torch.cat([labels[labels == label] for label in listed])
    return released.argsort(stable=True)
