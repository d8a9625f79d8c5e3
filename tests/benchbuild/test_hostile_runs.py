"""A ``run.json`` that was changed by hand, its checksum fitting, is read as it is or refused."""

from __future__ import annotations

import copy
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchbuild.cli import main
from benchbuild.errors import BenchBuildError, KindError, RunFolderError
from benchbuild.fuzzing.hostile_json import changed, sealed
from benchbuild.pipeline.registry import BUILT_IN
from benchbuild.pipeline.runfolder import RUN, RunFolder
from benchquery.table.sealed import SEAL, unseal
from tests.resealing import places, put

GOLDEN = Path(__file__).parent.parent / "data" / "runs-v1"
HOSTILE = (None, True, -1, 2**70, 10**400, 1e308, 0.5, "", "x\n\x1b", "\0", [], {}, [[]], {"a": 1})


def body_of(kind: str) -> dict[str, Any]:
    """What an old run says, as one of the newest version says it."""
    body: dict[str, Any] = json.loads((GOLDEN / kind / RUN).read_text())
    return {**body, "version": 2}


@pytest.mark.parametrize("kind", BUILT_IN)
def test_any_value_in_any_place_is_read_as_it_is_or_refused(kind: str, tmp_path: Path) -> None:
    body = body_of(kind)
    path = tmp_path / RUN
    refused = read = 0
    for place in places(body):
        for value in HOSTILE:
            path.write_text(sealed(put(copy.deepcopy(body), place, value)))
            try:
                run = RunFolder.open(tmp_path).run
            except (RunFolderError, KindError) as error:
                refused += str(tmp_path) in str(error)
                continue
            read += 1
            said = json.loads(path.read_text())
            assert json.dumps(run.jobs.to_json(), sort_keys=True) == json.dumps(
                said["jobs"], sort_keys=True
            )
            assert run.about == said["about"]
    assert refused + read == len(places(body)) * len(HOSTILE)
    assert refused > 10 * read


@pytest.mark.parametrize(
    ("kind", "place", "value"),
    [
        ("train", ["jobs", "archs"], {"sample": 2**70, "seed": 0}),
        ("train", ["jobs", "archs"], {"sample": 30_000, "seed": 0}),
        ("train", ["jobs", "archs"], [99_999]),
        ("train", ["jobs", "archs"], 7),
        ("train", ["jobs", "seeds"], list(range(20_000))),
        ("train", ["settings", "hp", "hidden"], 2**70),
        ("train", ["settings", "dataset"], "nosuch"),
        ("train", ["settings", "dataset"], "csbm:nodes=9999999999999999999"),
        ("train", ["facts", "features"], "many"),
        ("train", ["about", "split"], 5),
        ("train", ["kind"], ["train"]),
        ("train", ["kind"], "nosuch"),
        ("tune", ["jobs", "trials"], 2**70),
        ("tune", ["jobs", "trials"], 900_000),
        ("tune", ["settings", "ranges", "lr"], [[0.1]]),
        ("tune", ["settings", "search_seed"], 2**70),
        ("darts", ["settings", "arch_lr"], 1e300),
        ("darts", ["jobs", "links"], "0012"),
        ("condense", ["settings", "judge"], "[" * 50_000),
        ("condense", ["settings", "eval_seeds"], [2**70]),
        ("condense", ["jobs", "configs"], ["{}"]),
        ("evaluate", ["settings", "source_sha256"], 3),
        ("evaluate", ["settings", "evaluations"], {}),
    ],
)
def test_commands_name_the_file_in_one_line(
    kind: str,
    place: list[str | int],
    value: object,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = shutil.copytree(GOLDEN / kind, tmp_path / "run")
    (run / RUN).write_text(sealed(put(body_of(kind), place, value)))
    for words in (["status"], ["verify"], ["merge", "--out", str(tmp_path / "table")]):
        code = main([*words, str(run)])
        said = capsys.readouterr()
        assert code == 2 or (words == ["status"] and "damaged" in said.out)
        lines = said.err.splitlines()
        assert all(line.startswith("benchbuild: error: ") for line in lines)
        assert str(run) in said.err or not code
        assert len(lines) == 1 or words == ["verify"] or not code
    assert not (tmp_path / "table").exists()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("train --hp hidden=99999999999", "hidden=99999999999"),
        ("train --hp lr=1e300", "lr=1e+300"),
        ("train --epochs 99999999", "epochs=99999999"),
        ("train --round-valid 40", "round_valid=40"),
        ("train --sample 3 --seeds 99999999", "at most"),
        ("train --seeds 100", "2,620,600 jobs"),
        ("tune --trials 99999999999", "trials=99999999999"),
        ("tune --trials 100000", "3,000,000 jobs"),
        ("darts --arch-lr 1e300", "arch_lr=1e+300"),
        ("darts --arch-lr nan", "arch_lr=nan"),
        ("condense --method gcond --ratio 0.3 --hp epochs=99999999", "epochs is 99999999"),
        ("condense --method gcond --ratio 0.3 --eval-hp hidden=1000000", "hidden is 1000000"),
        ("train --shard 1/" + "9" * 5_000, "is not of the form"),
        ("train --dataset csbm:nodes=1000000000000", "nodes=1000000000000 must be at most"),
        ("train --dataset csbm:features=1000000000", "features=1000000000 must be at most"),
    ],
)
def test_the_command_line_refuses_the_same(
    words: str, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *rest = words.split()
    out = ["--out", str(tmp_path / "run")]
    for dry in ([], ["--dry-run"]):
        assert main([name, "--dataset", "karate", *rest, *out, *dry]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert named in line
    assert not (tmp_path / "run" / RUN).exists()


def test_changes_have_a_checksum_that_fits() -> None:
    body = body_of("train")
    found = set()
    for trial in range(200):
        text = changed(body, random.Random(trial))
        found.add(text)
        if "NaN" not in text and "Infinity" not in text:
            unseal(json.loads(text))
    assert len(found) > 150
    assert SEAL not in body


def test_a_run_file_may_not_be_huge(tmp_path: Path) -> None:
    (tmp_path / RUN).write_text("[" + "[],".ljust(3) * 6_000_000 + "[]]")
    with pytest.raises(BenchBuildError, match=r"run\.json"):
        RunFolder.open(tmp_path)
