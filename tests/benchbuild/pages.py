"""What the pages on adding one's own show, installed as a package and run as it stands there."""

from __future__ import annotations

import json
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


def run_command(
    folder: Path, words: Sequence[str], said: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run benchbuild or benchquery in a folder, with the packages that are installed there."""
    return subprocess.run(
        [sys.executable, "-m", *words],
        check=False,
        capture_output=True,
        text=True,
        input=said,
        cwd=folder,
        env=os.environ
        | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "GRAPHTAB_DATA": str(folder)},
    )


def run_commands(
    folder: Path, commands: Sequence[Sequence[str]]
) -> list[subprocess.CompletedProcess[str]]:
    """Run several commands as `run_command` does, one after another in one process."""
    done = run_command(folder, ["tests.benchbuild.session"], json.dumps(commands))
    assert done.returncode == 0, done.stderr
    return [subprocess.CompletedProcess(**each) for each in json.loads(done.stdout)]


def shown_commands(lines: str, extra: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return every command after a ``$``, some with more options."""
    shown = [line.split() for line in re.findall(r"^\$ (.*)$", lines, flags=re.MULTILINE)]
    return [[*words, *extra.get(words[1], ())] for words in shown]
