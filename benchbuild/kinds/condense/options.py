"""What ``condense``, ``evaluate`` and ``plan`` have in common: the options of condensation."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from benchbuild.commands.options import parse_seeds
from benchbuild.errors import PlanError
from benchbuild.hyperparameters import assignments
from benchquery.errors import ArchitectureError, ConfigError
from benchquery.kinds.condensed.config import TASKS
from benchquery.kinds.condensed.domains.spec import DomainSpec, TaskSpec

if TYPE_CHECKING:
    from benchbuild.kinds.condense.evaluations import Evaluations

T = TypeVar("T")


def add_evaluations(parser: argparse.ArgumentParser, seeds: str) -> None:
    """Add how condensed graphs are judged.

    Args:
        parser: Where to add it.
        seeds: The name of the option for the evaluation seeds.
    """
    parser.add_argument(
        "--task", choices=TASKS, help="what they learn; default: to name classes, of what there are"
    )
    parser.add_argument(
        "--models",
        metavar="M,M",
        help="models to train on the condensed data, see ls models; default the usual one. "
        "Of a family such as nas-bench-201, --sample says how many",
    )
    parser.add_argument(
        "--sample", type=int, default=100, metavar="N", help="members of a family to draw (100)"
    )
    parser.add_argument(
        "--sample-seed", type=int, default=0, metavar="SEED", help="what they are drawn with (0)"
    )
    parser.add_argument(
        seeds,
        dest="eval_seeds",
        default="3",
        metavar="SEEDS",
        help="how many seeds of the evaluation (3: 0, 1, 2), or which (0,2 or 5,); default 3",
    )
    parser.add_argument(
        "--eval-hp",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a hyper-parameter of the evaluation, as in dropout=0; may be repeated",
    )
    parser.add_argument(
        "--eval-preset", metavar="P", help="settings of a paper for the evaluation, as in kidd"
    )


def evaluations_from(args: argparse.Namespace, domain: DomainSpec) -> Evaluations:
    """Return the evaluations that the options describe.

    Args:
        args: The options.
        domain: The sort of data that is judged.

    Raises:
        ConfigError: If a model or hyper-parameter is unknown or not allowed.
        HyperParameterError: If a hyper-parameter is not of the form name=value.
        PlanError: If the seeds can't be understood.
    """
    from benchbuild.kinds.condense.evaluations import Evaluations

    task = args.task or domain.task
    if task not in domain.tasks:
        raise PlanError(f"--task {task}: {domain.name} can be judged by {', '.join(domain.tasks)}")
    presets = domain.tasks[task].presets
    if args.eval_preset and args.eval_preset not in presets:
        raise PlanError(
            f"--eval-preset {args.eval_preset}: {task} has {', '.join(presets) or 'none'}"
        )
    return Evaluations.of(
        _models(args, domain.tasks[task]) if args.models else None,
        parse_seeds(args.eval_seeds),
        {**presets.get(args.eval_preset, {}), **assignments(args.eval_hp)},
        task,
    )


def _models(args: argparse.Namespace, task: TaskSpec) -> list[str]:
    """Return the models that are named; a family stands for members that are drawn.

    Raises:
        ConfigError: If a family has not so many members.
        PlanError: If a name comes twice.
    """
    names: list[str] = []
    for name in listed("--models", args.models, str):
        if name in task.families:
            try:
                drawn = task.families[name].sample(args.sample, args.sample_seed)
            except ArchitectureError as error:
                raise ConfigError(f"--sample {args.sample}: {error}") from error
            names += [f"{name}:{text}" for text in drawn]
        else:
            names.append(name)
    return names


def listed(option: str, text: str, kind: Callable[[str], T]) -> list[T]:
    """Read values with commas between.

    Raises:
        PlanError: If there is none, one comes twice, or one is not of the kind.
    """
    words = [word.strip() for word in text.split(",")]
    try:
        values = [kind(word) for word in words if word]
    except ValueError as error:
        raise PlanError(f"{option} {text!r}: {error}") from error
    if not values or len(set(values)) < len(values):
        raise PlanError(f"{option} {text!r}: there must be at least one value, and each only once")
    return values
