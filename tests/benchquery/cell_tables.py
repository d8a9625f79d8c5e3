"""A stand-in for the file of NATS-Bench's topology space, of made-up accuracies."""

from __future__ import annotations

import csv
import random
from pathlib import Path

from benchquery.kinds.cells.cell import SPACE, Cell

HEADER = (
    "CIFAR10TestAccuracy200Epochs", "CIFAR100TestAccuracy200Epochs",
    "ImageNetTestAccuracy200Epochs", "ArchitectureString", "UniqueString",
)  # fmt: skip


def made_up_rows() -> list[list[str]]:
    """Every cell in some order, with accuracies that grow with its convolutions."""
    rng = random.Random(0)
    cells = [Cell.at(number) for number in rng.sample(range(SPACE), SPACE)]
    rows = []
    for cell in cells:
        strength = 10 * cell.count("nor_conv_3x3") + 5 * cell.count("nor_conv_1x1") + rng.random()
        rows.append([*(repr(strength / part) for part in (1, 2, 3)), cell.text, cell.form])
    return rows


def write_csv(path: Path, rows: list[list[str]]) -> Path:
    """Write rows as such a file has them."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([HEADER, *rows])
    return path
