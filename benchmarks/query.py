"""Speed of benchquery against the published package nas_bench_graph, in one run.

    python benchmarks/query.py

Every line measures both in turn, several rounds, and takes the best round of each, so
that a busy machine disturbs both alike. Processes are started with compiled modules, as
an installed package is.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable

import nas_bench_graph
import numpy as np

import benchquery
from benchquery import SPACES, Arch, lightread
from benchquery.text import format_table

DATASETS = (
    "cora", "citeseer", "pubmed", "cs", "physics", "photo", "computers", "arxiv", "proteins",
)  # fmt: skip
PASSES = 5

FIRST_NUMBER_OURS = (
    "from benchquery import Arch, lightread; bench = lightread('cora');"
    "print(bench[Arch([0, 1, 2, 1], ['gcn', 'gin', 'fc', 'cheb']).valid_hash()]['perf'])"
)
FIRST_NUMBER_PEER = (
    "from nas_bench_graph import Arch, light_read; bench = light_read('cora');"
    "print(bench[Arch([0, 1, 2, 1], ['gcn', 'gin', 'fc', 'cheb']).valid_hash()]['perf'])"
)
RESIDENT = (
    "import numpy, psutil; process = psutil.Process(); {imports};"
    "before = process.memory_info().rss; kept = [{open}(name) for name in {names}];"
    "print(process.memory_info().rss - before)"
)
IMPORT = "import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"


def run(code: str) -> str:
    """Run a program in a new process and return what it prints."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


def seconds(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best(rounds: int, ours: Callable[[], float], peer: Callable[[], float]) -> tuple[float, float]:
    """Return the best of several alternating rounds of both."""
    times = [(ours(), peer()) for _ in range(rounds)]
    return min(pair[0] for pair in times), min(pair[1] for pair in times)


def resident(imports: str, opener: str) -> float:
    """Return how many bytes a new process grows by when it opens all nine tables."""
    return float(run(RESIDENT.format(imports=imports, open=opener, names=DATASETS)))


class Bare:
    """The least that any such object does in Python: keep what it is given, and answer."""

    __slots__ = ("link", "number", "ops")

    def __init__(self, link: list[int], ops: list[str]) -> None:
        self.link = tuple(link)
        self.ops = tuple(ops)
        self.number = 61237

    def valid_hash(self) -> int:
        """Return a number without computing it."""
        return self.number


def look_ups(
    forms: list[tuple[list[int], list[str]]], rounds: int
) -> tuple[float, float, float, float]:
    """Return seconds a look-up: ours first and again, the peer's, and Python's floor."""
    peer_table = nas_bench_graph.light_read("cora")
    peer_arch = nas_bench_graph.Arch

    def ours(bench: benchquery.ArchTable) -> None:
        for link, ops in forms:
            bench[Arch(link, ops).valid_hash()]["perf"]

    def peer() -> None:
        for link, ops in forms:
            peer_table[peer_arch(link, ops).valid_hash()]["perf"]

    plain = dict(lightread("cora"))

    def floor() -> None:
        for link, ops in forms:
            plain[Bare(link, ops).valid_hash()]["perf"]

    kept = lightread("cora")
    ours(kept)
    first = min(seconds(lambda: ours(lightread("cora"))) for _ in range(rounds))
    again, theirs = best(
        rounds,
        lambda: seconds(lambda: [ours(kept) for _ in range(PASSES)]),
        lambda: seconds(lambda: [peer() for _ in range(PASSES)]),
    )
    least = min(seconds(floor) for _ in range(rounds))
    per = 1 / len(forms)
    return first * per, again / PASSES * per, theirs / PASSES * per, least * per


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="the best of so many counts (7)")
    parser.add_argument("--sample", type=int, default=5_000, help="random look-ups (5000)")
    options = parser.parse_args()
    rounds = options.rounds
    rows: list[dict[str, str]] = []

    def report(what: str, ours: float, peer: float, unit: str, goal: str) -> None:
        scale = {"ms": 1e3, "us": 1e6, "MB": 1e-6}[unit]
        rows.append(
            {
                "what": what,
                "benchquery": f"{ours * scale:.2f} {unit}",
                "nas_bench_graph": f"{peer * scale:.2f} {unit}",
                "ratio": f"{peer / ours:.1f}x",
                "goal": goal,
            }
        )

    run(FIRST_NUMBER_OURS), run(FIRST_NUMBER_PEER)
    report(
        "new process to the first printed number",
        *best(
            rounds,
            lambda: seconds(lambda: run(FIRST_NUMBER_OURS)),
            lambda: seconds(lambda: run(FIRST_NUMBER_PEER)),
        ),
        "ms",
        "1.2x",
    )
    report(
        "opening one table, numpy imported",
        *best(
            rounds,
            lambda: seconds(lambda: lightread("cora")),
            lambda: seconds(lambda: nas_bench_graph.light_read("cora")),
        ),
        "ms",
        "5x",
    )
    report(
        "memory added by opening all nine",
        resident("from benchquery import lightread", "lightread"),
        resident("from nas_bench_graph import light_read", "light_read"),
        "MB",
        "5x",
    )
    rng = random.Random(0)
    archs = SPACES["full"].sample(options.sample, seed=0, over="raw")
    first, again, peer, floor = look_ups(
        [(list(arch.link), list(arch.ops)) for arch in archs], rounds
    )
    report("look-up of random architectures", again, peer, "us", "10x")
    report("the same, each architecture for the first time", first, peer, "us", "-")
    report("an object that computes nothing, and a plain dict", floor, peer, "us", "-")
    table, peer_table = lightread("cora"), nas_bench_graph.light_read("cora")
    hashes = np.array(rng.choices(table.hashes.tolist(), k=1_000_000))
    numbers = hashes.tolist()
    report(
        "a million hashes in one call",
        *best(
            rounds,
            lambda: seconds(lambda: table.lookup(hashes, "perf")),
            lambda: seconds(lambda: [peer_table[number]["perf"] for number in numbers]),
        ),
        "ms",
        "20x",
    )
    print(format_table(rows))
    ours, numpy = best(
        rounds,
        lambda: float(run(IMPORT.format(code="from benchquery import Arch, lightread, tables"))),
        lambda: float(run(IMPORT.format(code="import numpy"))),
    )
    print(
        f"\nimport of benchquery's public names: {ours * 1e3:.1f} ms; import numpy: "
        f"{numpy * 1e3:.1f} ms; ratio {ours / numpy:.2f} (goal: at most 1.20)"
    )


if __name__ == "__main__":
    main()
