"""The memory that trainings are predicted to need, against the bytes that a pretend GPU counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
import torch
from scipy.sparse import random as random_matrix
from torch_geometric.utils import to_undirected

from benchbuild.cli import main
from benchbuild.compute import thresholds
from benchbuild.compute.sparse import PatternStore
from benchbuild.datasets.graph import Graph
from benchbuild.datasets.registry import dataset_spec
from benchbuild.datasets.size import GraphSize
from benchbuild.hyperparameters import HyperParameters
from benchbuild.kinds.train.costs import CostModel
from benchbuild.kinds.train.training import TrainResult, train, trainer
from benchbuild.kinds.train.training.attention import attention_pattern
from benchbuild.kinds.train.training.chunked import ChunkedAttention, spans
from benchbuild.pipeline.cards import CARDS, cards_for
from benchbuild.testing.gpu import PretendGpu
from benchquery import lightread
from benchquery.kinds.architectures.arch import OPS, Arch

CPU = torch.device("cpu")
WITHIN = 0.2
TRAINED = [op for op in OPS if op != "skip"]

SHAPES = {
    "many edges, tasks": (
        GraphSize(300, 30_000, 8, 2_400, 12, trained=195, labelled=300),
        HyperParameters(1, 1, 32, 0.0, "adam", 0.01, 5e-4, 1),
    ),
    "few edges": (
        GraphSize(800, 9_600, 32, 25_600, 5, trained=440, labelled=800),
        HyperParameters(0, 1, 32, 0.2, "adam", 0.01, 0.0, 1),
    ),
    "sparse features": (
        GraphSize(600, 2_400, 300, 3_600, 4, trained=60, labelled=400),
        HyperParameters(0, 0, 32, 0.5, "sgd", 0.1, 5e-4, 1),
    ),
}
LINKS = {"row": [0, 1, 2, 3], "star": [0, 0, 0, 0], "tree": [0, 1, 1, 2]}

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def _slabs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every attention be one of slabs, on a graph that a test can afford."""
    trainer.prepare.cache_clear()
    monkeypatch.setattr(thresholds, "ATTENTION_WHOLE", 0)
    monkeypatch.setattr(thresholds, "ATTENTION_SLAB", 50_000)
    yield
    trainer.prepare.cache_clear()


@cache
def drawn(size: GraphSize) -> Graph:
    """A random graph of about that size."""
    draw = torch.Generator().manual_seed(0)
    edges = torch.randint(size.nodes, (2, size.edges // 2), generator=draw)
    share = size.nonzeros / (size.nodes * size.features)
    x = torch.rand(size.nodes, size.features, generator=draw)
    tasks = torch.randint(2, (size.nodes, size.classes), generator=draw)
    order = torch.randperm(size.nodes, generator=draw)
    bounds = [0, size.trained, (size.trained + size.labelled) // 2, size.labelled]
    masks = [torch.zeros(size.nodes, dtype=torch.bool) for _ in range(3)]
    for mask, begin, end in zip(masks, bounds, bounds[1:], strict=False):
        mask[order[begin:end]] = True
    metric = "rocauc" if size.classes > 10 else "accuracy"
    return Graph.build(
        "drawn",
        torch.where(x <= share, x + 0.1, 0.0),
        to_undirected(edges[:, edges[0] != edges[1]], num_nodes=size.nodes),
        tasks if metric == "rocauc" else tasks.argmax(dim=1),
        (masks[0], masks[1], masks[2]),
        num_classes=size.classes,
        split="drawn",
        metric=metric,
    )


def measured(arch: Arch, graph: Graph, hp: HyperParameters) -> int:
    """The bytes of a training alone."""
    with PretendGpu() as gpu:
        assert train(arch, graph, hp, 0, gpu.device).ok
        trainer.prepare.cache_clear()
    return gpu.peak


def predicted(arch: Arch, size: GraphSize, hp: HyperParameters, metric: str) -> float:
    found = CostModel(size, hp, metric).cost(arch).gpu_memory
    assert found is not None
    return found


PAIRS = [(op, list(SHAPES)[place % 3], place) for place, op in enumerate(TRAINED)]
PAIRS += [(op, list(SHAPES)[place % 3], place) for op in ("gat", "arma") for place in range(3)]


@pytest.mark.parametrize(("op", "shape", "place"), sorted(set(PAIRS)))
def test_it_is_that_of_the_pretend_gpu(op: str, shape: str, place: int) -> None:
    size, hp = SHAPES[shape]
    graph = drawn(size)
    arch = Arch(list(LINKS.values())[(place + 1) % 3], [op] * 4)
    said = predicted(arch, size, hp, graph.metric)
    assert said == pytest.approx(measured(arch, graph, hp), rel=WITHIN)


def test_it_grows_with_the_graph_as_the_pretend_gpu_says() -> None:
    """Two small graphs of the shape of proteins give a line; the prediction is where it leads."""
    spec = dataset_spec("proteins")
    hp = spec.hyperparameters.override(hidden=32, epochs=1)
    arch = Arch([0, 1, 1, 2], ["gcn", "sage", "arma", "gcn"])
    whole, shares, peaks = spec.size, (1 / 400, 1 / 200), []
    for share in shares:
        names = ("nodes", "edges", "nonzeros", "trained", "labelled")
        small = {name: round(getattr(whole, name) * share) for name in names}
        edges = small["edges"] + small["nodes"]
        graph = drawn(GraphSize(**{**small, "edges": edges}, features=8, classes=whole.classes))
        peaks.append(measured(arch, graph, hp) * small["edges"] / graph.num_edges)
    slope, start = np.polyfit(shares, peaks, 1)
    assert predicted(arch, whole, hp, "rocauc") == pytest.approx(start + slope, rel=WITHIN)


@pytest.mark.usefixtures("_slabs")
def test_attention_in_slabs_needs_what_is_predicted() -> None:
    size, hp = SHAPES["many edges, tasks"]
    arch = Arch([0, 1, 2, 3], ["gat", "skip", "skip", "gat"])
    said = predicted(arch, size, hp, "rocauc")
    assert said == pytest.approx(measured(arch, drawn(size), hp), rel=WITHIN)


def test_attention_in_slabs_trains_to_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    size, hp = SHAPES["few edges"]
    results: list[TrainResult] = []
    for whole in (thresholds.ATTENTION_WHOLE, 0):
        monkeypatch.setattr(thresholds, "ATTENTION_WHOLE", whole)
        monkeypatch.setattr(thresholds, "ATTENTION_SLAB", 20_000)
        trainer.prepare.cache_clear()
        with PretendGpu() as gpu:
            arch = Arch([0, 1, 2, 3], ["gat", "skip", "skip", "gat"])
            results.append(train(arch, drawn(size), hp.override(epochs=2), 0, gpu.device))
            trainer.prepare.cache_clear()
        waits = {name for name in gpu.synchronisations if name != "synchronize"}
        assert waits == {"aten::_to_copy"}, "the curves, when all is done"
    np.testing.assert_array_equal(results[0].curves, results[1].curves)


@pytest.mark.parametrize("shape", [(7, 11), (60, 40), (40, 60)])
def test_slabs_give_the_sums_and_gradients_of_the_whole(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thresholds, "ATTENTION_SLAB", 20)
    heads, width = 3, 4
    matrix = random_matrix(*shape, 0.15, format="csr", dtype=np.float32, random_state=0)
    whole = attention_pattern(matrix, heads, CPU)
    slabs = ChunkedAttention.of(matrix, heads, PatternStore(CPU))
    assert len(slabs.targets) > 1
    draw = torch.Generator().manual_seed(1)
    sizes = [(shape[1] * heads, width), (shape[1] * heads,), (shape[0] * heads,)]
    given = [torch.randn(size, generator=draw) for size in sizes]
    found = []
    for graph in (whole, slabs):
        inputs = [tensor.clone().requires_grad_() for tensor in given]
        out = graph.attend(inputs[0], inputs[1], inputs[2])
        (out * torch.arange(1.0, width + 1)).sum().backward()
        found.append([out.detach(), *(tensor.grad for tensor in inputs)])
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


def test_spans_cover_all_rows_in_turn_and_are_no_larger_than_allowed() -> None:
    counts = np.random.default_rng(0).integers(9, size=50)
    indptr = np.concatenate([[0], counts.cumsum()])
    found = spans(indptr, 6)
    assert [span.first for span in found] == [0, *(span.last for span in found[:-1])]
    assert found[-1].last == 50
    for span in found:
        assert (span.begin, span.end) == (indptr[span.first], indptr[span.last])
        assert span.end - span.begin <= 6 or span.last == span.first + 1


def test_every_operation_can_be_built_on_proteins_with_24_gigabytes() -> None:
    spec = dataset_spec("proteins")
    for op in TRAINED:
        for link in LINKS.values():
            arch = Arch(link, [op] * 4)
            assert 24 in cards_for(predicted(arch, spec.size, spec.hyperparameters, "rocauc"))


@pytest.mark.parametrize("dataset", ["cora", "citeseer", "pubmed", "photo", "computers"])
def test_on_a_cpu_it_is_that_of_the_bundled_tables(dataset: str) -> None:
    spec, table = dataset_spec(dataset), lightread(f"{dataset}-built").where("status == ok")
    model = CostModel(spec.size, spec.hyperparameters, spec.metric)
    said = np.array([model.cost(arch).memory for arch in table.archs()])
    np.testing.assert_allclose(said, table.column("peak_memory"), rtol=0.25)


def test_inspect_says_what_fits(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["inspect", "--dataset", "arxiv", "--hash", "10000"]
    assert main([*line, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["fits_gpus"] == list(CARDS)
    assert facts["predicted_gpu_memory"] < facts["predicted_memory"]
    assert main(line) == 0
    assert "fits one of 16 GB" in capsys.readouterr().out
    attention = ["inspect", "--dataset", "proteins", "--hash", "10000"]
    assert main(attention) == 2
    assert "10000 is not in the space 'proteins'" in capsys.readouterr().err
    assert main([*attention, "--space", "full"]) == 0
    assert "(fits one of 16 GB)" in capsys.readouterr().out
    assert cards_for(20e9) == (24, 40, 80)
    assert cards_for(20e9, workers=2) == (80,)
    assert not cards_for(80e9)


def test_a_dry_run_counts_the_jobs_that_fit(capsys: pytest.CaptureFixture[str]) -> None:
    line = "train --dataset proteins --shard 3/32 --dry-run --workers-per-device"
    assert main([*line.split(), "4"]) == 0
    said = capsys.readouterr().out
    assert "jobs that fit a GPU with 4 workers each: " in said
    assert "all on 80 GB" in said
    assert "all on 16 GB" not in said
