"""A method of one's own: what docs/adding-a-method.md shows runs as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchquery import condread
from benchquery.config import CondenseConfig
from benchquery.errors import ConfigError

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "adding-a-method.md").read_text()


def block(language: str, contains: str) -> str:
    """Return the code block of the page that contains a text."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    (found,) = [each for each in blocks if contains in each]
    return str(found)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Install the page's method as a package of its own."""
    (tmp_path / "mixup_nodes.py").write_text(block("python", "def condense"))
    info = tmp_path / "mixup_nodes-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mixup-nodes\nVersion: 1.0\n")
    name, value = re.findall(r'^(\w+) = "(.*)"$', block("text", "entry-points"), re.MULTILINE)[0]
    others = "broken = mixup_nodes:condense\n"
    (info / "entry_points.txt").write_text(f"[graphtab.methods]\n{name} = {value}\n{others}")
    return tmp_path


def test_the_method_of_the_page_runs_through_the_whole_pipeline(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = os.environ | {"PYTHONPATH": f"{package}{os.pathsep}{ROOT}"}
    for line in block("text", "$ benchbuild condense").splitlines():
        program, *words = line.removeprefix("$ ").split()
        if words[0] == "condense":
            words += ["--eval-hp", "epochs=20", "--workers", "1", "--device", "cpu"]
        command = [sys.executable, "-m", program, *words]
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            cwd=package,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
    assert "mixup" in done.stdout
    monkeypatch.syspath_prepend(package)
    config = CondenseConfig("karate", "mixup", 0.3, parents=2)
    record = condread("karate", source=package / "tables")[config.valid_hash()]
    assert (record["status"], record["edges"]) == ("ok", 0)
    assert config != CondenseConfig("karate", "mixup", 0.3)
    with pytest.raises(ConfigError, match=r"'broken'.*no MethodSpec"):
        CondenseConfig("karate", "broken", 0.3)
    with pytest.raises(ConfigError, match=r"'nothing'.*gcond.*mixup"):
        CondenseConfig("karate", "nothing", 0.3)
