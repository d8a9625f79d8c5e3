"""What every loop that learns a payload needs: steps of Adam, snapshots, and means of losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from torch import Tensor

from benchbuild.compute.adam import Adam
from benchbuild.kinds.condense.method import Snapshot
from benchbuild.kinds.condense.payload import Payload
from benchquery.kinds.condensed.config import CondenseConfig


class Learner:
    """Tensors that Adam updates with gradients it is given."""

    def __init__(self, tensors: list[Tensor], lr: float) -> None:
        self.tensors = [tensor.requires_grad_() for tensor in tensors]
        self._update = Adam(self.tensors, lr)

    def step(self, gradients: Sequence[Tensor]) -> None:
        """Update the tensors in place. Fused, Adam reads a gradient as the tensor is stored."""
        self._update([gradient.contiguous() for gradient in gradients])

    def rest(self, resting: bool = True) -> None:
        """Say whether gradients of the tensors are needed: others are not worked out."""
        for tensor in self.tensors:
            tensor.requires_grad_(not resting)


def snapshots(
    config: CondenseConfig,
    learn: Callable[[int], Mapping[str, Tensor]],
    payload: Callable[[], Payload],
) -> Iterator[Snapshot]:
    """Yield snapshots on the way through all epochs.

    Args:
        config: How many ``epochs``, and ``evaluate_every`` how many to yield.
        learn: Makes an epoch's update and gives its losses.
        payload: Gives what there is at the moment.
    """
    yield Snapshot(0, payload().detach(), {})
    epochs, every = config.count("epochs"), config.count("evaluate_every")
    sums: dict[str, float] = {}
    since = 0
    for epoch in range(1, epochs + 1):
        for name, loss in learn(epoch).items():
            sums[name] = sums.get(name, 0.0) + float(loss)
        since += 1
        if epoch % every == 0 or epoch == epochs:
            means = {name: total / since for name, total in sums.items()}
            yield Snapshot(epoch, payload().detach(), means)
            sums, since = {}, 0


def mean_losses(losses: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each loss over the steps that have it."""
    names = dict.fromkeys(name for each in losses for name in each)
    found = {name: [each[name] for each in losses if name in each] for name in names}
    return {name: sum(values) / len(values) for name, values in found.items()}
