r"""What the core-set methods for images share: embeddings to choose by, and the set of the chosen.

========  ==========================================================================================
convnet   what the blocks of a ConvNet give that is trained on the training images for an epoch, as
          in DC-Bench
raw       the normalised pixels
========  ==========================================================================================

Of the images of a class, ``farthest`` takes those that are far from each other, see
`benchbuild.kinds.condense.selection.farthest`; ``k-means`` takes the image nearest to each of as
many centres,

.. math:: \min_{\mu} \sum_{i \in c} \min_j \| f_i - \mu_j \|^2, \qquad
    s_j = \arg\min_i \| f_i - \mu_j \|.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
from torch import Tensor
from torch.nn import functional

from benchbuild.kinds.condense.images.backbone import Backbone
from benchbuild.kinds.condense.images.payload import CondensedImages
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.method import Snapshot
from benchbuild.kinds.condense.selection import Choose, Embed, Select, farthest
from benchquery.kinds.condensed.config import CondenseConfig

MOMENTUM, WEIGHT_DECAY = 0.9, 5e-4
"""How networks are trained that images are embedded with; DC-Bench's."""
_AT_ONCE = 64
"""Images that are embedded at a time."""


def core_set(problem: ImagesProblem, config: CondenseConfig, choose: Choose) -> Iterator[Snapshot]:
    """Yield the set of the training images that are chosen class by class.

    Args:
        problem: The set that is condensed.
        config: Says how many images of a class to choose.
        choose: Chooses among the images of a class.

    Raises:
        CondenseError: If a class has fewer images than are asked for.
    """
    chosen = problem.chosen(config, choose)
    images = CondensedImages(
        problem.images(chosen), problem.y[chosen], problem.mean, problem.std, chosen=True
    )
    yield Snapshot(0, images.detach(), {})


def selection(name: str, seed: int) -> Select:
    """Return what takes rows of embeddings, by its name."""
    return farthest if name == "farthest" else partial(nearest_to_centres, seed=seed)


def nearest_to_centres(members: Tensor, count: int, seed: int = 0) -> Tensor:
    """Return the rows nearest to the centres of k-means, one each; none twice.

    Args:
        members: (members, width).
        count: How many to take.
        seed: Of the centres that k-means begins with.
    """
    rows = members.cpu().double()
    model = KMeans(count, n_init=1, random_state=seed % 2**32)
    with threadpool_limits(1):
        clusters = model.fit(rows.numpy())
    centres = torch.from_numpy(clusters.cluster_centers_).to(rows)
    distance = torch.cdist(centres, rows)
    taken: list[int] = []
    for row in distance:
        row[taken] = torch.inf
        taken.append(int(row.argmin()))
    return torch.tensor(taken, device=members.device)


def raw(problem: ImagesProblem) -> Embed:
    """Return what gives each image its normalised pixels."""
    return lambda numbers: problem.images(numbers).flatten(1)


def trained(
    problem: ImagesProblem,
    backbone: Backbone,
    seed: int,
    *,
    epochs: int = 1,
    batch: int = 256,
    lr: float = 0.01,
) -> Embed:
    """Return what gives each image its embedding by a ConvNet trained on the training images.

    Args:
        problem: The images.
        backbone: The ConvNet.
        seed: Of its weights and of the order of the images.
        epochs: Of its training.
        batch: Images of a step.
        lr: Its learning rate.
    """
    generator = torch.Generator().manual_seed(seed)
    weights = [weight.requires_grad_() for weight in backbone.draw(generator, problem.device)]
    optimizer = torch.optim.SGD(weights, lr=lr, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)
    for _ in range(epochs):
        order = torch.randperm(len(problem), generator=generator).to(problem.device)
        for numbers in torch.split(order, batch):
            logits = backbone.logits(weights, problem.images(numbers))
            optimizer.zero_grad()
            torch.autograd.backward(functional.cross_entropy(logits, problem.y[numbers]))
            optimizer.step()

    @torch.no_grad()
    def embed(numbers: Tensor) -> Tensor:
        parts = torch.split(numbers, _AT_ONCE)
        return torch.cat([backbone.embed(weights, problem.images(part)) for part in parts])

    return embed
