"""What a search strategy must do, whatever it is rewarded with."""

from __future__ import annotations

import contextlib
import io
import math
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import BudgetExhaustedError
from benchquery.table.columnfile import ColumnSet
from benchquery.testing.claims import claim, same, works

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array
    from benchquery.kinds.architectures.table import ArchTable
    from benchquery.search import Budget, Oracle, Strategy, Trace
else:
    np = LazyModule("numpy")

SMALL_TABLE = "cora-built"
"""A bundled table of 200 architectures, a part of their space, with learning curves."""

_ARRAYS = ("hashes", "rewards", "fidelities", "costs", "worker", "started", "ended")


def check_strategy(
    strategy: str | Strategy,
    table: str | ArchTable | None = None,
    budget: str | int = "20",
) -> None:
    """Check a search strategy on a small table.

    It stays within its budget and stops when that is used up. It asks for nothing but
    architectures of the table, also where the table holds a few of them only. For one seed it does
    the same every time, whatever the global generators of random numbers do, and whatever the
    test figures are. It prints nothing to standard output. Its trace reports, saves and loads.

    Args:
        strategy: A name of `benchquery.search.strategy_names`, or a function of your own.
        table: The table to search, or its name; None for a bundled one of 200 architectures.
        budget: How much it may ask, as `benchquery.search.Budget.parse` reads it.

    Raises:
        AssertionError: If something is wrong; the message names it.
    """
    from benchquery.kinds.architectures.reading import lightread
    from benchquery.search import Budget

    given = SMALL_TABLE if table is None else table
    whole = lightread(given) if isinstance(given, str) else given
    trial = _Trial(strategy, Budget.parse(budget, len(whole)))
    first = trial.run(whole, disturbance=1)
    _claim_same(first, trial.run(whole, disturbance=2), f"{trial.whose}: one seed, two searches")
    _claim_same(
        first,
        trial.run(_without_test_figures(whole), disturbance=1),
        f"{trial.whose}: other test figures, another search",
    )
    _check_trace(first, whole, trial.whose)
    part = whole.take(np.arange(0, len(whole), 3))
    _check_trace(trial.run(part, disturbance=1), part, f"{trial.whose} on every third row")


class _Trial:
    """A strategy that is let loose on tables, and watched.

    Args:
        strategy: The strategy.
        budget: How much it may ask.
    """

    def __init__(self, strategy: str | Strategy, budget: Budget) -> None:
        from benchquery.search import get_strategy

        self.name = strategy if isinstance(strategy, str) else _name_of(strategy)
        self.whose = f"strategy {self.name!r}"
        self._budget = budget
        with works(f"{self.whose} is not to be had"):
            self._search = get_strategy(strategy) if isinstance(strategy, str) else strategy

    def run(self, table: ArchTable, *, disturbance: int) -> Trace:
        """Search a table with seed 0.

        Args:
            table: The table.
            disturbance: The seed of the global generators, which nothing may depend on.
        """
        from benchquery.search import Oracle

        oracle = Oracle(table, self._budget)
        printed = io.StringIO()
        refused = _watch(oracle)
        with (
            _disturbed(disturbance),
            works(f"{self.whose} fails on {len(table)} architectures"),
            contextlib.redirect_stdout(printed),
            contextlib.suppress(BudgetExhaustedError),
        ):
            self._search(oracle, random.Random(0))
        claim(
            not printed.getvalue(),
            f"{self.whose} prints to standard output: {printed.getvalue()[:80]!r}",
        )
        claim(
            refused.count(BudgetExhaustedError) <= 1,
            f"{self.whose} goes on asking after its budget is used up",
        )
        strange = {error.__name__ for error in refused} - {BudgetExhaustedError.__name__}
        claim(
            not strange,
            f"{self.whose} asks for what the table does not have: {', '.join(sorted(strange))}",
        )
        trace = oracle.finish(strategy=self.name, seed=0)
        self._check_spending(trace, oracle)
        return trace

    def _check_spending(self, trace: Trace, oracle: Oracle) -> None:
        """Check the trace against the budget and the table."""
        amount, spent = oracle.budget.amount, float(np.sum(trace.costs))
        claim(len(trace), f"{self.whose} asks for nothing")
        claim(
            spent <= amount * (1 + 1e-9),
            f"{self.whose} spends {spent:g} {oracle.budget.unit} of {amount:g}",
        )
        strange = sorted(set(trace.hashes.tolist()) - set(oracle.hashes))
        claim(not strange, f"{self.whose} asks for {strange[:3]}, which the table does not have")


def _name_of(strategy: Strategy) -> str:
    return str(getattr(strategy, "__name__", repr(strategy)))


def _watch(oracle: Oracle) -> list[type[Exception]]:
    """Note every question that an oracle refuses, also if the strategy hides it."""
    refused: list[type[Exception]] = []
    evaluate = oracle.evaluate

    def watched(*args: Any, **options: Any) -> float:
        try:
            return evaluate(*args, **options)
        except Exception as error:
            refused.append(type(error))
            raise

    oracle.evaluate = watched  # type: ignore[method-assign]
    return refused


@contextlib.contextmanager
def _disturbed(seed: int) -> Iterator[None]:
    """Set the global generators of random numbers to something, and back."""
    before, numpys = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpys)


class _Turned(ColumnSet):
    """The columns of a table, some of them upside down.

    Args:
        columns: The columns.
        turned: The names of those.
    """

    def __init__(self, columns: ColumnSet, turned: frozenset[str]) -> None:
        self._columns = columns
        self._turned = turned

    def __getitem__(self, name: str) -> Array:
        values = self._columns[name]
        return values[::-1].copy() if name in self._turned else values

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def _without_test_figures(table: ArchTable) -> ArchTable:
    """Return a table whose rows have the test figures of others."""
    turned = frozenset(column.name for column in table.manifest.columns if column.split == "test")
    make, (manifest, columns, folder, positions) = table.__reduce__()
    mixed: ArchTable = make(manifest, _Turned(columns, turned), folder, positions)
    return mixed


def _claim_same(first: Trace, second: Trace, what: str) -> None:
    """Claim that two searches asked the same and were told the same."""
    for name in ("hashes", "rewards", "fidelities"):
        claim(
            same(getattr(first, name), getattr(second, name)),
            f"{what}: they differ in their {name}",
        )


def _check_trace(trace: Trace, table: ArchTable, whose: str) -> None:
    """Check that a trace reports, and is the same after it was saved and loaded."""
    from benchquery.search import load, save

    with works(f"{whose}: its trace does not report"):
        report = trace.report(table)
    claim(report.hash in table, f"{whose}: it reports {report.hash}, which the table does not have")
    claim(
        report.rank >= 1 and (report.regret >= 0 or math.isnan(report.regret)),
        f"{whose}: it reports the rank {report.rank} and the regret {report.regret}",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.parquet"
        with works(f"{whose}: its trace can't be saved and loaded"):
            save([trace], path)
            (loaded,) = load(path, table)
    for name in _ARRAYS:
        claim(
            same(getattr(loaded, name), getattr(trace, name)),
            f"{whose}: its trace has other {name} after it was saved and loaded",
        )
    claim(loaded.report(table) == report, f"{whose}: its trace reports otherwise after loading")
