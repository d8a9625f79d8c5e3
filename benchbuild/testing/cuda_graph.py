"""A CUDA graph of the pretend GPU: operations are kept with the memory that they use, and repeated.

It is as strict as CUDA. While it records, the host may not wait for the device, nor copy onto it,
and random numbers are drawn from generators that were registered. Nothing is computed by that:
memory and generators are as before afterwards. What is repeated reads and writes the very memory of
the recording, so whatever the host would do otherwise the next time has no effect any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

REPLAY = "replay of a graph"
"""What a repetition is counted as, among operations: one is started for all that it holds."""


@dataclass(frozen=True)
class _Step:
    """One operation: what computes it again, and the memory where its results belong."""

    compute: Callable[[], Any]
    results: Sequence[Tensor]

    def repeat(self) -> None:
        for kept, found in zip(self.results, parts_of(self.compute()), strict=True):
            if kept.data_ptr() != found.data_ptr():
                kept.copy_(found)


class Recorded(Protocol):
    """An operation, as far as it matters whether it can be recorded."""

    name: str

    @property
    def waits(self) -> bool:
        """Whether the host waits for its result."""

    @property
    def uploads(self) -> bool:
        """Whether it copies from main memory onto the GPU."""

    @property
    def hidden_upload(self) -> bool:
        """Whether its kernel does."""

    @property
    def draws(self) -> bool:
        """Whether it draws from the device's own generator."""

    @property
    def generator(self) -> Any:
        """The generator that it names; None if it names none."""


class PretendGraph:
    """What ``torch.cuda.CUDAGraph`` is to CUDA."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []
        self._generators: list[torch.Generator] = []
        self._before: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}
        self._made: set[int] = set()
        self._states: list[Tensor] = []

    def register_generator_state(self, generator: torch.Generator) -> None:
        """Allow for a generator to be drawn from."""
        self._generators.append(generator)

    def begin(self) -> None:
        """Remember where the generators are."""
        self._states = [generator.get_state() for generator in self._generators]

    def check(self, call: Recorded) -> None:
        """Refuse an operation that can't be recorded.

        Raises:
            RuntimeError: If the host waits for it or copies, or it draws from elsewhere. Of the
                device's own generator CUDA knows without being told; here it can't be drawn from.
        """
        if call.waits or call.uploads or call.hidden_upload:
            what = "waits for the device" if call.waits else "copies from main memory"
            raise RuntimeError(f"{call.name}: the host {what} while a graph is recorded")
        known = {one._cdata for one in self._generators}  # type: ignore[attr-defined]
        if call.draws or (call.generator is not None and call.generator._cdata not in known):
            raise RuntimeError(f"{call.name}: its generator is not registered with the graph")

    def see(self, arguments: Any) -> None:
        """Remember the contents of what an operation is given, as it may be written to."""
        for part in parts_of(arguments):
            storage = part.untyped_storage()
            if storage._cdata not in self._made | self._before.keys():
                contents = storage.clone()  # type: ignore[no-untyped-call]
                self._before[storage._cdata] = (storage, contents)

    def add(self, compute: Callable[[], Any], out: Any) -> None:
        """Keep an operation.

        Args:
            compute: Computes it again, from the same memory.
            out: What it gave.
        """
        results = parts_of(out)
        self._made |= {part.untyped_storage()._cdata for part in results} - self._before.keys()
        self._steps.append(_Step(compute, results))

    def end(self) -> None:
        """Put memory and generators back to where they were."""
        for storage, contents in self._before.values():
            storage.copy_(contents)
        for generator, state in zip(self._generators, self._states, strict=True):
            generator.set_state(state)

    def repeat(self) -> None:
        """Compute all of it once more."""
        for step in self._steps:
            step.repeat()


def parts_of(values: Any) -> list[Tensor]:
    """Return the tensors in nested values; of a sparse one, its entries and their places."""
    found: list[Tensor] = []
    for leaf in tree_leaves(values):
        if not isinstance(leaf, Tensor):
            continue
        if leaf.layout is torch.sparse_csr:
            found += [leaf.crow_indices(), leaf.col_indices(), leaf.values()]
        else:
            found.append(leaf)
    return found
