"""Editing files that carry a checksum of their own, as an attacker would: the checksum fits."""

from __future__ import annotations

import json
from pathlib import Path

from benchquery.table.sealed import SEAL, seal


def edit_sealed(path: Path, **changes: object) -> None:
    """Change fields of a JSON file; its checksum follows, if it has one."""
    body = json.loads(path.read_text())
    sealed = body.pop(SEAL, None) is not None
    body |= changes
    path.write_text(seal(body) if sealed else json.dumps(body))
