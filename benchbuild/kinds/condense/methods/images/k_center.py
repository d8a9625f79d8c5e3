"""K-Center: training images such that every other one of the class is near to one of them.

Images are compared by what a ConvNet makes of them that was trained for an epoch, or by their
pixels. DC-Bench takes those nearest to the centres of k-means; ``choice=farthest`` takes the greedy
farthest points that bear the name elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbuild.kinds.condense.images.backbone import Backbone
from benchbuild.kinds.condense.images.coreset import core_set, raw, selection, trained
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.selection import by_embedding
from benchquery.kinds.condensed.config import CondenseConfig


def condense(
    problem: ImagesProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield the training images that K-Center chooses."""
    if config["embedding"] == "raw":
        embed = raw(problem)
    else:
        embed = trained(
            problem,
            Backbone.of(config, problem.shape, problem.num_classes),
            config.seed,
            epochs=config.count("epochs"),
            batch=config.count("batch"),
            lr=config.number("lr"),
        )
    select = selection(str(config["choice"]), config.seed)
    return core_set(problem, config, by_embedding(embed, select))
