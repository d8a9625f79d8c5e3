"""NNI's strategies on our tables, with the real NNI."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchquery import SPACES, Arch, lightread
from benchquery.adapters.nni import run as run_nni  # before anything of nni.nas
from benchquery.errors import MissingPackageError
from benchquery.search import Budget, run
from benchquery.search.choices import choices

HERE = importlib.util.find_spec("nni") is not None

pytestmark = pytest.mark.nni
needs_nni = pytest.mark.skipif(not HERE, reason="NNI is not installed: pip install 'graphtab[nni]'")


@pytest.mark.skipif(HERE, reason="NNI is installed")
def test_without_nni_there_is_a_hint() -> None:
    with pytest.raises(MissingPackageError, match=r"pip install 'graphtab\[nni\]'"):
        run("nni:random", "cora", 5)
    with pytest.raises(MissingPackageError, match="nni"):
        from benchquery.adapters.nni import GraphSpace  # noqa: F401


@needs_nni
@pytest.mark.parametrize("name", ["random", "grid", "evolution", "evolution-repeats", "tpe"])
def test_strategies_use_their_budget_and_follow_their_seed(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    first, again, other = (run(f"nni:{name}", "proteins", 120, seed=seed) for seed in (0, 0, 1))
    assert first.hashes.tolist() == again.hashes.tolist() != other.hashes.tolist()
    assert len(first) == 120
    assert first.report().spent == 120
    table = lightread("proteins")
    np.testing.assert_array_equal(first.rewards, table.lookup(first.hashes, "valid_perf"))
    assert capfd.readouterr().out == ""


@needs_nni
@pytest.mark.parametrize("name", ["random", "tpe"])
def test_a_new_process_logs_nothing_to_standard_output(name: str) -> None:
    """NNI logs there, from its import on, unless it is kept from it."""
    code = f"from benchquery.search import run; run('nni:{name}', 'proteins', 3)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""


@needs_nni
def test_tpe_is_told_that_more_is_better() -> None:
    """NNI's own default is to minimise."""
    from nni.nas.strategy import TPE

    seed = random.Random(0).getrandbits(32)
    ours = run("nni:tpe", "physics", 60, seed=0)
    maximising = TPE(optimize_mode="maximize", seed=seed)
    assert ours.hashes.tolist() == run_nni(maximising, "physics", 60).hashes.tolist()
    assert ours.hashes.tolist() != run_nni(TPE(seed=seed), "physics", 60).hashes.tolist()
    for records in maximising.tuner._history.values():
        assert [-record.loss for record in records] == ours.rewards.tolist()


@needs_nni
def test_budgets_that_nni_does_not_know() -> None:
    trace = run("nni:random", "proteins", Budget(60, repeats="free"), seed=0)
    assert trace.report().architectures == 60


@needs_nni
def test_the_space_has_every_raw_form_once() -> None:
    from benchquery.adapters.nni import GraphSpace

    space = GraphSpace("proteins")
    frozen = list(space.grid())
    sizes = [len(values) for values in choices(SPACES["proteins"]).values()]
    assert len(frozen) == np.prod(sizes) == 24 * 5**4
    forms = {(tuple(model.link), tuple(model.ops)) for model in frozen}
    assert len(forms) == len(frozen)
    real = {Arch(link, ops).valid_hash() for link, ops in forms if set(ops) != {"skip"}}
    assert real == set(SPACES["proteins"].hashes.tolist())
    assert space.check_contains({**dict.fromkeys(choices(SPACES["full"]), 0)}) is not None


@needs_nni
def test_a_strategy_of_ones_own_runs_unchanged() -> None:
    from nni.nas.strategy import Random, RegularizedEvolution

    class Greedy(Random):  # type: ignore[misc]
        """Somebody's strategy, that knows nothing of us."""

    trace = run_nni(Greedy(seed=1), "proteins", 20)
    assert (trace.strategy, len(trace)) == ("nni:Greedy", 20)
    small = RegularizedEvolution(population_size=10, sample_size=3, seed=0)
    assert len(run_nni(small, "proteins", "2%", protocol="leaky-test")) == 40


@needs_nni
def test_the_clock_of_nni_is_put_back() -> None:
    import time

    from nni.nas.strategy import hpo

    run("nni:tpe", "proteins", 3)
    assert hpo.time is time


@needs_nni
@pytest.mark.slow
def test_an_experiment_on_the_local_training_service(tmp_path: Path) -> None:
    """Real trial processes, each of which looks its figure up."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    script = tmp_path / "smoke.py"
    script.write_text(
        "import json, sys\n"
        "from benchquery.adapters.nni import experiment\n"
        "from nni.nas.strategy import Random\n"
        "made = experiment(Random(seed=0), 'proteins', 2)\n"
        f"made.config.experiment_working_directory = {str(tmp_path)!r}\n"
        f"made.run({port})\n"
        "done = [[m.sample, m.metric] for m in made.strategy.list_models()]\n"
        "made.stop()\n"
        f"open({str(tmp_path / 'done.json')!r}, 'w').write(json.dumps(done))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "NNI_FRAMEWORK"}
    environment["PYTHONPATH"] = str(Path.cwd())
    subprocess.run(
        [sys.executable, str(script)], env=environment, cwd=Path.cwd(), check=True, timeout=240,
        capture_output=True,
    )  # fmt: skip
    done = json.loads((tmp_path / "done.json").read_text())
    table = lightread("proteins")
    assert len(done) == 2
    for sample, metric in done:
        links = [0, sample["link1"], sample["link2"], sample["link3"]]
        arch = Arch(links, [sample[f"op{node}"] for node in range(4)])
        assert metric == table[arch]["valid_perf"]
