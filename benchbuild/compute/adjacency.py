r"""The matrix each operation multiplies the features of the neighbours with.

=======  ==================================================================================
gcn      :math:`\mathbf{D}^{-1/2} (\mathbf{A} + \mathbf{I}) \mathbf{D}^{-1/2}`
arma     the same without self-loops
cheb     the scaled Laplacian :math:`2 \mathbf{L} / \lambda_{\max} - \mathbf{I}`
sage     the mean, :math:`\mathbf{D}^{-1} \mathbf{A}`
gin      :math:`\mathbf{A} + \mathbf{I}`
graph    the sum, :math:`\mathbf{A}`
gat      the pattern of :math:`\mathbf{A} + \mathbf{I}`; the weights are learnt
=======  ==================================================================================

The normalisations are PyG's own functions, called once a graph instead of once a forward pass.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import add_self_loops, get_laplacian, remove_self_loops


def weighted_edges(
    op: str, edge_index: Tensor, num_nodes: int, edge_weight: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the edges (source, target) of an operation's matrix, with their weights.

    Args:
        op: Name of an operation that looks at neighbours.
        edge_index: Edges of the graph.
        num_nodes: Number of nodes of the graph.
        edge_weight: Weights of the edges, for ``gcn``, ``sage`` and ``gin``, which takes the
            weighted sum; None if all are 1.
    """
    edges: Tensor = edge_index
    weight: Tensor | None = None
    match op:
        case "gcn":
            edges, weight = gcn_norm(edge_index, edge_weight, num_nodes, dtype=torch.float32)
        case "arma":
            edges, weight = gcn_norm(
                edge_index, None, num_nodes, add_self_loops=False, dtype=torch.float32
            )
        case "cheb":
            edges, laplacian = get_laplacian(
                edge_index, None, "sym", torch.float32, num_nodes=num_nodes
            )
            weight = laplacian / laplacian.max() - (edges[0] == edges[1]).float()
        case "sage":
            ones = torch.ones(edge_index.shape[1]) if edge_weight is None else edge_weight
            total = torch.zeros(num_nodes).index_add_(0, edge_index[1], ones)
            weight = ones / total[edge_index[1]]
        case "gin":
            edges = torch.cat([edge_index, torch.arange(num_nodes).expand(2, -1)], dim=1)
            if edge_weight is not None:
                weight = torch.cat([edge_weight, torch.ones(num_nodes)])
        case "gat":
            edges, _ = add_self_loops(remove_self_loops(edge_index)[0], num_nodes=num_nodes)
    return edges, torch.ones(edges.shape[1]) if weight is None else weight


def propagation_matrix(
    op: str, edge_index: Tensor, num_nodes: int, edge_weight: Tensor | None = None
) -> csr_matrix:
    """Return the matrix of an operation: row i holds the weights of what node i receives."""
    edges, weight = weighted_edges(op, edge_index, num_nodes, edge_weight)
    source, target = edges.numpy()
    matrix = csr_matrix((weight.numpy(), (target, source)), shape=(num_nodes, num_nodes))
    if op == "cheb":
        matrix.eliminate_zeros()
    matrix.data = matrix.data.astype(np.float32)
    return matrix
