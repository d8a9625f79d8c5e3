"""Speed of augmentation on one thread: all images of a batch at once against one after the other.

    python benchmarks/augment.py --images 256 --side 32

Every image has its own draw. Both ways use the same numbers, in turn, round by round, so that a
busy machine disturbs both alike, and the pictures they make are compared.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor

from benchbuild.compute.meters import Stopwatch
from benchbuild.kinds.condense.images.augment.base import Augmentation
from benchbuild.kinds.condense.images.augment.registry import AUGMENTATIONS, make_augmentation

CPU = torch.device("cpu")
CHANNELS = 3


def one_by_one(augment: Augmentation, images: Tensor, draws: Tensor) -> Tensor:
    """Augment a batch in a loop over its images."""
    rows = zip(images.split(1), draws.split(1), strict=True)
    return torch.cat([augment.apply(image, numbers) for image, numbers in rows])


def measure(name: str, images: Tensor, rounds: int) -> tuple[float, float, float]:
    """Seconds a batch of the loop and of ours, and the greatest difference of a pixel."""
    mean, std = torch.zeros(CHANNELS), torch.ones(CHANNELS)
    augment = make_augmentation(name, (CHANNELS, *images.shape[2:]), mean, std)
    generator = torch.Generator().manual_seed(0)
    augment(images, "per-image", generator)
    loop = ours = worst = 0.0
    for _ in range(rounds):
        draws = augment.draw(len(images), "per-image", generator)
        watch = Stopwatch(CPU)
        theirs = one_by_one(augment, images, draws)
        loop += watch.seconds()
        watch = Stopwatch(CPU)
        found = augment.apply(images, draws)
        ours += watch.seconds()
        worst = max(worst, float((found - theirs).abs().max()))
    return loop / rounds, ours / rounds, worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(options.images, CHANNELS, options.side, options.side, generator=generator)
    print(f"{options.images} images of {options.side} x {options.side}, milliseconds a batch")
    print(f"{'':<14}{'loop':>10}{'batch':>10}{'ratio':>9}{'difference':>12}")
    for name in AUGMENTATIONS[1:]:
        loop, ours, worst = measure(name, images, options.rounds)
        print(f"{name:<14}{loop * 1e3:>10.1f}{ours * 1e3:>10.1f}{loop / ours:>9.1f}{worst:>12.1e}")


if __name__ == "__main__":
    main()
