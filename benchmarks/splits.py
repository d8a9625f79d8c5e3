"""How much a figure hangs on the split, where the published one is not known.

    python benchmarks/splits.py --dataset photo --data-root DIR

Photo, computers, cs and physics are split at random, 20 training and 30 validation nodes a class.
Trains the architectures of the bundled table again, each once, on the split of another seed, and
prints how far that is from the table, beside how far two seeds of one split are apart.
"""

from __future__ import annotations

import argparse
import dataclasses
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import torch

from benchbuild.datasets import Graph, hyperparameters_for, load
from benchbuild.datasets.splits import per_class_split
from benchbuild.kinds.train.training import train
from benchquery import Arch, lightread

FIGURES = ("valid_perf", "perf")


def split_again(graph: Graph, seed: int) -> Graph:
    """Return the same graph with nodes drawn anew."""
    train_mask, valid_mask, test_mask = per_class_split(graph.y, 20, 30, seed)
    return dataclasses.replace(
        graph, train_mask=train_mask, valid_mask=valid_mask, test_mask=test_mask
    )


def figures(
    number: int, dataset: str, root: str | None, seed: int, epochs: int | None
) -> list[float]:
    """Train one architecture on another split."""
    torch.set_num_threads(1)
    graph = split_again(load(dataset, root), seed)
    hp = hyperparameters_for(dataset)
    if epochs is not None:
        hp = hp.override(epochs=epochs)
    result = train(Arch.from_hash(number), graph, hp, seed=0)
    return [getattr(result, name) for name in FIGURES]


def main() -> None:
    """Train all, and print the differences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="photo", choices=("photo", "computers"))
    parser.add_argument("--data-root", metavar="DIR")
    parser.add_argument("--split-seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sample", type=int, help="the first so many of the table (all)")
    parser.add_argument("--epochs", type=int, help="of each training (as the dataset has)")
    options = parser.parse_args()
    table = lightread(f"{options.dataset}-built")
    if options.sample is not None:
        table = table.where(np.arange(len(table)) < options.sample)
    job = partial(
        figures, dataset=options.dataset, root=options.data_root, seed=options.split_seed,
        epochs=options.epochs,
    )  # fmt: skip
    with ProcessPoolExecutor(options.workers) as pool:
        again = np.array(list(pool.map(job, table.hashes.tolist())))
    print(f"{options.dataset}, {len(again)} architectures, mean difference")
    print(f"{'':12} another seed  another split")
    for place, name in enumerate(FIGURES):
        first, second = (table.column(f"{name}_seed{seed}") for seed in (0, 1))
        seeds, splits = (np.abs(first - other).mean() for other in (second, again[:, place]))
        print(f"{name:12} {seeds:12.4f} {splits:14.4f}")


if __name__ == "__main__":
    main()
