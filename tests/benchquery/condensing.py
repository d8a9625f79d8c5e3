"""A small synthetic table of condensed graphs, written as a builder does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig, changed_values
from benchquery.kinds.condensed.domains.nodes import METHODS
from benchquery.kinds.condensed.graphs import new_graphs
from benchquery.kinds.condensed.table import CondensedTable
from benchquery.table.curves import new_curves
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.table.writer import new_table, write_table

EVAL_SEEDS = (0, 1, 2)
EPOCHS = 6
FULL = 0.8
GCN, SGC = EvalConfig(epochs=EPOCHS), EvalConfig(model="sgc", epochs=EPOCHS - 2)
FAILED = CondenseConfig("toy", "random", 0.026, seed=2)
RELEASED = CondenseConfig("toy", "gcdm", 0.026, protocol="as-released")
GCOND = CondenseConfig("toy", "gcond", 0.026, epochs=40)
CONFIGS = [
    *(
        config.replace(ratio=ratio, seed=seed)
        for config in (CondenseConfig("toy", "random", 0.026), GCOND)
        for ratio in (0.013, 0.026)
        for seed in range(3)
    ),
    RELEASED,
]
TEXTS = ("config", "evaluation", "config_text", "evaluation_text", "dataset", "method", "ratio_of",
         "init", "backbone", "protocol", "task", "model", "status", "reason")  # fmt: skip
WHOLE_NUMBERS = ("seed", "nodes", "edges", "expert_bytes", "graph_bytes")


def graph_of(config: CondenseConfig) -> dict[str, Any]:
    """The arrays of a configuration's graph: random, but always the same ones."""
    rng = np.random.default_rng(int(config.valid_hash()[:8], 16))
    nodes = round(1000 * config.ratio)
    soft = config.method == "gcdm"
    ring = np.roll(np.eye(nodes, dtype=np.float32), 1, axis=1) * rng.random(nodes, np.float32)
    return {
        "x": rng.random((nodes, 4)).astype(np.float16),
        "y": rng.random((nodes, 3)).astype(np.float32) if soft else np.arange(nodes) % 3,
        "adjacency": None if config.method == "random" else ring + ring.T,
    }


def kept_of(config: CondenseConfig) -> dict[str, Any]:
    """The arrays of a configuration's graph that a file keeps."""
    return {name: values for name, values in graph_of(config).items() if values is not None}


def edges_of(config: CondenseConfig, threshold: float) -> int:
    """How many edges of a configuration's graph reach a threshold."""
    adjacency = graph_of(config)["adjacency"]
    return 0 if adjacency is None else int(np.sum(np.triu(adjacency, 1) >= np.float32(threshold)))


def curve_of(config: CondenseConfig, evaluation: EvalConfig) -> Any:
    """(seeds, epochs, 7) of an evaluation; by SGC there are only two seeds."""
    rng = np.random.default_rng(int(config.valid_hash()[:8], 16) + len(evaluation.model))
    curves = rng.random((len(EVAL_SEEDS), EPOCHS, len(CURVE_COLUMNS)), dtype=np.float32)
    curves[:, evaluation.count("epochs") :] = np.nan
    if evaluation == SGC:
        curves[2] = np.nan
    if config == FAILED:
        curves[:] = np.nan
    return curves


def _row(config: CondenseConfig, evaluation: EvalConfig) -> dict[str, Any]:
    curves = curve_of(config, evaluation)
    last = evaluation.count("epochs") - 1
    valid, test = (curves[:, last, k].astype(float) for k in (1, 2))
    known = ~np.isnan(test)
    ok = bool(known.any())
    graph = graph_of(config)

    def mean(values: Any) -> float:
        return float(values[known].mean()) if ok else np.nan

    def std(values: Any) -> float:
        return float(values[known].std(ddof=1)) if ok else np.nan

    row: dict[str, Any] = {
        "config": config.valid_hash(),
        "evaluation": evaluation.valid_hash(),
        "config_text": config.text,
        "evaluation_text": evaluation.text,
        **{name: config[name] for name in ("dataset", "method", "ratio", "ratio_of", "init")},
        **{name: config[name] for name in ("backbone", "seed", "protocol")},
        **{name: evaluation[name] for name in ("task", "model", "threshold")},
        "nodes": len(graph["x"]) if ok else 0,
        "edges": edges_of(config, evaluation.number("threshold")) if ok else 0,
        "density": np.nan,
        "homophily": np.nan,
        "valid_perf": mean(valid),
        "valid_perf_std": std(valid),
        "perf": mean(test),
        "perf_std": std(test),
        "full_perf": FULL,
        "full_perf_std": 0.01,
        "retained": mean(test) / FULL,
        "best_epoch": 20.0 if ok else np.nan,
        "eval_seeds": int(known.sum()),
        "condense_time": 10.0 + config.seed,
        "condense_time_best": 5.0 + config.seed,
        "expert_time": 0.0,
        "expert_bytes": 0,
        "peak_memory": 1e8,
        "peak_gpu_memory": np.nan,
        "graph_bytes": graph["x"].nbytes,
        "status": "ok" if ok else "failed",
        "reason": "" if ok else "the lights went out",
    }
    row |= {f"perf_seed{seed}": test[seed] for seed in EVAL_SEEDS}
    return row | {f"valid_perf_seed{seed}": valid[seed] for seed in EVAL_SEEDS}


def write_condensed(
    folder: Path, dataset: str = "toy", configs: Sequence[CondenseConfig] = CONFIGS
) -> Path:
    """Write the table: all configurations judged by GCN, those of GCond by SGC too."""
    configs = [config.replace(dataset=dataset) for config in configs]
    judged = [(config, GCN) for config in configs]
    judged += [(config, SGC) for config in configs if config.method == "gcond"]
    rows = [_row(*pair) for pair in judged]
    columns = {}
    for name in rows[0]:
        kind = object if name in TEXTS else np.int64 if name in WHOLE_NUMBERS else np.float64
        columns[name] = np.array([row[name] for row in rows], dtype=kind)
    columns["eval_seeds"] = columns["eval_seeds"].astype(np.int32)
    with new_table(folder) as stage:
        with new_curves(
            stage / "curves.h5", np.arange(len(rows)), np.array(EVAL_SEEDS), EPOCHS
        ) as curves:
            for row, pair in enumerate(judged):
                curves[row] = curve_of(*pair)
        with new_graphs(stage / "graphs.h5") as graphs:
            for config in configs:
                if config != FAILED:
                    trace = {"epoch": np.array([0, 20]), "valid_perf": np.array([0.1, 0.2])}
                    graphs.add(config.valid_hash(), kept_of(config), trace)
        write_table(
            stage,
            columns,
            name=dataset,
            space="toy-grid",
            origin="synthetic",
            metric="accuracy",
            source={"title": "random numbers"},
            licence="CC0-1.0",
            kind="condensed",
        )
    return folder


def is_usual(config: CondenseConfig) -> bool:
    """Tell whether a method begins with and matches what it does by default."""
    spec = METHODS[config.method]
    return (config.init, config.backbone) == (spec.init, spec.backbone)


def usual(table: CondensedTable) -> CondensedTable:
    """Return the rows of methods with their own settings, judged by GCN as usual."""
    own = [
        not changed_values(text) and is_usual(CondenseConfig.from_text(text))
        for text in table.column("config_text").tolist()
    ]
    return table.where(np.array(own), model="gcn", task="node-classification")
