"""What a GPU makes of GraphTab: products, epochs a second and memory, as a file to send.

    python benchmarks/gpu.py --dataset cora --dataset arxiv --out gpu.json

For every dataset the sparse product is computed in two ways: as it is in training, by
``embedding_bag``, and by torch's own product of CSR matrices. One architecture of each operation is
trained for a few epochs, and its memory held against what is predicted. Then one is trained by
several workers at once that share the GPU, and with several seeds as one computation. At last a
small job of every kind, every condensation method and every task of evaluation is run. The file
says what GPU, driver and libraries it was. On a machine without a GPU it runs too, and says so.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchbuild import api
from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.devices import accelerates, claim, environment, resolve_device
from benchbuild.compute.meters import latency
from benchbuild.compute.sparse import PRODUCTS, sparse_matrix
from benchbuild.datasets import Graph, dataset_spec, hyperparameters_for, load
from benchbuild.engines.base import Refusal, WorkerSettings, open_context, run_job
from benchbuild.engines.local import LocalEngine
from benchbuild.kinds.train.costs import CostModel
from benchbuild.kinds.train.kind import train_run
from benchbuild.kinds.train.training import train, train_together, trainer
from benchbuild.pipeline.jobs import Place
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.testing.everything import evaluate_runs, graph_runs, set_runs
from benchquery.kinds.architectures.arch import OPS, Arch
from benchquery.units import readable_bytes

TRAINED = tuple(op for op in OPS if op != "skip")
SHARED = Arch([0, 1, 1, 2], ["gcn", "sage", "arma", "gcn"])
"""What is trained by several workers, and with several seeds."""


@dataclass(frozen=True)
class Product:
    """A product of the graph's matrix with the features of a layer.

    Attributes:
        dataset: The dataset.
        width: The width of the layer.
        embedding_bag: Seconds of the product as training computes it.
        csr: Seconds of torch's own.
    """

    dataset: str
    width: int
    embedding_bag: float
    csr: float


@dataclass(frozen=True)
class Training:
    """A training of four equal operations in a row.

    Attributes:
        dataset: The dataset.
        op: The operation.
        status: How it ended.
        reason: Why, if not well.
        epochs_a_second: How fast it was.
        latency: Seconds of a forward pass.
        peak_memory: Bytes at most; on a GPU, of tensors.
        predicted_memory: The same as it is predicted.
    """

    dataset: str
    op: str
    status: str
    reason: str
    epochs_a_second: float
    latency: float
    peak_memory: int
    predicted_memory: float


@dataclass(frozen=True)
class Shared:
    """Trainings of one architecture by workers that share a device.

    Attributes:
        dataset: The dataset.
        workers: How many.
        epochs_a_second: Epochs of all of them in a second.
    """

    dataset: str
    workers: int
    epochs_a_second: float


@dataclass(frozen=True)
class Batch:
    """Seeds of one architecture trained as one computation.

    Attributes:
        dataset: The dataset.
        seeds: How many.
        status: How they ended.
        reason: Why, if not well.
        times_as_fast: Seconds of the same trainings one after the other, in seconds of the batch.
        same_figures: Whether all have the same curves either way, bit by bit.
    """

    dataset: str
    seeds: int
    status: str
    reason: str
    times_as_fast: float
    same_figures: bool


@dataclass(frozen=True)
class Job:
    """A small job of a kind or a method.

    Attributes:
        name: What it is.
        status: How it ended.
        reason: Why, if not well.
    """

    name: str
    status: str
    reason: str


def products(graph: Graph, width: int, device: torch.device) -> Product:
    """Time both products."""
    matrix = propagation_matrix("gcn", graph.edge_index, graph.num_nodes)
    dense = torch.randn(graph.num_nodes, width).to(device)
    ours = sparse_matrix(matrix, device)
    pattern = ours.pattern.forward
    seconds = {
        name: latency(partial(product, pattern, ours.values, dense), device)
        for name, product in PRODUCTS.items()
    }
    return Product(graph.name, width, **seconds)


def training(graph: Graph, op: str, epochs: int, device: torch.device) -> Training:
    """Train an architecture for some epochs, alone on the device."""
    hp = hyperparameters_for(graph.name).override(epochs=epochs)
    arch = Arch([0, 1, 2, 3], [op] * 4)
    trainer.prepare.cache_clear()
    found = train(arch, graph, hp, 0, device)
    cost = CostModel(dataset_spec(graph.name).size, hp, graph.metric).cost(arch)
    predicted = cost.gpu_memory if accelerates(device) else cost.memory
    assert predicted is not None
    return Training(
        graph.name,
        op,
        found.status,
        found.reason,
        found.epochs_done / found.train_seconds,
        found.latency,
        found.peak_memory,
        predicted,
    )


def shared(dataset: str, workers: int, epochs: int, options: argparse.Namespace) -> Shared:
    """Train one architecture by several workers at once, each with a seed of its own."""
    hp = hyperparameters_for(dataset).override(epochs=epochs)
    run = train_run(dataset, archs=[SHARED.valid_hash()], seeds=range(workers), hp=hp)
    root = None if options.data_root is None else str(options.data_root)
    device = str(resolve_device(options.device))
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "run"
        api.run(run, out, engine=LocalEngine(WorkerSettings(device, workers, data_root=root)))
        records = list(RunFolder.open(out).parts.records())
    speed = sum(record.epochs_done / record.train_time for record in records)
    return Shared(dataset, workers, speed)


def batch(graph: Graph, seeds: int, epochs: int, device: torch.device) -> Batch:
    """Train one architecture with several seeds, one after the other and at once."""
    hp = hyperparameters_for(graph.name).override(epochs=epochs)
    train_together(SHARED, graph, hp.override(epochs=1), range(seeds), device)
    apart = [train(SHARED, graph, hp, seed, device) for seed in range(seeds)]
    found = train_together(SHARED, graph, hp, range(seeds), device)
    taken, shares = (sum(one.train_seconds for one in part) for part in (apart, found))
    pairs = zip(apart, found, strict=True)
    same = all(one.curves.tobytes() == other.curves.tobytes() for one, other in pairs)
    return Batch(graph.name, seeds, found[0].status, found[0].reason, taken / shares, same)


def everything(device: torch.device, begin: Sequence[str]) -> list[Job]:
    """Run a small job of every kind, operation, method and task whose name begins so."""
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        evaluated = evaluate_runs(Path(scratch))
        for name, run in {**graph_runs(), **evaluated, **set_runs()}.items():
            if not name.startswith(tuple(begin)):
                continue
            kind = kind_of(run.kind)
            context = open_context(kind, run.settings, Place(str(device), scratch=scratch))
            if isinstance(context, Refusal):
                found.append(Job(name, "refused", context.reason))
                continue
            record = run_job(kind, context, kind.keys(run)[0])
            found.append(Job(name, record.status, record.reason))
    return found


def main() -> None:
    """Measure, print and write it all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", action="append", help="may be repeated; default cora")
    parser.add_argument("--ops", nargs="+", choices=TRAINED, default=TRAINED, metavar="OP")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--workers", nargs="*", type=int, default=[1, 2, 4], metavar="N")
    parser.add_argument("--seeds", nargs="*", type=int, default=[2, 4, 8], metavar="N")
    parser.add_argument(
        "--jobs", nargs="*", default=[""], metavar="WORD",
        help="only those small jobs whose names begin so, as evaluate; default all",
    )  # fmt: skip
    parser.add_argument("--device", default="auto")
    parser.add_argument("--data-root", type=Path)
    parser.add_argument("--out", type=Path, default=Path("gpu.json"))
    options = parser.parse_args()
    device = resolve_device(options.device)
    claim(device)
    where = environment(device, torch.get_num_threads())
    print(f"device    {where['device_name']}, {device}")
    body: dict[str, object] = {"environment": where}
    timed: list[Product] = []
    trained: list[Training] = []
    together: list[Shared] = []
    batches: list[Batch] = []
    for name in options.dataset or ["cora"]:
        graph = load(name, options.data_root)
        timed.append(products(graph, hyperparameters_for(name).hidden, device))
        print(f"product   {name}  {timed[-1].embedding_bag:.2e} s, csr {timed[-1].csr:.2e} s")
        for op in options.ops:
            one = training(graph, op, options.epochs, device)
            trained.append(one)
            size, said = map(readable_bytes, (one.peak_memory, one.predicted_memory))
            print(
                f"{op:9} {name}  {one.epochs_a_second:.1f} epochs/s, {size} ({said} predicted), "
                f"{one.status}"
            )
        for workers in options.workers:
            together.append(shared(name, workers, options.epochs, options))
            print(
                f"workers   {name}  {workers}: {together[-1].epochs_a_second:.1f} epochs/s in all"
            )
        for seeds in options.seeds:
            joined = batch(graph, seeds, options.epochs, device)
            batches.append(joined)
            print(
                f"batch     {name}  {seeds} seeds: {joined.times_as_fast:.2f} times as fast, "
                f"figures {'the same' if joined.same_figures else 'rounded otherwise'}, "
                f"{joined.status}"
            )
    jobs = everything(device, options.jobs)
    for job in jobs:
        print(f"job       {job.name}: {job.status} {job.reason}".rstrip())
    parts: dict[str, Sequence[Any]]
    parts = {
        "products": timed,
        "trainings": trained,
        "workers": together,
        "batches": batches,
        "jobs": jobs,
    }
    body |= {name: [asdict(one) for one in part] for name, part in parts.items()}
    options.out.write_text(json.dumps(body, indent=1) + "\n")
    print(f"written   {options.out}")


if __name__ == "__main__":
    main()
