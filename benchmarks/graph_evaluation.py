"""Speed of judging condensed sets of graphs against a plain PyG loop, in one run and on one thread.

    python benchmarks/graph_evaluation.py --dataset nci1 --per-class 10
    python benchmarks/graph_evaluation.py --dataset motifs:graphs=1000 --per-class 50

Milliseconds of an epoch: a step on a set of some graphs of each class, then the validation and the
test graphs. The plain loop is PyG's DataLoader, layers and pooling. Both start from the same
weights and take turns epoch by epoch, so that a busy machine disturbs both alike. The last column
shows that they say the same: the greatest difference of a logit by the weights that the plain loop
has learnt.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import global_mean_pool

from benchbuild.datasets import GraphBatch, GraphSet, load_graphs
from benchbuild.kinds.evaluate.graphs.folding import Exam
from benchbuild.kinds.evaluate.graphs.models import MODELS, GraphModel, shape_of
from benchbuild.kinds.evaluate.graphs.operands import Lesson
from benchquery.kinds.condensed.config import EvalConfig

BATCH = 128


def as_data(graphs: GraphBatch, numbers: Tensor) -> list[Data]:
    """Return some graphs as PyG has them."""
    ones = (graphs.select(number) for number in numbers[:, None])
    return [Data(x=one.x, edge_index=one.edge_index, y=one.y) for one in ones]


class Plain:
    """PyG's loop.

    Args:
        model: Its weights.
        parts: Training, validation and test graphs.
    """

    def __init__(self, model: GraphModel, parts: list[list[Data]]) -> None:
        self._model = model
        self._loaders = [DataLoader(part, BATCH) for part in parts]
        self._optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def __iter__(self) -> Iterator[Tensor]:
        """Give the logits of validation and test graphs, epoch by epoch."""
        while True:
            self._model.train()
            for batch in self._loaders[0]:
                self._optimizer.zero_grad()
                functional.cross_entropy(self._logits(batch), batch.y).backward()
                self._optimizer.step()
            yield self.tried()

    @torch.no_grad()
    def tried(self) -> Tensor:
        """Return the logits of validation and test graphs."""
        self._model.eval()
        return torch.cat([self._logits(batch) for part in self._loaders[1:] for batch in part])

    def _logits(self, batch: Data) -> Tensor:
        h = batch.x
        for place, conv in enumerate(self._model.convs):
            h = conv(h, batch.edge_index)
            h = self._model.norms[place](h).relu() if place < len(self._model.norms) else h
        logits: Tensor = self._model.head(global_mean_pool(h, batch.batch))
        return logits


class Ours:
    """The same by the products of the house."""

    def __init__(self, model: GraphModel, lesson: GraphBatch, exam: GraphBatch, config: EvalConfig):
        shape = shape_of(config)
        self._model, self._y = model, lesson.y
        self._lesson, self._exam = Lesson(lesson, shape).whole, Exam(exam, shape)
        self._optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)

    def __iter__(self) -> Iterator[Tensor]:
        """Give the logits of validation and test graphs, epoch by epoch."""
        while True:
            self._model.train()
            self._optimizer.zero_grad(set_to_none=True)
            functional.cross_entropy(self._model(self._lesson), self._y).backward()
            self._optimizer.step()
            yield self.tried()

    def tried(self) -> Tensor:
        """Return the logits of validation and test graphs."""
        return self._model.tried(self._exam)


def compare(data: GraphSet, model: str, per_class: int, epochs: int) -> None:
    """Time a model both ways and print a line."""
    config = EvalConfig("graph-classification", model)
    members = [data.train[data.graphs.y[data.train] == label] for label in range(data.num_classes)]
    numbers = torch.cat([part[:per_class] for part in members])
    held = torch.cat([data.valid, data.test])
    torch.manual_seed(0)
    first = GraphModel(config, data.num_features, data.num_classes)
    second = GraphModel(config, data.num_features, data.num_classes)
    second.load_state_dict(first.state_dict())
    parts = [as_data(data.graphs, part) for part in (numbers, data.valid, data.test)]
    graphs = data.graphs
    by_pyg = Plain(first, parts)
    by_us = Ours(second, graphs.select(numbers), graphs.select(held), config)
    plain, ours = timed([iter(by_pyg), iter(by_us)], epochs)
    second.load_state_dict(first.state_dict())
    difference = float((by_pyg.tried() - by_us.tried()).abs().max())
    print(
        f"{data.name + ' ' + model:<24}{plain:>12.1f}{ours:>12.1f}{plain / ours:>9.1f}"
        f"{difference:>12.1e}",
        flush=True,
    )


def timed(runs: list[Iterator[Tensor]], epochs: int) -> list[float]:
    """Return the milliseconds of an epoch of each run, after one that does not count."""
    seconds = [0.0] * len(runs)
    for epoch in range(epochs + 1):
        for place, run in enumerate(runs):
            start = time.perf_counter()
            next(run)
            seconds[place] += time.perf_counter() - start if epoch else 0.0
    return [1000 * value / epochs for value in seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="nci1", help="a set of graphs")
    parser.add_argument(
        "--per-class", type=int, default=10, help="graphs of each class to learn on"
    )
    parser.add_argument("--epochs", type=int, default=20, help="epochs timed for each")
    parser.add_argument("--data-root")
    options = parser.parse_args()

    torch.set_num_threads(1)
    data = load_graphs(options.dataset, options.data_root)
    print(f"{'model':<24}{'plain, ms':>12}{'ours, ms':>12}{'ratio':>9}{'difference':>12}")
    for model in MODELS:
        compare(data, model, options.per_class, options.epochs)


if __name__ == "__main__":
    main()
