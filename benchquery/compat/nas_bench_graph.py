"""The names of the published package ``nas_bench_graph`` 1.4.0, on the tables of this one.

    import benchquery.compat.nas_bench_graph as nas_bench_graph

Code written for that package runs with this one line changed. What it is given is what it expects:
`light_read` gives a dictionary of dictionaries, an `Arch` can be changed and made of nothing, and
four skips hash to 88888, which is in no table. Unlike there, files are read by a reader that can
build plain data only. New code is better off with `benchquery.lightread` and `benchquery.Arch`.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchquery.kinds.architectures.arch import LINKS, NODES, OPS, SPACE_OPS
from benchquery.kinds.architectures.arch import Arch as Architecture
from benchquery.kinds.architectures.reading import lightread, read

__all__ = [
    "ALL_SKIP",
    "HP",
    "Arch",
    "all_archs",
    "gnn_list",
    "gnn_list_proteins",
    "light_read",
    "lightread",
    "link_list",
    "random_hp",
    "read",
]

link_list = [list(link) for link in LINKS]
gnn_list = list(OPS)
gnn_list_proteins = list(SPACE_OPS["proteins"])
ALL_SKIP = 88888
"""The hash of four skips."""
_FIGURES = ("valid_perf", "perf", "latency", "para")
_CHOICES: Mapping[str, Sequence[Any]] = {
    "dropout": [place / 10 for place in range(9)],
    "dim": (64, 128, 256),
    "num_cells": (1,),
    "num_pre": (0,),
    "num_pro": (0, 1),
    "lr": (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001),
    "wd": (0, 5e-4),
    "optimizer": ("Adam", "SGD"),
    "num_epochs": (200, 300, 400, 500),
}


def light_read(dname: str) -> dict[int, dict[str, float]]:
    """Return the four figures of every architecture by its hash.

    Args:
        dname: The dataset.

    Raises:
        UnknownTableError: If there is no such table.
    """
    table = lightread(dname)
    columns = [table.column(name).tolist() for name in _FIGURES]
    figures = (dict(zip(_FIGURES, row, strict=True)) for row in zip(*columns, strict=True))
    return dict(zip(table.hashes.tolist(), figures, strict=True))


class Arch:
    """An architecture that can be changed.

    Args:
        lk: The input of each of the four nodes; None until it is set.
        op: The operation of each node; None until it is set.
    """

    def __init__(self, lk: Sequence[int] | None = None, op: Sequence[str] | None = None) -> None:
        self.link = None if lk is None else list(lk)
        self.ops = None if op is None else list(op)

    def random_arch(self) -> None:
        """Become an architecture of one of the nine link lists, drawn by `random`."""
        self.link = list(random.choice(link_list))
        self.ops = [random.choice(gnn_list) for _ in range(NODES)]

    def valid_hash(self) -> int:
        """Return the key of the tables; 88888 for four skips, which are in none.

        Raises:
            ArchitectureError: If this is no architecture.
        """
        if self.ops == ["skip"] * NODES:
            return ALL_SKIP
        return Architecture(self.link or (), self.ops or ()).valid_hash()

    def hash_arch(self, use_proteins: bool = False) -> int:
        """Return the digits of this very form, read as one number.

        Args:
            use_proteins: Whether operations are counted in the list of proteins.

        Raises:
            ValueError: If the link list is none of the nine, or an operation is not in the list.
        """
        ops = gnn_list_proteins if use_proteins else gnn_list
        number = link_list.index(list(self.link or ()))
        for op in self.ops or ():
            number = number * (len(ops) + 1) + ops.index(op)
        return number

    def check_isomorph(self) -> bool:
        """Become the form that stands for all that compute the same; say whether it was that."""
        before = self.link, self.ops
        if self.ops == ["skip"] * NODES:
            form = link_list[-1], before[1]
        else:
            known = Architecture(self.link or (), self.ops or ()).canonical()
            form = list(known.link), list(known.ops)
        self.link, self.ops = form
        return before == form


def all_archs() -> list[Arch]:
    """Return the architectures of all tables, each in the form that stands for it."""
    forms = itertools.product(itertools.product(gnn_list, repeat=NODES), link_list)
    archs = (Arch(link, ops) for ops, link in forms if set(ops) != {"skip"})
    return [arch for arch in archs if arch.check_isomorph()]


class HP:
    """Hyper-parameters: whatever is set."""

    def __repr__(self) -> str:
        return json.dumps(vars(self))


def random_hp() -> HP:
    """Return hyper-parameters of the benchmark's own search, drawn by `random`."""
    drawn = HP()
    vars(drawn).update({name: random.choice(values) for name, values in _CHOICES.items()})
    return drawn
