"""What a condensation method must do, whatever it matches."""

from __future__ import annotations

import dataclasses
import math
import pickle
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from benchbuild.kinds.condense.domains import find_domain
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.nodes.payload import CondensedGraph
from benchbuild.kinds.condense.registry import condenser
from benchquery.allowed import Value
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.domains import DOMAINS
from benchquery.kinds.condensed.domains.spec import NONE, DomainSpec, Family, MethodSpec
from benchquery.kinds.condensed.methods import canonical_method, find_method
from benchquery.testing.claims import claim, same, works

if TYPE_CHECKING:
    from benchbuild.kinds.condense.nodes.problem import Problem

SMALL: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "nodes": {"dataset": "csbm:nodes=200,features=12", "ratio": 0.1},
        "graphs": {"dataset": "motifs:graphs=60", "per_class": 3},
        "images": {"dataset": "digits:train=100,valid=20,test=20", "per_class": 2},
    }
)
"""By domain: what methods are checked on."""

QUICK: Mapping[str, int] = MappingProxyType(
    {
        "epochs": 3,
        "evaluate_every": 2,
        "outer": 2,
        "inner": 2,
        "hidden": 8,
        "width": 4,
        "expert_epochs": 20,
        "expert_interval": 2,
        "experts": 2,
        "start_epochs": 4,
        "steps": 2,
    }
)
"""Hyper-parameters of a condensation that takes a moment; for methods that have them."""


def check_method(
    name: str, *, domain: str = "nodes", seeded: bool = True, **hyperparameters: Value
) -> None:
    """Check a condensation method on a small dataset.

    Its configurations survive as text and keep their hash. All its snapshots are finite, of the
    size that is asked for, with classes that training nodes have. The last one is that of the last
    epoch, and none changes after it was given. One seed gives the same snapshots every time,
    another seed gives others, and nothing of the problem is changed.

    Args:
        name: The method, of this package or a published one.
        domain: The sort of data that it condenses.
        seeded: Whether what it makes depends on the seed.
        hyperparameters: Those to check it with, or other settings such as ``init``. What is not
            given and may take long, such as ``epochs``, is small.

    Raises:
        AssertionError: If something is wrong; the message names it.
    """
    with works(f"there is no method {name!r}"):
        name, spec = canonical_method(name, domain), find_method(name, domain)
    whose = f"method {name!r}"
    _check_spec(spec, DOMAINS[domain], whose)
    quick = {key: min(value, QUICK[key]) for key, value in _numbers(spec).items() if key in QUICK}
    with works(f"{whose}: its hyper-parameters are refused"):
        config = CondenseConfig(method=name, domain=domain, **SMALL[domain])
        config = config.replace(**{**quick, **hyperparameters})
    _check_config(config, whose)
    with tempfile.TemporaryDirectory() as scratch:
        first = _Condensed.of(config, Path(scratch), whose)
        again = _Condensed.of(config, Path(scratch), whose)
        other = _Condensed.of(config.replace(seed=config.seed + 1), Path(scratch), whose)
    _check_epochs(config, first.snapshots, whose)
    for snapshot in first.snapshots:
        _check_snapshot(snapshot, config, first.problem, whose)
    claim(
        _equal(first.kept, again.kept),
        f"{whose} makes something else of the same seed; draw all that is random from config.seed",
    )
    claim(
        not seeded or not _equal(first.kept, other.kept),
        f"{whose} makes the same of another seed; if it shall, say seeded=False",
    )


def _numbers(spec: MethodSpec) -> dict[str, int]:
    """Return the hyper-parameters that are whole numbers."""
    values = spec.hyperparameters(SMALL[spec.domain]["dataset"])
    return {name: value for name, value in values.items() if type(value) is int}


def _check_spec(spec: MethodSpec, domain: DomainSpec, whose: str) -> None:
    for field, allowed in (
        ("family", get_args(Family)),
        ("init", (*domain.inits, NONE)),
        ("backbone", (*domain.backbones, NONE)),
        ("domain", (domain.name,)),
    ):
        value = getattr(spec, field)
        claim(
            value in allowed,
            f"{whose}: its {field} is {value!r}; allowed: {', '.join(allowed)}",
        )
    claim(spec.recipe, f"{whose}: it has no recipe")
    for name in spec.allowed:
        claim(name in spec.defaults, f"{whose}: {name!r} is allowed something and has no default")


def _check_config(config: CondenseConfig, whose: str) -> None:
    """Check that a configuration stays the same as text and pickled."""
    with works(f"{whose}: its configurations can't be read back"):
        copies = [CondenseConfig.from_text(config.text), pickle.loads(pickle.dumps(config))]
    for read in copies:
        claim(
            read == config and read.valid_hash() == config.valid_hash(),
            f"{whose}: a configuration is another when it is read back: {config.text}",
        )
        claim(dict(read.values) == dict(config.values), f"{whose}: values change as text")
    claim(
        config.replace(seed=config.seed + 1).valid_hash() != config.valid_hash(),
        f"{whose}: the hash of a configuration does not depend on the seed",
    )


@dataclass(frozen=True)
class _Condensed:
    """What a method made.

    Attributes:
        problem: What it saw.
        snapshots: What it gave.
        kept: What is kept of each snapshot: its arrays, as they were when it was given.
    """

    problem: Any
    snapshots: list[Snapshot]
    kept: list[dict[str, np.ndarray]]

    @classmethod
    def of(cls, config: CondenseConfig, scratch: Path, whose: str) -> _Condensed:
        """Condense as a worker does, without judging; see that nothing changes in place."""
        import torch

        from benchbuild.compute.devices import reproducible
        from benchbuild.datasets import load_data

        data = load_data(config.dataset)
        domain, device = find_domain(data.sort), torch.device("cpu")
        problem = domain.make_problem(domain.prepare(data), device)
        before = _tensors(problem)
        snapshots: list[Snapshot] = []
        kept: list[dict[str, np.ndarray]] = []
        with works(f"{whose} fails"), reproducible(device, config.seed, threads=1):
            for snapshot in condenser(config)(problem, config, Workspace(scratch, {})):
                snapshots.append(snapshot)
                kept.append(_arrays(snapshot))
        claim(snapshots, f"{whose} gives no snapshot")
        claim(
            _equal([before], [_tensors(problem)]),
            f"{whose} changes the problem that it is given; work on copies",
        )
        claim(
            _equal(kept, [_arrays(snapshot) for snapshot in snapshots]),
            f"{whose} changes a snapshot after it was given; give copies, as of detach()",
        )
        return cls(problem, snapshots, kept)


def _arrays(snapshot: Snapshot) -> dict[str, np.ndarray]:
    """Return copies of the arrays that are kept of a snapshot."""
    arrays = snapshot.payload.stored().to_arrays()
    return {name: np.array(array) for name, array in arrays.items()}


def _tensors(problem: Any) -> dict[str, np.ndarray]:
    """Return copies of the tensors of a problem, dense."""
    import torch

    fields = {field.name: getattr(problem, field.name) for field in dataclasses.fields(problem)}
    return {
        name: value.to_dense().numpy().copy()
        for name, value in fields.items()
        if isinstance(value, torch.Tensor)
    }


def _equal(first: list[dict[str, np.ndarray]], second: list[dict[str, np.ndarray]]) -> bool:
    """Tell whether two series of named arrays are equal."""
    return len(first) == len(second) and all(
        one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
        for one, other in zip(first, second, strict=True)
    )


def _check_epochs(config: CondenseConfig, snapshots: list[Snapshot], whose: str) -> None:
    """Check the order of snapshots, and that of a method that learns the last one."""
    epochs = [snapshot.epoch for snapshot in snapshots]
    claim(epochs == sorted(set(epochs)), f"{whose}: the epochs of its snapshots are {epochs}")
    learns = epochs[-1] > 0 or "evaluate_every" in config
    if learns and "epochs" in config:
        claim(
            epochs[-1] == config.count("epochs"),
            f"{whose}: its last snapshot is that of epoch {epochs[-1]} of {config['epochs']}",
        )


def _check_snapshot(
    snapshot: Snapshot, config: CondenseConfig, problem: Problem, whose: str
) -> None:
    """Check what is kept of a snapshot."""
    which = f"{whose}, epoch {snapshot.epoch}"
    for name, loss in snapshot.losses.items():
        claim(math.isfinite(loss), f"{which}: the loss {name!r} is {loss}")
    stored = snapshot.payload.stored()
    claim(stored.is_finite, f"{which}: not all that is kept is finite, in half precision")
    read = type(stored).from_arrays(stored.to_arrays())
    record = type(stored).from_record(stored.to_record())
    for copy in (read, record):
        claim(
            copy is not None and _equal([copy.to_arrays()], [stored.to_arrays()]),
            f"{which}: what is kept is something else when it is read back",
        )
    known = set(stored.blank)
    claim(
        set(stored.columns(0.5)) == known,
        f"{which}: a table would have other columns than {', '.join(sorted(known))}",
    )
    if isinstance(snapshot.payload, CondensedGraph):
        _check_graph(snapshot.payload, config, problem, which)


def _check_graph(
    graph: CondensedGraph, config: CondenseConfig, problem: Problem, which: str
) -> None:
    """Check a condensed graph against the one that it was made of."""
    size = (len(problem.synthetic_labels(config)), problem.x.shape[1])
    claim(
        tuple(graph.x.shape) == size,
        f"{which}: its features are {tuple(graph.x.shape)}; {size} is asked for",
    )
    claim(len(graph.y) == size[0], f"{which}: {size[0]} nodes have {len(graph.y)} labels")
    known, made = set(problem.train_labels.tolist()), set(graph.labels.tolist())
    claim(
        made <= known,
        f"{which}: it has nodes of the classes {sorted(made - known)}, which no training node has",
    )
    weights = graph.adjacency
    if weights is not None:
        claim(tuple(weights.shape) == (size[0], size[0]), f"{which}: its adjacency is not square")
        claim(bool((weights == weights.T).all()), f"{which}: its adjacency is not symmetric")
        claim(
            bool(((weights >= 0) & (weights <= 1)).all()),
            f"{which}: an edge weight is not from 0 to 1",
        )
        claim(not bool(weights.diagonal().any()), f"{which}: it has self-loops")
