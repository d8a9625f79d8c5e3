"""CITATION.cff of published tables: who to cite for the figures, in the form that hubs read."""

from __future__ import annotations

import json
from collections.abc import Sequence

from benchbuild.publishing.facts import PublishedTable

CITATION = "CITATION.cff"


def citation(title: str, tables: Sequence[PublishedTable], author: str, licence: str) -> str:
    """Return the text of CITATION.cff; texts are written as JSON, which YAML reads."""
    sources = dict.fromkeys(
        (table.manifest.source.get("title", ""), table.manifest.source.get("authors", ""))
        for table in tables
    )
    references = [
        line
        for name, authors in sources
        if name and authors
        for line in (
            "  - type: article",
            f"    title: {json.dumps(name)}",
            "    authors:",
            f"      - name: {json.dumps(authors)}",
        )
    ]
    return "\n".join(
        [
            "cff-version: 1.2.0",
            "message: If you use these tables, please cite them and where their figures come from.",
            "type: dataset",
            f"title: {json.dumps(title)}",
            "authors:",
            f"  - name: {json.dumps(author)}",
            f"license: {json.dumps(licence)}",
            *(["references:", *references] if references else []),
            "",
        ]
    )
