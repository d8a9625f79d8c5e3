"""Main memory of a worker that computes on a GPU: bytes of an edge, loading and making matrices.

    python benchmarks/host_memory.py --share 0.05

The data has the shape of ogbn-proteins, with a share of its nodes and edges, and is made up. What
is put onto the GPU is dropped here, so that only main memory counts.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path

from benchbuild.testing.proteins import write_proteins

WHOLE = 79_122_504
"""Directed edges of proteins itself."""


def resident(field: str) -> int:
    """Return a figure of this process, in bytes: VmHWM for the most so far, VmRSS for now."""
    found = re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def measure(root: Path, op: str, line: Connection) -> None:
    """Load the data and make the matrices of an operation; say what either took, and of what."""
    import pandas  # noqa: F401  (what is imported now is not counted)
    import torch

    from benchbuild.compute import thresholds
    from benchbuild.datasets import load
    from benchbuild.kinds.train.training.blocks import PreparedGraph

    torch.set_num_threads(1)
    thresholds.ATTENTION_WHOLE = 0
    before = resident("VmRSS")
    graph = load("proteins", root)
    loading = resident("VmHWM") - before
    Path("/proc/self/clear_refs").write_text("5")
    prepared = PreparedGraph(graph, torch.device("meta"))
    for block in (prepared.whole, prepared.train):
        if op == "gat":
            block.attention(4)
        else:
            block.matrix(op)
    line.send((loading, resident("VmHWM") - before, graph.num_edges))


def main() -> None:
    """Measure and print it, each operation in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=0.05, help="of the nodes and edges")
    parser.add_argument("--ops", nargs="+", default=["gat", "gcn", "sage"], metavar="OP")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as scratch:
        write_proteins(Path(scratch), options.share)
        for op in options.ops:
            ours, theirs = context.Pipe()
            process = context.Process(target=measure, args=(Path(scratch), op, theirs))
            process.start()
            theirs.close()
            loading, making, edges = ours.recv()
            process.join()
            print(
                f"{op:6} loading {loading / edges:.0f} bytes of an edge, with matrices "
                f"{making / edges:.0f}; proteins: {making / edges * WHOLE / 1e9:.1f} GB"
            )


if __name__ == "__main__":
    main()
