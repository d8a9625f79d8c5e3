"""A predictor that fills the gaps of a partly built table, with its error stated.

Gradient-boosted trees on an encoding of the architectures. The error is measured by
cross-validation on the rows that the table has: each row is predicted by a model that has
not seen it. That error holds for architectures that are like those rows: for the rest of a uniform
sample. Where a table holds the first rows by hash, or a few wirings, what it lacks is of another
kind, and the error is several times larger. So it is measured a second time with whole wirings left
out (`Surrogate.grouped_error`). Predicted values are a type of their own and never enter a table.

Each prediction has an interval: from the errors of rows that were predicted alike and not seen, in
five groups by predicted value.

The trees are grown on one thread: several that wait for each other on a busy machine take
many times longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.analysis.known import has_figures, known_part
from benchquery.analysis.statistics import rank_correlation
from benchquery.kinds.architectures.encoding import encode, link_indices
from benchquery.kinds.architectures.space import get_space
from benchquery.kinds.architectures.table import ArchTable

if TYPE_CHECKING:
    import numpy as np
    import threadpoolctl
    from sklearn import ensemble, model_selection

    from benchquery._typing import Features, Floats, Ints
else:
    np = LazyModule("numpy")
    ensemble = LazyModule("sklearn.ensemble", extra="analysis")
    model_selection = LazyModule("sklearn.model_selection", extra="analysis")
    threadpoolctl = LazyModule("threadpoolctl", extra="analysis")

_FEWEST = 20
_GROUPS = 5
_ENDS = (0.05, 0.95)


@dataclass(frozen=True)
class Predictions:
    """Predicted figures: never measured, never mixed with measured ones.

    Attributes:
        by: The column that is predicted.
        hashes: The architectures.
        values: Their predicted figures.
        error: The mean absolute error to expect, by cross-validation; for architectures that are
            like the rows that were measured.
        grouped_error: The one to expect of wirings that were not measured.
        low: The lower end of the 90% interval of each prediction, under the same condition.
        high: Its upper end.
    """

    by: str
    hashes: Ints
    values: Floats
    error: float
    grouped_error: float
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Surrogate:
    """A fitted predictor.

    Attributes:
        by: The column that it predicts.
        rows: How many measured rows it was fitted on.
        left_out: How many rows of the table had no figure.
        error: Mean absolute error by cross-validation over rows drawn at random.
        grouped_error: The same with all rows of a link list left out at once; NaN if there are
            fewer than two link lists.
        spearman: Rank correlation of predicted and measured by cross-validation; NaN if the
            figures do not vary.
        encoding: How architectures are encoded.
        model: The fitted model.
        edges: The predicted values between the groups that intervals come from.
        margins: Of each group, how far below and above a prediction the interval reaches.
    """

    by: str
    rows: int
    left_out: int
    error: float
    grouped_error: float
    spearman: float
    encoding: str
    model: Any
    edges: Floats
    margins: Floats

    def predict(self, hashes: Ints) -> Predictions:
        """Predict the figures of architectures."""
        with threadpoolctl.threadpool_limits(1):
            values = self.model.predict(encode(hashes, self.encoding))
        low, high = values + self.margins[np.searchsorted(self.edges, values)].T
        return Predictions(self.by, hashes, values, self.error, self.grouped_error, low, high)

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
        grouped = _grouped_error(model, features, values, link_indices(known.hashes), folds)
    edges, margins = _margins(unseen, values)
    return Surrogate(
        by=by,
        rows=len(values),
        left_out=len(table) - len(values),
        error=float(np.abs(unseen - values).mean()),
        grouped_error=grouped,
        spearman=rank_correlation(unseen, values),
        encoding=encoding,
        model=model,
        edges=edges,
        margins=margins,
    )


def _grouped_error(
    model: Any, features: Features, values: Floats, groups: Ints, folds: int
) -> float:
    """Return the mean absolute error of groups that were left out whole."""
    count = min(folds, len(np.unique(groups)))
    if count < 2:
        return float("nan")
    split = model_selection.GroupKFold(count)
    unseen = model_selection.cross_val_predict(
        ensemble.HistGradientBoostingRegressor(**model.get_params()),
        features,
        values,
        cv=split,
        groups=groups,
    )
    return float(np.abs(unseen - values).mean())


def _margins(unseen: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return groups of predictions, by the values between them, and how far each is off."""
    edges = np.quantile(unseen, np.arange(1, _GROUPS) / _GROUPS)
    group = np.searchsorted(edges, unseen)
    everything = np.quantile(values - unseen, _ENDS)
    margins = np.array(
        [
            np.quantile((values - unseen)[group == number], _ENDS)
            if (group == number).any()
            else everything
            for number in range(_GROUPS)
        ]
    )
    return edges, margins
