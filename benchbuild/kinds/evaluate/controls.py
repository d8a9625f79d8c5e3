"""Controls: a condensed graph with something of it shuffled among its nodes.

What a model still does on a graph whose labels are those of other nodes, or whose nodes have the
neighbours of others, it does not owe to them. How many nodes a class has, and how many neighbours a
node, stays as it is. The model that is trained on the original graph has no control.
"""

from __future__ import annotations

import dataclasses

import torch

from benchbuild.errors import EvaluationError
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchquery.kinds.condensed.config import EvalConfig

CONTROL, NO_CONTROL = "control", "none"


def controlled(condensed: CondensedGraph, config: EvalConfig) -> CondensedGraph:
    """Return a condensed graph as an evaluation wants it, shuffled by its seed.

    Raises:
        EvaluationError: If there are no edges to shuffle.
    """
    control = config[CONTROL]
    if control == NO_CONTROL:
        return condensed
    generator = torch.Generator().manual_seed(config.seed)
    order = torch.randperm(len(condensed.x), generator=generator).to(condensed.x.device)
    if control == "labels":
        return dataclasses.replace(condensed, y=condensed.y[order])
    if condensed.adjacency is None:
        raise EvaluationError("the condensed graph has no edges whose structure can be shuffled")
    return dataclasses.replace(condensed, adjacency=condensed.adjacency[order][:, order])


def uncontrolled(config: EvalConfig) -> EvalConfig:
    """Return the same evaluation without a control."""
    return config.replace(**{CONTROL: NO_CONTROL})
