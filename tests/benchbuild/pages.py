"""What the pages on adding one's own show, installed as a package and run as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def code_block(page: str, language: str, contains: str) -> str:
    """Return the one code block of a page in `docs` that contains a text."""
    text = (ROOT / "docs" / page).read_text()
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    (found,) = [each for each in blocks if contains in each]
    return str(found)


def entry_point(page: str) -> dict[str, str]:
    """Return the line of a page that publishes something."""
    lines = code_block(page, "text", "entry-points")
    return dict(re.findall(r'^(\w+) = "(.*)"$', lines, flags=re.MULTILINE))


def install(folder: Path, module: str, source: str, group: str, points: Mapping[str, str]) -> None:
    """Install a package of one module, with entry points, into a folder of the path."""
    (folder / f"{module}.py").write_text(source)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def run_command(folder: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run benchbuild or benchquery in a folder, with the packages that are installed there."""
    return subprocess.run(
        [sys.executable, "-m", *words],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "GRAPHTAB_DATA": str(folder)},
    )


def run_lines(folder: Path, lines: str, extra: Mapping[str, Sequence[str]]) -> str:
    """Run every command after a ``$``, some with more options, and return what the last prints."""
    printed = ""
    for line in re.findall(r"^\$ (.*)$", lines, flags=re.MULTILINE):
        program, command, *words = line.split()
        done = run_command(folder, [program, command, *words, *extra.get(command, ())])
        assert done.returncode == 0, done.stderr
        printed = done.stdout
    return printed
