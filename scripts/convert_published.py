"""Convert the published light tables of NAS-Bench-Graph to the bundled tables.

Reads the ``.bench`` files of the installed package ``nas_bench_graph`` (never importing
it) with the restricted pickle reader, and writes one folder a dataset. Run again, it
writes the same bytes.

    python scripts/convert_published.py data
"""

from __future__ import annotations

import argparse
import importlib.metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchbuild.datasets import dataset_spec, hyperparameters_for
from benchbuild.kinds.train.network import count_parameters
from benchquery.kinds.architectures.arch import Arch
from benchquery.pickles import load_plain_pickle
from benchquery.table.writer import new_table, write_table

PACKAGE, VERSION = "nas_bench_graph", "1.4.0"
DATASETS = (
    "cora", "citeseer", "pubmed", "cs", "physics", "photo", "computers", "arxiv", "proteins",
)  # fmt: skip
SOURCE = {
    "title": "NAS-Bench-Graph: Benchmarking Graph Neural Architecture Search",
    "authors": "Yijian Qin, Ziwei Zhang, Xin Wang, Zeyang Zhang, Wenwu Zhu (NeurIPS 2022)",
    "package": f"{PACKAGE} {VERSION}",
    "address": "https://github.com/THUMNLab/NAS-Bench-Graph",
}


def consistent(dataset: str, hashes: list[int], para: npt.NDArray[np.float64]) -> Any:
    """Tell for each row whether its parameter count is the one that its architecture has."""
    known, hp = dataset_spec(dataset), hyperparameters_for(dataset)
    counts = [
        count_parameters(Arch.from_hash(number), known.num_features, known.num_classes, hp)
        for number in hashes
    ]
    return np.abs(para * 1e6 - np.array(counts)) < 0.5


def convert(dataset: str, content: dict[int, dict[str, Any]], folder: Path) -> None:
    """Write one published table."""
    hashes = sorted(content)
    columns: dict[str, npt.NDArray[Any]] = {"hash": np.array(hashes, dtype=np.int32)}
    for name in ("valid_perf", "perf", "latency", "para"):
        columns[name] = np.array([content[number][name] for number in hashes], dtype=np.float64)
    columns["para_consistent"] = consistent(dataset, hashes, columns["para"])
    wrong = int((~columns["para_consistent"]).sum())
    fault = (
        f"{wrong:,} of {len(hashes):,} rows have a parameter count that contradicts their "
        "architecture; they are kept as published and have para_consistent = false",
    )
    with new_table(folder, replace=True) as stage:
        write_table(
            stage,
            columns,
            name=dataset,
            space="proteins" if dataset == "proteins" else "full",
            origin="published",
            metric=dataset_spec(dataset).metric,
            source=SOURCE,
            licence="Apache-2.0",
            notes=fault if wrong else (),
        )
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{dataset}: {len(hashes):,} rows, {wrong:,} flagged, {size:,} bytes")


def main() -> None:
    """Convert all nine tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder to write the tables to")
    out: Path = parser.parse_args().out
    distribution = importlib.metadata.distribution(PACKAGE)
    if distribution.version != VERSION:
        parser.error(f"{PACKAGE} {VERSION} is needed, {distribution.version} is installed")
    for dataset in DATASETS:
        path = Path(str(distribution.locate_file(f"{PACKAGE}/light/{dataset}.bench")))
        convert(dataset, load_plain_pickle(path), out / dataset)


if __name__ == "__main__":
    main()
