r"""SFGC: structure-free condensation by matching trajectories, after Zheng et al. (2023).

.. math::
    \min_{X', \eta} \; \frac{\lVert \theta_S(X', y', \eta) - \theta_T \rVert^2}
    {\lVert \theta_0 - \theta_T \rVert^2}

The condensed graph has no edges. Its classes are fixed; its features and the student's learning
rate are learnt. SFGC chooses among snapshots by the squared error of a tangent kernel on the
validation nodes. Who judges the snapshots works that error out, as the diagnostic ``gntk``; it is
recorded and chooses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.kinds.condense.learning import snapshots
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.experts import Experts
from benchbuild.kinds.condense.nodes.init import initial_features
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.trajectory import Matcher
from benchquery.kinds.condensed.config import CondenseConfig


def condense(problem: Problem, config: CondenseConfig, workspace: Workspace) -> Iterator[Snapshot]:
    """Yield condensed graphs, beginning with the initialisation."""
    generator = torch.Generator().manual_seed(config.seed)
    labels = problem.synthetic_labels(config)
    x = initial_features(problem, config, labels, generator).clone().requires_grad_()
    targets = functional.one_hot(labels, problem.num_classes).float()
    experts = Experts(problem, config, config.count("experts"), workspace.scratch)
    experts.add_costs(workspace)
    matcher = Matcher(experts, config, generator, problem.device)
    optimizer = torch.optim.Adam(
        [
            {"params": [x], "lr": config.number("lr_feat")},
            {"params": [matcher.log_rate], "lr": config.number("lr_rate")},
        ]
    )

    def learn(_epoch: int) -> dict[str, Tensor]:
        loss, _ = matcher.loss(x, targets, config.count("start_epochs"))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        return {"matching": loss.detach()}

    yield from snapshots(config, learn, lambda: CondensedGraph(x, labels, None))
