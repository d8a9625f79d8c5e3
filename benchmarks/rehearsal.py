"""Rehearse ``benchbuild train --dataset proteins --shard 3/32`` on 32 nodes, with what goes wrong.

    python benchmarks/rehearsal.py --share 0.02 --sample 320 --epochs 5 --run 4

The data has the shape of ogbn-proteins, with a share of its nodes and edges, and is made up: so are
all figures. All shards are planned. Some are run by the command itself, every one in a folder of
its own, as nodes without a shared disk would. The first is killed in the middle and resumed. The
folder of the second is lost and the shard run again, elsewhere. What there is is merged, verified
and asked for its best architectures. It ends with an error if a figure or a record is not what it
was before. On a machine with a GPU, ``--device cuda`` rehearses that too.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchbuild.datasets.registry import hyperparameters_for
from benchbuild.kinds.train.kind import TrainRun, train_run
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.runner import shard_keys
from benchbuild.testing.proteins import write_proteins

Figures = dict[tuple[int, int], float]


class Cluster:
    """Nodes that run shards of one run, each into a folder of its own.

    Args:
        scratch: Where all is written to.
        options: The options of the script.
    """

    def __init__(self, scratch: Path, options: argparse.Namespace) -> None:
        self._scratch, self._options = scratch, options
        self._environment = {
            **os.environ,
            "GRAPHTAB_DATA": str(scratch / "data"),
            "GRAPHTAB_CACHE": str(scratch / "cache"),
        }

    def node(self, index: int) -> Path:
        """Return the folder of the node that runs a shard."""
        return self._scratch / f"node-{index}"

    def start(self, index: int) -> subprocess.Popen[str]:
        """Run a shard as a person would."""
        options = self._options
        line = (
            f"train --dataset proteins --sample {options.sample} --seeds {options.seeds} --epochs "
            f"{options.epochs} --shard {index}/{options.shards} --device {options.device} "
            f"--workers {options.workers} --batch {options.batch} --out {self.node(index)}"
        )
        words = [sys.executable, "-m", "benchbuild", *line.split()]
        return subprocess.Popen(
            words,
            env=self._environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, index: int) -> str:
        """Run a shard to its end, and return what it said.

        Raises:
            RuntimeError: If it did not end well.
        """
        started = self.start(index)
        said, complaints = started.communicate()
        if started.returncode:
            raise RuntimeError(f"shard {index} ended with {started.returncode}: {complaints}")
        return said.strip().replace(f"{self._scratch}/", "")

    def kill(self, index: int) -> None:
        """Begin a shard, and kill it as soon as it has written a record."""
        started = self.start(index)
        parts = self.node(index) / "parts"
        while started.poll() is None and not list(parts.glob("*.parquet")):
            time.sleep(0.01)
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()

    def figures(self, index: int) -> Figures:
        """Return the test metrics of a node's records by architecture and seed."""
        folder = RunFolder.open(self.node(index))
        return {(record.hash, record.seed): record.perf for record in folder.parts.records()}


def tool(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Call ``benchbuild`` or ``benchquery``."""
    return subprocess.run(
        [sys.executable, "-m", module, *words], check=False, capture_output=True, text=True
    )


def planned(run: TrainRun, shards: int) -> str:
    """Check that shards are disjoint and complete, and say how even they are."""
    kind = kind_of(run.kind)
    keys = kind.keys(run)
    seconds = dict(zip(keys, (cost.seconds for cost in kind.costs(run, keys)), strict=True))
    shares = [shard_keys(run, Shard(index, shards)) for index in range(1, shards + 1)]
    if sorted(key for share in shares for key in share) != sorted(keys):
        raise RuntimeError("the shards are not disjoint and complete")
    loads = [sum(seconds[key] for key in share) for share in shares]
    return f"{len(keys):,} jobs, the heaviest {max(loads) / min(loads):.3f} times the lightest"


def rehearse(cluster: Cluster, run: TrainRun, shards: int, count: int) -> list[Path]:
    """Run some shards, with a killed one and a lost one; gives the folders of their nodes."""
    jobs = len(shard_keys(run, Shard(1, shards)))
    cluster.kill(1)
    kept = cluster.figures(1)
    print(f"killed    shard 1/{shards} after {len(kept)} of {jobs} records")
    print(f"resumed   {cluster.run(1)}")
    again = cluster.figures(1)
    if len(again) != jobs or not kept.items() <= again.items():
        raise RuntimeError("records were lost or changed")
    for index in range(2, count + 1):
        print(f"run       {cluster.run(index)}")
    before = cluster.figures(2)
    shutil.rmtree(cluster.node(2))
    print(f"lost      node 2 with {len(before)} records")
    print(f"again     {cluster.run(2)}")
    if cluster.figures(2) != before:
        raise RuntimeError("the lost shard has other figures when it is run again")
    return [cluster.node(index) for index in range(1, count + 1)]


def asked(nodes: list[Path], table: Path, *, complete: bool) -> None:
    """Merge, verify and query."""
    gaps = [] if complete else ["--allow-gaps"]
    folders = [str(node) for node in nodes]
    if not complete:
        refused = tool("benchbuild", "merge", *folders, "--out", str(table))
        if refused.returncode != 2:
            raise RuntimeError("a table with gaps was not refused")
        print(f"refused   {refused.stderr.strip()}")
    for module, *words in (
        ("benchbuild", "merge", *folders, "--out", str(table), *gaps),
        ("benchbuild", "verify", folders[0]),
        ("benchbuild", "verify", str(table)),
        ("benchquery", "verify", str(table)),
        ("benchquery", "top", str(table), "-k", "1"),
    ):
        done = tool(module, *words)
        if done.returncode:
            raise RuntimeError(f"{module} {words[0]} ended with {done.returncode}: {done.stderr}")
        last = done.stdout.strip().splitlines()[-1]
        print(f"{words[0]:9} {last.replace(f'{table.parent}/', '')}")


def main() -> None:
    """Rehearse it all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=0.002, help="of the nodes and edges")
    parser.add_argument("--sample", type=int, default=320, help="architectures")
    parser.add_argument("--seeds", type=int, default=1, help="of each architecture")
    parser.add_argument("--batch", type=int, default=1, help="how many seeds are trained together")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--shards", type=int, default=32)
    parser.add_argument("--run", type=int, default=3, help="how many of them are run, from 2 up")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--scratch", type=Path, help="an empty folder; default: a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        scratch = (options.scratch or Path(temporary)).resolve()
        nodes, edges = write_proteins(scratch / "data", options.share)
        print(
            f"data      synthetic, {options.share:g} of proteins: {nodes:,} nodes, {edges:,} edges"
        )
        hp = hyperparameters_for("proteins").override(epochs=options.epochs)
        seeds = range(options.seeds)
        run = train_run("proteins", sample=options.sample, seeds=seeds, hp=hp)
        run = dataclasses.replace(run, joined=options.batch > 1)
        print(f"planned   {options.shards} shards of {planned(run, options.shards)}")
        cluster = Cluster(scratch, options)
        folders = rehearse(cluster, run, options.shards, options.run)
        asked(folders, scratch / "table", complete=options.run == options.shards)


if __name__ == "__main__":
    main()
