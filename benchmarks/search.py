"""Speed of searching: the oracle against the bare look-up, and our evolution against NNI's.

    python benchmarks/search.py

Everything is measured in one run, both sides of a comparison in turn, several rounds, the
best round of each counting, so that a busy machine disturbs both alike. Without NNI its
line is left out. The last line counts all own strategies on all tables of architectures,
halving where there are curves, each with 2% of the rows but at least one query.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable

from benchquery import Arch, ArchTable, lightread, tables
from benchquery.search import STRATEGIES, Budget, Oracle, run

SHARE = 0.02


def best(rounds: int, *works: Callable[[], object]) -> list[float]:
    """Return the seconds of the best of several alternating rounds of each piece of work."""
    taken = []
    for _ in range(rounds):
        times = []
        for work in works:
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        taken.append(times)
    return [min(times) for times in zip(*taken, strict=True)]


def overhead(table: ArchTable, rounds: int) -> tuple[float, float]:
    """Return the microseconds of a look-up, and what the oracle adds to it."""
    archs = [Arch.from_hash(number) for number in table]
    oracle = Oracle(table, Budget(1e9))

    def look_up() -> None:
        for arch in archs:
            table[arch.valid_hash()]["valid_perf"]

    def ask() -> None:
        for arch in archs:
            oracle.evaluate(arch)

    plain, asked = best(rounds, look_up, ask)
    return 1e6 * plain / len(archs), 1e6 * (asked - plain) / len(archs)


def evolutions(table: ArchTable, queries: int, rounds: int) -> tuple[float, float]:
    """Return the seconds of our evolution and of NNI's, on oracles of the same kind."""

    def search(name: str) -> Callable[[], object]:
        return lambda: run(name, table, queries, seed=0)

    ours, peer = best(rounds, search("evolution"), search("nni:evolution"))
    return ours, peer


def everything(seeds: int) -> tuple[float, int]:
    """Return the seconds of all own strategies on all tables, and how many searches that is."""
    start, count = time.perf_counter(), 0
    for info in tables(kind="architectures"):
        table = lightread(info.name)
        budget = Budget(max(int(SHARE * len(table)), 1))
        for name in STRATEGIES:
            if name == "halving" and not info.curves:
                continue
            for seed in range(seeds):
                run(name, table, budget, seed=seed)
                count += 1
    return time.perf_counter() - start, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="the best of so many counts (7)")
    parser.add_argument("--queries", type=int, default=524, help="of an evolution (524)")
    parser.add_argument("--seeds", type=int, default=5, help="of each search of all tables (5)")
    options = parser.parse_args()
    rounds, queries, seeds = options.rounds, options.queries, options.seeds
    table = lightread("cora")
    plain, added = overhead(table, rounds)
    print(f"look-up                          {plain:8.2f} us")
    print(f"the oracle adds                  {added:8.2f} us")
    if importlib.util.find_spec("nni"):
        ours, peer = evolutions(table, queries, rounds)
        print(f"our evolution, {queries} queries      {1e3 * ours:8.1f} ms")
        print(
            f"NNI's evolution, {queries} queries    {1e3 * peer:8.1f} ms: {peer / ours:.1f} times"
        )
    else:
        print("NNI is not installed: its evolution is not measured")
    took, count = everything(seeds)
    print(f"{count} searches of 2%, {seeds} seeds each {took:8.1f} s")


if __name__ == "__main__":
    main()
