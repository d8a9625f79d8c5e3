r"""KIP: kernel inducing points, after Nguyen et al. (2021).

.. math:: \min_{X'} \; \tfrac12 \big\| y_T -
    K_{TS} \big(K_{SS} + \lambda \tfrac{\operatorname{tr} K_{SS}}{n} I\big)^{-1} y_S \big\|^2

K is the tangent kernel of an infinitely wide network, see `benchbuild.kinds.condense.images.ntk`:
of linear maps (``kernel=fc``), or of the ConvNet without its norms. T are some real images, drawn
anew for every step of Adam. Labels are one-hot with their mean taken off, and are not learnt.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.kinds.condense.images.ntk import (
    ConvKernel,
    FullyConnectedKernel,
    Pooling,
    TangentKernel,
)
from benchbuild.kinds.condense.images.payload import CondensedImages
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.images.synthetic import first_images
from benchbuild.kinds.condense.learning import Learner, snapshots
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.ridge import regression
from benchquery.kinds.condensed.config import CondenseConfig


def condense(
    problem: ImagesProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield synthetic images, beginning with the initialisation."""
    generator = torch.Generator().manual_seed(config.seed)
    kernel = tangent_kernel(config)
    x = first_images(problem, config, generator)
    labels = problem.synthetic_labels(config)
    learner = Learner([x], config.number("lr_image"))
    batch, ridge = config.count("batch"), config.number("ridge")

    def targets(classes: Tensor) -> Tensor:
        return functional.one_hot(classes, problem.num_classes).double() - 1 / problem.num_classes

    def learn(_epoch: int) -> dict[str, Tensor]:
        order = torch.randperm(len(problem), generator=generator)[:batch].to(problem.device)
        predicted = regression(
            kernel(x, x), kernel(x, problem.images(order)), targets(labels), ridge
        )
        loss = (predicted - targets(problem.y[order])).square().sum(dim=1).mean() / 2
        learner.step(torch.autograd.grad(loss, [x]))
        return {"regression": loss.detach()}

    def payload() -> CondensedImages:
        return CondensedImages(x, labels, problem.mean, problem.std)

    return snapshots(config, learn, payload)


def tangent_kernel(config: CondenseConfig) -> TangentKernel:
    """Return the kernel that a configuration names."""
    if config["kernel"] == "fc":
        return FullyConnectedKernel(config.count("depth"))
    pooling = cast("Pooling", str(config["pooling"]))
    return ConvKernel(config.count("depth"), pooling=pooling)
