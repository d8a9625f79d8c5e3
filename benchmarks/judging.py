"""Settings of the models that judge condensed sets of graphs, chosen by validation figures alone.

    python benchmarks/judging.py
    python benchmarks/judging.py --shown

Each candidate is trained on all training graphs of each dataset and tried on the validation graphs
every five epochs; its figure is the best of these. Test graphs are never looked at, nor are printed
figures. What is finished is kept in ``judging.csv`` beside this script and not run again;
``--shown`` runs nothing.

The rule, written down with the candidates before anything was run: the score of a candidate is the
mean of its figures over the datasets, with seed 0. The present settings of a model stay unless the
best score is above theirs by more than the spread of theirs, the standard deviation over three
seeds: all keys and rows of tables depend on them.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import torch

from benchbuild.compute.meters import Stopwatch
from benchbuild.datasets import GraphBatch, GraphSet, load_graphs
from benchbuild.kinds.evaluate.graphs.evaluator import TASK, GraphSetEvaluator
from benchquery.allowed import Value
from benchquery.kinds.condensed.config import EvalConfig

CPU = torch.device("cpu")
DATASETS = ("nci1", "molbbbp", "molbace")
PRESENT = "present"
SEED = 0
SPREAD_SEEDS = (0, 1, 2)
TRIED_EVERY = 5
VARIANTS: Mapping[str, Mapping[str, Value]] = {
    PRESENT: {},
    "pooling=sum": {"pooling": "sum"},
    "lr=0.001": {"lr": 1e-3},
}
MODELS: Mapping[str, tuple[Mapping[str, Mapping[str, Value]], tuple[str, ...]]] = {
    "gcn": ({**VARIANTS, "layers=5": {"layers": 5}}, ("mirage", "doscond")),
    "gin": ({**VARIANTS, "layers=3": {"layers": 3}}, ("kidd", "gc-bench", "mirage")),
}
"""Of each model, what differs from the present settings, and the papers' settings by name."""
KEPT = Path(__file__).with_name("judging.csv")
COLUMNS = ("model", "candidate", "dataset", "seed", "valid", "seconds")
Place = tuple[str, str, str, int]
"""A model, a candidate, a dataset and a seed."""


@dataclass(frozen=True, eq=False)
class Whole:
    """All training graphs of a dataset, in the place of a condensed set."""

    data: GraphSet
    by_row: bool = False

    def batch(self, threshold: float, device: torch.device) -> GraphBatch:
        """Return the graphs to learn on; their edges have no weights."""
        return self.data.graphs.select(self.data.train).to(device)


def candidates(model: str, epochs: int | None = None) -> dict[str, EvalConfig]:
    """Return the candidates of a model by name, the cheaper ones first.

    Args:
        model: The model.
        epochs: How long all are trained; None for as long as each says itself.
    """
    variants, presets = MODELS[model]
    alike: dict[str, Value] = {"tried_every": TRIED_EVERY, "report": "best"}
    if epochs is not None:
        alike["epochs"] = epochs
    usual = EvalConfig(TASK, model)
    found = {name: usual.replace(**alike, **said) for name, said in variants.items()}
    return found | {name: EvalConfig.preset(name, TASK, model).replace(**alike) for name in presets}


def places(datasets: Sequence[str]) -> list[Place]:
    """Return all that is run."""
    return [
        (model, name, dataset, seed)
        for model in MODELS
        for name in candidates(model)
        for seed in (SPREAD_SEEDS if name == PRESENT else (SEED,))
        for dataset in datasets
    ]


def kept(path: Path) -> dict[Place, float]:
    """Return the figures that are there."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        rows = csv.DictReader(file)
        return {
            (row["model"], row["candidate"], row["dataset"], int(row["seed"])): float(row["valid"])
            for row in rows
        }


def run(path: Path, datasets: Sequence[str], epochs: int | None, data_root: str | None) -> None:
    """Run what is not kept yet, and keep it."""
    found = kept(path)
    if not found:
        path.write_text(",".join(COLUMNS) + "\n")
    loaded: dict[str, tuple[Whole, GraphSetEvaluator]] = {}
    for place in places(datasets):
        if place in found:
            continue
        model, name, dataset, seed = place
        if dataset not in loaded:
            data = load_graphs(dataset, data_root)
            loaded[dataset] = Whole(data), GraphSetEvaluator(data, CPU)
        whole, evaluator = loaded[dataset]
        watch = Stopwatch(CPU)
        valid = evaluator.judge(whole, candidates(model, epochs)[name].replace(seed=seed))
        with path.open("a") as file:
            file.write(f"{model},{name},{dataset},{seed},{valid:.6f},{watch.seconds():.1f}\n")


def show(found: Mapping[Place, float], datasets: Sequence[str]) -> None:
    """Print the figures in percent, the scores, and what the rule says."""
    print(f"{'model':<7}{'candidate':<13}" + "".join(f"{name:>9}" for name in (*datasets, "score")))
    for model in MODELS:
        scores: dict[str, float] = {}
        for name in candidates(model):
            figures = [100 * found[model, name, dataset, SEED] for dataset in datasets]
            scores[name] = fmean(figures)
            print(f"{model:<7}{name:<13}", end="")
            print("".join(f"{figure:>9.1f}" for figure in (*figures, scores[name])))
        of_seeds = [
            100 * fmean(found[model, PRESENT, dataset, seed] for dataset in datasets)
            for seed in SPREAD_SEEDS
        ]
        best = max(scores, key=lambda name: scores[name])
        ahead, spread = scores[best] - scores[PRESENT], stdev(of_seeds)
        print(f"{model}: {best} is best, {ahead:.1f} above the present settings, ", end="")
        print(f"whose spread is {spread:.1f}: {best if ahead > spread else PRESENT} is chosen")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shown", action="store_true", help="show what is kept; run nothing")
    parser.add_argument("--kept", type=Path, default=KEPT, help="the file of the figures")
    parser.add_argument("--datasets", nargs="+", default=DATASETS, help="sets of graphs")
    parser.add_argument("--epochs", type=int, help="of every training, to try this script")
    parser.add_argument("--data-root")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if not options.shown:
        run(options.kept, options.datasets, options.epochs, options.data_root)
    found = kept(options.kept)
    wanted = places(options.datasets)
    if missing := [place for place in wanted if place not in found]:
        raise SystemExit(f"{len(missing)} of {len(wanted)} figures are not there yet")
    show(found, options.datasets)


if __name__ == "__main__":
    main()
