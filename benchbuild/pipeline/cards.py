"""Which GPUs are large enough for a job, as far as that is known beforehand."""

from __future__ import annotations

from collections.abc import Sequence

from benchbuild.pipeline.jobs import Cost

CARDS = (16, 24, 40, 80)
"""Sizes of GPUs that are about, in GB."""

CONTEXT, ROUNDED_UP = 600e6, 1.1
"""Bytes that a process takes of a GPU before its first tensor, and how many times what tensors need
the allocator takes: guesses, rather too high, since no GPU was at hand."""


def cards_for(tensors: float, workers: int = 1) -> tuple[int, ...]:
    """Return those of `CARDS` that are large enough.

    Args:
        tensors: Bytes of the tensors of a worker.
        workers: How many share a GPU.
    """
    needed = workers * (CONTEXT + ROUNDED_UP * tensors)
    return tuple(card for card in CARDS if needed <= card * 1e9)


def how_many_fit(costs: Sequence[Cost], workers: int = 1) -> str:
    """Say of each size of GPU how many jobs fit it; nothing if that is not predicted.

    Args:
        costs: The jobs.
        workers: How many share a GPU.
    """
    tensors = [cost.gpu_memory for cost in costs if cost.gpu_memory is not None]
    if not tensors or len(tensors) < len(costs):
        return ""
    fitting = [cards_for(one, workers) for one in tensors]
    counts = {card: sum(card in cards for cards in fitting) for card in CARDS}
    parts = [
        f"{'all' if count == len(costs) else f'{count:,}'} on {card} GB"
        for card, count in counts.items()
    ]
    sharing = f" with {workers} workers each" if workers > 1 else ""
    return f"jobs that fit a GPU{sharing}: {', '.join(parts)}"
