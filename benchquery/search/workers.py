"""Parallel workers in simulated time, so that nobody has to wait for them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from benchquery.kinds.architectures.arch import Arch
from benchquery.search.oracle import Oracle

Candidate = Arch | int


class SimulatedWorkers:
    """The simulated workers of an oracle.

    A training starts on the first free worker and takes the time that the table knows (1
    where it knows none). The budget is charged when it starts; the reward is given out when
    it ends, and the clock moves on to then.

    Args:
        oracle: The oracle; it says how many workers there are.
    """

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._clock = 0.0
        self._free = list(range(oracle.workers))
        self._running: list[tuple[float, int, int, Candidate, float]] = []

    @property
    def free(self) -> int:
        """How many workers have nothing to do."""
        return len(self._free)

    def submit(self, arch: Candidate, epochs: int | None = None) -> None:
        """Start a training on a free worker; there must be one.

        Raises:
            BudgetExhaustedError: If the budget does not cover it.
        """
        reward = self._oracle.evaluate(arch, epochs)
        worker = heapq.heappop(self._free)
        order = len(self._oracle.schedule)
        ended = self._clock + self._oracle.last_duration
        self._oracle.schedule.append((worker, self._clock, ended))
        heapq.heappush(self._running, (ended, order, worker, arch, reward))

    def wait(self) -> tuple[Candidate, float]:
        """Let time pass until a training ends, and return its architecture and reward."""
        self._clock, _, worker, arch, reward = heapq.heappop(self._running)
        heapq.heappush(self._free, worker)
        return arch, reward

    def evaluate_all(self, archs: Sequence[Candidate], epochs: int | None = None) -> list[float]:
        """Train some architectures and return their rewards when all are done.

        Raises:
            BudgetExhaustedError: If the budget does not cover them all.
        """
        rewards: dict[Candidate, float] = {}
        for arch in archs:
            if not self.free:
                rewards.update([self.wait()])
            self.submit(arch, epochs)
        while self._running:
            rewards.update([self.wait()])
        return [rewards[arch] for arch in archs]


def keep_busy(
    oracle: Oracle, propose: Callable[[], Candidate], observe: Callable[[Candidate, float], None]
) -> None:
    """Keep all workers of an oracle busy until its budget is used up.

    Args:
        oracle: The oracle.
        propose: Names the next architecture, when a worker is free. `StopIteration` ends
            the search.
        observe: Is told each reward, when a training ends.

    Raises:
        BudgetExhaustedError: If the budget is used up.
    """
    workers = SimulatedWorkers(oracle)
    while True:
        while workers.free:
            try:
                arch = propose()
            except StopIteration:
                return
            workers.submit(arch)
        observe(*workers.wait())
