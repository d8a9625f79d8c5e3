"""``python -m benchbuild.fuzzing``: run the fuzzers for as long as one likes."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

from benchbuild.fuzzing.outcome import Fuzzer

FUZZERS = (
    "tables", "payloads", "runs", "records", "settings", "traces", "kept", "pickles",
    "commands",
)  # fmt: skip
"""Modules of this package; each has a function ``fuzz``."""


def main() -> int:
    """Run the fuzzers that were asked for; the exit code is 1 if something went wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchbuild.fuzzing", description=__doc__)
    parser.add_argument("fuzzers", nargs="*", metavar="FUZZER", help=f"{', '.join(FUZZERS)} (all)")
    parser.add_argument("--trials", type=int, default=1000, help="trials of each (1000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first trial (0)")
    args = parser.parse_args()
    wrong = 0
    for name in args.fuzzers or FUZZERS:
        if name not in FUZZERS:
            parser.error(f"unknown fuzzer {name!r}; allowed: {', '.join(FUZZERS)}")
        fuzz: Fuzzer = importlib.import_module(f"benchbuild.fuzzing.{name}").fuzz
        with tempfile.TemporaryDirectory() as folder:
            outcome = fuzz(args.trials, args.seed, Path(folder))
        print(f"{name}: {outcome}", flush=True)
        for line in outcome.wrong:
            print(f"  {line}")
        wrong += len(outcome.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
