"""``benchbuild condense``: condense graphs, the jobs of a shard that have no record yet."""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING, Any

from benchbuild.commands.options import add_engine, add_shard
from benchbuild.errors import PlanError
from benchbuild.hyperparameters import assignments
from benchbuild.kinds.condense.domains import domain_of
from benchbuild.kinds.condense.options import add_evaluations, evaluations_from, listed
from benchquery.kinds.condensed.config import PROTOCOLS, RATIOS_OF, CondenseConfig
from benchquery.kinds.condensed.domains.spec import DomainSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchbuild.kinds.condense.kind import CondenseRun

NAME = "condense"
HELP = "condense a graph or a set of graphs, evaluate the results and keep them"
EXAMPLE = (
    "benchbuild condense --dataset cora --method gcond --ratio 0.026 --init k-center --seed 0 "
    "--out runs/cora"
)

_CHOICES = ("method", "ratio", "per_class", "init", "backbone")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--dataset", required=True, metavar="D", help="see benchbuild datasets")
    parser.add_argument("--method", metavar="M,M", help="methods, as in gcond,sfgc")
    parser.add_argument("--ratio", metavar="R,R", help="sizes relative to the graph, as in 0.026")
    parser.add_argument(
        "--per-class", metavar="N,N", help="of a set instead: graphs of each class, as in 1,10"
    )
    parser.add_argument(
        "--init", metavar="I,I", help="what features begin as; default: the method's own"
    )
    parser.add_argument(
        "--backbone", metavar="B,B", help="the models that are matched; default: the method's own"
    )
    parser.add_argument(
        "--seed", default="0", metavar="S,S", help="condensation seeds, as in 0,1,2; default 0"
    )
    parser.add_argument(
        "--protocol",
        choices=PROTOCOLS,
        default=PROTOCOLS[0],
        help="as-released has settings and faults of the published code; default corrected",
    )
    parser.add_argument(
        "--ratio-of",
        choices=RATIOS_OF,
        default=RATIOS_OF[0],
        help="whether ratios are those to all nodes or to the labelled ones; default nodes",
    )
    parser.add_argument(
        "--hp",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a hyper-parameter of the method, as in epochs=100; may be repeated",
    )
    parser.add_argument(
        "--grid", metavar="G", help="instead: the dataset's configurations of a grid, see ls grids"
    )
    add_evaluations(parser, seeds="--eval-seeds")
    add_shard(parser)
    add_engine(parser)


def run(args: argparse.Namespace) -> int:
    """Condense, or say what would be condensed."""
    from benchbuild.commands.running import run_or_describe

    return run_or_describe(args, described(args))


def described(args: argparse.Namespace) -> CondenseRun:
    """Return the run that the options describe.

    Raises:
        PlanError: If options are missing or can't be used together.
        ConfigError: If a configuration is not allowed.
        UnknownDatasetError: If there is no such dataset.
        UnknownNameError: If there is no such grid.
    """
    from benchbuild.datasets.registry import dataset_spec
    from benchbuild.kinds.condense.kind import condense_run

    spec = dataset_spec(args.dataset)
    domain = domain_of(spec.name)
    seeds = listed("--seed", args.seed, int)
    configs = (
        _grid(args, spec.name, seeds) if args.grid else _chosen(args, spec.name, domain, seeds)
    )
    return condense_run(spec.name, configs, evaluations_from(args, domain), args.grid or "")


def _grid(args: argparse.Namespace, dataset: str, seeds: list[int]) -> Sequence[CondenseConfig]:
    from benchbuild.kinds.condense.repeats import without_repeats
    from benchquery.kinds.condensed.grids import grid

    given = [f"--{name.replace('_', '-')}" for name in (*_CHOICES, "hp") if getattr(args, name)]
    if given:
        raise PlanError(f"--grid has its own configurations: leave {', '.join(given)} out")
    return without_repeats(grid(args.grid, [dataset], seeds))


def _chosen(
    args: argparse.Namespace, dataset: str, domain: DomainSpec, seeds: list[int]
) -> Sequence[CondenseConfig]:
    sizes = {"ratio": (args.ratio, float), "per_class": (args.per_class, int)}
    option = f"--{domain.size.replace('_', '-')}"
    given, kind = sizes.pop(domain.size)
    if not (args.method and given) or any(other for other, _ in sizes.values()):
        raise PlanError(
            f"dataset {dataset!r} is one of {domain.name}; name what to condense it with: "
            f"--method M {option} N, or --grid G"
        )
    choices: dict[str, list[Any]] = {
        "method": listed("--method", args.method, str),
        domain.size: listed(option, given, kind),
        "init": listed("--init", args.init, str) if args.init else [None],
        "backbone": listed("--backbone", args.backbone, str) if args.backbone else [None],
        "seed": seeds,
    }
    fixed = {"protocol": args.protocol, "ratio_of": args.ratio_of, **assignments(args.hp)}
    return [
        CondenseConfig(
            dataset, domain=domain.name, **dict(zip(choices, values, strict=True)), **fixed
        )
        for values in product(*choices.values())
    ]
