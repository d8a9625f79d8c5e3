"""How well the builder's figures agree with the published ones, on a uniform sample.

    python benchmarks/fidelity.py --dataset cora --sample 150 --seeds 3
    python benchmarks/fidelity.py --dataset citeseer --sample 40 --hp lr=0.1 --out out/lr-0.1

Trains a seeded sample, merges it into a table and compares that with the published one: bias, mean
and median error, Spearman and Kendall, beside what two of our own seeds reach. Other options go to
`benchbuild train`. A run that was stopped goes on. A table that is there already is compared by
`benchquery fidelity TABLE`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import benchbuild.cli
import benchquery.cli


def main() -> int:
    """Train, merge and compare; the exit code of what went wrong, or 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--sample", default="150", help="architectures, drawn uniformly (150)")
    parser.add_argument("--seeds", default="3", help="trainings an architecture (3)")
    parser.add_argument("--out", type=Path, help="folder of the run (out/fidelity/DATASET)")
    options, others = parser.parse_known_args()
    out = options.out or Path("out", "fidelity", options.dataset)
    run, table = str(out / "run"), str(out / "table")
    sample = ["--dataset", options.dataset, "--sample", options.sample, "--seeds", options.seeds]
    return (
        benchbuild.cli.main(["train", *sample, "--out", run, *others])
        or benchbuild.cli.main(["merge", run, "--out", table, "--replace"])
        or benchquery.cli.main(["fidelity", options.dataset, "--source", table])
    )


if __name__ == "__main__":
    sys.exit(main())
