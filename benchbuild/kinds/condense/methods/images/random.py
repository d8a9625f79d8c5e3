r"""Random: :math:`S_c \sim \mathcal{U}\{S \subseteq T_c : |S| = n_c\}`.

Training images of each class drawn without replacement: what every other method has to beat.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from benchbuild.kinds.condense.images.coreset import core_set
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.selection import at_random
from benchquery.kinds.condensed.config import CondenseConfig


def condense(
    problem: ImagesProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield randomly chosen training images."""
    return core_set(problem, config, at_random(torch.Generator().manual_seed(config.seed)))
