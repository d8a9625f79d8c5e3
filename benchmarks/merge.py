"""Merge the records of 32 shards of the whole space: how long, and how much memory.

The records are synthetic (26,206 architectures, 3 seeds, 400 epochs) and the table says so::

    python benchmarks/merge.py --scratch /var/tmp
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchbuild.pipeline.parts import PART_ROWS
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.pipeline.runner import shard_keys
from benchbuild.testing import synthetic_record, synthetic_run


def generate(scratch: Path, shards: int, architectures: int | None, epochs: int) -> list[Path]:
    run = synthetic_run("cora", sample=architectures, epochs=epochs)
    folders = []
    for index in range(1, shards + 1):
        shard = Shard(index, shards)
        folder = RunFolder.begin(scratch / f"shard-{index}", run)
        keys = shard_keys(run, shard)
        for start in range(0, len(keys), PART_ROWS):
            records = [synthetic_record(run, key) for key in keys[start : start + PART_ROWS]]
            folder.parts.add(shard, records)
        folders.append(folder.path)
    print(f"generated {len(kind_of('train').keys(run)):,} synthetic records in {shards} shards")
    return folders


def size_of(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scratch", type=Path, help="where to work; needs about 4 GB")
    parser.add_argument("--architectures", type=int, help="fewer than all")
    parser.add_argument("--epochs", type=int, default=400)
    parser.add_argument("--shards", type=int, default=32)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.scratch) as name:
        scratch = Path(name)
        folders = generate(scratch, args.shards, args.architectures, args.epochs)
        table = scratch / "table"
        for step in (["merge", *map(str, folders), "--out", str(table)], ["verify", str(table)]):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-m", "benchbuild", *step], check=True)
            seconds = time.perf_counter() - begin
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
            print(f"{step[0]}: {seconds:.1f} s, peak memory {peak:.0f} MB so far")
        print(f"parts {size_of(scratch) - size_of(table):.0f} MB, table {size_of(table):.0f} MB")


if __name__ == "__main__":
    main()
