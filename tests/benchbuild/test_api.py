"""Building from Python, as the commands do it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import benchbuild
from benchbuild.cli import main
from benchbuild.datasets import dataset_spec, hyperparameters_for, load
from benchbuild.errors import DatasetError, PlanError, UnknownDatasetError
from benchbuild.pipeline.verify import problems_in
from benchquery import Arch, ArchTable, lightread
from benchquery.errors import BenchQueryError
from tests.benchbuild.runs import figures

HP = hyperparameters_for("karate").override(epochs=4)


def test_importing_is_light_and_every_public_name_is_there() -> None:
    code = (
        "import sys, benchbuild\n"
        "assert 'numpy' not in sys.modules and 'torch' not in sys.modules\n"
        "assert all(getattr(benchbuild, name) for name in benchbuild.__all__)\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="nosuch"):
        benchbuild.nosuch  # noqa: B018


def test_a_run_from_python_is_that_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    described = benchbuild.train_run("karate", sample=3, seeds=[0, 1], hp=HP)
    out = tmp_path / "python"
    first = benchbuild.run(described, out, shard="1/2", workers=1, device="cpu")
    assert first.missing == 0
    assert not first.all_failed
    report = benchbuild.run(described, str(out), workers=1, device="cpu", progress=True)
    assert (report.total, report.before, report.ends["ok"]) == (6, first.total, 6 - first.total)
    told = capsys.readouterr()
    assert told.out == ""
    words = ["--dataset", "karate", "--sample", "3", "--seeds", "2", "--epochs", "4"]
    command = tmp_path / "command"
    assert main(["train", *words, "--device", "cpu", "--workers", "1", "--out", str(command)]) == 0
    assert figures(out) == figures(command)
    merged = benchbuild.merge([out, command], tmp_path / "tables" / "karate")
    assert (merged.rows, merged.missing) == (3, ())
    assert str(merged).endswith("3 architectures on 'karate'")
    assert len(lightread("karate", source=tmp_path / "tables")) == 3


def test_validation_metrics_are_exact_unless_asked_otherwise(tmp_path: Path) -> None:
    for decimals in (None, 2):
        described = benchbuild.train_run(
            "csbm:nodes=200", archs=[10000, 61237], seeds=[0], hp=HP, round_valid=decimals
        )
        folder = tmp_path / f"run-{decimals}"
        benchbuild.run(described, folder, workers=1, device="cpu")
        benchbuild.merge(folder, tmp_path / f"table-{decimals}")
        assert list(problems_in(tmp_path / f"table-{decimals}")) == []
    exact, rounded = (lightread_at(tmp_path / f"table-{decimals}") for decimals in (None, 2))
    for number in exact:
        highest = float(exact.curve(number, 0)[:, 1].max())
        assert exact[number]["valid_perf"] == pytest.approx(highest, abs=1e-6)
        assert rounded[number]["valid_perf"] == round(exact[number]["valid_perf"], 2)
        assert rounded[number]["perf"] == exact[number]["perf"]
    assert any(round(value, 2) != value for value in exact.column("valid_perf"))
    assert exact.manifest.provenance["round_valid"] is None
    assert rounded.manifest.provenance["round_valid"] == 2


def lightread_at(folder: Path) -> ArchTable:
    from benchquery.table.store import open_table

    return open_table(folder)


def test_a_run_without_a_folder_goes_to_one_called_after_its_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--dataset", "Karate", "--archs", "10000", "--seeds", "1", "--epochs", "2"]
    assert main(["train", *words, "--device", "cpu", "--workers", "1", "--shard", "1/1"]) == 0
    told = capsys.readouterr()
    assert "results go to runs/karate" in told.err
    assert "shard 1/1 in runs/karate" in told.out
    assert (tmp_path / "runs" / "karate" / "run.json").exists()
    words = ["--dataset", "karate", "--links", "0012", "--epochs", "2"]
    assert main(["darts", *words, "--device", "cpu", "--workers", "1"]) == 0
    assert (tmp_path / "runs" / "karate-darts" / "run.json").exists()
    assert main(["slurm-script", "--shards", "2", "train", "--dataset", "proteins"]) == 0


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"shard": "3"}, "'3'"),
        ({"workers": 0}, "workers=0"),
        ({"workers_per_device": 0}, "workers_per_device=0"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, options: dict[str, object], named: str) -> None:
    described = benchbuild.train_run("karate", archs=[10000], seeds=[0], hp=HP)
    with pytest.raises(PlanError, match=named):
        benchbuild.run(described, tmp_path / "run", device="cpu", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()


def test_the_network_of_any_hash_can_be_trained() -> None:
    graph = load("karate")
    published = lightread("cora")
    for number in (10000, 61237, 88887):
        network = benchbuild.build(number, "Cora")
        params = sum(parameter.numel() for parameter in network.parameters())
        assert params == round(published[number]["para"] * 1e6)
    network = benchbuild.build(Arch.from_hash(61237), "karate", seed=3)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        logits = network(graph.x, graph.edge_index)
        assert logits.shape == (34, 4)
        loss = torch.nn.functional.cross_entropy(logits, graph.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    assert losses[-1] < losses[0]


def test_a_network_can_be_built_for_sizes_of_ones_own() -> None:
    network = benchbuild.build(10000, features=9, classes=2, hp=HP)
    out = network(torch.ones(3, 9), torch.tensor([[0, 1], [1, 2]]))
    assert out.shape == (3, 2)
    wide = benchbuild.build(10000, "cora", features=9)
    assert wide(torch.ones(3, 9), torch.tensor([[0], [1]])).shape == (3, 7)
    with pytest.raises(PlanError, match="name a dataset"):
        benchbuild.build(10000, features=9)
    with pytest.raises(UnknownDatasetError, match="did you mean 'cora'"):
        benchbuild.build(10000, "coora")
    with pytest.raises(BenchQueryError, match="99999"):
        benchbuild.build(99999, "cora")


def test_a_dataset_is_known_by_its_other_names() -> None:
    for name, known in {
        "Cora": "cora",
        "CiteSeer": "citeseer",
        "ogbn-arxiv": "arxiv",
        "ogbn_proteins": "proteins",
        "amazon-photo": "photo",
        "Coauthor-CS": "cs",
        "CSBM:nodes=50": "csbm:nodes=50",
    }.items():
        assert dataset_spec(name).name == known
    assert benchbuild.train_run("Cora", sample=1).settings.dataset == "cora"
    with pytest.raises(UnknownDatasetError, match="did you mean 'pubmed'"):
        dataset_spec("pubmud")


def test_labels_that_are_no_whole_numbers_are_refused() -> None:
    from benchbuild.datasets import Graph

    graph = load("karate")
    masks = (graph.train_mask, graph.valid_mask, graph.test_mask)

    def build(y: torch.Tensor) -> Graph:
        return Graph.build("mine", graph.x, graph.edge_index, y, masks, num_classes=4, split="x")

    assert torch.equal(build(graph.y.double()).y, graph.y)
    for y in (graph.y + 0.5, torch.rand(34) * 2.99, torch.full((34,), torch.nan)):
        with pytest.raises(DatasetError, match="classes are whole numbers"):
            build(y)


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["--version"])
    assert leaving.value.code == 0
    assert capsys.readouterr().out.startswith("graphtab ")
