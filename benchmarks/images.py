"""Speed of condensing images, on one thread: against plain loops over classes.

    python benchmarks/images.py --dataset digits --per-class 1 10 --batch 8 64 [--alike] [--double]

Seconds of an iteration of DC and DM, ours against a plain implementation: a network module, one
class after another, gradients differentiated twice. Each runs in a process of its own, and in the
environment that it has in use: the loop in that of a user's script on one thread, ours in that of
our workers (`benchbuild.engines.base`), which keep freed memory at hand. The loop would gain from
that too, most with many real images; `--alike` gives it to both, so that only what is computed
differs.

Both make the same steps from the same seeds, iteration by iteration in turn, so that a busy machine
disturbs both alike; seconds are those of the processor, each process's own, and the median of all
steps but the first: now and then one takes long, when a process is given memory. Before each step
ours is given the plain one's images, and then compared: the greatest relative difference of a loss,
and of what a step has moved the images by. That is rounding errors of single precision, and now and
then a value so near to 0 that one of both cuts it off, which moves one image otherwise; with
`--double`, where no value is so near, it is rounding errors alone.

Then the highest memory of trajectory matching with few and with many experts, beside what these
take on disk: checkpoints are read as they are needed.

Ours passes the images by formula, and many at once. What the convolutions of real images take is
left: both need them.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchbuild.compute.meters import MemoryMeter, Stopwatch
from benchbuild.datasets import load_images
from benchbuild.engines.base import WORKER_ENVIRONMENT
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
MEMORY = "GLIBC_TUNABLES"
"""What a user's script has not set, of what workers have."""


class Doubles(ImagesProblem):
    """The same images in double precision."""

    def images(self, numbers: Tensor) -> Tensor:
        """Return some training images by their numbers, normalised."""
        return super().images(numbers).double()


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
        self.match = embeddings if config.method == "dm" else gradients

    def network(self) -> ConvNet:
        """Return a network with the weights that ours draws."""
        weights = self.backbone.draw(self.generator, CPU)
        network = ConvNet(
            self.problem.shape, self.problem.num_classes, width=self.width, depth=self.depth
        )
        network.load_state_dict(dict(zip(network.state_dict(), weights, strict=True)))
        return network

    def step(self) -> float:
        """Make an update and return the loss before it: the sum over classes."""
        network = self.network()
        draws = self.siamese.draw(self.problem.num_classes)
        loss = torch.zeros(())
        for label, numbers in enumerate(self.real.draw()):
            real = self.siamese.apply(self.problem.images(numbers), draws[label][None])
            made = self.siamese.apply(self.x[self.labels == label], draws[label][None])
            loss = loss + self.match(network, real, made, label)
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


class Ours:
    """The method as benchbuild has it."""

    def __init__(self, problem: ImagesProblem, config: CondenseConfig) -> None:
        if config.method == "dm":
            means = DistributionMatching(problem, config)
            self.x, self._step = means.x, means.step
        else:
            slopes = GradientMatching(problem, config)
            self.x, self._step = slopes.x, lambda: slopes.epoch() * problem.num_classes

    def step(self) -> float:
        """Make an update and return the loss before it: the sum over classes."""
        return float(self._step())


class Step(NamedTuple):
    """What a process says of a step."""

    seconds: float
    loss: float
    images: np.ndarray


class Apart:
    """An implementation in a process of its own.

    Attributes:
        images: Those that it begins with.
    """

    def __init__(
        self,
        kind: type[Plain | Ours],
        config: CondenseConfig,
        root: str | None,
        environment: Mapping[str, str],
        *,
        double: bool,
    ) -> None:
        context = get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, kind, config, root, double))
        others = {name: os.environ[name] for name in os.environ.keys() - WORKER_ENVIRONMENT.keys()}
        with patch.dict(os.environ, {**others, **environment}, clear=True):
            self._process.start()
        theirs.close()
        self.images: np.ndarray = self._line.recv()

    def step(self, images: np.ndarray) -> Step:
        """Return a step from some images."""
        self._line.send(images)
        step: Step = self._line.recv()
        return step

    def close(self) -> None:
        """End the process."""
        self._line.close()
        self._process.join()


def serve(
    line: Connection,
    kind: type[Plain | Ours],
    config: CondenseConfig,
    root: str | None,
    double: bool,
) -> None:
    """Make a step from each of the images that come, until no more do."""
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64 if double else torch.float32)
    precision = Doubles if double else ImagesProblem
    problem = precision.of(load_images(str(config["dataset"]), root), CPU)
    stepper = kind(problem, config)
    line.send(stepper.x.detach().numpy().copy())
    while True:
        try:
            images = line.recv()
        except EOFError:
            return
        stepper.x.data.copy_(torch.from_numpy(images))
        watch = Stopwatch(CPU)
        loss = stepper.step()
        line.send(Step(watch.seconds(), loss, stepper.x.detach().numpy()))


def against_plain(
    config: CondenseConfig, root: str | None, rounds: int, *, alike: bool, double: bool
) -> tuple[float, float, float, float]:
    """Seconds of an iteration, the plain one's and ours; greatest differences of losses, steps."""
    script = {name: value for name, value in WORKER_ENVIRONMENT.items() if name != MEMORY}
    plain = Apart(Plain, config, root, WORKER_ENVIRONMENT if alike else script, double=double)
    ours = Apart(Ours, config, root, WORKER_ENVIRONMENT, double=double)
    images = plain.images
    plain_seconds, our_seconds = [], []
    loss = step = 0.0
    for _ in range(rounds + 1):
        theirs, found = plain.step(images), ours.step(images)
        plain_seconds.append(theirs.seconds)
        our_seconds.append(found.seconds)
        loss = max(loss, abs(found.loss - theirs.loss) / theirs.loss)
        moved = np.linalg.norm(theirs.images - images)
        step = max(step, float(np.linalg.norm(found.images - theirs.images) / moved))
        images = theirs.images
    plain.close()
    ours.close()
    return median(plain_seconds[1:]), median(our_seconds[1:]), loss, step


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
    parser.add_argument("--alike", action="store_true", help="the loop as in a worker, too")
    parser.add_argument("--double", action="store_true", help="in double precision")
    options = parser.parse_args()
    torch.set_num_threads(1)
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
                plain, ours, *worst = against_plain(
                    *(config, options.data_root, options.rounds),
                    alike=options.alike,
                    double=options.double,
                )
                label = f"{method}, {per_class} a class, {batch} real"
                errors = "".join(f"{one:>9.1e}" for one in worst)
                print(
                    f"{label:<34}{plain:>10.4f}{ours:>10.4f}{plain / ours:>9.2f}{errors}",
                    flush=True,
                )
    problem = ImagesProblem.of(load_images(options.dataset, options.data_root), CPU)
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
