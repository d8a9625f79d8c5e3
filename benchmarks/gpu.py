"""What a GPU makes of trainings: products, epochs a second and memory, as a file to send.

    python benchmarks/gpu.py --dataset cora --dataset arxiv --out gpu.json

For every dataset the sparse product is computed in two ways: as it is in training, by
``embedding_bag``, and by torch's own product of CSR matrices. Then one architecture of each
operation is trained for a few epochs. The file says what GPU, driver and libraries it was. On a
machine without a GPU it runs too, and says so.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from benchbuild.compute.adjacency import propagation_matrix
from benchbuild.compute.devices import claim, environment, resolve_device
from benchbuild.compute.meters import latency
from benchbuild.compute.sparse import sparse_matrix
from benchbuild.datasets import Graph, hyperparameters_for, load
from benchbuild.datasets.csr import csr_tensor
from benchbuild.kinds.train.training import train
from benchbuild.pipeline.units import readable_bytes
from benchquery.kinds.architectures.arch import OPS, Arch

TRAINED = tuple(op for op in OPS if op != "skip")


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
        peak_memory: Bytes at most.
    """

    dataset: str
    op: str
    status: str
    reason: str
    epochs_a_second: float
    latency: float
    peak_memory: int


def products(graph: Graph, width: int, device: torch.device) -> Product:
    """Time both products."""
    matrix = propagation_matrix("gcn", graph.edge_index, graph.num_nodes)
    dense = torch.randn(graph.num_nodes, width).to(device)
    ours = sparse_matrix(matrix, device)
    parts = (torch.from_numpy(part) for part in (matrix.indptr, matrix.indices, matrix.data))
    theirs = csr_tensor(*(part.to(device) for part in parts), matrix.shape)
    return Product(
        graph.name,
        width,
        latency(lambda: ours @ dense, device),
        latency(lambda: theirs @ dense, device),
    )


def training(graph: Graph, op: str, epochs: int, device: torch.device) -> Training:
    """Train an architecture for some epochs."""
    hp = hyperparameters_for(graph.name).override(epochs=epochs)
    found = train(Arch([0, 1, 2, 3], [op] * 4), graph, hp, 0, device)
    return Training(
        graph.name,
        op,
        found.status,
        found.reason,
        found.epochs_done / found.train_seconds,
        found.latency,
        found.peak_memory,
    )


def main() -> None:
    """Measure, print and write it all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", action="append", help="may be repeated; default cora")
    parser.add_argument("--ops", nargs="+", choices=TRAINED, default=TRAINED, metavar="OP")
    parser.add_argument("--epochs", type=int, default=20)
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
    for name in options.dataset or ["cora"]:
        graph = load(name, options.data_root)
        timed.append(products(graph, hyperparameters_for(name).hidden, device))
        print(f"product   {name}  {timed[-1].embedding_bag:.2e} s, csr {timed[-1].csr:.2e} s")
        for op in options.ops:
            one = training(graph, op, options.epochs, device)
            trained.append(one)
            size = readable_bytes(one.peak_memory)
            print(f"{op:9} {name}  {one.epochs_a_second:.1f} epochs/s, {size}, {one.status}")
    body |= {"products": [asdict(one) for one in timed], "trainings": [asdict(t) for t in trained]}
    options.out.write_text(json.dumps(body, indent=1) + "\n")
    print(f"written   {options.out}")


if __name__ == "__main__":
    main()
