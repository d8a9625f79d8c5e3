"""A quick job of every kind, operation and condensation method: what a device is tried with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchbuild.datasets import dataset_spec, hyperparameters_for, load
from benchbuild.kinds.choose.kind import choose_run
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.kind import condense_run
from benchbuild.kinds.darts.kind import darts_run
from benchbuild.kinds.darts.records import LINK_NAMES
from benchbuild.kinds.evaluate.kind import evaluate_run
from benchbuild.kinds.evaluate.own import Given, write_own_table
from benchbuild.kinds.train.kind import train_run
from benchbuild.kinds.tune.kind import tune_run
from benchbuild.pipeline.jobs import AnyRun
from benchbuild.testing.methods import QUICK, SMALL
from benchquery.allowed import Value
from benchquery.kinds.architectures.arch import OPS, Arch
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.domains import DOMAINS
from benchquery.kinds.condensed.methods import find_method
from benchquery.table.writer import new_table

GRAPH = SMALL["nodes"]["dataset"]
HP = hyperparameters_for(GRAPH).override(epochs=4)
EVALUATIONS: Mapping[str, Evaluations] = {
    "nodes": Evaluations.of(["gcn", "mlp"], [0], {"epochs": 4, "hidden": 8}),
    "graphs": Evaluations.of(None, [0], {"epochs": 2}, task="graph-classification"),
    "images": Evaluations.of(None, [0], {"epochs": 2}, task="image-classification"),
}
"""By domain: how a condensed one is judged."""


def condensing(domain: str, method: str, evaluations: Evaluations | None = None) -> AnyRun:
    """Return a run of one quick condensation."""
    values = find_method(method, domain).hyperparameters(SMALL[domain]["dataset"])
    quick: dict[str, Value] = {**QUICK, "batch": 8, "depth": 1, "kernel": "fc"}
    if domain == "nodes":
        quick = dict(QUICK)
        if method in ("doscond", "dm"):
            quick |= {"outer": 1, "inner": 0}
    chosen = {name: value for name, value in quick.items() if name in values}
    config = CondenseConfig(method=method, domain=domain, **SMALL[domain]).replace(**chosen)
    return condense_run(config.dataset, [config], evaluations or EVALUATIONS[domain])


def graph_runs() -> dict[str, AnyRun]:
    """Return the runs of one quick job or more on one graph, by name."""
    archs = {op: Arch([0, 1, 2, 3], [op] * 4).valid_hash() for op in OPS if op != "skip"}
    links = Evaluations.of(["gcn"], [0], {"epochs": 4, "hidden": 8}, task="link-prediction")
    return {
        **{op: train_run(GRAPH, archs=[number], seeds=[0], hp=HP) for op, number in archs.items()},
        "tune": tune_run(GRAPH, trials=1, ranges={"epochs": [3]}),
        "choose": choose_run(GRAPH, "dm", trials=1, sizes=[0.1], ranges={"epochs": (2,)}),
        "darts": darts_run(GRAPH, links=[next(iter(LINK_NAMES))], hp=HP.override(pre=1, hidden=8)),
        **{method: condensing("nodes", method) for method in DOMAINS["nodes"].methods},
        "link-prediction": condensing("nodes", "gcond", links),
    }


def set_runs() -> dict[str, AnyRun]:
    """Return those on sets of graphs and of images."""
    return {
        f"{domain} {method}": condensing(domain, method)
        for domain in ("graphs", "images")
        for method in DOMAINS[domain].methods
    }


def evaluate_runs(folder: Path) -> dict[str, AnyRun]:
    """Return those that evaluate a condensed graph, one of every task.

    Args:
        folder: Where a table of one graph is written to, for it to be evaluated.
    """
    data = load(GRAPH)
    file, table = folder / "graph.npz", folder / "table"
    np.savez(file, x=data.x.to_dense()[:4].numpy(), y=data.y[:4].numpy(), adj=np.eye(4))
    with new_table(table) as stage:
        given = (data, dataset_spec(GRAPH))
        write_own_table([file], Given(), given, stage, EVALUATIONS["nodes"])
    quick: dict[str, Value] = {"epochs": 4, "hidden": 8, "warmup": 2, "pretraining": 2}
    runs: dict[str, AnyRun] = {}
    for name, task in DOMAINS["nodes"].tasks.items():
        chosen = {of: value for of, value in quick.items() if of in task.allowed}
        runs[f"evaluate {name}"] = evaluate_run(
            table, Evaluations.of(task.models[:2], [0], chosen, task=name)
        )
    return runs
