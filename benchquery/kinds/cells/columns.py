"""The columns of tables of cell networks."""

from __future__ import annotations

from benchquery.kinds.cells.cell import OPERATIONS
from benchquery.table.schema import Column

ACCURACIES = {
    "cifar10": "CIFAR-10",
    "cifar100": "CIFAR-100",
    "imagenet16": "ImageNet16-120",
}
"""The columns of test accuracies, and the datasets that they are of."""

COLUMNS = (
    Column("architecture", "string", "The cell, as NAS-Bench-201 writes it."),
    Column("form", "string", "What the cell computes: the same text for cells that compute the "
           "same."),
    *(
        Column(name, "float64", f"Test accuracy on {dataset} after 200 epochs, averaged over "
               "seeds.", "percent", "test", "higher")
        for name, dataset in ACCURACIES.items()
    ),
    Column("parameters", "int64", "Weights of the network for CIFAR-10, worked out from the cell.",
           "1", None, "lower"),
    *(
        Column(op, "int32", f"How many of the six operations are {op}.") for op in OPERATIONS
    ),
)  # fmt: skip
