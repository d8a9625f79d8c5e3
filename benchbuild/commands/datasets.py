"""``benchbuild datasets``: list what can be trained on or condensed."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

NAME = "datasets"
HELP = "list the datasets with their sizes, split, metric and licence"
EXAMPLE = "benchbuild datasets --json"

_SHOWN = (
    "name", "sort", "items", "nodes", "edges", "features", "classes", "metric", "on_disk",
    "licence", "split",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument(
        "--data-root", metavar="DIR", help="folder of the datasets; default: GRAPHTAB_DATA"
    )


def run(args: argparse.Namespace) -> int:
    """Print the list; a package's dataset that can't be asked is named apart."""
    from benchbuild.datasets import dataset_names
    from benchbuild.errors import DatasetError
    from benchquery.text import format_table

    rows = []
    for name in dataset_names():
        try:
            rows.append(_row(name, args.data_root))
        except DatasetError as error:
            print(f"benchbuild: error: {error}", file=sys.stderr)
    shown = ({key: row[key] for key in _SHOWN} for row in rows)
    print(json.dumps(rows, indent=1) if args.json else format_table(shown))
    return 0


def _row(name: str, root: str | None) -> dict[str, Any]:
    from benchbuild.datasets import dataset_spec

    spec = dataset_spec(name)
    return {
        "name": name,
        "sort": spec.sort,
        "items": spec.num_items,
        "nodes": spec.num_nodes,
        "edges": spec.num_edges,
        "features": spec.num_features,
        "classes": spec.num_classes,
        "metric": spec.metric,
        "split": spec.split,
        "licence": spec.licence,
        "source": spec.source,
        "embedded": not spec.files,
        "on_disk": spec.on_disk(root),
    }
