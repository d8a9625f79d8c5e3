"""Speed of Mirage on one thread, and against a plain implementation.

    python benchmarks/mirage.py --dataset molhiv --data-root DIR

First the whole set is condensed to the size of `--per-class` graphs: seconds of the processor, and
the highest resident memory of the process, libraries and dataset included. Then a sample of the
training graphs is mined by both: trees as nested tuples, made recursively at every node, and sets
of them by mlxtend's FP-growth; and ours. Both must find the same number of sets in each class.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from mlxtend.frequent_patterns import fpgrowth

from benchbuild.compute.meters import MemoryMeter, Stopwatch
from benchbuild.datasets import load_graphs
from benchbuild.datasets.graphset import GraphBatch
from benchbuild.kinds.condense.graphs.mining import Enough, Transactions, frequent_sets
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.graphs.trees import Trees
from benchbuild.kinds.condense.method import Workspace
from benchbuild.kinds.condense.methods.graphs.mirage import condense
from benchquery.kinds.condensed.config import CondenseConfig

CPU = torch.device("cpu")


def plain_sets(graphs: GraphBatch, depth: int, share: float) -> list[int]:
    """Return how many frequent sets each class has."""
    into: list[list[tuple[int, int]]] = [[] for _ in range(graphs.num_nodes)]
    for number, (source, target) in enumerate(graphs.edge_index.T.tolist()):
        into[target].append((number, source))
    labels = list(map(tuple, graphs.x.tolist()))
    bonds: list[Any] = [()] * graphs.num_edges
    if graphs.edge_attr is not None:
        bonds = list(map(tuple, graphs.edge_attr.tolist()))

    def tree(node: int, left: int) -> tuple[Any, ...]:
        children = into[node] if left else []
        return (labels[node], *sorted((bonds[e], tree(u, left - 1)) for e, u in children))

    starts = graphs.node_ptr.tolist()
    held = [{tree(node, depth) for node in range(*ends)} for ends in itertools.pairwise(starts)]
    found = []
    for label in range(int(graphs.y.max()) + 1):
        own = [trees for trees, y in zip(held, graphs.y.tolist(), strict=True) if y == label]
        counts: dict[tuple[Any, ...], int] = {}
        for trees in own:
            for one in trees:
                counts[one] = counts.get(one, 0) + 1
        least = enough(share, len(own))
        frequent = [one for one, count in counts.items() if count >= least]
        table = pd.DataFrame([[one in trees for one in frequent] for trees in own], dtype=bool)
        found.append(len(fpgrowth(table, min_support=(least - 0.5) / len(own))) if frequent else 0)
    return found


def our_sets(graphs: GraphBatch, depth: int, share: float) -> list[int]:
    """Return the same."""
    trees = Trees.of(graphs, depth)
    classes = int(graphs.y.max()) + 1
    transactions = Transactions.of(
        trees.of_node, graphs.graph_of.numpy(), graphs.y.numpy(), classes
    )
    return [
        len(frequent_sets(transactions, label, Enough(enough(share, int(count)))))
        for label, count in enumerate(transactions.counts)
    ]


def enough(share: float, graphs: int) -> int:
    """Return the support that is a share of some graphs, but no less than ten if there are ten."""
    return max(round(share * graphs), min(10, graphs))


def main() -> None:
    """Measure both, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="molhiv")
    parser.add_argument("--data-root", metavar="DIR")
    parser.add_argument("--per-class", type=int, default=50)
    parser.add_argument("--depth", type=int, help="of the trees (as the dataset has)")
    parser.add_argument("--sample", type=int, default=2000, help="graphs that both mine")
    parser.add_argument("--share", type=float, default=0.03, help="of them that are frequent")
    options = parser.parse_args()
    torch.set_num_threads(1)
    changes = {} if options.depth is None else {"depth": options.depth}
    config = CondenseConfig(options.dataset, "mirage", per_class=options.per_class, **changes)
    problem = GraphsProblem.of(load_graphs(options.dataset, options.data_root), CPU)
    meter, watch = MemoryMeter(CPU), Stopwatch(CPU)
    (snapshot,) = condense(problem, config, Workspace(Path(), {}))
    seconds, memory = watch.seconds(), meter.peak()
    columns = snapshot.payload.stored().columns(0.5)
    print(f"{options.dataset:24} {len(problem.graphs):,} graphs to {columns['items']:,} patterns")
    print(f"{'CPU seconds':24} {seconds:.2f}")
    print(f"{'peak memory, MB':24} {memory / 1e6:.0f}")
    drawn = torch.randperm(len(problem.graphs), generator=torch.Generator().manual_seed(0))
    sample = problem.graphs.select(drawn[: options.sample])
    watch = Stopwatch(CPU)
    theirs = plain_sets(sample, config.count("depth"), options.share)
    plain = watch.seconds()
    watch = Stopwatch(CPU)
    ours = our_sets(sample, config.count("depth"), options.share)
    own = watch.seconds()
    if not np.array_equal(ours, theirs):
        raise SystemExit(f"the plain version has {theirs} sets, ours {ours}")
    print(f"{'plain, CPU seconds':24} {plain:.2f} on {len(sample):,} graphs, {sum(ours):,} sets")
    print(f"{'ours, CPU seconds':24} {own:.3f} on the same")
    print(f"{'ratio':24} {plain / own:.1f}")


if __name__ == "__main__":
    main()
