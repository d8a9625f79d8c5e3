"""A trial: a model is trained on some graphs and tried on others after every epoch, or every few.

The epoch is the first one of greatest validation metric among those in which it was tried, or the
last one where an evaluation asks for that, as published ones do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import torch
from torch import Tensor

from benchbuild.compute.devices import reproducible
from benchbuild.compute.loop import CHECK_EVERY, History
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.evaluate.graphs.folding import Exam
from benchbuild.kinds.evaluate.graphs.models import GraphModel
from benchbuild.kinds.evaluate.graphs.objective import GraphObjective
from benchbuild.kinds.evaluate.graphs.operands import Factors, Lesson
from benchbuild.kinds.evaluate.trial import conclude, tried_epochs
from benchquery.kinds.condensed.config import EvalConfig

DECAYS: Mapping[str, Callable[[int, int], float]] = MappingProxyType(
    {
        "none": lambda _epoch, _epochs: 1.0,
        "half": lambda epoch, epochs: 1.0 if epoch < epochs // 2 else 0.1,
        "step": lambda epoch, _epochs: 0.5 ** (epoch // 50),
    }
)
"""By what the learning rate is multiplied in an epoch of so many: never anything; a tenth from
half-way on, as in DosCond; half of it every 50 epochs, as in KiDD."""


@dataclass(frozen=True, eq=False)
class Trial:
    """What a model learns on and what it is tried on.

    Attributes:
        lesson: The graphs that it learns on.
        learnt: The same, for the figures of the training.
        exam: The validation graphs, then the test graphs; the validation graphs alone if the test
            graphs are not to be seen, whose place they then take.
        objective: The loss and the metric, with the classes of the three.
        num_features: Width of the features.
        num_classes: Number of classes.
    """

    lesson: Lesson
    learnt: Exam
    exam: Exam
    objective: GraphObjective
    num_features: int
    num_classes: int

    def run(self, config: EvalConfig) -> Evaluation:
        """Train a model and try it after each ``tried_every`` epochs."""
        epochs, lr = config.count("epochs"), config.number("lr")
        tried = tried_epochs(epochs, config.count("tried_every"))
        device = self.objective.labels[0].device
        history = History(len(tried), device)
        others: list[Tensor] = []
        decay = DECAYS[str(config["decay"])]
        with reproducible(device, config.seed, threads=1):
            model = GraphModel(config, self.num_features, self.num_classes).to(device)
            optimizer = torch.optim.Adam(
                model.parameters(), weight_decay=config.number("weight_decay"), fused=True
            )
            generator = torch.Generator().manual_seed(config.seed)
            for epoch in range(epochs):
                for group in optimizer.param_groups:
                    group["lr"] = lr * decay(epoch, epochs)
                self._learn(model, optimizer, self._batches(config.count("batch"), generator))
                if epoch != tried[history.epochs]:
                    continue
                logits = self._logits(model)
                history.add(self.objective.measure(logits))
                others.append(self.objective.other(logits))
                if history.epochs % CHECK_EVERY == 0 and history.diverged():
                    break
        found = conclude(history, last=config["report"] == "last", tried=tried)
        if found.best_epoch < 0:
            return found
        return replace(found, other_perf=float(others[tried.index(found.best_epoch)]))

    def _batches(
        self, size: int, generator: torch.Generator
    ) -> Iterator[tuple[Factors, Tensor | None]]:
        """Give the graphs of an epoch in batches, with their numbers; None for all of them."""
        labels = self.objective.labels[0]
        if len(labels) <= size:
            yield self.lesson.whole, None
            return
        for numbers in torch.split(torch.randperm(len(labels), generator=generator), size):
            chosen = numbers.to(labels.device)
            yield self.lesson.cut(chosen), chosen

    def _learn(
        self,
        model: GraphModel,
        optimizer: torch.optim.Optimizer,
        batches: Iterator[tuple[Factors, Tensor | None]],
    ) -> None:
        model.train()
        for graphs, numbers in batches:
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(self.objective.loss(model(graphs), numbers))
            optimizer.step()

    def _logits(self, model: GraphModel) -> Tensor:
        """Return the logits of training, validation and test graphs, in this order."""
        tried = model.tried(self.exam)
        blind = len(tried) == len(self.objective.labels[1])
        return torch.cat([model.tried(self.learnt), tried, *([tried] if blind else [])])
