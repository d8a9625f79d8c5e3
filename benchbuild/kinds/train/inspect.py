"""``benchbuild inspect``: the network of an architecture, without data and without training."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import Any

from benchbuild.commands.options import add_dataset, add_space, hyperparameters_from

NAME = "inspect"
HELP = "print the network of an architecture, its size and what training it would take"
EXAMPLE = "benchbuild inspect --dataset cora --hash 10000 --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_dataset(parser)
    parser.add_argument(
        "--hash", type=int, required=True, metavar="H", help="hash of the architecture"
    )
    add_space(parser)
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the network."""
    facts = inspect(args)
    print(json.dumps(facts, indent=1) if args.json else _text(facts))
    return 0


def inspect(args: argparse.Namespace) -> dict[str, Any]:
    """Work out everything that is known of a network beforehand."""
    from benchbuild.datasets.registry import dataset_spec
    from benchbuild.kinds.train.costs import CostModel
    from benchbuild.kinds.train.network.size import describe
    from benchbuild.pipeline.cards import cards_for
    from benchquery.kinds.architectures.arch import Arch
    from benchquery.kinds.architectures.space import get_space

    spec = dataset_spec(args.dataset).require("nodes", NAME)
    get_space(args.space or spec.space).index(args.hash)
    arch = Arch.from_hash(args.hash)
    hp = hyperparameters_from(args)
    size = spec.stated_size
    cost = CostModel(size, hp, spec.metric).cost(arch)
    layers = describe(arch, size.features, size.classes, hp)
    return {
        "dataset": spec.name,
        "hash": args.hash,
        "link": list(arch.link),
        "ops": list(arch.ops),
        "hyperparameters": hp.to_dict(),
        "layers": [dataclasses.asdict(layer) for layer in layers],
        "params": sum(layer.params for layer in layers),
        "predicted_seconds": cost.seconds,
        "predicted_memory": cost.memory,
        "predicted_gpu_memory": cost.gpu_memory,
        "predicted_host_memory": cost.host_memory,
        "fits_gpus": cards_for(cost.gpu_memory or 0.0),
    }


def _text(facts: dict[str, Any]) -> str:
    from benchquery.units import readable_bytes, readable_seconds

    lines = [
        f"{layer['name']:7} {layer['layer']:22} {layer['params']:>10,}  reads {layer['reads']}"
        for layer in facts["layers"]
    ]
    cards = facts["fits_gpus"]
    fits = f"fits one of {cards[0]} GB" if cards else "fits no common one"
    return "\n".join(
        [
            f"{facts['dataset']}: architecture {facts['hash']}, link {facts['link']}, "
            f"ops {', '.join(facts['ops'])}",
            *lines,
            f"params  {facts['params']:,}",
            f"time    {readable_seconds(facts['predicted_seconds'])} predicted, on one core",
            f"memory  {readable_bytes(facts['predicted_memory'])} predicted, on a CPU",
            f"GPU     {readable_bytes(facts['predicted_gpu_memory'])} of tensors predicted there "
            f"({fits}), {readable_bytes(facts['predicted_host_memory'])} of main memory",
        ]
    )
