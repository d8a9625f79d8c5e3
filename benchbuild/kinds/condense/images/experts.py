r"""Expert trajectories on images: the weights of ConvNets after each epoch on the real images.

.. math:: \theta_{t+1} = \theta_t - \eta\, \nabla_\theta \mathcal{L}(\mathcal{A}(B_t); \theta_t)

B are the batches of an epoch, augmented where the configuration says so. How checkpoints are kept,
`benchbuild.kinds.condense.expert_files` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.kinds.condense.expert_files import ExpertFiles, expert_generator, flat_copy
from benchbuild.kinds.condense.images.backbone import Backbone
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.images.synthetic import Siamese
from benchquery.kinds.condensed.config import CondenseConfig

FORMAT = 1
"""Version of the files and of how they are made; part of their names."""
_SETTINGS = (
    "width",
    "depth",
    "seed",
    "augmentation",
    "expert_epochs",
    "expert_interval",
    "expert_lr",
    "expert_batch",
)


class ImageExperts(ExpertFiles):
    """Some experts on disk; those that are missing are trained when this is made.

    Args:
        problem: The images.
        config: The ConvNet, the number of ``experts``, ``expert_epochs`` of training,
            ``expert_interval`` between checkpoints, ``expert_lr``, ``expert_batch``,
            ``augmentation`` and the seed.
        backbone: The ConvNet.
        scratch: The folder of their files.
    """

    def __init__(
        self, problem: ImagesProblem, config: CondenseConfig, backbone: Backbone, scratch: Path
    ) -> None:
        facts = {
            "format": FORMAT,
            "device": problem.device.type,
            "images": problem.checksum,
            **{name: config[name] for name in _SETTINGS},
        }
        super().__init__(scratch, facts, config.count("experts"), backbone.shapes, problem.device)
        checkpoints = config.count("expert_epochs") // config.count("expert_interval") + 1
        self.complete(lambda number: trajectory(problem, config, backbone, number), checkpoints)


def trajectory(
    problem: ImagesProblem, config: CondenseConfig, backbone: Backbone, expert: int
) -> Iterator[Tensor]:
    """Train a ConvNet: yield a copy of its weights, flat, at every checkpoint.

    Args:
        problem: The images.
        config: The settings of `ImageExperts`.
        backbone: The ConvNet.
        expert: The number of the expert.
    """
    generator = expert_generator(config.seed, expert)
    weights = [weight.requires_grad_() for weight in backbone.draw(generator, problem.device)]
    optimizer = torch.optim.SGD(weights, lr=config.number("expert_lr"))
    augmented = Siamese(config, generator).each
    yield flat_copy(weights)
    for epoch in range(1, config.count("expert_epochs") + 1):
        order = torch.randperm(len(problem), generator=generator).to(problem.device)
        for numbers in torch.split(order, config.count("expert_batch")):
            logits = backbone.logits(weights, augmented(problem.images(numbers)))
            optimizer.zero_grad()
            torch.autograd.backward(functional.cross_entropy(logits, problem.y[numbers]))
            optimizer.step()
        if epoch % config.count("expert_interval") == 0:
            yield flat_copy(weights)
