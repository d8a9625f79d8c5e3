"""The examples of docs/search.md that need another package, to be run where it is installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[3] / "docs" / "search.md"


def run_documented(package: str) -> dict[str, Any]:
    """Run the one example that needs a package, and return its names."""
    blocks = re.findall(r"^```text\n# runs where (\w+) is installed\n(.*?)^```$",
                        PAGE.read_text(), re.MULTILINE | re.DOTALL)  # fmt: skip
    (code,) = [code for needed, code in blocks if needed == package]
    names: dict[str, Any] = {}
    exec(compile(code, f"{PAGE.name}, {package}", "exec"), names)
    return names
