r"""Which of some points stand for all of them: what the core-set methods of all domains share.

=========  ======================================================================================
herding    :math:`s_{i+1} = \arg\min_f \| (i + 1) \mu - \sum_{j \le i} s_j - f \|`
K-Center   :math:`s_{i+1} = \arg\max_f \min_{j \le i} \| f - s_j \|`
=========  ======================================================================================
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Select = Callable[[Tensor, int], Tensor]
"""Which rows of a class's embeddings, (members, width), to take, given how many."""
Choose = Callable[[Tensor, int], Tensor]
"""Which of some training graphs or images, by their numbers, to take, given how many."""
Embed = Callable[[Tensor], Tensor]
"""From numbers of training graphs or images to a row for each."""


def at_random(generator: torch.Generator) -> Choose:
    """Return what draws without replacement."""
    return lambda members, count: members[
        torch.randperm(len(members), generator=generator)[:count].to(members.device)
    ]


def by_embedding(embed: Embed, select: Select) -> Choose:
    """Return what chooses by an embedding."""
    return lambda members, count: members[select(embed(members), count)]


def herd(members: Tensor, count: int) -> Tensor:
    """Return the rows that herding takes, in its order."""
    mean = members.mean(dim=0)
    wanted = mean
    left = torch.ones(len(members), dtype=torch.bool, device=members.device)
    taken = []
    for _ in range(count):
        distance = (wanted - members).norm(dim=1).where(left, torch.inf)
        taken.append(distance.argmin())
        left[taken[-1]] = False
        wanted = wanted + mean - members[taken[-1]]
    return torch.stack(taken)


def farthest(members: Tensor, count: int, first: Tensor | None = None) -> Tensor:
    """Return the rows that K-Center takes, in its order; none twice.

    Args:
        members: (members, width).
        count: How many to take.
        first: The row to begin with; that nearest to the mean if not said.
    """
    if first is None:
        first = (members - members.mean(dim=0)).norm(dim=1).argmin()
    taken = [first]
    distance = torch.full((len(members),), torch.inf, device=members.device)
    for _ in range(count - 1):
        distance = torch.minimum(distance, (members - members[taken[-1]]).norm(dim=1))
        distance[taken[-1]] = -1.0
        taken.append(distance.argmax())
    return torch.stack(taken)
