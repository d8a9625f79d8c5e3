"""What ``condense``, ``evaluate`` and ``plan`` have in common: the options of condensation."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from benchbuild.commands.options import parse_seeds
from benchbuild.errors import PlanError
from benchbuild.hyperparameters import assignments
from benchquery.kinds.condensed.config import TASKS

if TYPE_CHECKING:
    from benchbuild.kinds.condense.evaluations import Evaluations

T = TypeVar("T")


def add_evaluations(parser: argparse.ArgumentParser, models: str, seeds: str) -> None:
    """Add how condensed graphs are judged.

    Args:
        parser: Where to add it.
        models: The option's name of the default models.
        seeds: The name of the option for the evaluation seeds.
    """
    parser.add_argument(
        "--task", choices=TASKS, default=TASKS[0], help=f"what they learn; default {TASKS[0]}"
    )
    parser.add_argument(
        "--models",
        default=models,
        metavar="M,M",
        help=f"models to train on the condensed graph; default {models}",
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


def evaluations_from(args: argparse.Namespace) -> Evaluations:
    """Return the evaluations that the options describe.

    Raises:
        ConfigError: If a model or hyper-parameter is unknown or not allowed.
        HyperParameterError: If a hyper-parameter is not of the form name=value.
        PlanError: If the seeds can't be understood.
    """
    from benchbuild.kinds.condense.evaluations import Evaluations

    return Evaluations.of(
        listed("--models", args.models, str),
        parse_seeds(args.eval_seeds),
        assignments(args.eval_hp),
        args.task,
    )


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
