"""What an error within a job comes to: a status, and a reason in one line."""

from __future__ import annotations

from benchbuild.pipeline.records import FAILED, OOM

OUT_OF_MEMORY = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "cannot allocate memory",
    "alloc_failed",
)
"""How a RuntimeError of torch says it, in lower case: its CPU allocator, CUDA's and cuBLAS's."""


def failure(error: Exception) -> tuple[str, str]:
    """Return the status and the reason of a job that ended with an error."""
    text = f"{type(error).__name__}: {error}"
    return OOM if is_out_of_memory(error) else FAILED, text.splitlines()[0]


def is_out_of_memory(error: Exception) -> bool:
    """Say whether an error means that memory ran out, on whatever device."""
    if isinstance(error, MemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(phrase in text for phrase in OUT_OF_MEMORY)
