"""The card of published tables: what they are, in words and in the header that hubs read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from benchbuild.publishing.facts import PublishedTable
from benchbuild.publishing.layout import ROWS

_SPDX = re.compile(r"[A-Za-z0-9.+-]+")


def card(title: str, tables: Sequence[PublishedTable], licence: str) -> str:
    """Return the text of README.md.

    The header is YAML; texts in it are written as JSON, which YAML reads.
    """
    return "\n".join([*_header(title, tables, licence), "", *_body(title, tables)]) + "\n"


def _header(title: str, tables: Sequence[PublishedTable], licence: str) -> list[str]:
    configs = [
        line
        for table in tables
        for path in table.schemas
        for line in (
            f"- config_name: {json.dumps(config_name(table.name, path))}",
            f"  data_files: {json.dumps(path)}",
        )
    ]
    return [
        "---",
        f"pretty_name: {json.dumps(title)}",
        f"license: {json.dumps(licence.lower() if _SPDX.fullmatch(licence) else 'other')}",
        "tags: [graph-neural-networks, benchmark, graphtab]",
        "configs:",
        *configs,
        "---",
    ]


def config_name(table: str, path: str) -> str:
    """Return the name of a part of what is published: the table, or its curves."""
    return table if path.endswith(ROWS) else f"{table}-curves"


def _body(title: str, tables: Sequence[PublishedTable]) -> list[str]:
    lines = [f"# {title}", ""]
    for table in tables:
        lines += [*_section(table), ""]
    first = tables[0].name
    return [
        *lines,
        "## How to use it",
        "",
        "With GraphTab, checked by checksum at every opening:",
        "",
        "```sh",
        f"benchquery fetch {first} --registry ADDRESS_OF_THIS_FOLDER/registry.json",
        f"benchquery top {first}",
        "```",
        "",
        "With DuckDB, over the network, reading only what a question needs:",
        "",
        "```sql",
        f"SELECT * FROM 'ADDRESS_OF_THIS_FOLDER/parquet/{first}/{ROWS}' LIMIT 5;",
        "```",
        "",
        "`SHA256SUMS` has the checksums of all files, `croissant.json` describes them to programs.",
    ]


def _section(table: PublishedTable) -> list[str]:
    manifest = table.manifest
    columns = [
        f"| `{column.name}` | {column.unit or ''} | {column.description} |"
        for column in manifest.columns
    ]
    notes = [f"- {note}" for note in manifest.notes]
    return [
        f"## {table.name}",
        "",
        f"{manifest.rows:,} {table.rows_are} on {manifest.dataset}; the figures are "
        f"{manifest.origin}. Metric: {manifest.metric}. Licence: {manifest.licence}.",
        "",
        f"Source: {table.source}",
        "",
        *([*notes, ""] if notes else []),
        "| column | unit | what |",
        "|---|---|---|",
        *columns,
    ]
