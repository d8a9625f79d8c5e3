"""What the tables say: pure functions from tables to results.

Every function takes the column to look at. The paper's figures look at ``perf``, the test
figure, so that is the default here: an analysis reports, it does not choose.
"""

from benchquery.kinds.architectures.analysis.agreement import agreement, agreement_matrix
from benchquery.kinds.architectures.analysis.distribution import describe, metric_correlations
from benchquery.kinds.architectures.analysis.fidelity import Fidelity, fidelity
from benchquery.kinds.architectures.analysis.frequency import link_frequencies, op_frequencies
from benchquery.kinds.architectures.analysis.importance import eta_squared, node_importance
from benchquery.kinds.architectures.analysis.landscape import Landscape, landscape
from benchquery.kinds.architectures.analysis.learning import early_rank_correlation, seed_noise
from benchquery.kinds.architectures.analysis.smoothness import Smoothness, smoothness
from benchquery.kinds.architectures.analysis.surrogate import Predictions, Surrogate, fit_surrogate
from benchquery.kinds.architectures.analysis.transfer import transfer_matrix
from benchquery.kinds.condensed.analysis import usual_means

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
