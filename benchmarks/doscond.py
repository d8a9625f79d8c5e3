"""Speed of DosCond on sets of graphs, on one thread: against a plain loop over graphs.

    python benchmarks/doscond.py --dataset nci1 --per-class 1 10 50

Seconds of an iteration, ours against a plain implementation: a dense GCN of PyG's layers on one
graph after another, real and synthetic, its gradients differentiated twice. Both make the same
steps from the same seeds, iteration by iteration in turn, so that a busy machine disturbs both
alike. Shown too is the greatest relative difference of a loss over all steps: rounding errors of
single precision, which grow with every step.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import DenseGCNConv
from torch_geometric.utils import to_dense_adj

from benchbuild.compute.meters import Stopwatch
from benchbuild.datasets import load_graphs
from benchbuild.kinds.condense.graphs.init import initial_graphs
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.methods.graphs.doscond import DosCondState, network
from benchquery.kinds.condensed.config import CondenseConfig

CPU = torch.device("cpu")


class PlainGcn(nn.Module):
    """A dense GCN for one graph at a time."""

    def __init__(self, weights: list[Tensor], pooling: str) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList()
        for weight, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
            layer = DenseGCNConv(weight.shape[1], weight.shape[0])
            layer.lin.weight = nn.Parameter(weight.clone())
            layer.bias = nn.Parameter(bias.clone())
            self.convolutions.append(layer)
        self.last = nn.Linear(weights[-2].shape[1], weights[-2].shape[0])
        self.last.weight, self.last.bias = (nn.Parameter(each.clone()) for each in weights[-2:])
        self.pooling = pooling

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        """Return the logits of a graph."""
        for layer in self.convolutions:
            x = layer(x, adjacency).relu()
        return self.last(x.sum(dim=1) if self.pooling == "sum" else x.mean(dim=1))


class PlainDosCond:
    """DosCond as it is told, graph by graph; it draws what ours draws, in the same order."""

    def __init__(self, problem: GraphsProblem, config: CondenseConfig) -> None:
        self.problem, self.config = problem, config
        self.network = network(problem, config)
        self.generator = torch.Generator().manual_seed(config.seed)
        begun = initial_graphs(problem, config, self.generator)
        self.x = nn.Parameter(begun.x.clone())
        self.logits = nn.Parameter(begun.logits.clone())
        self.density = begun.density
        self.labels = problem.synthetic_labels(config)
        self.update_x = torch.optim.Adam([self.x], lr=config.number("lr_feat"))
        self.update_a = torch.optim.Adam([self.logits], lr=config.number("lr_adj"))
        members = [problem.members(label) for label in range(problem.num_classes)]
        self.groups = [members] if config["joint"] else [[each] for each in members]
        self.graphs = []
        for number in range(len(problem.graphs)):
            graph = problem.graphs.select(torch.tensor([number]))
            adjacency = to_dense_adj(graph.edge_index, max_num_nodes=graph.num_nodes)
            self.graphs.append((graph.x[None], adjacency, graph.y))

    def epoch(self, epoch: int) -> float:
        """Make an update and return the matching loss before it."""
        weights = self.network.draw(self.generator, CPU)
        adjacency = self.sample(epoch)
        model = PlainGcn(weights, self.network.pooling)
        loss = torch.zeros(())
        for place, group in enumerate(self.groups):
            drawn = torch.cat([self.drawn(members) for members in group]).tolist()
            entropy = self.entropy(model, (self.graphs[number] for number in drawn), len(drawn))
            real = torch.autograd.grad(entropy, list(model.parameters()))
            count = len(self.labels) // len(self.groups)
            mine = range(place * count, (place + 1) * count)
            entropy = self.entropy(
                model,
                ((self.x[i][None], adjacency[i][None], self.labels[i][None]) for i in mine),
                count,
            )
            found = torch.autograd.grad(entropy, list(model.parameters()), create_graph=True)
            difference = sum(
                (ours - theirs).square().sum() for ours, theirs in zip(found, real, strict=True)
            )
            loss = loss + difference / sum(each.square().sum() for each in real)
        sparsity = functional.relu(torch.sigmoid(self.logits).mean() - self.density)
        self.update_x.zero_grad()
        self.update_a.zero_grad()
        (loss + self.config.number("sparsity") * sparsity).backward()
        self.update_x.step()
        self.update_a.step()
        return float(loss.detach())

    def sample(self, epoch: int) -> Tensor:
        """Return relaxed edges."""
        uniform = torch.rand(self.logits.shape, generator=self.generator).clamp(1e-7, 1 - 1e-7)
        above = (torch.log(uniform) - torch.log(1 - uniform)).triu(1)
        mean = (self.logits + self.logits.transpose(1, 2)) / 2
        heat = max(0.01, 0.01 ** ((epoch - 1) / 200))
        drawn = torch.sigmoid((mean + above + above.transpose(1, 2)) / heat)
        return drawn * (1 - torch.eye(drawn.shape[1]))

    def drawn(self, members: Tensor) -> Tensor:
        """Return some training graphs of a class."""
        order = torch.randperm(len(members), generator=self.generator)
        return members[order[: self.config.count("batch")]]

    def entropy(
        self, model: PlainGcn, graphs: Iterator[tuple[Tensor, Tensor, Tensor]], count: int
    ) -> Tensor:
        """Return the mean cross-entropy of some graphs."""
        total = torch.zeros(())
        for x, adjacency, label in graphs:
            logits = model(x, adjacency)
            if self.network.outputs == 1:
                wanted = label[:, None].float()
                total = total + functional.binary_cross_entropy_with_logits(logits, wanted)
            else:
                total = total + functional.cross_entropy(logits, label)
        return total / count


def against_plain(
    problem: GraphsProblem, config: CondenseConfig, epochs: int
) -> tuple[float, float, float]:
    """Seconds of an iteration, the plain one's and ours, and the greatest difference of a loss."""
    ours, plain = DosCondState(problem, config), PlainDosCond(problem, config)
    plain_seconds = our_seconds = worst = 0.0
    for epoch in range(1, epochs + 1):
        watch = Stopwatch(CPU)
        theirs = plain.epoch(epoch)
        plain_seconds += watch.seconds()
        watch = Stopwatch(CPU)
        found = ours.epoch(epoch, ours.drawn_weights())["matching"]
        our_seconds += watch.seconds()
        worst = max(worst, abs(found - theirs) / theirs)
    return plain_seconds / epochs, our_seconds / epochs, worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", nargs="*", default=["nci1"])
    parser.add_argument("--data-root")
    parser.add_argument("--per-class", type=int, nargs="*", default=[1, 10, 50])
    parser.add_argument("--epochs", type=int, default=5, help="iterations timed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'seconds an iteration':<26}{'plain':>10}{'ours':>10}{'ratio':>9}{'difference':>12}")
    for name in options.dataset:
        problem = GraphsProblem.of(load_graphs(name, options.data_root), CPU)
        for per_class in options.per_class:
            config = CondenseConfig(name, "doscond", per_class=per_class, bound=0.0)
            plain, ours, worst = against_plain(problem, config, options.epochs)
            label = f"{name}, {per_class} a class"
            print(f"{label:<26}{plain:>10.3f}{ours:>10.3f}{plain / ours:>9.1f}{worst:>12.1e}")


if __name__ == "__main__":
    main()
