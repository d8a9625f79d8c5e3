"""Speed of condensation on one thread: against the published algorithm, and on large graphs.

    python benchmarks/condense.py --dataset cora --ratio 0.026
    python benchmarks/condense.py --dataset csbm:nodes=2700,features=1400 --ratio 0.026

First table: seconds that the processor spends on an epoch of GCond, ours against two others.
`plain` is the published algorithm as it stands: the pairwise MLP on concatenated pairs, dense
features, dense products on the neighbourhood of each class, gradients differentiated twice, A'
computed to match and once more to train. `tricks` is the same with the two tricks that are well
known: the first layer of the pairwise MLP is split, and A^2 X of the real graph is made once. All
make the same steps from the same seeds, epoch by epoch in turn, so that a busy machine disturbs
them alike; the epochs are of both kinds, for the structure and for the features. Shown too is the
greatest relative difference of a loss over all steps: rounding errors of single precision, which
grow with every step.

Second table: the same of judging the snapshots of a condensation with some seeds, ours against
the loop that all other models are trained by (`benchbuild.kinds.evaluate.trial`), training by
training in turn; and the greatest difference between two validation metrics.

Third table: one epoch of GCond and of DosCond on random graphs with hubs, up to the size of
ogbn-arxiv, each in a process of its own, with its highest resident memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.utils import k_hop_subgraph, to_dense_adj, to_undirected

from benchbuild.compute.devices import reproducible
from benchbuild.compute.meters import MemoryMeter, Stopwatch
from benchbuild.datasets import Graph, load
from benchbuild.kinds.condense.method import Workspace
from benchbuild.kinds.condense.nodes.loop import MatchingState
from benchbuild.kinds.condense.nodes.matching import GradientMatching
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.condense.nodes.problem import Problem
from benchbuild.kinds.condense.nodes.scaling import scaled
from benchbuild.kinds.condense.nodes.structure import PairwiseMlp
from benchbuild.kinds.condense.registry import condenser
from benchbuild.kinds.evaluate.node_classification import NodeClassification
from benchquery.kinds.condensed.config import CondenseConfig, EvalConfig

CPU = torch.device("cpu")
ARXIV = (169_343, 1_166_243)
SIZES = (10_000, 40_000, ARXIV[0])
FEATURES, CLASSES = 128, 40
METHODS = ("gcond", "doscond")


class PlainPairs(nn.Module):
    """GCond's structure on concatenated pairs."""

    def __init__(self, weights: list[Tensor]) -> None:
        super().__init__()
        first, _, _, second, _, _, last, bias = (weight.detach().clone() for weight in weights)
        self.layers = nn.ModuleList(
            [
                nn.Linear(first.shape[1], 128),
                nn.BatchNorm1d(128),
                nn.ReLU(),
                nn.Linear(128, 128),
                nn.BatchNorm1d(128),
                nn.ReLU(),
                nn.Linear(128, 1),
            ]
        )
        for place, weight in ((0, first), (3, second), (6, last)):
            self.layers[place].weight = nn.Parameter(weight)
        self.layers[6].bias = nn.Parameter(bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the adjacency."""
        nodes = len(x)
        pairs = self.first(x)
        for layer in self.layers[1:]:
            pairs = layer(pairs)
        scores = pairs.reshape(nodes, nodes)
        adjacency = torch.sigmoid((scores + scores.T) / 2)
        return adjacency - torch.diag(torch.diag(adjacency))

    def first(self, x: Tensor) -> Tensor:
        """Return the first layer of all pairs."""
        place = torch.arange(len(x))
        pairs = [x[place.repeat_interleave(len(x))], x[place.repeat(len(x))]]
        found: Tensor = self.layers[0](torch.cat(pairs, dim=1))
        return found


class SplitPairs(PlainPairs):
    """The same with the first layer split."""

    def first(self, x: Tensor) -> Tensor:
        """Return the first layer of all pairs."""
        left, right = (x @ half.T for half in self.layers[0].weight.chunk(2, dim=1))
        return (left[:, None] + right + self.layers[0].bias).flatten(0, 1)


class PlainGcond:
    """GCond as published, from the same beginning as ours."""

    pairs = PlainPairs

    def __init__(self, problem: Problem, config: CondenseConfig, ours: MatchingState) -> None:
        self.config = config
        self.x = nn.Parameter(ours.x.detach().clone())
        self.labels = ours.labels
        self.structure = self.pairs(ours.structure.weights)
        adjacency = to_dense_adj(problem.edge_index, max_num_nodes=problem.num_nodes)[0]
        whole = normalise(adjacency)
        self.features = problem.x.to_dense()
        self.neighbourhoods: list[tuple[Tensor, Tensor, Tensor]] = []
        for label in range(problem.num_classes):
            nodes = problem.train_nodes[problem.train_labels == label]
            near, _, place, _ = k_hop_subgraph(nodes, 2, problem.edge_index)
            self.neighbourhoods.append((near, whole[near][:, near], place))
        self.update_x = torch.optim.Adam([self.x], lr=config.number("lr_feat"))
        self.update_a = torch.optim.Adam(self.structure.parameters(), lr=config.number("lr_adj"))

    def epoch(self, epoch: int, drawn: list[Tensor]) -> Iterator[float]:
        """Make the updates of an epoch from some first weights and yield the losses."""
        config = self.config
        weights = [nn.Parameter(weight.detach().clone()) for weight in drawn]
        update_model = torch.optim.Adam(weights, lr=config.number("lr_model"))
        period = config.count("adj_steps") + config.count("feat_steps")
        on_edges = (epoch - 1) % period < config.count("adj_steps")
        for step in range(config.count("outer")):
            adjacency = normalise(self.structure(self.x))
            loss = torch.zeros(())
            counts = torch.bincount(self.labels)
            for label, (near, real_adjacency, place) in enumerate(self.neighbourhoods):
                found_real = self.real(weights, near, real_adjacency, place)
                entropy = functional.nll_loss(found_real, torch.full((len(place),), label))
                real = [g.detach() for g in torch.autograd.grad(entropy, weights)]
                mine = self.labels == label
                entropy = functional.nll_loss(
                    self.model(weights, self.x, adjacency)[mine], self.labels[mine]
                )
                found = torch.autograd.grad(entropy, weights, create_graph=True)
                cosine = (found[0] * real[0]).sum(dim=1) / (
                    found[0].norm(dim=1) * real[0].norm(dim=1) + 1e-6
                )
                loss = loss + counts[label] / counts.max() * (1 - cosine).sum()
            self.update_x.zero_grad()
            self.update_a.zero_grad()
            loss.backward()
            (self.update_a if on_edges else self.update_x).step()
            yield float(loss.detach())
            if step + 1 == config.count("outer"):
                break
            with torch.no_grad():
                adjacency = normalise(self.structure(self.x))
            x = self.x.detach()
            for _ in range(config.count("inner")):
                update_model.zero_grad()
                functional.nll_loss(self.model(weights, x, adjacency), self.labels).backward()
                update_model.step()

    def real(
        self, weights: list[nn.Parameter], near: Tensor, adjacency: Tensor, place: Tensor
    ) -> Tensor:
        """Return what the model says of the nodes of a class."""
        return self.model(weights, self.features[near], adjacency)[place]

    @staticmethod
    def model(weights: list[nn.Parameter], x: Tensor, adjacency: Tensor) -> Tensor:
        """SGC of two steps."""
        out = x @ weights[0].T
        return functional.log_softmax(adjacency @ (adjacency @ out) + weights[1], dim=1)


class TrickedGcond(PlainGcond):
    """The same with the two tricks."""

    pairs = SplitPairs

    def __init__(self, problem: Problem, config: CondenseConfig, ours: MatchingState) -> None:
        super().__init__(problem, config, ours)
        self.smooth = {
            id(place): (adjacency @ (adjacency @ self.features[near]))[place]
            for near, adjacency, place in self.neighbourhoods
        }

    def real(
        self, weights: list[nn.Parameter], near: Tensor, adjacency: Tensor, place: Tensor
    ) -> Tensor:
        """Return what the model says of the nodes of a class."""
        out = self.smooth[id(place)] @ weights[0].T + weights[1]
        return functional.log_softmax(out, dim=1)


def normalise(adjacency: Tensor) -> Tensor:
    """Return the adjacency with self-loops, normalised symmetrically."""
    looped = adjacency + torch.eye(len(adjacency))
    root = looped.sum(dim=1) ** -0.5
    return torch.diag(root) @ looped @ torch.diag(root)


@dataclass(frozen=True)
class Epochs:
    """Seconds of an epoch of each implementation, and the greatest difference of a loss."""

    plain: float
    tricks: float
    ours: float
    difference: float


def against_plain(graph: Graph, config: CondenseConfig, epochs: int) -> Epochs:
    """Run the three in turn."""
    problem = Problem.of(scaled(graph), CPU)
    ours = MatchingState(problem, config, GradientMatching, PairwiseMlp)
    plain, tricks = (kind(problem, config, ours) for kind in (PlainGcond, TrickedGcond))
    seconds, worst = [0.0, 0.0, 0.0], 0.0
    for epoch in range(1, epochs + 1):
        drawn = ours.drawn_weights()
        found = []
        for place, run in enumerate((plain.epoch, tricks.epoch, ours.epoch)):
            begun = process_time()
            losses = list(run(epoch, drawn))
            seconds[place] += process_time() - begun
            found.append([loss if isinstance(loss, float) else loss["matching"] for loss in losses])
        for one in found[1:]:
            worst = max(worst, *(abs(a - b) / b for a, b in zip(one, found[0], strict=True)))
    return Epochs(*(total / epochs for total in seconds), worst)


def snapshots_of(graph: Graph, config: CondenseConfig) -> list[CondensedGraph]:
    """Condense a graph, and return its snapshots as they are kept."""
    problem = Problem.of(graph, CPU)
    with TemporaryDirectory() as scratch, reproducible(CPU, config.seed, threads=1):
        found = condenser(config)(problem, config, Workspace(Path(scratch), {}))
        return [snapshot.payload.stored().payload() for snapshot in found]


def judging(
    graph: Graph, payloads: Sequence[CondensedGraph], judge: EvalConfig, seeds: int
) -> tuple[float, float, float]:
    """Seconds of judging, the general loop's and ours, and the greatest difference of a metric."""
    task = NodeClassification(graph, CPU)
    loop_seconds = our_seconds = worst = 0.0
    for payload in payloads:
        for seed in range(seeds):
            one = judge.replace(seed=seed)
            begun = process_time()
            plain = task.judge_by_loop(payload, one)
            looped = process_time()
            worst = max(worst, abs(task.judge(payload, one) - plain))
            our_seconds += process_time() - looped
            loop_seconds += looped - begun
    return loop_seconds, our_seconds, worst


def random_graph(nodes: int) -> Graph:
    """Return a graph with ogbn-arxiv's mean degree, hubs, 128 features and 40 classes."""
    generator = torch.Generator().manual_seed(0)
    count = round(ARXIV[1] * nodes / ARXIV[0])
    source = torch.randint(nodes, (count,), generator=generator)
    target = (torch.rand(count, generator=generator) ** 3 * nodes).long()
    y = torch.randint(CLASSES, (nodes,), generator=generator)
    x = torch.randn(nodes, FEATURES, generator=generator)
    part = torch.rand(nodes, generator=generator)
    masks = (part < 0.54, (part >= 0.54) & (part < 0.72), part >= 0.72)
    edges = to_undirected(torch.stack([source, target]), num_nodes=nodes)
    return Graph.build("random", x, edges, y, masks, num_classes=CLASSES, split="random")


def one_epoch(method: str, nodes: int, ratio: float, fanout: str) -> dict[str, float]:
    """Seconds to prepare and of one epoch, and the highest memory of this process in GB."""
    torch.set_num_threads(1)
    problem = Problem.of(random_graph(nodes), CPU)
    config = CondenseConfig("random", method, ratio, epochs=1, fanout=fanout)
    meter = MemoryMeter(CPU)
    watch = Stopwatch(CPU)
    state = MatchingState(problem, config, GradientMatching, PairwiseMlp)
    prepared = watch.seconds()
    watch = Stopwatch(CPU)
    list(state.epoch(1, state.drawn_weights()))
    return {
        "synthetic": len(state.labels),
        "prepared": prepared,
        "epoch": watch.seconds(),
        "memory": meter.peak() / 1e9,
    }


def in_a_process(method: str, nodes: int, ratio: float, fanout: str) -> dict[str, float]:
    """Return the same in a process of its own."""
    options = ["--one", method, "--nodes", str(nodes), "--large-ratio", str(ratio)]
    done = subprocess.run(
        [sys.executable, __file__, *options, "--fanout", fanout],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--data-root")
    parser.add_argument("--ratio", type=float, default=0.026)
    parser.add_argument("--epochs", type=int, default=2, help="epochs timed for the first table")
    parser.add_argument("--judged", default="sfgc", help="the method whose snapshots are judged")
    parser.add_argument("--snapshots", type=int, default=21, help="that it makes")
    parser.add_argument("--seeds", type=int, default=3, help="that each is judged with")
    parser.add_argument("--judge-epochs", type=int, default=200, help="of training to judge")
    parser.add_argument("--large-ratio", type=float, default=0.005)
    parser.add_argument("--fanout", default="full", help="of the large graphs: full, or as 10,5")
    parser.add_argument("--nodes", type=int, nargs="*", default=SIZES, help="of the large graphs")
    parser.add_argument(
        "--method", nargs="*", choices=METHODS, default=METHODS, help="on the large graphs"
    )
    parser.add_argument("--one", choices=METHODS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        figures = one_epoch(options.one, *options.nodes, options.large_ratio, options.fanout)
        print(json.dumps(figures))
        return

    torch.set_num_threads(1)
    graph = load(options.dataset, options.data_root)
    config = CondenseConfig(options.dataset, "gcond", options.ratio, adj_steps=1, feat_steps=1)
    label = f"{options.dataset} at {options.ratio:.1%}"
    found = against_plain(graph, config, options.epochs)
    print(f"{'GCond, seconds an epoch':<32}{'plain':>9}{'tricks':>9}{'ours':>9}", end="")
    print(f"{'plain/ours':>12}{'tricks/ours':>13}{'difference':>12}")
    print(f"{label:<32}{found.plain:>9.2f}{found.tricks:>9.2f}{found.ours:>9.2f}", end="")
    print(f"{found.plain / found.ours:>12.1f}{found.tricks / found.ours:>13.1f}", end="")
    print(f"{found.difference:>12.1e}\n", flush=True)

    config = CondenseConfig(options.dataset, options.judged, options.ratio)
    every = max(config.count("epochs") // max(options.snapshots - 1, 1), 1)
    payloads = snapshots_of(scaled(graph), config.replace(evaluate_every=every))
    judge = EvalConfig(epochs=options.judge_epochs)
    loop, ours, worst = judging(scaled(graph), payloads, judge, options.seeds)
    title = f"judging {len(payloads)} snapshots x {options.seeds} seeds"
    print(f"{title:<32}{'loop':>9}{'ours':>9}{'loop/ours':>12}{'difference':>12}")
    print(f"{label:<32}{loop:>9.2f}{ours:>9.2f}{loop / ours:>12.1f}{worst:>12.1e}\n", flush=True)

    print(f"{'one epoch, fan-out ' + options.fanout:<22}{'nodes':>9}{'synthetic':>11}", end="")
    print(f"{'prepared s':>12}{'epoch s':>10}{'memory GB':>11}")
    for method in options.method:
        for nodes in options.nodes:
            row = in_a_process(method, nodes, options.large_ratio, options.fanout)
            print(f"{method:<22}{nodes:>9,}{row['synthetic']:>11}{row['prepared']:>12.1f}", end="")
            print(f"{row['epoch']:>10.1f}{row['memory']:>11.2f}", flush=True)


if __name__ == "__main__":
    main()
