"""What to know of the hardware that the records of a table were made on.

Sums on GPUs of different models differ in their last digits, and so do the figures of long
trainings; times differ by more. Workers that share a device slow each other down.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from benchquery.naming import whole_number

ENVIRONMENT = "environment"
"""The column of records that says where they were made, as JSON; a kind need not have it."""


def hardware_warnings(table: pa.Table) -> Iterator[str]:
    """Say what makes the records of a table hard to compare; nothing of those made on CPUs alone.

    Args:
        table: The records.
    """
    if ENVIRONMENT not in table.column_names:
        return
    models: Counter[str] = Counter()
    sharing: set[int] = set()
    joined = 0
    for text, count in Counter(table.column(ENVIRONMENT).to_pylist()).items():
        where = json.loads(text) if text else {}
        if isinstance(where, dict):
            models[_model(where)] += count
            sharing.add(whole_number(str(where.get("workers_per_device", "1"))) or 1)
            joined += count if "batch" in where else 0
    del models[""]
    if len(models) > 1 and any(model != "CPUs" for model in models):
        counts = ", ".join(f"{count:,} on {model}" for model, count in sorted(models.items()))
        yield f"the records are of different devices, whose figures differ a little: {counts}"
    if max(sharing, default=1) > 1:
        most = max(sharing)
        yield f"times were measured while up to {most} workers shared a device"
    if joined:
        yield (
            f"{joined:,} of the records were trained in batches: their times are shares of a "
            "batch's, their memory is all of it"
        )


def _model(where: dict[str, object]) -> str:
    """Return the model of an accelerator; all processors are one, and a job without result none."""
    device = where.get("device", "")
    return "CPUs" if device == "cpu" else str(where.get("device_name", device))
