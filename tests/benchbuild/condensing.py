"""Small problems that condensation is tested on."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch
from torch import Tensor

from benchbuild.datasets import Graph, load
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.scaling import scaled
from benchbuild.kinds.condense.registry import condenser
from benchquery.kinds.condensed.config import CondenseConfig

CPU = torch.device("cpu")
SMALL = "csbm:nodes=200,features=12"
EXPERTS = {"expert_epochs": 20, "expert_interval": 2, "experts": 2, "start_epochs": 4, "steps": 2}
"""Hyper-parameters of methods that have experts, for those that take a moment."""


def problem(graph: Graph | str = SMALL, *, inductive: bool = False) -> Problem:
    """Return a graph to condense, given itself or by name."""
    found = load(graph) if isinstance(graph, str) else graph
    return Problem.of(scaled(dataclasses.replace(found, inductive=inductive)), CPU)


def settings(method: str, ratio: float = 0.1, **changes: object) -> CondenseConfig:
    """Return a configuration that takes a moment."""
    quick = {"epochs": 3, "evaluate_every": 2, "outer": 2, "inner": 2, "hidden": 8}
    if method in ("doscond", "dm"):
        quick |= {"outer": 1, "inner": 0}
    if method in ("herding", "k-center"):
        quick = {"epochs": 20, "hidden": 8}
    if method in ("sfgc", "geom"):
        quick = {"epochs": 3, "evaluate_every": 2, "hidden": 8, **EXPERTS}
    if method == "random":
        quick = {}
    return CondenseConfig(SMALL, method, ratio, **{**quick, **changes})  # type: ignore[arg-type]


def condensed(config: CondenseConfig, given: Problem | None = None) -> list[Snapshot]:
    """Return all snapshots."""
    workspace = Workspace(Path("unused"), {})
    return list(condenser(config)(given or problem(), config, workspace))


def path_graph(x: Tensor, y: Tensor) -> Graph:
    """Return a graph whose nodes are joined in a row; all but the last two train."""
    nodes = torch.arange(len(x) - 1)
    edges = torch.stack([torch.cat([nodes, nodes + 1]), torch.cat([nodes + 1, nodes])])
    train, valid, test = (torch.zeros(len(x), dtype=torch.bool) for _ in range(3))
    train[:-2], valid[-2], test[-1] = True, True, True
    return Graph.build(
        "path",
        x,
        edges,
        y,
        (train, valid, test),
        num_classes=int(y.max()) + 1,
        split="all but the last two train",
    )
