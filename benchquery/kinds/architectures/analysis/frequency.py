"""Which choices the best architectures make (Figures 3 and 10 of the paper)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.analysis.statistics import top_rows, wilson_interval
from benchquery.errors import UnknownNameError
from benchquery.kinds.architectures.analysis.agreement import goodness
from benchquery.kinds.architectures.arch import LINKS, NODES, OPS, raw_hashes
from benchquery.kinds.architectures.encoding import link_indices, op_indices
from benchquery.kinds.architectures.space import get_space
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")

_LINK_NAMES = tuple("".join(map(str, link)) for link in LINKS)

Form = Literal["canonical", "raw"]


@dataclass(frozen=True)
class Lift:
    """How often the best make a choice, beside how often all do.

    Attributes:
        choice: An operation, or a link list as four digits.
        share: Its share among the best.
        base: Its share in the whole table.
        lift: The one over the other: above 1, the best prefer it.
        low: The lower end of the 95% interval of the lift.
        high: Its upper end.
    """

    choice: str
    share: float
    base: float
    lift: float
    low: float
    high: float


@dataclass(frozen=True)
class Frequencies:
    """The choices of the best of a table, beside those of all.

    Attributes:
        links: A lift for each link list.
        ops: A lift for each operation of the space.
        best: How many architectures are the best.
        by: The column that says what is best.
        left_out: How many architectures have no figure.
    """

    links: tuple[Lift, ...]
    ops: tuple[Lift, ...]
    best: int
    by: str
    left_out: int

    @property
    def note(self) -> str:
        """What the rows are about."""
        return f"the {self.best:,} best by {self.by}; {self.left_out:,} left out"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each operation, then one for each link list."""
        return [asdict(lift) for lift in (*self.ops, *self.links)]


def _best(table: ArchTable, share: float, by: str) -> Ints:
    """Return the hashes of the top share of the architectures that have a figure."""
    known = known_part(table, by)
    return known.hashes[top_rows(goodness(known.column(by), by), share)]


def link_frequencies(table: ArchTable, share: float = 0.05, by: str = "perf") -> dict[str, float]:
    """Return how often each link list stands among the top share of a table.

    Architectures without a figure are left out.

    Returns:
        By link list, written as four digits, its share; they add up to 1.

    Raises:
        QueryError: If no architecture has a figure, or the share is not in (0, 1].
    """
    counts = np.bincount(link_indices(_best(table, share, by)), minlength=len(LINKS))
    return dict(zip(_LINK_NAMES, (counts / counts.sum()).tolist(), strict=True))


def node_depths() -> Ints:
    """Return the depth of every node of every link list: 1 on the input, 2 below: (9, 4)."""
    depths = []
    for link in LINKS:
        below = [0]
        for parent in link:
            below.append(below[parent] + 1)
        depths.append(below[1:])
    return np.array(depths)


@cache
def _raw_forms() -> tuple[Ints, Ints]:
    """Return all forms on the nine link lists as numbers like hashes, and their real hashes."""
    digits = np.indices((len(OPS),) * NODES).reshape(NODES, -1)[:, :-1]
    own = (digits * 10 ** np.arange(NODES - 1, -1, -1)[:, None]).sum(axis=0)
    forms = [index * 10**NODES + own for index in range(len(LINKS))]
    hashes = [np.frombuffer(raw_hashes(link), np.int32) for link in LINKS]
    return np.concatenate(forms), np.concatenate(hashes)


def _forms_of(hashes: Ints, form: Form) -> Ints:
    """Return the forms of architectures, written like hashes: the canonical ones, or all raw."""
    if form == "canonical":
        return hashes
    if form != "raw":
        raise UnknownNameError(f"unknown form {form!r}; allowed: canonical, raw")
    forms, theirs = _raw_forms()
    return forms[np.isin(theirs, hashes)]


def _uses(forms: Ints, first: bool | None) -> tuple[Ints, Ints]:
    """Return how often each form uses each operation, and how many nodes of it count."""
    used, counted = op_indices(forms), np.ones((len(forms), NODES), dtype=bool)
    if first is not None:
        counted = (node_depths()[link_indices(forms)] == 1) == first
    uses = (used[:, :, None] == np.arange(len(OPS))) & counted[:, :, None]
    return uses.sum(axis=1), counted.sum(axis=1)


def op_frequencies(
    table: ArchTable,
    share: float = 0.05,
    by: str = "perf",
    *,
    first: bool | None = None,
    form: Form = "canonical",
) -> dict[str, float]:
    """Return how often each operation is used by the top share of a table.

    Architectures without a figure are left out. In canonical form skips are rare, because many
    raw forms with skips have one canonical form; among raw forms every operation is as common.

    Args:
        table: The table.
        share: Which share of the architectures counts as top.
        by: The column that says what is best.
        first: True for operations on the network's input only (depth one), False for
            all the deeper ones, None for both.
        form: Whether an architecture counts once, in its ``canonical`` form, or in all ``raw``
            forms that it has on the nine link lists, as a supernet sees it.

    Returns:
        By operation of the table's space, its share; they add up to 1. NaN if the top has no such
        node.

    Raises:
        QueryError: If no architecture has a figure, or the share is not in (0, 1].
        UnknownNameError: If there is no such form.
    """
    uses, nodes = _uses(_forms_of(_best(table, share, by), form), first)
    total = int(nodes.sum())
    shares = uses.sum(axis=0) / total if total else np.full(len(OPS), np.nan)
    return {op: float(shares[OPS.index(op)]) for op in get_space(table.manifest.space).ops}


def frequencies(table: ArchTable, share: float = 0.05, by: str = "perf") -> Frequencies:
    """Return the choices of the top share of a table beside their base rates, with intervals.

    The base rate is that of all architectures of the table that have a figure. The interval is
    Wilson's, with architectures and not nodes as what was drawn: the four operations of one are no
    independent draws.

    Raises:
        QueryError: If no architecture has a figure, or the share is not in (0, 1].
    """
    known = known_part(table, by)
    best, everything = _best(table, share, by), known.hashes
    links = [np.eye(len(LINKS))[link_indices(hashes)] for hashes in (best, everything)]
    ops = [_uses(hashes, None)[0] / NODES for hashes in (best, everything)]
    space = get_space(table.manifest.space).ops
    return Frequencies(
        links=tuple(
            _lift(name, *(one[:, i] for one in links)) for i, name in enumerate(_LINK_NAMES)
        ),
        ops=tuple(_lift(op, *(one[:, OPS.index(op)] for one in ops)) for op in space),
        best=len(best),
        by=by,
        left_out=len(table) - len(known),
    )


def _lift(choice: str, best: Floats, everything: Floats) -> Lift:
    """Return how often the best make a choice, given each architecture's share of it."""
    share, base = float(best.mean()), float(everything.mean())
    error = float(best.std() / math.sqrt(len(best)))
    size = share * (1 - share) / error**2 if error else len(best)
    ends = wilson_interval(share, size)
    if not base:
        return Lift(choice, share, base, math.nan, math.nan, math.nan)
    return Lift(choice, share, base, share / base, *(end / base for end in ends))
