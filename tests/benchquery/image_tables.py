"""A small synthetic table of condensed images, written as a builder does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig
from benchquery.kinds.condensed.graphs import new_graphs
from benchquery.table.writer import new_table, write_table

GREY = CondenseConfig("own-images", "random", per_class=2)
COLOUR = CondenseConfig("own-images", "dm", per_class=12)
CONVNET = EvalConfig("image-classification")


def pixels_of(config: CondenseConfig) -> Any:
    """(images, height, width, channels) as bytes, of three classes in turn."""
    rng = np.random.default_rng(config.count("per_class"))
    channels = 1 if config == GREY else 3
    return rng.integers(256, size=(3 * config.count("per_class"), 5, 4, channels), dtype=np.uint8)


def kept_of(config: CondenseConfig) -> dict[str, Any]:
    """The arrays that a file keeps: of the first bytes, of the other one normalised numbers."""
    x = np.moveaxis(pixels_of(config), -1, 1)
    y = np.arange(len(x)) % 3
    mean, std = (np.full(x.shape[1], value, np.float32) for value in (0.4, 0.3))
    if config == GREY:
        return {"x": x, "y": y, "mean": mean, "std": std}
    return {"x": (x / 255 - 0.4).astype(np.float32) / 0.3, "y": y, "mean": mean, "std": std}


def write_images(folder: Path) -> Path:
    """Write the table."""
    configs = (GREY, COLOUR)
    texts = {
        "config": [config.valid_hash() for config in configs],
        "evaluation": [CONVNET.valid_hash()] * 2,
        "config_text": [config.text for config in configs],
        "evaluation_text": [CONVNET.text] * 2,
        **{
            name: [str(config[name]) for config in configs]
            for name in ("domain", "dataset", "method", "init", "backbone", "protocol")
        },
        "task": [CONVNET.task] * 2,
        "model": [CONVNET.model] * 2,
    }
    columns = {name: np.array(values, dtype=object) for name, values in texts.items()}
    for name in ("per_class", "seed"):
        columns[name] = np.array([config.count(name) for config in configs])
    columns["items"] = np.array([3 * config.count("per_class") for config in configs])
    columns["threshold"] = np.zeros(2)
    for name, values in (("valid_perf", (0.3, 0.5)), ("perf", (0.2, 0.4))):
        columns[name] = np.array(values)
    columns["full_perf"], columns["retained"] = np.full(2, 0.8), columns["perf"] / 0.8
    columns["status"] = np.array(["ok", "ok"], dtype=object)
    with new_table(folder) as stage:
        with new_graphs(stage / "graphs.h5") as graphs:
            for config in configs:
                trace = {"epoch": np.array([0]), "valid_perf": np.array([0.1])}
                graphs.add(config.valid_hash(), kept_of(config), trace, "images")
        write_table(
            stage, columns, name="own-images", space="toy", origin="synthetic", metric="accuracy",
            source={"title": "random numbers"}, licence="CC0-1.0", kind="condensed",
        )  # fmt: skip
    return folder
