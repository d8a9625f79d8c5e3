"""What condensed data is compared with is trained once, whoever asks."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import benchbuild
from benchbuild.kinds.condense.evaluator import Evaluation
from benchbuild.kinds.condense.references import DAMAGED, RememberingEvaluator, cache_folder
from benchquery.kinds.condensed.config import EvalConfig

CPU = torch.device("cpu")
CURVE = np.array([[0.5, math.nan, 1.0, 2.0, 3.0, 4.0, 5.0]])
FOUND = Evaluation("ok", "", 0.25, 1 / 3, 0, CURVE)


class Counting:
    """Gives one result, and counts how often it is asked for."""

    def __init__(self) -> None:
        self.trained = 0

    def full(self, config: EvalConfig) -> Evaluation:
        self.trained += 1
        return dataclasses.replace(FOUND, best_epoch=config.seed)


def remembering(folder: Path, data: str = "cora") -> tuple[Counting, RememberingEvaluator]:
    counting = Counting()
    return counting, RememberingEvaluator(counting, data, CPU, folder)  # type: ignore[arg-type]


def test_a_result_is_read_back_to_the_last_bit(tmp_path: Path) -> None:
    first, second = remembering(tmp_path), remembering(tmp_path)
    for counting, evaluator in (first, second):
        found = evaluator.full(EvalConfig())
        np.testing.assert_array_equal(found.curve, CURVE)
        assert (found.perf, found.valid_perf, found.status) == (1 / 3, 0.25, "ok")
        assert math.isnan(found.other_perf)
        del counting
    assert (first[0].trained, second[0].trained) == (1, 0)


def test_other_data_and_other_evaluations_are_others(tmp_path: Path) -> None:
    _, evaluator = remembering(tmp_path)
    other, stranger = remembering(tmp_path, "citeseer")
    assert evaluator.full(EvalConfig(seed=1)).best_epoch == 1
    assert evaluator.full(EvalConfig(seed=2)).best_epoch == 2
    stranger.full(EvalConfig(seed=1))
    assert other.trained == 1


def test_a_damaged_file_is_put_aside_and_made_anew(tmp_path: Path) -> None:
    _, evaluator = remembering(tmp_path)
    evaluator.full(EvalConfig())
    (path,) = tmp_path.glob("*.json")
    body = json.loads(path.read_text())
    for content in (
        "",
        "{",
        path.read_text().replace("0.25", "0.26"),
        json.dumps({**body, "x": 1}),
    ):
        path.write_text(content)
        counting, again = remembering(tmp_path)
        assert again.full(EvalConfig()).valid_perf == 0.25
        assert counting.trained == 1
        assert path.with_name(path.name + DAMAGED).exists()


def test_where_nothing_can_be_kept_it_is_trained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    counting, evaluator = remembering(tmp_path / "file" / "folder")
    for times in (1, 2):
        evaluator.full(EvalConfig())
        assert counting.trained == times


def test_the_cache_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "graphtab" / "references"


def test_users_without_a_home_have_a_cache_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in containers that run as a number which no user has."""
    for name in ("XDG_CACHE_HOME", "GRAPHTAB_DATA", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    script = (
        "import os\n"
        "from benchbuild.datasets.root import data_root\nfrom benchquery.places import user_cache\n"
        "os.setuid(54321)\n"
        "print(user_cache(), data_root(), data_root('~nosuch/data'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(Path(benchbuild.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    if "PermissionError" in done.stderr:
        pytest.skip("only root can become somebody else")
    cache = tmp_path / ".cache"
    assert done.stdout.split() == [str(cache), str(cache / "graphtab" / "data"), "~nosuch/data"]
