"""A method of one's own: what docs/adding-a-method.md shows runs as it stands there.

Its table outlives the package: where that is not installed, all but running the method works.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import torch

from benchbuild.kinds.condense.costs import predict
from benchbuild.kinds.condense.evaluations import Evaluations
from benchbuild.kinds.condense.kind import condense_run
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.condense.snapshots import snapshots
from benchbuild.testing import check_method
from benchquery import condread
from benchquery.errors import ConfigError
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.methods import ENTRY_POINT_GROUP, canonical_method
from tests.benchbuild.condensing import SMALL, condensed, problem
from tests.benchbuild.pages import (
    code_block,
    entry_point,
    install,
    run_commands,
    shown_commands,
)

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
    source = code_block(PAGE, "python", '"mixup_nodes"')
    install(folder, "mixup_nodes", source, ENTRY_POINT_GROUP, points)
    lines = code_block(PAGE, "text", "$ benchbuild condense")
    done = run_commands(folder, shown_commands(lines, {"condense": RUN}))
    for each in done:
        assert each.returncode == 0, each.stderr
    assert "mixup" in done[-1].stdout
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


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the other methods of the page, installed."""
    folder = tmp_path_factory.mktemp("others")
    for name in ("hubs", "eigen"):
        source = code_block(PAGE, "python", f'"{name}_nodes"')
        points = {name: f"{name}_nodes:METHOD"}
        install(folder, f"{name}_nodes", source, ENTRY_POINT_GROUP, points)
    return folder


@pytest.mark.parametrize(("name", "seeded"), [("hubs", False), ("eigen", True)])
def test_methods_without_epochs_or_models(
    name: str, seeded: bool, others: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(others)
    check_method(name, seeded=seeded)
    config = CondenseConfig("karate", name, 0.3)
    assert config.backbone == "none"
    assert "epochs" not in config.hyperparameters
    with pytest.raises(ConfigError, match="backbone is 'gcn'; allowed: none"):
        config.replace(backbone="gcn")
    assert predict(config, Evaluations.of()).seconds > 0
    assert snapshots(config) == 1


def test_hubs_prefer_nodes_of_high_degree(others: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(others)
    given = problem()
    found = {
        power: condensed(CondenseConfig(SMALL, "hubs", 0.1, power=power), given)[0].payload
        for power in (0.0, 4.0)
    }
    degrees = torch.bincount(given.edge_index[1], minlength=given.num_nodes)

    def mean_degree(graph: CondensedGraph) -> float:
        same = (graph.x[:, None] == given.x.to_dense()[None]).all(dim=2).float()
        return float(degrees[same.argmax(dim=1)].float().mean())

    assert mean_degree(found[4.0]) > mean_degree(found[0.0])


def test_eigen_finds_the_eigenvectors_of_the_real_graph(
    others: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(others)
    before, after = (
        condensed(CondenseConfig(SMALL, "eigen", 0.1, steps=steps))[0] for steps in (1, 200)
    )
    assert after.losses["eigen"] < 0.5 * before.losses["eigen"]
    assert after.losses["upright"] < 0.1


WITHOUT = (
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
)
"""What works without the package."""
RESUMED = "benchbuild condense --dataset karate --method mixup --ratio 0.3 --out other"
"""What does not."""


@pytest.fixture(scope="module")
def done(
    installed: Path, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, CompletedProcess[str]]:
    """What became of commands where the package is not installed."""
    run, table = installed / "runs" / "mixup", installed / "tables" / "karate-mixup"
    commands = [
        words.replace("TABLE", str(table)).replace("RUN", str(run)).split() for words in WITHOUT
    ]
    ended = run_commands(tmp_path_factory.mktemp("without"), [*commands, [*RESUMED.split(), *RUN]])
    return dict(zip((*WITHOUT, RESUMED), ended, strict=True))


@pytest.mark.parametrize("words", WITHOUT)
def test_commands_on_its_table_need_no_package(
    words: str, done: Mapping[str, CompletedProcess[str]]
) -> None:
    assert done[words].returncode == 0, done[words].stderr


def test_running_the_method_needs_the_package(done: Mapping[str, CompletedProcess[str]]) -> None:
    assert done[RESUMED].returncode == 2
    assert "unknown method 'mixup'" in done[RESUMED].stderr
