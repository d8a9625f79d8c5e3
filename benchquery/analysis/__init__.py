"""What the tables say: pure functions from tables to results.

Every function takes the column to look at. The paper's figures look at ``perf``, the test
figure, so that is the default here: an analysis reports, it does not choose.
"""

from benchquery.analysis.agreement import agreement, agreement_matrix
from benchquery.analysis.condensation import usual_means
from benchquery.analysis.distribution import describe, metric_correlations
from benchquery.analysis.fidelity import Fidelity, fidelity
from benchquery.analysis.frequency import link_frequencies, op_frequencies
from benchquery.analysis.importance import eta_squared, node_importance
from benchquery.analysis.landscape import Landscape, landscape
from benchquery.analysis.learning import early_rank_correlation, seed_noise
from benchquery.analysis.smoothness import Smoothness, smoothness
from benchquery.analysis.surrogate import Predictions, Surrogate, fit_surrogate
from benchquery.analysis.transfer import transfer_matrix

__all__ = [
    "Fidelity",
    "Landscape",
    "Predictions",
    "Smoothness",
    "Surrogate",
    "agreement",
    "agreement_matrix",
    "describe",
    "early_rank_correlation",
    "eta_squared",
    "fidelity",
    "fit_surrogate",
    "landscape",
    "link_frequencies",
    "metric_correlations",
    "node_importance",
    "op_frequencies",
    "seed_noise",
    "smoothness",
    "transfer_matrix",
    "usual_means",
]
