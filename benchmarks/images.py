"""Speed of condensing images, on one thread: against plain loops over classes.

    python benchmarks/images.py --dataset digits --per-class 1 10 --batch 8 64

Seconds of an iteration of DC and DM, ours against a plain implementation: a network module, one
class after another, gradients differentiated twice. Both make the same steps from the same seeds,
iteration by iteration in turn, so that a busy machine disturbs both alike; the first does not
count. Before each of them ours
is given the plain one's images, and then compared: the greatest relative difference of a loss, and
of what a step has moved the images by. That is rounding errors of single precision, and now and
then a value so near to 0 that one of both cuts it off, which moves one image otherwise.

Then the highest memory of trajectory matching with few and with many experts, beside what these
take on disk: checkpoints are read as they are needed.

Ours passes the images by formula, and many at once. What the convolutions of real images take is
left: both need them. Workers have more memory at hand (`benchbuild.engines.base`), which counts;
with GLIBC_TUNABLES as they have it, this has too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchbuild.compute.meters import MemoryMeter, Stopwatch
from benchbuild.datasets import load_images
from benchbuild.kinds.condense.images.backbone import Backbone
from benchbuild.kinds.condense.images.networks import ConvNet
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.images.synthetic import RealBatches, Siamese, first_images
from benchbuild.kinds.condense.method import Workspace
from benchbuild.kinds.condense.methods.images.dc import GradientMatching
from benchbuild.kinds.condense.methods.images.dm import DistributionMatching
from benchbuild.kinds.condense.methods.images.tm import condense as condense_by_trajectories
from benchquery.kinds.condensed.config import CondenseConfig

CPU = torch.device("cpu")


class Plain:
    """A method as it is told, class by class; it draws what ours draws, in the same order."""

    def __init__(self, problem: ImagesProblem, config: CondenseConfig) -> None:
        self.problem = problem
        self.generator = torch.Generator().manual_seed(config.seed)
        self.backbone = Backbone.of(config, problem.shape, problem.num_classes)
        self.siamese = Siamese(config, self.generator)
        self.real = RealBatches(problem, config.count("batch"), self.generator)
        self.labels = problem.synthetic_labels(config)
        self.x = nn.Parameter(first_images(problem, config, self.generator, self.backbone))
        self.optimizer = torch.optim.SGD(
            [self.x], lr=config.number("lr_image"), momentum=config.number("momentum")
        )
        self.depth = config.count("depth") or None
        self.width = config.count("width")

    def network(self) -> ConvNet:
        """Return a network with the weights that ours draws."""
        weights = self.backbone.draw(self.generator, CPU)
        network = ConvNet(
            self.problem.shape, self.problem.num_classes, width=self.width, depth=self.depth
        )
        network.load_state_dict(dict(zip(network.state_dict(), weights, strict=True)))
        return network

    def step(self, match: Callable[[ConvNet, Tensor, Tensor, int], Tensor]) -> float:
        """Make an update and return the loss before it: the sum over classes."""
        network = self.network()
        draws = self.siamese.draw(self.problem.num_classes)
        loss = torch.zeros(())
        for label, numbers in enumerate(self.real.draw()):
            real = self.siamese.apply(self.problem.images(numbers), draws[label][None])
            made = self.siamese.apply(self.x[self.labels == label], draws[label][None])
            loss = loss + match(network, real, made, label)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())


def embeddings(network: ConvNet, real: Tensor, made: Tensor, _label: int) -> Tensor:
    """Return how far the mean embeddings of a class are apart."""
    network.requires_grad_(False)
    wanted = network.embed(real).mean(dim=0)
    return (wanted - network.embed(made).mean(dim=0)).square().sum()


def gradients(network: ConvNet, real: Tensor, made: Tensor, label: int) -> Tensor:
    """Return how far the gradients of a class are apart."""
    parameters = list(network.parameters())
    entropies = [
        functional.cross_entropy(network(images), torch.full((len(images),), label))
        for images in (real, made)
    ]
    wanted = torch.autograd.grad(entropies[0], parameters)
    found = torch.autograd.grad(entropies[1], parameters, create_graph=True)
    total = torch.zeros(())
    for one, other in zip(found, wanted, strict=True):
        if one.dim() > 1:
            rows, theirs = one.flatten(1), other.flatten(1)
            norms = rows.norm(dim=1) * theirs.norm(dim=1) + 1e-6
            total = total + (1 - (rows * theirs).sum(dim=1) / norms).sum()
    return total


def against_plain(
    problem: ImagesProblem, config: CondenseConfig, rounds: int
) -> tuple[float, float, float, float]:
    """Seconds of an iteration, the plain one's and ours; greatest differences of losses, steps."""
    plain = Plain(problem, config)
    if config.method == "dm":
        state: DistributionMatching | GradientMatching = DistributionMatching(problem, config)
        ours, match = state.step, embeddings
    else:
        state = matching = GradientMatching(problem, config)
        ours, match = lambda: matching.epoch() * problem.num_classes, gradients
    plain_seconds = our_seconds = loss = step = 0.0
    for number in range(rounds + 1):
        before = plain.x.detach().clone()
        state.x.data.copy_(before)
        watch = Stopwatch(CPU)
        theirs = plain.step(match)
        plain_seconds += watch.seconds() if number else 0
        watch = Stopwatch(CPU)
        found = float(ours())
        our_seconds += watch.seconds() if number else 0
        loss = max(loss, abs(found - theirs) / theirs)
        moved = plain.x.detach() - before
        step = max(step, float((state.x.detach() - plain.x.detach()).norm() / moved.norm()))
    return plain_seconds / rounds, our_seconds / rounds, loss, step


def trajectories(problem: ImagesProblem, config: CondenseConfig) -> tuple[int, int]:
    """Bytes of experts on disk, and the highest memory of this process while TM has them."""
    with TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder), {})
        meter = MemoryMeter(CPU)
        for _ in condense_by_trajectories(problem, config, workspace):
            pass
        return int(workspace.costs["expert_bytes"]), meter.peak()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--data-root")
    parser.add_argument("--per-class", type=int, nargs="*", default=[1, 10])
    parser.add_argument("--batch", type=int, nargs="*", default=[8, 64], help="real, of a class")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--experts", type=int, nargs="*", default=[2, 20], help="of TM")
    parser.add_argument("--rounds", type=int, default=5, help="iterations timed")
    options = parser.parse_args()
    torch.set_num_threads(1)
    problem = ImagesProblem.of(load_images(options.dataset, options.data_root), CPU)
    print(
        f"{'seconds an iteration':<34}{'plain':>10}{'ours':>10}{'ratio':>9}{'loss':>9}{'step':>9}"
    )
    for method in ("dm", "dc"):
        for per_class in options.per_class:
            for batch in options.batch:
                loops = {"outer": 1, "inner": 1} if method == "dc" else {}
                given = {"batch": batch, "width": options.width, "init": "sample", **loops}
                config = CondenseConfig(
                    options.dataset, method, per_class=per_class, domain="images", **given
                )
                plain, ours, *worst = against_plain(problem, config, options.rounds)
                label = f"{method}, {per_class} a class, {batch} real"
                errors = "".join(f"{one:>9.1e}" for one in worst)
                print(
                    f"{label:<34}{plain:>10.4f}{ours:>10.4f}{plain / ours:>9.1f}{errors}",
                    flush=True,
                )
    print(f"\n{'TM, MB':<34}{'on disk':>10}{'memory':>10}")
    few = {"epochs": 4, "evaluate_every": 4, "expert_epochs": 2, "start_epochs": 0, "stretch": 2}
    for experts in options.experts:
        config = CondenseConfig(
            *(options.dataset, "tm"),
            per_class=1,
            domain="images",
            **{"width": options.width, "experts": experts, "steps": 2, **few},
        )
        disk, memory = trajectories(problem, config)
        print(f"{f'{experts} experts':<34}{disk / 1e6:>10.1f}{memory / 1e6:>10.0f}", flush=True)


if __name__ == "__main__":
    main()
