"""A predictor that fills the gaps of a partly built table, with its error stated.

Gradient-boosted trees on an encoding of the architectures. The error is measured by
cross-validation on the rows that the table has: each row is predicted by a model that has
not seen it. Predicted values are a type of their own and never enter a table.

The trees are grown on one thread: several that wait for each other on a busy machine take
many times longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import has_figures, known_part
from benchquery.analysis.statistics import rank_correlation
from benchquery.kinds.architectures.encoding import encode
from benchquery.kinds.architectures.space import get_space
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np
    import threadpoolctl
    from sklearn import ensemble, model_selection

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")
    ensemble = LazyModule("sklearn.ensemble", extra="analysis")
    model_selection = LazyModule("sklearn.model_selection", extra="analysis")
    threadpoolctl = LazyModule("threadpoolctl", extra="analysis")

_FEWEST = 20


@dataclass(frozen=True)
class Predictions:
    """Predicted figures: never measured, never mixed with measured ones.

    Attributes:
        by: The column that is predicted.
        hashes: The architectures.
        values: Their predicted figures.
        error: The mean absolute error to expect, by cross-validation.
    """

    by: str
    hashes: Ints
    values: Floats
    error: float


@dataclass(frozen=True)
class Surrogate:
    """A fitted predictor.

    Attributes:
        by: The column that it predicts.
        rows: How many measured rows it was fitted on.
        left_out: How many rows of the table had no figure.
        error: Mean absolute error by cross-validation.
        spearman: Rank correlation of predicted and measured by cross-validation; NaN if the
            figures do not vary.
        encoding: How architectures are encoded.
        model: The fitted model.
    """

    by: str
    rows: int
    left_out: int
    error: float
    spearman: float
    encoding: str
    model: Any

    def predict(self, hashes: Ints) -> Predictions:
        """Predict the figures of architectures."""
        with threadpoolctl.threadpool_limits(1):
            values = self.model.predict(encode(hashes, self.encoding))
        return Predictions(self.by, hashes, values, self.error)

    def fill(self, table: ArchTable) -> Predictions:
        """Predict the architectures of the table's space that the table has no figure of.

        These are the ones that it does not hold, and the ones that it holds without a figure.
        """
        measured = table.hashes[has_figures(table, self.by)]
        return self.predict(np.setdiff1d(get_space(table.manifest.space).hashes, measured))


def fit_surrogate(
    table: ArchTable,
    by: str = "valid_perf",
    *,
    encoding: str = "one-hot",
    folds: int = 5,
    seed: int = 0,
) -> Surrogate:
    """Fit a predictor to a table and measure its error.

    Args:
        table: The measured rows.
        by: The column to predict.
        encoding: How architectures are encoded; see `benchquery.kinds.architectures.encoding`.
        folds: Into how many parts the rows are split for cross-validation.
        seed: The seed of the split and of the trees.

    Raises:
        QueryError: If there are too few rows with a figure.
    """
    known = known_part(table, by, least=max(_FEWEST, folds))
    values = known.column(by)
    features = encode(known.hashes, encoding)
    model = ensemble.HistGradientBoostingRegressor(random_state=seed)
    split = model_selection.KFold(folds, shuffle=True, random_state=seed)
    with threadpoolctl.threadpool_limits(1):
        unseen = model_selection.cross_val_predict(model, features, values, cv=split)
        model.fit(features, values)
    return Surrogate(
        by=by,
        rows=len(values),
        left_out=len(table) - len(values),
        error=float(np.abs(unseen - values).mean()),
        spearman=rank_correlation(unseen, values),
        encoding=encoding,
        model=model,
    )
