"""``benchbuild datasets``: list what can be trained on."""

from __future__ import annotations

import argparse
import json
from typing import Any

NAME = "datasets"
HELP = "list the datasets with their sizes, split, metric and licence"
EXAMPLE = "benchbuild datasets --json"

_SHOWN = ("name", "nodes", "features", "classes", "metric", "on_disk", "licence")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument(
        "--data-root", metavar="DIR", help="folder of the datasets; default: GRAPHTAB_DATA"
    )


def run(args: argparse.Namespace) -> int:
    """Print the list."""
    rows = [_row(name, args.data_root) for name in _names()]
    print(json.dumps(rows, indent=1) if args.json else _table(rows))
    return 0


def _names() -> list[str]:
    from benchbuild.datasets import dataset_names

    return dataset_names()


def _row(name: str, root: str | None) -> dict[str, Any]:
    from benchbuild.datasets import dataset_spec

    spec = dataset_spec(name)
    return {
        "name": name,
        "nodes": spec.num_nodes,
        "features": spec.num_features,
        "classes": spec.num_classes,
        "metric": spec.metric,
        "split": spec.split,
        "licence": spec.licence,
        "source": spec.source,
        "embedded": not spec.files,
        "on_disk": spec.on_disk(root),
    }


def _table(rows: list[dict[str, Any]]) -> str:
    cells = [_SHOWN, *([_cell(row[name]) for name in _SHOWN] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(_SHOWN))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value or "unknown")
