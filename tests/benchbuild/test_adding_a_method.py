"""A method of one's own: what docs/adding-a-method.md shows runs as it stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchquery import condread
from benchquery.errors import ConfigError
from benchquery.kinds.condensed.config import CondenseConfig
from tests.benchbuild.pages import code_block, entry_point, install, run_lines

PAGE = "adding-a-method.md"


def test_the_method_of_the_page_runs_through_the_whole_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = entry_point(PAGE) | {
        "broken": "mixup_nodes:condense",
        "absent": "no_such_package:METHOD",
    }
    source = code_block(PAGE, "python", "def condense")
    install(tmp_path, "mixup_nodes", source, "graphtab.methods", points)
    few = {"condense": ("--eval-hp", "epochs=20", "--workers", "1", "--device", "cpu")}
    assert "mixup" in run_lines(tmp_path, code_block(PAGE, "text", "$ benchbuild condense"), few)
    monkeypatch.syspath_prepend(tmp_path)
    config = CondenseConfig("karate", "mixup", 0.3, parents=2)
    record = condread("karate", source=tmp_path / "tables")[config.valid_hash()]
    assert (record["status"], record["edges"]) == ("ok", 0)
    assert config != CondenseConfig("karate", "mixup", 0.3)
    with pytest.raises(ConfigError, match=r"'broken'.*no MethodSpec"):
        CondenseConfig("karate", "broken", 0.3)
    with pytest.raises(ConfigError, match=r"'absent'.*no_such_package:METHOD.*No module named"):
        CondenseConfig("karate", "absent", 0.3)
    with pytest.raises(ConfigError, match=r"'nothing'.*gcond.*mixup"):
        CondenseConfig("karate", "nothing", 0.3)
