"""What a second worker gains, and what the builder adds to the training itself.

    python benchmarks/pool.py --archs 8 --epochs 400

Trains the same jobs with one worker and with two, each in a folder of its own. The gain is that of
the whole run, from handing out the first job to the last record. The overhead is what one worker
spends between two records beside training (drawing weights, measuring the latency, writing),
relative to the training. Both need a machine with two idle cores: the first line says how busy it
was.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.runfolder import RunFolder
from benchquery.units import readable_seconds


def timed_run(folder: Path, workers: int, options: argparse.Namespace) -> tuple[float, float]:
    """Train the sample.

    Returns:
        Seconds of the whole run, and the overhead of a job.
    """
    command = [sys.executable, "-m", "benchbuild", "train", "--dataset", options.dataset]
    command += ["--sample", str(options.archs), "--seeds", "1", "--epochs", str(options.epochs)]
    command += ["--device", "cpu", "--workers", str(workers), "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run = RunFolder.open(folder)
    table = next(run.parts.scan(["finished", "train_time"])).table
    finished = table.column("finished").to_numpy()
    order = np.argsort(finished)
    begun = (run.path / "shards" / f"{Shard(1, 1).slug}.json").stat().st_mtime
    training = table.column("train_time").to_numpy()[order][1:].sum()
    return finished.max() - begun, np.ptp(finished) / training - 1


def main() -> None:
    """Run it with one worker and with two, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--archs", type=int, default=8, help="architectures, drawn uniformly")
    parser.add_argument("--epochs", type=int, default=400)
    options = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as scratch:
        one, overhead = timed_run(Path(scratch, "one"), 1, options)
        two, _ = timed_run(Path(scratch, "two"), 2, options)
    print(f"{options.archs} trainings on {options.dataset}, {options.epochs} epochs each")
    print(f"one worker  {readable_seconds(one)}")
    print(f"two workers {readable_seconds(two)}: {one / two:.2f} times as fast (goal 1.8)")
    print(f"overhead of the builder: {overhead:.1%} of the training (goal 5%)")


if __name__ == "__main__":
    main()
