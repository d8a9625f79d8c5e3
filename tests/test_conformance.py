"""The public checks: everything that comes with the project passes them, and they find faults."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchbuild
from benchbuild.datasets import hyperparameters_for
from benchbuild.datasets.registry import ENTRY_POINT_GROUP as DATASETS
from benchbuild.datasets.registry import builtin_factories
from benchbuild.kinds.darts.records import LINK_NAMES
from benchbuild.pipeline.jobs import AnyRun
from benchbuild.pipeline.registry import BUILT_IN as JOB_KINDS
from benchbuild.pipeline.registry import GROUP as KINDS
from benchbuild.testing import check_dataset, check_job_kind, check_method
from benchbuild.testing.methods import SMALL
from benchquery import CondenseConfig, EvalConfig, lightread
from benchquery.errors import BudgetExhaustedError, QueryError, UnknownHashError
from benchquery.kinds.condensed.domains import DOMAINS
from benchquery.kinds.condensed.methods import ENTRY_POINT_GROUP as METHODS_GROUP
from benchquery.search import STRATEGIES, Oracle, strategy_names
from benchquery.table.kind import TableKind
from benchquery.table.manifest import read_manifest
from benchquery.table.registry import kind_names, kind_of
from benchquery.table.rows import RowTable
from benchquery.table.store import BUNDLED
from benchquery.testing import check_strategy, check_table, check_table_kind
from tests.benchbuild.pages import code_block, install, run_command
from tests.benchbuild.squares import SOURCE as SQUARES

OLD = Path(__file__).parent / "data" / "tables-v1"
TABLES = [*sorted(OLD.iterdir()), BUNDLED / "pubmed-built"]
EVALUATIONS = benchbuild.Evaluations.of(["mlp"], [0], {"epochs": 4, "hidden": 8})
PACKAGES = {"nni:rl": "tianshou"}
"""What some strategies need beside the package that they are named after."""


def quick(dataset: str, **changes: Any) -> Any:
    return hyperparameters_for(dataset).override(epochs=4, **changes)


RUNS: dict[str, Callable[[], AnyRun]] = {
    "train": lambda: benchbuild.train_run(
        "karate", archs=[10000, 61237], seeds=[0, 1], hp=quick("karate")
    ),
    "tune": lambda: benchbuild.tune_run("karate", trials=2, ranges={"epochs": [3]}),
    "darts": lambda: benchbuild.darts_run(
        SMALL["nodes"]["dataset"], links=list(LINK_NAMES)[:2], hp=quick("csbm", pre=1, hidden=8)
    ),
    "condense": lambda: benchbuild.condense_run(
        SMALL["nodes"]["dataset"],
        [CondenseConfig(SMALL["nodes"]["dataset"], "random", 0.1, seed=seed) for seed in (0, 1)],
        EVALUATIONS,
    ),
    "evaluate": lambda: benchbuild.evaluate_run(OLD / "karate-condensed", EVALUATIONS),
    "choose": lambda: benchbuild.choose_run(
        SMALL["nodes"]["dataset"],
        "dm",
        trials=2,
        sizes=[0.1],
        ranges={"epochs": [2], "hidden": [8]},
        judge=EvalConfig(epochs=4, hidden=8),
    ),
}


# -------------------------------------------------------------------- what comes with the project


@pytest.mark.parametrize("name", kind_names())
def test_kinds_of_table_conform(name: str) -> None:
    check_table_kind(kind_of(name))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("folder", TABLES, ids=lambda folder: folder.name)
def test_tables_conform(folder: Path) -> None:
    check_table(folder)


def test_there_is_a_table_of_every_kind() -> None:
    """Tables of cell networks are made of a file of others; one is checked where files are."""
    kinds = {read_manifest(folder).kind for folder in TABLES}
    assert kinds == set(kind_names()) - {"cells"}


@pytest.mark.parametrize("name", strategy_names())
def test_strategies_conform(name: str) -> None:
    needed = PACKAGES.get(name, name.partition(":")[0])
    if name not in STRATEGIES and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    check_strategy(name)


@pytest.mark.parametrize("name", JOB_KINDS)
def test_kinds_of_job_conform(name: str, tmp_path: Path) -> None:
    check_job_kind(RUNS[name](), tmp_path, pictures=False)


SAMPLED = {"cifar10-jpeg": "cifar10-jpeg:train=500,valid=100,test=100"}
"""Datasets that take long to load, and fewer of their images; all of them are loaded elsewhere."""


@pytest.mark.parametrize("name", builtin_factories())
def test_datasets_conform(name: str) -> None:
    check_dataset(SAMPLED.get(name, name))


def test_the_facts_of_datasets_need_no_torch() -> None:
    code = (
        "import sys; from benchbuild.datasets import dataset_names, dataset_spec;"
        "[dataset_spec(name).size for name in dataset_names()]; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("domain", "name"),
    [
        pytest.param(domain.name, name, marks=[pytest.mark.slow] if domain.name == "images" else [])
        for domain in DOMAINS.values()
        for name in domain.methods
    ],
)
def test_methods_conform(domain: str, name: str) -> None:
    check_method(name, domain=domain, seeded=name != "mirage")


# -------------------------------------------------------------------- kinds of table with a fault


def changed_column(kind: TableKind, **changes: Any) -> TableKind:
    first, *rest = kind.columns
    return dataclasses.replace(kind, columns=(dataclasses.replace(first, **changes), *rest))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (
            {"check": "benchquery.nowhere:check"},
            "check: benchquery.nowhere:check can't be imported",
        ),
        (
            {"report": "benchquery.text:nothing"},
            "report: benchquery.text:nothing can't be imported",
        ),
        ({"show": "no reference"}, "'no reference' is no reference"),
        ({"table": "benchquery.text:format_table"}, "is no RowTable"),
        ({"commands": ("benchquery.text",)}, "benchquery.text has no function add"),
        ({"values": {"status": ()}}, "the values of 'status' must be texts"),
        ({"reader": "readlight"}, "its reader is 'readlight'"),
        ({"view": "benchquery.text:format_table"}, "is no View"),
        ({"key": ("nothing",)}, "its key names 'nothing'"),
        ({"ranked_by": "status"}, "it is ranked by 'status', of which neither way is better"),
        ({"expense": "perf"}, "its expense is 'perf', of which less is not better"),
        ({"name": "Two Words"}, "its name must be small letters"),
        ({"many": ""}, "many is ''"),
        ({}, "another kind is found under its name"),
    ],
)
def test_faults_of_kinds_are_named(fault: dict[str, Any], told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        check_table_kind(dataclasses.replace(kind_of("architectures"), **fault))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"dtype": "float16"}, "has the type 'float16'"),
        ({"description": "the hash"}, "must be a sentence"),
        ({"name": "perf"}, "described twice: perf"),
        ({"name": "perf_seed0"}, "those of single seeds"),
        ({"direction": "up"}, "the direction 'up'"),
    ],
)
def test_faults_of_columns_are_named(fault: dict[str, Any], told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        check_table_kind(changed_column(kind_of("architectures"), **fault))


# -------------------------------------------------------------------- tables with a fault


def everything(table: RowTable[Any], maximise: list[str], minimise: list[str]) -> RowTable[Any]:
    """Take every row for one of the front."""
    if not maximise:
        raise QueryError("nothing to compare")
    return table


@pytest.mark.parametrize(
    ("verb", "faulty", "told"),
    [
        ("rank", lambda self, key, by="perf": 1, "the rank of .* is 1, standing says otherwise"),
        ("pareto", everything, "another one beats in everything"),
        ("where", lambda self, *_, **__: self, "other rows than those that fit"),
        ("best", lambda self, by="perf": self.records()[-1], "not the first of the top"),
        ("top", lambda self, k=1, by="perf": self.take(range(min(k, 6))), "better row after a"),
        ("records", lambda self: [], "and 0 records"),
        ("__repr__", lambda self: "a table", "does not name it"),
    ],
)
def test_verbs_that_disagree_are_named(
    verb: str, faulty: Any, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RowTable, verb, faulty)
    with pytest.raises(AssertionError, match=told):
        check_table(OLD / "karate", pictures=False)


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    folder = shutil.copytree(OLD / "karate", tmp_path / "karate")
    with (folder / "curves.h5").open("ab") as file:
        file.write(b"more")
    with pytest.raises(AssertionError, match=r"does not verify: CorruptTableError: .*curves.h5"):
        check_table(folder)


# -------------------------------------------------------------------- strategies with a fault


def printing(oracle: Oracle, rng: random.Random) -> None:
    print("hello")
    oracle.evaluate(oracle.hashes[0])


def insisting(oracle: Oracle, rng: random.Random) -> None:
    for number in oracle.hashes:
        try:
            oracle.evaluate(number)
        except BudgetExhaustedError:
            continue


def exceeding(oracle: Oracle, rng: random.Random) -> None:
    oracle._limit = 1e9
    for number in oracle.hashes:
        oracle.evaluate(number)


def drawing_from_the_global_generator(oracle: Oracle, rng: random.Random) -> None:
    for number in random.sample(oracle.hashes, 10):
        oracle.evaluate(number)


def peeking(oracle: Oracle, rng: random.Random) -> None:
    for number in oracle._table.top(10, by="perf"):
        oracle.evaluate(number)


def guessing(oracle: Oracle, rng: random.Random) -> None:
    oracle.evaluate(oracle.hashes[0])
    missing = set(oracle.space.hashes.tolist()) - set(oracle.hashes)
    try:
        oracle.evaluate(min(missing))
    except UnknownHashError:
        return


def failing(oracle: Oracle, rng: random.Random) -> None:
    raise ZeroDivisionError("by nothing")


def idle(oracle: Oracle, rng: random.Random) -> None:
    """Ask for nothing."""


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        (printing, "prints to standard output: 'hello"),
        (insisting, "goes on asking after its budget is used up"),
        (exceeding, "spends 200 queries of 20"),
        (drawing_from_the_global_generator, "one seed, two searches: they differ in their hashes"),
        (peeking, "other test figures, another search"),
        (guessing, "asks for what the table does not have: UnknownHashError"),
        (failing, "fails on 200 architectures: ZeroDivisionError: by nothing"),
        (idle, "asks for nothing"),
    ],
)
def test_faults_of_strategies_are_named(strategy: Any, told: str) -> None:
    with pytest.raises(AssertionError, match=f"^strategy '{strategy.__name__}'.*{told}"):
        check_strategy(strategy)


def test_a_check_leaves_the_global_generator_alone() -> None:
    random.seed(5)
    expected = random.random()
    random.seed(5)
    check_strategy("random", lightread("pubmed-built"), budget=3)
    assert random.random() == expected


# -------------------------------------------------------------------- methods with a fault

METHOD_PAGE = code_block("adding-a-method.md", "python", "Mixup:")


def install_method(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> None:
    module = f"method_{name}"
    source = source.replace("mixup_nodes", module)
    install(folder, module, source, METHODS_GROUP, {name: f"{module}:METHOD"})
    monkeypatch.syspath_prepend(folder)


def test_the_method_of_the_page_conforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_method(tmp_path, monkeypatch, "mixup", METHOD_PAGE)
    exec(code_block("adding-a-method.md", "text", "check_method"), {})


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("unseeded", (".manual_seed(config.seed)", "\n    generator.seed()"), "of the same seed"),
        ("constant", ("manual_seed(config.seed)", "manual_seed(0)"), "the same of another seed"),
        ("changing", ("    rows = []", "    rows = []\n    features += 1"), "changes the problem"),
        (
            "small",
            ("torch.stack(rows), labels", "torch.stack(rows[1:]), labels[1:]"),
            "is asked for",
        ),
        ("foreign", ("rows), labels,", "rows), labels + 1,"), r"the classes \[4\]"),
        ("undefined", ("torch.stack(rows)", "torch.stack(rows) / 0"), "kept is finite"),
        ("looped", ("adjacency=None", "torch.ones(len(rows), len(rows))"), "it has self-loops"),
        ("familiar", ('"core-set"', '"guess"'), "its family is 'guess'"),
        ("broken", ("    rows = []", "    raise ValueError('odd')"), "fails: ValueError: odd"),
        ("later", ("losses={})", "losses={})\n    labels.fill_(0)"), "changes a snapshot after"),
    ],
)
def test_faults_of_methods_are_named(
    name: str, change: tuple[str, str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert change[0] in METHOD_PAGE
    install_method(tmp_path, monkeypatch, name, METHOD_PAGE.replace(*change))
    with pytest.raises(AssertionError, match=f"^method '{name}'.*{told}"):
        check_method(name)


# -------------------------------------------------------------------- datasets with a fault

DATASET = """
import dataclasses
import torch
from benchbuild.datasets import dataset_spec, load

karate = dataset_spec("karate")

def noisy(root):
    graph = load("karate")
    return dataclasses.replace(graph, x=graph.x + torch.rand(graph.x.shape))

def leaking(root):
    graph = load("karate")
    return dataclasses.replace(graph, test_mask=graph.test_mask | graph.train_mask)

def faithful(root):
    return load("karate")

SPEC = {}
"""


@pytest.mark.parametrize(
    ("name", "spec", "told"),
    [
        ("larger", "dataclasses.replace(karate, num_nodes=35)", "num_nodes=35, .* graph has 34"),
        ("linked", "dataclasses.replace(karate, num_edges=1)", "num_edges=1, .* graph has 156"),
        ("scored", "dataclasses.replace(karate, metric='rocauc')", "states the metric 'rocauc'"),
        ("split", "dataclasses.replace(karate, split='none')", "states the split 'none'"),
        ("trained", "dataclasses.replace(karate, trained=35)", "can't all be true"),
        ("escaping", "dataclasses.replace(karate, files=('../x',))", "not below the data root"),
        ("halved", "dataclasses.replace(karate, num_nodes=34.5)", "must be a whole number"),
        ("unlicensed", "dataclasses.replace(karate, licence='')", "does not say its licence"),
        ("noisy", "noisy", "not the same graph"),
        ("leaking", "leaking", "nodes are in train_mask and in test_mask"),
    ],
)
def test_faults_of_datasets_are_named(
    name: str, spec: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"dataset_{name}"
    install(tmp_path, module, DATASET.format(spec), DATASETS, {name: f"{module}:SPEC"})
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AssertionError, match=f"^dataset '{name}'.*{told}"):
        check_dataset(name)


def test_a_dataset_that_is_a_function_conforms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        tmp_path,
        "dataset_faithful",
        DATASET.format(0),
        DATASETS,
        {"f": "dataset_faithful:faithful"},
    )
    monkeypatch.syspath_prepend(tmp_path)
    check_dataset("f")


# -------------------------------------------------------------------- kinds of other packages

SQUARE_FAULTS = {
    "free": ("Cost(1.0, 1.0)", "Cost(0.0, 1.0)", "number=1 costs 0.0 seconds"),
    "priceless": ("for _ in keys", "for _ in keys[1:]", "3 jobs have 2 costs"),
    "double": ("run.jobs.numbers]", "run.jobs.numbers] * 2", "a key comes twice"),
    "wide": ("[(number,) for", "[(number, 1) for", "does not have the fields number"),
    "forgetful": (
        "JOB =",
        "SquareJobs.in_full = lambda self: {'numbers': [1]}\nJOB =",
        "its jobs are others when they are read from run.json",
    ),
    "scattered": (
        "JOB =",
        "SquareKind.together = lambda self, keys, most: [keys[:1]]\nJOB =",
        "what it runs together is not every job, each once",
    ),
    "drifting": ("key[0] ** 2", "id(self) % 99991", "its figure 'square' is another"),
    "scoreless": ("float(record.square)", "record.square", "the score of number=1 is no float"),
    "failing": ("key[0] <= self", "0 <= self", "don't end well: {'failed': 3}"),
}
"""By name of a kind of job that squares numbers: what is changed in it, and what is said of it."""

CHECKS = """
import json
from benchbuild.pipeline.jobs import Run
from benchbuild.pipeline.registry import kind_of
from benchbuild.testing import check_job_kind
from benchquery.testing import check_table_kind
from collatz.jobs import CollatzJobs, CollatzSettings
from collatz.table import TABLE

def squares(name):
    kind = kind_of(name)
    return Run(name, kind.settings("numbers", 0), kind.jobs((1, 2, 3)))

def told(name):
    try:
        check_job_kind(squares(name), f"runs/{name}")
    except AssertionError as error:
        return str(error)

if __name__ == "__main__":
    check_table_kind(TABLE)
    settings = CollatzSettings("collatz", 1000, 0.0)
    check_job_kind(Run("collatz", settings, CollatzJobs(7)), "runs/collatz")
    check_job_kind(squares("squares"), "runs/squares")
    print(json.dumps({name: told(name) for name in NAMES}))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of kinds with a fault, by name, after those without one have passed.

    All are in packages of their own, that are looked for when Python starts.
    """
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(Path(__file__).parent / "toy_kind" / "collatz", folder / "collatz")
    collatz = {"numbers": "collatz.table:TABLE", "collatz": "collatz.jobs:JOB"}
    names = list(SQUARE_FAULTS)
    install(folder, "checks", CHECKS.replace("NAMES", repr(names)), KINDS, collatz)
    install(folder, "toy_squares", SQUARES, KINDS, {"squares": "toy_squares:JOB"})
    for name, (was, fault, _) in SQUARE_FAULTS.items():
        assert was in SQUARES
        source = SQUARES.replace(was, fault).replace('name = "squares"', f'name = "{name}"')
        install(folder, f"kind_{name}", source, KINDS, {name: f"kind_{name}:JOB"})
    done = run_command(folder, ["checks"])
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", SQUARE_FAULTS)
def test_faults_of_kinds_of_job_are_named(name: str, said: dict[str, str]) -> None:
    assert said[name].startswith(f"kind of job '{name}': ")
    assert SQUARE_FAULTS[name][2] in said[name]
