"""What searches for settings of condensation methods found: validation accuracy, in percent.

    python benchmarks/settings.py

A line for each ranking in ``benchmarks/settings``, which `benchbuild tune --json` printed: how many
choices were tried; what the first one came to, which has the settings from before but for the
epochs, the best one and the worst one; and what the best one is.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

SETTINGS = Path(__file__).parent / "settings"


def line(path: Path) -> str:
    """Return what a search found."""
    dataset, _, method = path.stem.partition("-")
    trials = json.loads(path.read_text())
    (before,) = (trial["valid_perf"] for trial in trials if trial["number"] == 0)
    perfs = (before, trials[0]["valid_perf"], trials[-1]["valid_perf"])
    figures = "".join(f"{100 * perf:>8.1f}" for perf in perfs)
    hp = " ".join(f"{name}={value}" for name, value in trials[0]["hp"].items()) or "as before"
    return f"{dataset:<10}{method:<9}{len(trials):>6}{figures}  {hp}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", help="searches on this dataset only")
    options = parser.parse_args()
    print(f"{'dataset':<10}{'method':<9}{'trials':>6}{'before':>8}{'best':>8}{'worst':>8}  chosen")
    for path in sorted(SETTINGS.glob(f"{options.dataset or '*'}-*.json")):
        print(line(path))


if __name__ == "__main__":
    main()
