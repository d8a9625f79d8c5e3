r"""GEOM: matching trajectories in an expanding window, after Zhang et al. (2024).

.. math::
    \min_{X', Y', \eta} \; \frac{\lVert \theta_S(X', Y', \eta) - \theta_T \rVert^2}
    {\lVert \theta_0 - \theta_T \rVert^2}
    + \beta \, \mathrm{KL}\bigl(Y' \,\Vert\, f_{\theta_{\mathrm{end}}}(X')\bigr)

SFGC with four changes. Experts learn easy nodes first. The latest start of a student grows from
``start_first`` by an epoch every epoch up to ``start_epochs``. Labels are probabilities and
learnt. And a fully trained expert is to agree with them (knowledge embedding, weight ``beta``).

A node is difficult if the classes around it are mixed,

.. math::
    d_i = - \sum_c p_{ic} \log p_{ic}, \qquad
    p_{ic} = \text{share of class } c \text{ among node } i \text{ and its neighbours},

and epoch t of an expert is on the :math:`\min(1, \lambda^{1 - t/T})` easiest training nodes. The
published code takes the true classes of all nodes for this, those of test nodes among them. Here
classes that are not known are those that an expert without curriculum predicts.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.kinds.condense.learning import snapshots
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.backbones import Weights
from benchbuild.kinds.condense.nodes.experts import Curriculum, Experts, real_view
from benchbuild.kinds.condense.nodes.init import initial_features
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.trajectory import Matcher, lonely_view
from benchquery.kinds.condensed.config import CondenseConfig


def condense(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Iterator[Snapshot]:
    """Yield condensed graphs, beginning with the initialisation."""
    generator = torch.Generator().manual_seed(config.seed)
    classes = problem.synthetic_labels(config)
    x = initial_features(problem, config, classes, generator).clone().requires_grad_()
    experts = _experts(problem, config, workspace)
    scale = config.number("feature_scale")

    def opinion(weights: Weights) -> Tensor:
        """Return the log-probabilities that a model gives the synthetic nodes."""
        _, logits = experts.backbone.outputs(weights, lonely_view(experts.backbone, x * scale))
        return functional.log_softmax(logits, dim=1)

    with torch.no_grad():
        y = first_labels(opinion(experts.checkpoint(0, -1)), classes)
    y.requires_grad_()
    matcher = Matcher(experts, config, generator, problem.device)
    optimizer = torch.optim.Adam(
        [
            {"params": [x], "lr": config.number("lr_feat")},
            {"params": [y], "lr": config.number("lr_label")},
            {"params": [matcher.log_rate], "lr": config.number("lr_rate")},
        ]
    )

    def learn(epoch: int) -> dict[str, Tensor]:
        latest = min(config.count("start_first") + epoch - 1, config.count("start_epochs"))
        matching, expert = matcher.loss(x, y.softmax(dim=1), latest)
        knowledge = functional.kl_div(
            opinion(experts.checkpoint(expert, -1)),
            y.log_softmax(dim=1),
            reduction="batchmean",
            log_target=True,
        )
        optimizer.zero_grad()
        torch.autograd.backward(matching + config.number("beta") * knowledge)
        optimizer.step()
        return {"matching": matching.detach(), "knowledge": knowledge.detach()}

    yield from snapshots(config, learn, lambda: CondensedGraph(x, y.softmax(dim=1), None))


def first_labels(opinion: Tensor, classes: Tensor) -> Tensor:
    """Return (n, c) log-probabilities in which every node's own class is the likeliest.

    Where a model prefers another class, the two change places.

    Args:
        opinion: (n, c) what the model says.
        classes: (n,) the nodes' own classes.
    """
    best, preferred = opinion.max(dim=1)
    own = opinion.gather(1, classes[:, None])
    labels = opinion.scatter(1, preferred[:, None], own)
    return labels.scatter(1, classes[:, None], best[:, None])


def difficulty(problem: Problem, labels: Tensor) -> Tensor:
    """Return the entropy of the classes around every training node, itself included.

    Args:
        problem: The graph.
        labels: The classes of all nodes.
    """
    source, target = problem.edge_index
    proper = source != target
    around = functional.one_hot(labels, problem.num_classes).float()
    counts = around.index_add(0, target[proper], around[source[proper]])
    shares = counts[problem.train_nodes]
    shares = shares / shares.sum(dim=1, keepdim=True)
    return -torch.xlogy(shares, shares).sum(dim=1)


def easiest_first(hardness: Tensor, share: float, full_epoch: int, epoch: int) -> Tensor:
    """Return which training nodes an epoch is on, as a mask.

    Args:
        hardness: How difficult each node is.
        share: The share of the easiest nodes in epoch 0.
        full_epoch: From which epoch on it is all of them.
        epoch: The epoch.
    """
    size = min(1.0, share ** (1 - epoch / full_epoch))
    chosen = torch.zeros(len(hardness), dtype=torch.bool, device=hardness.device)
    chosen[hardness.argsort(stable=True)[: max(int(size * len(hardness)), 1)]] = True
    return chosen


def _experts(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Experts:
    """Train experts with a curriculum, and before them one without."""
    plain = Experts(problem, config, 1, workspace.scratch)
    plain.add_costs(workspace)
    everyone = torch.arange(problem.num_nodes, device=problem.device)
    with torch.no_grad():
        view = real_view(problem, config, plain.backbone, everyone)
        _, logits = plain.backbone.outputs(plain.checkpoint(0, -1), view)
    labels = logits.argmax(dim=1)
    labels[problem.train_nodes] = problem.train_labels
    hardness = difficulty(problem, labels)
    share, full_epoch = config.number("curriculum_share"), config.count("curriculum_epochs")
    curriculum = Curriculum(
        lambda epoch: easiest_first(hardness, share, full_epoch, epoch),
        {"share": share, "epochs": full_epoch},
    )
    experts = Experts(problem, config, config.count("experts"), workspace.scratch, curriculum)
    experts.add_costs(workspace)
    return experts
