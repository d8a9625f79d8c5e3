r"""Which part of an architecture explains its performance (Figure 6 of the paper).

.. math::
    \eta^2 = \frac{\sum_k n_k (\mu_k - \bar\mu)^2}{\sum_i (x_i - \bar\mu)^2}

is the share of the variance that lies between groups of architectures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchquery._imports import LazyModule
from benchquery.analysis.known import known_part
from benchquery.errors import QueryError
from benchquery.kinds.architectures.arch import LINKS, NODES, OPS
from benchquery.kinds.architectures.encoding import link_indices, op_indices
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np

    from benchquery._typing import Array, Floats, Ints
else:
    np = LazyModule("numpy")


def eta_squared(values: Array, groups: Ints) -> float:
    """Return the share of the variance of values that lies between groups.

    Missing values (NaN) are left out. Values that do not vary have no variance to share: NaN.

    Raises:
        QueryError: If no value is known.
    """
    known = ~np.isnan(values)
    values, groups = values[known], groups[known]
    if not len(values):
        raise QueryError(f"none of {len(known):,} values is known, so nothing explains them")
    if np.ptp(values) == 0:
        return float("nan")
    _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
    means = np.bincount(group, weights=values) / size
    between = (size * (means - values.mean()) ** 2).sum()
    return float(between / ((values - values.mean()) ** 2).sum())


def node_importance(table: ArchTable, by: str = "perf") -> dict[str, Floats]:
    """Return the share of the variance that the first or last 1 to 4 nodes explain.

    A node's choice is its input and its operation, in canonical form. Rows without a
    figure are left out.

    Returns:
        ``prefix`` and ``suffix``, each by the number of nodes; NaN if the figures do not vary.

    Raises:
        QueryError: If fewer than two rows have a figure.
    """
    known = known_part(table, by, least=2)
    values, hashes = known.column(by), known.hashes
    links = np.array(LINKS)[link_indices(hashes)]
    nodes = links * len(OPS) + op_indices(hashes)
    base = (NODES * len(OPS)) ** np.arange(NODES)

    def explained(columns: slice) -> float:
        part = nodes[:, columns]
        return eta_squared(values, part @ base[: part.shape[1]])

    lengths = range(1, NODES + 1)
    return {
        "prefix": np.array([explained(slice(0, length)) for length in lengths]),
        "suffix": np.array([explained(slice(NODES - length, NODES)) for length in lengths]),
    }
