r"""Mirage: frequent sets of computation trees, after Gupta et al. (2024).

.. math::
    \mathcal{P}_c = \{ S : s_c(S) \ge \theta_c \text{ and } s_d(S) < \theta_d
    \text{ for all } d \ne c \}, \qquad
    s_c(S) = |\{ G \text{ of class } c : S \subseteq \{ T_L(v) : v \in G \} \}|

A graph is the set of the trees that L layers of message passing see at its nodes. Trees that are
together in many graphs of a class, but not in as many of another, are a pattern: one item of the
condensed set, the disjoint union of the trees, read out from their roots. No model is trained, and
nothing is drawn at random.

The thresholds are given, ``supports``, or searched: ``size`` finds those whose patterns take as
many bytes, as float32 matrices of edges and features, as ``per_class`` graphs of ``nodes`` nodes do
in each class. This is how GC-Bench compares Mirage with DosCond; there, one class may have nearly
all of the bytes.

The released code keeps what is frequent in several classes, under each of them, for the datasets in
`SHARED_AS_RELEASED`; protocol ``as-released`` does so too. Its decimal labels of trees, which it
uses for the other datasets, are not injective by form. They are not reproduced: on the training
graphs of NCI1, molbace and molbbbp, with labels numbered in ascending order and in a random one, no
two different trees had the same; in the order of the released code it was not tried. Its other
faults lie in how it evaluates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch

from benchbuild.datasets.coding import dense_bytes
from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.graphs.mining import ItemSets, Transactions
from benchbuild.kinds.condense.graphs.problem import GraphsProblem
from benchbuild.kinds.condense.graphs.ragged import starts_of
from benchbuild.kinds.condense.graphs.supports import ClassPatterns, supports_for
from benchbuild.kinds.condense.graphs.tree_payload import CondensedTrees
from benchbuild.kinds.condense.graphs.trees import Trees
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.naming import whole_number

BY_SIZE = "size"
"""What ``supports`` is for thresholds that meet a size."""
SHARED_AS_RELEASED = frozenset({"dd", "molbace", "molhiv"})
"""Datasets of which the released code keeps what is frequent in both classes."""
MAX_NODES = 20_000_000
"""Patterns whose trees have more nodes than this together are refused."""


def condense(
    problem: GraphsProblem, config: CondenseConfig, workspace: Workspace
) -> Iterator[Snapshot]:
    """Yield the patterns, with the support of each class beside them.

    Raises:
        CondenseError: If the supports are not one for each class, leave a class without a pattern,
            or leave too many patterns.
    """
    trees = Trees.of(problem.graphs, config.count("depth"))
    transactions = Transactions.of(
        trees.of_node,
        problem.graphs.graph_of.cpu().numpy(),
        problem.graphs.y.cpu().numpy(),
        problem.num_classes,
    )

    def sizes_of(sets: ItemSets) -> np.ndarray:
        nodes = sets.totals(trees.sizes)
        size: np.ndarray = 4 * nodes * (nodes + problem.graphs.num_features)
        return size

    shared = (
        config.protocol == "as-released" and config.dataset.partition(":")[0] in SHARED_AS_RELEASED
    )
    patterns = [
        ClassPatterns(transactions, label, sizes_of, shared=shared)
        for label in range(problem.num_classes)
    ]
    if config["supports"] == BY_SIZE:
        share = float(size_of_graphs(problem, config))
        supports = supports_for(patterns, share)
    else:
        share = np.inf
        supports = given_supports(str(config["supports"]), problem.num_classes)
    found = {f"support_{label}": float(support) for label, support in enumerate(supports)}
    yield Snapshot(0, condensed_trees(trees, patterns, supports, share), found)


def given_supports(text: str, num_classes: int) -> list[int]:
    """Read supports, one for each class, as in ``460,590``.

    Raises:
        CondenseError: If they are not as many, or one is no whole number from 1 up.
    """
    numbers = [whole_number(part) or 0 for part in text.split(",")]
    if len(numbers) != num_classes or not all(numbers):
        raise CondenseError(
            f"supports is {text!r}; it is {BY_SIZE!r}, or a whole number from 1 up for each of "
            f"{num_classes} classes, as in {','.join(['100'] * num_classes)}"
        )
    return numbers


def size_of_graphs(problem: GraphsProblem, config: CondenseConfig) -> int:
    """Return the bytes of ``per_class`` graphs of ``nodes`` nodes each: one class's share.

    A number of nodes of 0 is that of a training graph on average, rounded up.
    """
    graphs = problem.graphs
    nodes = config.count("nodes") or math.ceil(graphs.num_nodes / len(graphs))
    return dense_bytes(np.full(config.count("per_class"), nodes), graphs.num_features)


def condensed_trees(
    trees: Trees, patterns: list[ClassPatterns], supports: list[int], share: float
) -> CondensedTrees:
    """Return the patterns that reach their class's support, the most frequent of a class first.

    A pattern weighs as much as its share of its class's supports, so that every class counts the
    same; weights are 1 on average.

    Args:
        trees: All trees.
        patterns: Those of each class.
        supports: The least support of each class.
        share: The bytes that the patterns of one class may take.

    Raises:
        CondenseError: If a class has none, or they are too many.
    """
    members, sizes, y, weights = [], [], [], []
    for label, of_class in enumerate(patterns):
        sets, kept = of_class.kept(supports, share)
        if not len(kept):
            raise CondenseError(_nothing_left(label, of_class, supports))
        items, counts = sets.members(kept)
        support = sets.supports[kept, label]
        members.append(items)
        sizes.append(counts)
        y.append(np.full(len(kept), label))
        weights.append(support / support.sum())
    member, weight = np.concatenate(members), np.concatenate(weights)
    nodes = int(trees.sizes[member].sum())
    if nodes > MAX_NODES:
        raise CondenseError(
            f"supports {_text(supports)} leave {len(member):,} trees of {nodes:,} nodes together, "
            f"more than {MAX_NODES:,}; ask for greater supports or a smaller size"
        )
    forest = trees.unroll(member)
    begins = np.repeat(starts_of(forest.sizes)[:-1], forest.sizes)
    parts = {
        "x": trees.rows[forest.labels],
        "parents": np.where(forest.parents < 0, -1, forest.parents + begins),
        "trees": forest.sizes,
        "patterns": np.concatenate(sizes),
        "y": np.concatenate(y),
        "weights": (weight / weight.mean()).astype(np.float32),
    }
    if trees.edge_rows.shape[1]:
        parts["bonds"] = trees.edge_rows[forest.edge_labels]
    return CondensedTrees(**{name: torch.tensor(part) for name, part in parts.items()})


def _nothing_left(label: int, patterns: ClassPatterns, supports: list[int]) -> str:
    """Say that a class has no pattern, and with what support it would have one."""
    found = patterns.support_for(supports, 1)
    said = f"supports {_text(supports)} leave class {label} without a pattern"
    if found is None:
        return f"{said}, and so does any support of it; ask for greater ones of the other classes"
    return f"{said}; with the others as they are, {found} or less leaves it one"


def _text(supports: list[int]) -> str:
    return ",".join(map(str, supports))
