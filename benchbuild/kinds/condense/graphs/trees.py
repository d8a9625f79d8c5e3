r"""The computation trees of message passing, told apart exactly.

What L layers of message passing compute at a node v depends on no more than the tree

.. math::
    T_0(v) = \ell(v), \qquad
    T_k(v) = \bigl(\ell(v), \{\!\{ (\ell(u, v), T_{k-1}(u)) : u \to v \}\!\}\bigr)

of the walks that end in v. A parent comes back among the children of its children. The label of a
node is all its features, the label of an edge all its fields; two of them are equal if every entry
is. Trees are numbered level by level: of two nodes, the trees have the same number if and only if
the labels and the sorted children have. No hash decides on that, so no two trees are ever mixed up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchbuild.datasets.graphset import GraphBatch
from benchbuild.kinds.condense.graphs.ragged import ranges, starts_of, sums


class Forest(NamedTuple):
    """Trees, node by node: a tree's root first, children after their parents.

    Attributes:
        labels: (tree nodes,) the number of each one's label.
        parents: (tree nodes,) each one's parent, in numbers of its own tree's nodes; -1 for a root.
        edge_labels: (tree nodes,) the number of the label of the edge to the parent; 0 for a root.
        sizes: (trees,) how many nodes each tree has.
    """

    labels: np.ndarray
    parents: np.ndarray
    edge_labels: np.ndarray
    sizes: np.ndarray


@dataclass(frozen=True, eq=False)
class Trees:
    """The trees of one depth at all nodes of some graphs.

    Attributes:
        depth: How many edges a walk from a leaf to the root has at most.
        of_node: (nodes,) the number of the tree at each node, from 0 up; none is left out.
        roots: (trees,) a node that each tree is at.
        sizes: (trees,) how many nodes each tree has.
        rows: (labels, features) the features that a node's label stands for, ascending.
        labels: (nodes,) the number of each node's label.
        edge_rows: (edge labels, fields) the fields that an edge's label stands for, ascending; one
            row of no fields if edges have no labels.
        edge_labels: (edges,) the number of each edge's label, edges by the node they lead to.
        sources: (edges,) the node that each edge comes from, in the same order.
        starts: (nodes + 1,) where the edges to each node begin.
    """

    depth: int
    of_node: np.ndarray
    roots: np.ndarray
    sizes: np.ndarray
    rows: np.ndarray
    labels: np.ndarray
    edge_rows: np.ndarray
    edge_labels: np.ndarray
    sources: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, graphs: GraphBatch, depth: int) -> Trees:
        """Find the trees at all nodes of some graphs.

        Args:
            graphs: The graphs.
            depth: How deep the trees are: the number of layers that they stand for.
        """
        rows, labels = distinct_rows(graphs.x.cpu().numpy())
        source, target = graphs.edge_index.cpu().numpy()
        order = np.argsort(target, kind="stable")
        sources = source[order]
        degrees = np.bincount(target, minlength=graphs.num_nodes)
        starts = starts_of(degrees)
        if graphs.edge_attr is None:
            edge_rows, edge_labels = np.empty((1, 0), np.int64), np.zeros_like(sources)
        else:
            edge_rows, edge_labels = distinct_rows(graphs.edge_attr.cpu().numpy()[order])
        numbers, sizes = labels, np.ones(graphs.num_nodes, np.int64)
        for _ in range(depth):
            numbers = _one_level_up(labels, numbers[sources], edge_labels, starts)
            sizes = 1 + sums(sizes[sources], starts)
        _, roots = np.unique(numbers, return_index=True)
        return cls(
            depth,
            numbers,
            roots,
            sizes[roots],
            rows,
            labels,
            edge_rows,
            edge_labels,
            sources,
            starts,
        )

    def __len__(self) -> int:
        """Return how many different trees there are."""
        return len(self.roots)

    def unroll(self, trees: np.ndarray) -> Forest:
        """Return some trees, in the order of their numbers given, node by node."""
        nodes, above, edges = [self.roots[trees]], [np.full(len(trees), -1)], [np.zeros_like(trees)]
        owners = [np.arange(len(trees))]
        placed = 0
        for _ in range(self.depth):
            counts = np.diff(self.starts)[nodes[-1]]
            entries = ranges(self.starts[nodes[-1]], counts)
            above.append(np.repeat(placed + np.arange(len(counts)), counts))
            owners.append(np.repeat(owners[-1], counts))
            edges.append(self.edge_labels[entries])
            placed += len(counts)
            nodes.append(self.sources[entries])
        owner, parents = np.concatenate(owners), np.concatenate(above)
        order = np.argsort(owner, kind="stable")
        sizes = np.bincount(owner, minlength=len(trees))
        within = np.empty(len(order), np.int64)
        within[order] = ranges(np.zeros(len(trees), np.int64), sizes)
        return Forest(
            self.labels[np.concatenate(nodes)[order]],
            np.where(parents < 0, -1, within[parents])[order],
            np.concatenate(edges)[order],
            sizes,
        )


def distinct_rows(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different rows of a matrix, ascending, and which of them each row is."""
    matrix = matrix + np.zeros((), matrix.dtype)
    words = np.ascontiguousarray(matrix).view(np.uint32)
    factors = np.random.default_rng(0).integers(1, 2**63, words.shape[1], np.uint64) * 2 + 1
    heaps = np.zeros(len(matrix), np.uint64)
    for column, factor in zip(words.T, factors, strict=True):
        heaps += column * factor
    return rows_in_heaps(matrix, heaps)


def rows_in_heaps(matrix: np.ndarray, heaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different rows of a matrix, ascending, and which of them each row is.

    Every row is compared with the first of its heap; only if two differ are all rows sorted.

    Args:
        matrix: The rows.
        heaps: A number for each row, the same for equal rows and rarely for others.
    """
    _, first, which = np.unique(heaps, return_index=True, return_inverse=True)
    if not np.array_equal(matrix, matrix[first[which]]):
        first = which = np.arange(len(matrix))
    rows, rank = np.unique(matrix[first], axis=0, return_inverse=True)
    return rows, rank.reshape(-1)[which]


def _one_level_up(
    labels: np.ndarray, children: np.ndarray, edge_labels: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """Return the number of each node's tree, given those of its children's, one level less deep.

    Nodes of as many children are told apart by their label, then by the first child, and so on:
    a number and the next child make one whole number, and equal ones get the same next number.

    Args:
        labels: (nodes,) labels of the nodes.
        children: (edges,) numbers of the children's trees, those of one node after another.
        edge_labels: (edges,) labels of the edges to the children.
        starts: (nodes + 1,) where the children of each node begin.
    """
    degrees = np.diff(starts)
    codes, count = _ranks(edge_labels * (children.max(initial=0) + 1) + children)
    of_parent = np.repeat(np.arange(len(labels)) * count, degrees)
    codes = np.sort(of_parent + codes) - of_parent
    numbers = np.empty(len(labels), np.int64)
    given = 0
    for degree in np.unique(degrees):
        alike = np.flatnonzero(degrees == degree)
        state, known = _ranks(labels[alike])
        for place in range(degree):
            state, known = _ranks(state * count + codes[starts[alike] + place])
        numbers[alike] = given + state
        given += known
    return numbers


def _ranks(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the rank of each value among the different ones, and how many those are."""
    different, ranks = np.unique(values, return_inverse=True)
    return ranks, len(different)
