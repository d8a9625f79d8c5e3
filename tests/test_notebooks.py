"""The notebooks: a person each, and every cell runs in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

mpl.use("agg")

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text())
    assert notebook["nbformat"] == 4
    namespace: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "outputs are not kept: they would go stale"
            exec(compile("".join(cell["source"]), f"{path.name}, {cell['id']}", "exec"), namespace)


def test_there_is_one_for_each_kind_of_reader() -> None:
    assert {path.stem for path in NOTEBOOKS} == {
        "one-number", "a-fair-search", "your-own-data", "a-condensed-graph",
    }  # fmt: skip
