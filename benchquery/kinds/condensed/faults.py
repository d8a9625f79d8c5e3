"""Faults of published code, by the numbers that the documentation calls them by.

Protocol ``as-released`` keeps them where it can, so that a printed figure can be explained by a
query; docs/graph-level.md says which are kept and how for sets of graphs (G), docs/condensation.md
for one graph (N).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.domains.spec import AS_RELEASED

FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "G1": "features begin as noise while edges are real",
        "G2": "the distance is not divided by the size of the real gradient",
        "G3": "stops early on the loss of a freshly drawn network",
        "G4": "the relaxed sample is kept, and every number above 0 is an edge",
        "G5": "the figure of the last epoch is reported",
        "G6": "distances between padded raw features; a wrong recurrence of herding",
        "G7": "the snapshot is chosen on the test set; depth and decay by size",
        "G8": "features are not divided by their sum, but cut off at 1",
        "G9": "labels of trees clash; the AUC of one batch; the best 5 of 10 seeds; a decay of 100",
        "G10": "sizes in bytes are called aligned and are not",
        "N1": "the features of synthetic nodes are never updated",
        "N2": "sampled features get the labels of other classes",
        "N3": "on a CPU, the checkpoints of an expert are views of one tensor, all the last one",
        "N4": "the difficulty of nodes reads the labels of test nodes",
        "N5": "A' is not normalised, and has no self-loops, where class means are matched",
        "N6": "the model learns to match class means between the steps, not to classify",
        "N7": "students begin at ten times the epoch that is set",
        "N8": "the sample of the real structure is its first nodes, however few edges they have",
    }
)
_OF_METHODS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "graphs": MappingProxyType(
            {
                "random": ("G5",),
                "herding": ("G5", "G6"),
                "k-center": ("G5", "G6"),
                "doscond": ("G1", "G2", "G3", "G4", "G5"),
                "kidd-lr": ("G5", "G7", "G8"),
                "kidd-d": ("G5", "G7", "G8"),
                "mirage": ("G9", "G10"),
            }
        ),
        "nodes": MappingProxyType(
            {
                "gcond": ("N2",),
                "doscond": ("N2",),
                "sgdd": ("N8",),
                "gcdm": ("N1", "N5", "N6"),
                "dm": ("N1", "N5"),
                "sfgc": ("N3", "N7"),
                "geom": ("N3", "N4"),
            }
        ),
    }
)
_OF_MODELS: Mapping[str, str] = MappingProxyType({"G5": "gin"})
"""Faults that lie in how one model is trained, by number."""


def faults_of(domain: str, method: str, model: str) -> tuple[str, ...]:
    """Return the numbers of the faults of published code; none if unknown.

    Args:
        domain: The domain of the method.
        method: The method.
        model: The model that judges what it makes.
    """
    found = _OF_METHODS.get(domain, {}).get(method, ())
    return tuple(number for number in found if _OF_MODELS.get(number, model) == model)


def keeps(config: CondenseConfig, number: str) -> bool:
    """Tell whether a configuration keeps a fault of the published code on purpose.

    Args:
        config: The configuration.
        number: The fault.
    """
    found = _OF_METHODS.get(config.domain.name, {}).get(config.method, ())
    return config.protocol == AS_RELEASED and number in found
