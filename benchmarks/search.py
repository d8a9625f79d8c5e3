"""Speed of searching: the oracle against the bare look-up, and our evolution against NNI's.

    python benchmarks/search.py

Everything is measured in one run, both sides of a comparison in turn, several rounds, the
best round of each counting, so that a busy machine disturbs both alike. Without NNI its
line is left out.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable

from benchquery import Arch, ArchTable, lightread, tables
from benchquery.search import STRATEGIES, Budget, Oracle, run

ROUNDS = 7
QUERIES = 524
SEEDS = 5


def best(*works: Callable[[], object]) -> list[float]:
    """Return the seconds of the best of several alternating rounds of each piece of work."""
    rounds = []
    for _ in range(ROUNDS):
        times = []
        for work in works:
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        rounds.append(times)
    return [min(times) for times in zip(*rounds, strict=True)]


def overhead(table: ArchTable) -> tuple[float, float]:
    """Return the microseconds of a look-up, and what the oracle adds to it."""
    archs = [Arch.from_hash(number) for number in table]
    oracle = Oracle(table, Budget(1e9))

    def look_up() -> None:
        for arch in archs:
            table[arch.valid_hash()]["valid_perf"]

    def ask() -> None:
        for arch in archs:
            oracle.evaluate(arch)

    plain, asked = best(look_up, ask)
    return 1e6 * plain / len(archs), 1e6 * (asked - plain) / len(archs)


def evolutions(table: ArchTable) -> tuple[float, float]:
    """Return the seconds of our evolution and of NNI's, on oracles of the same kind."""

    def search(name: str) -> Callable[[], object]:
        return lambda: run(name, table, QUERIES, seed=0)

    ours, peer = best(search("evolution"), search("nni:evolution"))
    return ours, peer


def everything() -> tuple[float, int]:
    """Return the seconds of all own strategies on all tables, and how many searches that is."""
    start, count = time.perf_counter(), 0
    for info in tables():
        table = lightread(info.name)
        for name in STRATEGIES:
            if name == "halving" and not info.curves:
                continue
            for seed in range(SEEDS):
                run(name, table, "2%", seed=seed)
                count += 1
    return time.perf_counter() - start, count


def main() -> None:
    table = lightread("cora")
    plain, added = overhead(table)
    print(f"look-up                          {plain:8.2f} us")
    print(f"the oracle adds                  {added:8.2f} us")
    if importlib.util.find_spec("nni"):
        ours, peer = evolutions(table)
        print(f"our evolution, {QUERIES} queries      {1e3 * ours:8.1f} ms")
        print(
            f"NNI's evolution, {QUERIES} queries    {1e3 * peer:8.1f} ms: {peer / ours:.1f} times"
        )
    else:
        print("NNI is not installed: its evolution is not measured")
    took, count = everything()
    print(f"{count} searches of 2%, {SEEDS} seeds each {took:8.1f} s")


if __name__ == "__main__":
    main()
