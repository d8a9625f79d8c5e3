"""A trial: a network is trained on some images and tried on others every few epochs.

The epoch is the first one of greatest validation metric among those in which it was tried; the last
one always is. Curves have figures of those epochs only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchbuild.compute.devices import reproducible
from benchbuild.compute.loop import History
from benchbuild.compute.objective import accuracy, in_order
from benchbuild.datasets.images.image_set import ImageSet
from benchbuild.errors import ArchitectureError, EvaluationError
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.condense.images.augment.base import MODES, Mode
from benchbuild.kinds.condense.images.augment.registry import make_augmentation
from benchbuild.kinds.evaluate.images.networks import make_network
from benchbuild.kinds.evaluate.trial import conclude, tried_epochs
from benchquery.kinds.condensed.config import EvalConfig

AT_ONCE = 256
"""Images that a network is tried on at a time."""
_DECAYED = 0.1
"""What the learning rate is multiplied with half-way."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some images of a dataset, brought into the form of networks when they are needed.

    Attributes:
        data: The dataset.
        index: Which of its images.
        device: Where to compute.
    """

    data: ImageSet
    index: Tensor
    device: torch.device

    @torch.no_grad()
    def tried(self, network: nn.Module) -> Tensor:
        """Return accuracy and mean cross-entropy of a network on the images."""
        parts = [
            network(self.data.normalised(some).to(self.device))
            for some in torch.split(self.index, AT_ONCE)
        ]
        return figures(torch.cat(parts), self.data.y[self.index].to(self.device))


def figures(logits: Tensor, y: Tensor) -> Tensor:
    """Return accuracy and mean cross-entropy of logits; y are classes or probabilities."""
    return torch.stack([accuracy(logits, y), functional.cross_entropy(logits, y).double()])


@dataclass(frozen=True, eq=False)
class Lesson:
    """Images that a network learns on.

    Attributes:
        x: (images, channels, height, width), normalised.
        y: (images,) classes, or (images, classes) probabilities of them.
    """

    x: Tensor
    y: Tensor

    @torch.no_grad()
    def tried(self, network: nn.Module) -> Tensor:
        """Return accuracy and mean cross-entropy of a network on the images as they are."""
        logits = [network(some) for some in torch.split(self.x, AT_ONCE)]
        return figures(torch.cat(logits), self.y)


@dataclass(frozen=True, eq=False)
class Trial:
    """What a network learns on and what it is tried on.

    Attributes:
        data: The dataset.
        lesson: The images that it learns on.
        exams: The validation images and the test images; the validation images alone if the test
            images are not to be seen, whose place they then take.
    """

    data: ImageSet
    lesson: Lesson
    exams: tuple[Part, ...]

    def run(self, config: EvalConfig, *, epochs: int, every: int) -> Evaluation:
        """Train a network and try it.

        Args:
            config: The network and its training.
            epochs: How many epochs it is trained for.
            every: After how many it is tried each time.

        Raises:
            EvaluationError: If there is no such network for such images, on any machine.
        """
        device = self.lesson.x.device
        tried = tried_epochs(epochs, every)
        history = History(len(tried), device)
        with reproducible(device, config.seed, threads=1):
            network = self._network(config).to(device)
            optimizer = _optimizer(config, network)
            teacher = _Teacher(self, config, network, optimizer)
            for epoch in range(epochs):
                if config["decay"] == "half" and epoch == epochs // 2:
                    for group in optimizer.param_groups:
                        group["lr"] *= _DECAYED
                teacher.epoch()
                if epoch == tried[history.epochs]:
                    history.add(self._measure(network))
                    if history.diverged():
                        break
        return conclude(history, tried=tried)

    def _network(self, config: EvalConfig) -> nn.Module:
        sizes = {name: config.count(name) for name in ("width", "depth") if config.count(name)}
        try:
            return make_network(config.model, self.data.shape, self.data.num_classes, **sizes)
        except ArchitectureError as error:
            raise EvaluationError(f"{config.model} on {self.data.name}: {error}") from error

    def _measure(self, network: nn.Module) -> Tensor:
        """Return metric and loss on training, validation and test images, in `in_order`."""
        network.eval()
        held = [exam.tried(network) for exam in self.exams]
        found = [self.lesson.tried(network), held[0], held[-1]]
        return in_order([part[0] for part in found], [part[1] for part in found])


class _Teacher:
    """Trains a network, epoch by epoch.

    Batches are as many as it takes, all about as large, so that none has a single image.
    """

    def __init__(
        self,
        trial: Trial,
        config: EvalConfig,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
    ) -> None:
        data = trial.data
        self._lesson, self._network, self._optimizer = trial.lesson, network, optimizer
        self._batches = math.ceil(len(trial.lesson.x) / config.count("batch"))
        self._augmentation = make_augmentation(
            str(config["augmentation"]), data.shape, data.mean, data.std
        )
        self._mode = _mode(str(config["draws"]))
        self._generator = torch.Generator().manual_seed(config.seed)

    def epoch(self) -> None:
        """Make a step for each batch."""
        x, y = self._lesson.x, self._lesson.y
        self._network.train()
        order = torch.randperm(len(x), generator=self._generator).to(x.device)
        for chosen in torch.tensor_split(order, self._batches):
            images = self._augmentation(x[chosen], self._mode, self._generator)
            loss = functional.cross_entropy(self._network(images), y[chosen])
            self._optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(loss)
            self._optimizer.step()


def _mode(name: str) -> Mode:
    return next(mode for mode in MODES if mode == name)


def _optimizer(config: EvalConfig, network: nn.Module) -> torch.optim.Optimizer:
    rate, decay = config.number("lr"), config.number("weight_decay")
    if config["optimizer"] == "adam":
        return torch.optim.Adam(network.parameters(), lr=rate, weight_decay=decay, fused=True)
    momentum = config.number("momentum")
    return torch.optim.SGD(
        network.parameters(), lr=rate, momentum=momentum, weight_decay=decay, fused=True
    )
