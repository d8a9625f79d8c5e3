"""Domains: for each sort of data its problem, its payload and its evaluator.

Condensing knows none of them; it asks for the domain of the data that a worker has loaded. A
domain is referred to by text and imported when it is first asked for, since evaluators stand above
condensation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from benchbuild.datasets.registry import dataset_spec
from benchbuild.errors import DatasetError, PlanError
from benchbuild.kinds.condense.evaluator import Evaluator
from benchbuild.kinds.condense.method import AnyProblem
from benchquery.kinds.condensed.domains import DOMAINS as SPECS
from benchquery.kinds.condensed.domains.spec import DomainSpec

if TYPE_CHECKING:
    import torch

DOMAINS: Mapping[str, str] = MappingProxyType(
    {
        "nodes": "benchbuild.kinds.evaluate.domain:NODES",
        "graphs": "benchbuild.kinds.evaluate.domain:GRAPHS",
        "images": "benchbuild.kinds.evaluate.domain:IMAGES",
    }
)
"""By sort of data: the module and the name of its `Domain`."""
MODULES = tuple(dict.fromkeys(reference.partition(":")[0] for reference in DOMAINS.values()))
"""The modules of the domains, for workers to import before they divide."""


@dataclass(frozen=True)
class Domain:
    """What there is to condensing data of one sort.

    Attributes:
        name: The sort of data.
        prepare: Gives the data as methods and evaluators see it, such as with scaled features; the
            other functions take what it gives.
        make_problem: Gives what a method may see of the data.
        make_evaluator: Gives who judges what methods make of it.
    """

    name: str
    prepare: Callable[[Any], Any]
    make_problem: Callable[[Any, torch.device], AnyProblem]
    make_evaluator: Callable[[Any, torch.device], Evaluator[Any]]


def find_domain(sort: str) -> Domain:
    """Return the domain of a sort of data.

    Raises:
        DatasetError: If data of this sort can't be condensed.
    """
    if sort not in DOMAINS:
        raise DatasetError(
            f"data of the sort {sort!r} can't be condensed; allowed: {', '.join(DOMAINS)}"
        )
    module, _, name = DOMAINS[sort].partition(":")
    return cast(Domain, getattr(import_module(module), name))


def domain_of(dataset: str) -> DomainSpec:
    """Return what configurations know of the domain of a dataset.

    Raises:
        PlanError: If data of its sort can't be condensed.
        UnknownDatasetError: If there is no such dataset.
    """
    sort = dataset_spec(dataset).sort
    if sort not in SPECS:
        raise PlanError(
            f"dataset {dataset!r} is one of {sort}; what can be condensed: {', '.join(SPECS)}"
        )
    return SPECS[sort]
