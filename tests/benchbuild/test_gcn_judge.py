"""Judging by few nodes says what looking at all of them says."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from torch import Tensor
from torch_geometric.utils import to_dense_adj

from benchbuild.compute.sparse import SparseRows
from benchbuild.datasets import Graph, load
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.evaluate.gcn_training import GcnTraining
from benchbuild.kinds.evaluate.node_classification import NodeClassification
from benchbuild.kinds.evaluate.operands import Factor, Operands, narrowed, plain_product
from benchquery.kinds.condensed.config import EvalConfig

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def graph() -> Graph:
    """A graph with as many validation nodes as test nodes."""
    drawn = load("csbm:nodes=900,features=24,classes=3,signal=1.5")
    valid = ~drawn.train_mask & (torch.arange(len(drawn.x)) % 2 == 0)
    return dataclasses.replace(drawn, valid_mask=valid, test_mask=~drawn.train_mask & ~valid)


def condensed(graph: Graph, seed: int) -> CondensedGraph:
    """Some training nodes, with noise."""
    generator = torch.Generator().manual_seed(seed)
    own = graph.induced(graph.train_mask)
    adjacency = to_dense_adj(own.edge_index, max_num_nodes=len(own.x))[0]
    noise = 0.3 * torch.randn(own.x.shape, generator=generator)
    return CondensedGraph(own.x + noise, own.y, adjacency)


@given(
    rows=st.integers(1, 12),
    columns=st.integers(1, 12),
    density=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_rows_of_a_sparse_matrix_are_scipys(
    rows: int, columns: int, density: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    entries = (random.random((rows, columns)) * (random.random((rows, columns)) < density)).astype(
        np.float32
    )
    chosen = random.integers(rows, size=random.integers(1, rows + 1))
    matrix = SparseRows.of(csr_matrix(entries), CPU).take(chosen)
    dense = random.random((columns, 3)).astype(np.float32)
    torch.testing.assert_close(
        matrix @ torch.from_numpy(dense), torch.from_numpy(entries[chosen] @ dense)
    )
    shorter, left = matrix.without_empty_columns()
    assert left.tolist() == np.flatnonzero(entries[chosen].any(axis=0)).tolist()
    if len(left):
        torch.testing.assert_close(
            shorter @ torch.from_numpy(dense)[left], torch.from_numpy(entries[chosen] @ dense)
        )


def through(factors: tuple[Factor, ...], dense: Tensor) -> Tensor:
    for factor in factors:
        dense = plain_product(factor, dense)
    return dense


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
def test_fewer_nodes_have_the_rows_that_they_would_have_had(
    graph: Graph, layers: int, share: float
) -> None:
    kept = torch.rand(graph.x.shape, generator=torch.manual_seed(0)) < share
    whole = Operands(graph.x * kept, graph.edge_index, None, CPU)
    nodes = torch.arange(5, 300, 3)
    factors = whole.factors_towards("gcn", nodes, layers)
    rows = np.array([0, 7, 8, 40])
    dense = torch.rand(graph.num_features, 4, generator=torch.manual_seed(1))
    torch.testing.assert_close(
        through(narrowed(factors, rows), dense), through(factors, dense)[rows]
    )


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_epoch_is_found_by_few_nodes(
    graph: Graph, layers: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = EvalConfig(hidden=16, epochs=120, layers=layers, seed=seed, dropout=0.5)
    task, payload = NodeClassification(graph, CPU), condensed(graph, seed)
    seen: list[int] = []
    logits = GcnTraining.logits

    def counted(self: GcnTraining, factors: tuple[Factor, ...]) -> Tensor:
        found = logits(self, factors)
        seen.append(len(found))
        return found

    monkeypatch.setattr(GcnTraining, "logits", counted)
    judged = task.judge(payload, config)
    tried = int(graph.valid_mask.sum())
    assert sum(seen) < 0.9 * tried * config.count("epochs")
    monkeypatch.undo()
    assert judged == task.evaluate(payload, config).valid_perf
    assert 0.5 < judged < 1


@pytest.mark.parametrize("lr", [1e18, 1e38])
def test_a_training_that_diverges_is_judged_by_its_epochs_before(graph: Graph, lr: float) -> None:
    config = EvalConfig(hidden=8, epochs=12, lr=lr)
    task, payload = NodeClassification(graph, CPU), condensed(graph, 0)
    found = task.evaluate(payload, config)
    assert found.status == "diverged"
    np.testing.assert_equal(task.judge(payload, config), found.valid_perf)
