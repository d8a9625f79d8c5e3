"""Every script of benchmarks/ runs, on settings so small that its figures mean nothing."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.benchquery.explorer.running import find_chromium

ROOT = Path(__file__).parent.parent
SCRIPTS = ROOT / "benchmarks"
OUT = "OUT"
"""Stands for an empty folder in the arguments of a run."""


@dataclass(frozen=True)
class Smoke:
    """A run of a script that takes seconds.

    Attributes:
        script: The script.
        runs: The arguments of each call, one call after another.
        figures: Patterns of the lines that the last call must print.
        data: The folder of the data root that it needs, if it can't do without real data.
        modules: Packages that it needs and that may be missing.
        browser: Whether it drives a browser.
    """

    script: str
    runs: Sequence[str]
    figures: Sequence[str]
    data: str | None = None
    modules: Sequence[str] = ()
    browser: bool = False


SMOKES = (
    Smoke("analysis", ["proteins"], [r"^smoothness +\d", r"^transfer +\d", r"times as fast$"]),
    Smoke(
        "augment",
        ["--images 8 --side 16 --rounds 1"],
        [rf"^{name}( +\d\S*){{4}}$" for name in ("imagenet", "dsa", "autoaugment", "randaugment")],
    ),
    Smoke("claims", [""], [r"^## NAS-Bench-Graph$", r"^\| 22 \| .* \| yes \|$", r"^## DC-Bench$"]),
    Smoke(
        "condense",
        [
            "--dataset csbm:nodes=200,features=32 --ratio 0.1 --epochs 1 --nodes 400 "
            "--large-ratio 0.2 --method doscond --snapshots 2 --seeds 1 --judge-epochs 3"
        ],
        [
            r"^csbm.* at 10\.0%( +\d\S*){6}$",
            r"^csbm.* at 10\.0%( +\d\S*){4}$",
            r"^doscond +400 +80( +\d\S*){3}$",
        ],
    ),
    Smoke(
        "costs",
        ["--sample 2 --epochs 2"],
        [r"^best fit$", r"^layers=\S+ products=", r"^cora +190 ", r"^karate +2 "],
    ),
    Smoke(
        "doscond",
        ["--dataset motifs --per-class 2 --epochs 1"],
        [r"^motifs, 2 a class( +\d\S*){4}$"],
    ),
    Smoke(
        "explorer",
        ["--rounds 1 --requests 2 --source data/cora"],
        [
            r"^page, all files +\d",
            r"^command to points drawn, s +\d",
            r"^one frame while zooming, all picked, processor, ms +\d",
            r"^export of .* MB +\d",
        ],
        modules=("starlette", "uvicorn", "httpx2", "playwright", "psutil"),
        browser=True,
    ),
    Smoke(
        "fidelity",
        [f"--dataset cora --sample 3 --seeds 2 --epochs 2 --out {OUT}/run"],
        [r"^spearman +-?\d", r"^bias +-?\d"],
        data="Planetoid",
    ),
    Smoke(
        "gpu",
        [
            "--device cpu --dataset karate --ops gcn gat --epochs 2 --workers 1 --seeds 2 "
            f"--jobs evaluate --out {OUT}/gpu.json"
        ],
        [
            r"^product +karate +\d.* s, csr \d.* s$",
            r"^gat +karate +\d.* epochs/s, .* predicted\), ok$",
            r"^workers +karate +1: \d.* epochs/s in all$",
            r"^batch +karate +2 seeds: \d.* times as fast, figures the same, ok$",
            r"^job +evaluate node-classification: ok$",
            r"^job +evaluate contextual-anomaly-detection: ok$",
        ],
    ),
    Smoke(
        "graph_evaluation",
        ["--dataset motifs:graphs=40 --per-class 2 --epochs 1"],
        [r"^motifs.* gcn( +\d\S*){4}$", r"^motifs.* gin( +\d\S*){4}$"],
    ),
    Smoke(
        "host_memory",
        ["--share 0.001 --ops gcn"],
        [r"^gcn +loading \d+ bytes of an edge, with matrices \d+; proteins: \d\S* GB$"],
    ),
    Smoke(
        "images",
        [
            "--dataset digits:train=100,valid=20,test=20 --per-class 1 --batch 4 --width 4 "
            "--rounds 1 --experts 1 --double"
        ],
        [
            *(rf"^{name}, 1 a class, 4 real( +\d\S*){{4}} +\S+e-1\d$" for name in ("dm", "dc")),
            r"^1 experts( +\d\S*){2}$",
        ],
    ),
    Smoke(
        "judging",
        [f"--datasets motifs:graphs=40 --epochs 2 --kept {OUT}/judging.csv"],
        [r"^gcn +present +\d", r"^gin +kidd +\d", r"^gin: .* is chosen$"],
    ),
    Smoke(
        "litegntk",
        ["--graphs 3 --synthetic 2 --nodes 8 --rank 2 --rounds 1"],
        [r"^low rank, labels +\d.*e-1\d$", r"^dense, features of their own, gradients +\d"],
    ),
    Smoke(
        "merge",
        [f"--architectures 24 --epochs 4 --shards 3 --scratch {OUT}"],
        [r"^generated 72 synthetic records in 3 shards", r"^merge: \d", r"^verify: \d", r"^parts "],
    ),
    Smoke(
        "mirage",
        ["--dataset motifs --per-class 1 --depth 2 --sample 20"],
        [r"^motifs +\d[\d,]* graphs", r"^CPU seconds +\d", r"^peak memory, MB +\d", r"^ratio +\d"],
        modules=("mlxtend",),
    ),
    Smoke(
        "pool",
        ["--dataset karate --archs 2 --epochs 3"],
        [r"^two workers .*: \d+\.\d+ times as fast", r"^overhead of the builder: -?\d"],
    ),
    Smoke(
        "query",
        ["--rounds 1 --sample 200"],
        [r"^look-up of random architectures +\d", r"^a million hashes .*x ", r"ratio \d"],
        modules=("nas_bench_graph", "psutil"),
    ),
    Smoke(
        "rehearsal",
        ["--share 0.001 --sample 64 --run 2"],
        [
            r"^planned +32 shards of 64 jobs",
            r"^killed +shard 1/32 after [12] of 2 records$",
            r"^refused +.* 60 jobs missing",
            r"^merge +.*: 4 architectures",
            r"^top +",
        ],
    ),
    Smoke(
        "search",
        ["--rounds 1 --queries 20 --seeds 1"],
        [r"^look-up +\d", r"^the oracle adds +-?\d", r"^\d+ searches of 2%, 1 seeds each +\d"],
    ),
    Smoke("settings", ["--dataset cora"], [r"^cora +sfgc +10( +\d+\.\d){3}  as before$"]),
    Smoke(
        "splits",
        ["--dataset photo --sample 2 --epochs 2"],
        [r"^photo, 2 architectures", r"^valid_perf +\d", r"^perf +\d"],
        data="Amazon",
    ),
    Smoke(
        "table2",
        [
            f"run random local --seeds 2 -o {OUT}/traces.parquet",
            f"report {OUT}/traces.parquet --figure {OUT}/figure.png",
        ],
        [
            r"^Test metric .* standard error",
            r"^\| random \| here, test \| 2 \|",
            r"^\| proteins \| \d",
        ],
    ),
    Smoke(
        "train",
        ["--dataset karate --sample 1 --epochs 1"],
        [r"^all 1( +\d\S*){4}$"],
    ),
)


def why_not(smoke: Smoke) -> str | None:
    """Return what is missing to run a script; None if nothing is."""
    missing = [name for name in smoke.modules if importlib.util.find_spec(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    if smoke.browser and find_chromium() is None:
        return "there is no Chromium: install it, or name one by the variable CHROMIUM"
    root = os.environ.get("GRAPHTAB_DATA")
    if smoke.data and not (root and Path(root, smoke.data).is_dir()):
        return f"needs real datasets: set GRAPHTAB_DATA to a folder that has {smoke.data}"
    return None


@pytest.mark.slow
@pytest.mark.parametrize(
    "smoke",
    [
        pytest.param(smoke, id=smoke.script, marks=[pytest.mark.browser] if smoke.browser else [])
        for smoke in SMOKES
    ],
)
def test_the_script_runs_and_prints_its_figures(smoke: Smoke, tmp_path: Path) -> None:
    reason = why_not(smoke)
    if reason:
        pytest.skip(reason)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    for arguments in smoke.runs:
        command = [sys.executable, f"{SCRIPTS / smoke.script}.py", *arguments.split()]
        command = [argument.replace(OUT, str(tmp_path)) for argument in command]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    for figure in smoke.figures:
        assert re.search(figure, done.stdout, re.MULTILINE), f"no {figure!r} in:\n{done.stdout}"


def test_every_script_has_a_smoke_run() -> None:
    assert [smoke.script for smoke in SMOKES] == sorted(path.stem for path in SCRIPTS.glob("*.py"))
