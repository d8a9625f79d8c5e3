"""Speed of LiteGNTK, KiDD's kernel, on one thread: against a plain version, a pair at a time.

    python benchmarks/litegntk.py

Shown are seconds of what an update of KiDD computes: the kernel of the synthetic graphs and that
between them and a batch of real ones, and with ``gradients`` also its derivatives by the synthetic
ones. The plain version goes over the pairs of graphs and propagates the matrix of each pair, as the
formula is written; what depends on one graph alone it computes once. Both take turns in single
precision, and processor time is counted; the difference is the greatest one of a kernel's entry in
double precision, relative to the largest entry.

Real graphs are random ones of the size of molecules. Their nodes have labels, as those of molecules
and proteins do, so that many are alike; below, for comparison, each node has features of its own.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional
from torch_geometric.utils import to_dense_adj, unbatch

from benchbuild.datasets.graphset import GraphBatch
from benchbuild.kinds.condense.graphs.litegntk import (
    EqualSide,
    GraphSide,
    Steps,
    dense_side,
    low_rank_side,
    self_kernel,
)

LABELS = 37
SHARES = torch.tensor([0.7, 0.1, 0.1] + [0.1 / 34] * 34)
"""Three labels are most of the nodes, as carbon, nitrogen and oxygen are in NCI1."""
Kernels = Callable[[], tuple[Tensor, Tensor]]
Plain = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Case:
    """Synthetic graphs with a low-rank or a dense adjacency, and what is done to them."""

    name: str
    steps: Steps
    low_rank: bool


CASES = (
    Case("low rank", Steps(before=0, after=2, mean=False), low_rank=True),
    Case("dense", Steps(before=1, after=4, mean=True), low_rank=False),
)


def molecules(graphs: int, nodes: int, labelled: bool, generator: torch.Generator) -> GraphBatch:
    """Return random graphs: trees with a few more edges, and labels or features of their own."""
    sizes = torch.randint(nodes // 2, nodes * 3 // 2 + 1, (graphs,), generator=generator)
    starts = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
    edges = []
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=False):
        child = torch.arange(1, size)
        parent = (child - 1 - 2 * torch.rand(size - 1, generator=generator)).long().clamp(min=0)
        ring = child[4::8]
        edges.append(start + torch.stack([torch.cat([parent, ring - 5]), torch.cat([child, ring])]))
    both = torch.cat([torch.cat([pair, pair.flip(0)], dim=1) for pair in edges], dim=1)
    total = int(starts[-1])
    label = torch.multinomial(SHARES, total, replacement=True, generator=generator)
    own = torch.rand(total, LABELS, generator=generator)
    x = functional.one_hot(label, LABELS).float() if labelled else own
    return GraphBatch(x, both, starts, torch.zeros(graphs, dtype=torch.long))


def plain_norms(x: Tensor, a: Tensor, steps: Steps) -> Tensor:
    """Return the roots of a graph's own variances, from features and adjacency with loops."""
    return propagated(x @ x.T + 1e-4, a, a, steps.before).diagonal().sqrt()


def plain_pair(one: Plain, other: Plain, steps: Steps) -> Tensor:
    """Return the kernel of two graphs, each given by features, adjacency and `plain_norms`."""
    (x, a, own), (z, b, others) = one, other
    sigma = propagated(x @ z.T + 1e-4, a, b, steps.before)
    cosine = (sigma / (torch.outer(own, others) + 1e-6)).clamp(-0.9999, 0.9999)
    angle = math.pi - cosine.acos()
    layer = (cosine * angle + (1 - cosine**2).sqrt()) / math.pi
    ntk = propagated(sigma * angle / math.pi + layer, a, b, steps.after)
    return ntk.mean() if steps.mean else ntk.sum()


def propagated(matrix: Tensor, a: Tensor, b: Tensor, times: int) -> Tensor:
    for _ in range(times):
        matrix = a @ matrix @ b.T
    return matrix


def kernels_of(
    case: Case, real: GraphBatch, x: Tensor, structure: list[Tensor]
) -> tuple[Kernels, Kernels]:
    """Return two ways to the kernels among synthetic graphs and with real ones: plain, ours."""
    dtype, steps = x.dtype, case.steps
    chosen = torch.arange(len(real))
    set_side = GraphSide(real, real.x.to(dtype), steps)
    z = unbatch(real.x.to(dtype), real.graph_of)
    loops = [1e-4 * torch.eye(len(each), dtype=dtype) for each in z]
    whole = to_dense_adj(real.edge_index, real.graph_of).to(dtype)
    b = [whole[place, : len(each), : len(each)] + loops[place] for place, each in enumerate(z)]
    given = [(*each, plain_norms(*each, steps)) for each in zip(z, b, strict=True)]

    def plain() -> tuple[Tensor, Tensor]:
        loop = 0.0 if case.low_rank else 1e-4 * torch.eye(x.shape[1], dtype=dtype)
        a = (structure[0] @ structure[1] if case.low_rank else structure[0]) + loop
        made = [(*each, plain_norms(*each, steps)) for each in zip(x, a, strict=True)]
        among = [plain_pair(one, other, steps) for one in made for other in made]
        between = [plain_pair(one, other, steps) for one in made for other in given]
        return torch.stack(among).view(len(x), -1), torch.stack(between).view(len(x), -1)

    def ours() -> tuple[Tensor, Tensor]:
        side = side_of()
        return self_kernel(side), set_side.kernel(side, chosen)

    def side_of() -> EqualSide:
        if case.low_rank:
            return low_rank_side(x, *structure, steps.after)
        return dense_side(x, *structure, steps)

    return plain, ours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=128, help="real graphs")
    parser.add_argument("--synthetic", type=int, default=16, help="synthetic graphs")
    parser.add_argument("--nodes", type=int, default=30, help="of a real graph, on average")
    parser.add_argument("--rank", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    title = f"{options.synthetic} x {options.graphs} graphs, seconds"
    print(f"{title:<40}{'plain':>10}{'ours':>10}{'ratio':>9}{'difference':>12}")
    for labelled in (True, False):
        for case in CASES:
            generator = torch.Generator().manual_seed(0)
            real = molecules(options.graphs, options.nodes, labelled, generator)
            size = (options.synthetic, 3 * options.nodes)
            x = torch.rand(*size, LABELS, generator=generator)
            widths = (options.rank, options.rank) if case.low_rank else (size[1],)
            structure = [torch.rand(*size, width, generator=generator) / 5 for width in widths]
            if case.low_rank:
                structure[1] = structure[1].mT.contiguous()
            double = [each.double() for each in (x, *structure)]
            ways = kernels_of(case, real, double[0], double[1:])
            (plain_ss, plain_st), (our_ss, our_st) = (way() for way in ways)
            difference = max(
                float((found - wanted).abs().max() / wanted.abs().max())
                for found, wanted in ((our_ss, plain_ss), (our_st, plain_st))
            )
            learnt = [x, *structure]
            for gradients in (False, True):
                for each in learnt:
                    each.requires_grad_(gradients)
                seconds = timed(kernels_of(case, real, x, structure), learnt, options.rounds)
                label = f"{case.name}, {'labels' if labelled else 'features of their own'}"
                label += ", gradients" if gradients else ""
                ratio = seconds[0] / seconds[1]
                print(f"{label:<40}{seconds[0]:>10.3f}{seconds[1]:>10.4f}", end="")
                print(f"{ratio:>9.1f}{difference:>12.1e}", flush=True)


def timed(ways: tuple[Kernels, Kernels], learnt: list[Tensor], rounds: int) -> list[float]:
    """Return the least processor seconds of each way, in turn."""
    best = [math.inf, math.inf]
    for _ in range(rounds):
        for place, way in enumerate(ways):
            start = time.process_time()
            run(way, learnt)
            best[place] = min(best[place], time.process_time() - start)
    return best


def run(way: Kernels, learnt: list[Tensor]) -> None:
    """Compute kernels, and what gradients are asked for; leave nothing for others to clear up."""
    among, between = way()
    if among.requires_grad:
        torch.autograd.grad(among.sum() + between.sum(), learnt)


if __name__ == "__main__":
    main()
