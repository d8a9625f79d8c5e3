"""A method of one's own: what docs/adding-a-method.md shows runs as it stands there.

Its table outlives the package: where that is not installed, all but running the method works.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

from benchbuild.kinds.condense.costs import predict
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.kind import condense_run
from benchquery import condread
from benchquery.errors import ConfigError
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.methods import ENTRY_POINT_GROUP, canonical_method
from tests.benchbuild.pages import code_block, entry_point, install, run_command, run_lines

PAGE = "adding-a-method.md"
RUN = ("--eval-hp", "epochs=20", "--workers", "1", "--device", "cpu")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of the page, the run that the page shows, and its table."""
    folder = tmp_path_factory.mktemp("with-mixup")
    points = entry_point(PAGE) | {
        "broken": "mixup_nodes:condense",
        "absent": "no_such_package:METHOD",
    }
    source = code_block(PAGE, "python", "def condense")
    install(folder, "mixup_nodes", source, ENTRY_POINT_GROUP, points)
    lines = code_block(PAGE, "text", "$ benchbuild condense")
    assert "mixup" in run_lines(folder, lines, {"condense": RUN})
    return folder


def test_the_method_of_the_page_runs_through_the_whole_pipeline(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(installed)
    config = CondenseConfig("karate", "mixup", 0.3, parents=2)
    record = condread("karate", source=installed / "tables")[config.valid_hash()]
    assert (record["status"], record["edges"]) == ("ok", 0)
    assert config != CondenseConfig("karate", "mixup", 0.3)
    assert canonical_method("MixUp") == "mixup"
    with pytest.raises(ConfigError, match="parents is 0; it must be at least 1"):
        CondenseConfig("karate", "mixup", 0.3, parents=0)
    with pytest.raises(ConfigError, match=r"'broken'.*no MethodSpec"):
        CondenseConfig("karate", "broken", 0.3)
    with pytest.raises(ConfigError, match=r"'absent'.*no_such_package:METHOD.*No module named"):
        CondenseConfig("karate", "absent", 0.3)
    with pytest.raises(ConfigError, match=r"'nothing'.*gcond.*mixup"):
        CondenseConfig("karate", "nothing", 0.3)


def test_its_table_is_asked_without_the_package(installed: Path) -> None:
    assert "mixup" not in entry_points(group=ENTRY_POINT_GROUP).names
    cond = condread("karate", source=installed / "tables")
    (config,) = cond.configs()
    assert (config.method, config.ratio, dict(config.hyperparameters)) == (
        "mixup", 0.3, {"parents": 2},
    )  # fmt: skip
    assert cond[config]["method"] == "mixup"
    assert config in cond
    assert cond.best()["config"] == config.valid_hash()
    (mean,) = cond.mean(over="seed")
    assert (mean["method"], mean["hyperparameters"]) == ("mixup", {"parents": 2})
    assert cond.graph(config)["x"].shape == (10, 34)
    assert cond.plot.ratios() is not None
    with pytest.raises(ConfigError, match=r"can't be run here: unknown method 'mixup'.*install"):
        condense_run("karate", [config], Evaluations.of())
    with pytest.raises(ConfigError, match="can't be run here"):
        predict(config, Evaluations.of())


@pytest.mark.parametrize(
    "words",
    [
        "benchbuild verify TABLE",
        "benchquery verify TABLE",
        "benchquery condensed show karate --source TABLE",
        "benchquery condensed top karate --source TABLE",
        "benchquery condensed compare karate --source TABLE",
        "benchquery plot karate ratios --source TABLE --out ratios.png",
        "benchquery report karate --source TABLE --out report.html",
        "benchquery explore --source TABLE --export site",
        "benchbuild evaluate TABLE --models mlp --seeds 1 --out run",
        "benchbuild merge RUN --out again",
    ],
)
def test_commands_on_its_table_need_no_package(words: str, installed: Path, tmp_path: Path) -> None:
    run, table = installed / "runs" / "mixup", installed / "tables" / "karate-mixup"
    named = words.replace("TABLE", str(table)).replace("RUN", str(run))
    done = run_command(tmp_path, named.split())
    assert done.returncode == 0, done.stderr


def test_running_the_method_needs_the_package(installed: Path, tmp_path: Path) -> None:
    resumed = ["condense", "--dataset", "karate", "--method", "mixup", "--ratio", "0.3", *RUN]
    done = run_command(tmp_path, ["benchbuild", *resumed, "--out", str(tmp_path / "run")])
    assert done.returncode == 2
    assert "unknown method 'mixup'" in done.stderr
