"""Augmentations: against torchvision and plain numpy, image by image, and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from benchbuild.errors import HyperParameterError
from benchbuild.kinds.condense.images.augment import colour
from benchbuild.kinds.condense.images.augment.base import MODES, Augmentation, by_choice, whole
from benchbuild.kinds.condense.images.augment.dsa import DSA, OPERATIONS
from benchbuild.kinds.condense.images.augment.geometry import crop, flip
from benchbuild.kinds.condense.images.augment.imagenet import ImageNetAugmentation
from benchbuild.kinds.condense.images.augment.policies import (
    NAMES,
    POLICIES,
    SCALES,
    AutoAugment,
    RandAugment,
)
from benchbuild.kinds.condense.images.augment.registry import AUGMENTATIONS, make_augmentation
from tests.benchbuild.vision import torchvision

pytestmark = pytest.mark.usefixtures("one_thread")

THEIRS = {
    "identity": "Identity", "shear-x": "ShearX", "shear-y": "ShearY", "translate-x": "TranslateX",
    "translate-y": "TranslateY", "rotate": "Rotate", "brightness": "Brightness", "color": "Color",
    "contrast": "Contrast", "sharpness": "Sharpness", "posterize": "Posterize",
    "solarize": "Solarize", "autocontrast": "AutoContrast", "equalize": "Equalize",
    "invert": "Invert",
}  # fmt: skip
"""What torchvision calls the operations."""
MOVING = ("shear-x", "shear-y", "translate-x", "translate-y", "rotate")
MEAN, STD = torch.tensor([0.49, 0.48, 0.45]), torch.tensor([0.25, 0.24, 0.26])


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def photos(count: int = 12, channels: int = 3, side: int = 32) -> Tensor:
    """Smooth random pictures, so that neighbouring pixels have to do with each other."""
    coarse = torch.rand(count, channels, 6, 6, generator=generator())
    fine = functional.interpolate(coarse, (side, side), mode="bicubic").clamp(0, 1)
    noise = torch.rand(fine.shape, generator=generator(1)) * 0.1
    return ((fine * 0.9 + noise) * 255).to(torch.uint8)


def normalised(pixels: Tensor) -> Tensor:
    return (pixels.float() / 255 - MEAN.view(-1, 1, 1)) / STD.view(-1, 1, 1)


def pixels_of(images: Tensor) -> Tensor:
    return ((images * STD.view(-1, 1, 1) + MEAN.view(-1, 1, 1)) * 255).round().to(torch.uint8)


def wrong_share(ours: Tensor, theirs: Tensor, most: int = 0) -> float:
    return float(((ours.int() - theirs.int()).abs() > most).double().mean())


# ---------------------------------------------------------------------------- against torchvision


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(
    ("ours", "theirs", "low", "high"),
    [
        (colour.brightness, "adjust_brightness", 0.1, 1.9),
        (colour.contrast, "adjust_contrast", 0.1, 1.9),
        (colour.saturation, "adjust_saturation", 0.1, 1.9),
        (colour.sharpness, "adjust_sharpness", 0.1, 1.9),
        (colour.hue, "adjust_hue", -0.5, 0.5),
        (colour.solarise, "solarize", 0, 255),
    ],
)
def test_colours_change_as_in_torchvision(
    ours: Callable[..., Tensor], theirs: str, low: float, high: float, channels: int
) -> None:
    reference = getattr(torchvision().transforms.functional, theirs)
    images = photos(channels=channels)
    strength = torch.linspace(low, high, len(images), dtype=torch.float64)
    pairs = zip(images, strength.tolist(), strict=True)
    expected = torch.stack([reference(image, value) for image, value in pairs])
    found = ours(images, strength)
    assert found.dtype == torch.uint8
    assert wrong_share(found, expected) < 0.001
    assert wrong_share(found, expected, 1) == 0


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("name", ["autocontrast", "equalize", "invert"])
def test_operations_without_strength_are_torchvisions(name: str, channels: int) -> None:
    reference = getattr(torchvision().transforms.functional, name)
    images = photos(channels=channels)
    images[0] = 7
    images[1] = images[1] // 100
    operation = SCALES[name].operation
    assert operation is not None
    found = operation(images, torch.zeros(len(images)))
    assert torch.equal(found, torch.stack([reference(image) for image in images]))


def test_bits_are_those_of_torchvision() -> None:
    reference = torchvision().transforms.functional.posterize
    images, bits = photos(8), torch.arange(1, 9)
    expected = [reference(image, int(kept)) for image, kept in zip(images, bits, strict=True)]
    assert torch.equal(colour.posterise(images, bits), torch.stack(expected))


@pytest.mark.parametrize("shape", [(32, 32), (28, 28), (9, 14)])
@pytest.mark.parametrize("name", MOVING)
def test_pixels_move_as_in_torchvision(name: str, shape: tuple[int, int]) -> None:
    """Where a place is half-way between two pixels, either of them may be taken."""
    automatic = torchvision().transforms.autoaugment
    mode = torchvision().transforms.InterpolationMode.NEAREST
    images = photos(20, side=32)[:, :, : shape[0], : shape[1]]
    scale = SCALES[name]
    level = torch.linspace(-scale.most, scale.most, 20, dtype=torch.float64)
    sides = {"translate-x": shape[1], "translate-y": shape[0]}
    expected = [
        automatic._apply_op(image, THEIRS[name], value * sides.get(name, 1), mode, None)
        for image, value in zip(images, level.tolist(), strict=True)
    ]
    assert scale.operation is not None
    assert wrong_share(scale.operation(images, level), torch.stack(expected)) < 0.002


@pytest.mark.parametrize("steps", [10, 31])
def test_scales_are_torchvisions(steps: int) -> None:
    automatic = torchvision().transforms.autoaugment
    spaces = automatic.AutoAugment()._augmentation_space(steps, (32, 40))
    spaces |= automatic.RandAugment()._augmentation_space(steps, (32, 40))
    assert set(spaces) == set(THEIRS.values())
    sides = {"translate-x": 40, "translate-y": 32}
    for name, scale in SCALES.items():
        values, signed = spaces[THEIRS[name]]
        assert scale.signed == signed
        if values.ndim:
            expected = values.double() / sides.get(name, 1)
            assert torch.allclose(scale.levels(steps), expected, atol=1e-4), name
    order = automatic.RandAugment()._augmentation_space(steps, (32, 32))
    assert [THEIRS[name] for name in NAMES[:-1]] == list(order)


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_are_torchvisions(policy: str) -> None:
    automatic = torchvision().transforms.autoaugment
    theirs = automatic.AutoAugment()._get_policies(automatic.AutoAugmentPolicy(policy))
    ours = [
        tuple((THEIRS[name], probability, place) for name, probability, place in pair)
        for pair in POLICIES[policy]
    ]
    assert ours == [
        tuple((n, p, 0 if place is None else place) for n, p, place in pair) for pair in theirs
    ]


def their_op(image: Tensor, name: str, level: float, upwards: bool) -> Tensor:
    transforms = torchvision().transforms
    scale = SCALES[name]
    sides = {"translate-x": image.shape[2], "translate-y": image.shape[1]}
    signed = -level if scale.signed and not upwards else level
    out: Tensor = transforms.autoaugment._apply_op(
        image,
        THEIRS[name],
        signed * sides.get(name, 1),
        transforms.InterpolationMode.NEAREST,
        None,
    )
    return out


@pytest.mark.parametrize("policy", POLICIES)
def test_autoaugment_does_what_its_draws_say(policy: str) -> None:
    images = photos(100)
    augment = AutoAugment(MEAN, STD, policy)
    draws = augment.draw(100, "per-image", generator(3))
    expected = []
    for image, row in zip(images, draws.tolist(), strict=True):
        for step, (name, probability, place) in enumerate(POLICIES[policy][int(row[0] * 25)]):
            if row[1 + 2 * step] < probability:
                level = float(SCALES[name].levels(10)[place])
                image = their_op(image, name, level, row[2 + 2 * step] >= 0.5)  # noqa: PLW2901
        expected.append(image)
    assert (
        wrong_share(pixels_of(augment.apply(normalised(images), draws)), torch.stack(expected), 1)
        < 0.005
    )


@pytest.mark.parametrize("count", [1, 3])
def test_randaugment_does_what_its_draws_say(count: int) -> None:
    images = photos(60)
    augment = RandAugment(MEAN, STD, count, 12)
    draws = augment.draw(60, "per-image", generator(4))
    expected = []
    for image, row in zip(images, draws.tolist(), strict=True):
        for step in range(count):
            name = NAMES[int(row[2 * step] * 14)]
            level = float(SCALES[name].levels(31)[12])
            image = their_op(image, name, level, row[2 * step + 1] >= 0.5)  # noqa: PLW2901
        expected.append(image)
    assert (
        wrong_share(pixels_of(augment.apply(normalised(images), draws)), torch.stack(expected), 1)
        < 0.01
    )


def test_the_augmentation_of_imagenet_does_what_its_draws_say() -> None:
    reference = torchvision().transforms.functional
    images = photos(40)
    augment = ImageNetAugmentation(MEAN, STD)
    draws = augment.draw(40, "per-image", generator(5))
    orders = list(permutations(range(4)))
    jitter = (
        (reference.adjust_brightness, 0.6, 1.4),
        (reference.adjust_contrast, 0.6, 1.4),
        (reference.adjust_saturation, 0.6, 1.4),
        (reference.adjust_hue, -0.2, 0.2),
    )
    expected = []
    for image, row in zip(images, draws.tolist(), strict=True):
        down, right = int(row[0] * 9), int(row[1] * 9)
        moved = reference.pad(image, 4)[:, down : down + 32, right : right + 32]
        changed = reference.hflip(moved) if row[2] < 0.5 else moved
        for place in orders[int(row[3] * 24)]:
            change, low, high = jitter[place]
            changed = change(changed, row[4 + place] * (high - low) + low)
        expected.append(changed)
    found = pixels_of(augment.apply(normalised(images), draws))
    assert wrong_share(found, torch.stack(expected), 2) < 0.001


# ---------------------------------------------------------------------------- DSA, by plain numpy


def numpy_affine(theta: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Read every pixel between the four that are around where it comes from."""
    height, width = image.shape[1:]
    out = np.zeros_like(image)
    for y in range(height):
        for x in range(width):
            place = theta @ [x - (width - 1) / 2, y - (height - 1) / 2]
            fx, fy = place[0] + (width - 1) / 2, place[1] + (height - 1) / 2
            for ny in (math.floor(fy), math.floor(fy) + 1):
                for nx in (math.floor(fx), math.floor(fx) + 1):
                    if 0 <= ny < height and 0 <= nx < width:
                        out[:, y, x] += image[:, ny, nx] * (1 - abs(fx - nx)) * (1 - abs(fy - ny))
    return out


def numpy_dsa(name: str, image: np.ndarray, row: list[float]) -> np.ndarray:
    """One image, pixel by pixel, after the definition."""
    height, width = image.shape[1:]
    first, second, third = row
    out = np.zeros_like(image)
    match name:
        case "color":
            image = image + (first - 0.5)
            mean = image.mean(axis=0, keepdims=True)
            image = (image - mean) * second * 2 + mean
            return (image - image.mean()) * (third + 0.5) + image.mean()
        case "flip":
            return image[:, :, ::-1] if first < 0.5 else image
        case "crop":
            most = round(height / 8)
            down, right = (int(value * (2 * most + 1)) - most for value in (first, second))
            for y in range(height):
                for x in range(width):
                    if 0 <= y + down < height and 0 <= x + right < width:
                        out[:, y, x] = image[:, y + down, x + right]
            return out
        case "cutout":
            size = height // 2
            top, left = (int(value * (height + 1)) - size // 2 for value in (first, second))
            out = image.copy()
            out[:, max(top, 0) : top + size, max(left, 0) : left + size] = 0
            return out
        case "scale":
            sides = [value * (1.2 - 1 / 1.2) + 1 / 1.2 for value in (first, second)]
            return numpy_affine(np.diag(sides), image)
    angle = (first - 0.5) * math.pi / 6
    turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return numpy_affine(turned, image)


@pytest.mark.parametrize("name", OPERATIONS)
def test_dsa_does_what_it_is_defined_by(name: str) -> None:
    images = torch.randn(8, 3, 16, 16, generator=generator(), dtype=torch.float64)
    draws = DSA(name).draw(8, "per-image", generator(1))
    expected = [
        numpy_dsa(name, image.numpy(), row[1:])
        for image, row in zip(images, draws.tolist(), strict=True)
    ]
    assert np.allclose(DSA(name).apply(images, draws).numpy(), np.stack(expected), atol=1e-9)


@pytest.mark.parametrize("name", OPERATIONS)
def test_gradients_get_through_dsa(name: str) -> None:
    images = torch.randn(2, 2, 8, 8, generator=generator(), dtype=torch.float64)
    augment = DSA(name)
    draws = augment.draw(2, "per-image", generator(2))
    assert torch.autograd.gradcheck(lambda x: augment.apply(x, draws), images.requires_grad_())


def test_gradients_get_through_a_mixture_of_operations() -> None:
    images = torch.randn(6, 1, 8, 8, generator=generator(), dtype=torch.float64)
    augment = DSA()
    draws = augment.draw(6, "per-image", generator(2))
    assert len(whole(draws[:, 0], 6).unique()) > 2
    assert torch.autograd.gradcheck(lambda x: augment.apply(x, draws), images.requires_grad_())


def test_what_is_shared_is_the_same_for_real_and_synthetic_images() -> None:
    image = torch.randn(1, 3, 16, 16, generator=generator())
    augment = DSA()
    for seed in range(12):
        draws = augment.draw(99, "shared", generator(seed))
        assert draws.shape == (1, 4)
        real, synthetic = (augment.apply(image.expand(n, -1, -1, -1), draws) for n in (5, 2))
        assert torch.equal(real[:2], synthetic)
        assert torch.equal(real[0], real[4])


# ------------------------------------------------------------------------------------- all of them


def every(name: str) -> Augmentation:
    return make_augmentation(name, (3, 32, 32), MEAN, STD)


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_a_batch_is_augmented_as_a_loop_would(name: str) -> None:
    images = normalised(photos(50))
    augment = every(name)
    draws = augment.draw(50, "per-image", generator(6))
    loop = [augment.apply(images[i : i + 1], draws[i : i + 1]) for i in range(50)]
    assert torch.allclose(augment.apply(images, draws), torch.cat(loop), atol=1e-6)


@pytest.mark.parametrize("name", AUGMENTATIONS[1:])
def test_modes_draw_what_they_say(name: str) -> None:
    augment = every(name)
    per_batch, per_image, shared = (augment.draw(9, mode, generator(7)) for mode in MODES)
    common = 1 if name == "dsa" else augment.numbers
    assert len(per_batch[:, :common].unique(dim=0)) == 1
    assert len(per_image[:, 0].unique()) == 9
    assert shared.shape == (1, augment.numbers)
    if name == "dsa":
        assert len(per_batch[:, 1].unique()) == 9
    image = normalised(photos(1)).expand(9, -1, -1, -1)
    alike = augment.apply(image, shared)
    assert torch.equal(alike, alike[:1].expand_as(alike))


@pytest.mark.parametrize("name", AUGMENTATIONS)
@pytest.mark.parametrize("channels", [1, 3])
def test_the_same_generator_gives_the_same_images(name: str, channels: int) -> None:
    mean, std = MEAN[:channels], STD[:channels]
    augment = make_augmentation(name, (channels, 28, 28), mean, std)
    images = torch.randn(16, channels, 28, 28, generator=generator())
    first, again, other = (augment(images, "per-image", generator(s)) for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert torch.equal(first, other) == (name == "none")
    assert first.shape == images.shape
    assert first.dtype == images.dtype


def test_pixels_that_nothing_happens_to_come_back() -> None:
    images = photos(5)
    augment = RandAugment(MEAN, STD)
    draws = torch.zeros(5, 2, dtype=torch.float64)
    assert torch.equal(pixels_of(augment.apply(normalised(images), draws)), images)


def test_large_images_have_the_policies_of_imagenet() -> None:
    draws = torch.tensor([[0.0, 0.39, 0.9, 0.99, 0.9]], dtype=torch.float64)
    image = normalised(photos(1, side=64))
    large = make_augmentation("autoaugment", (3, 64, 64), MEAN, STD).apply(image, draws)
    expected = AutoAugment(MEAN, STD, "imagenet").apply(image, draws)
    assert torch.equal(large, expected)
    assert not torch.equal(large, AutoAugment(MEAN, STD).apply(image, draws))


def test_moving_by_whole_pixels_and_mirroring() -> None:
    images = photos(2, 1, 8)
    moved = crop(images, torch.tensor([2, -3]), torch.tensor([0, 1]), 3)
    assert torch.equal(moved[0, 0, :6], images[0, 0, 2:])
    assert not moved[0, 0, 6:].any()
    assert torch.equal(moved[1, 0, 3:, :7], images[1, 0, :5, 1:])
    mirrored = flip(images, torch.tensor([True, False]))
    assert torch.equal(mirrored[0], images[0].flip(2))
    assert torch.equal(mirrored[1], images[1])


def test_operations_go_to_the_images_that_chose_them() -> None:
    images = torch.arange(6.0).view(6, 1, 1, 1)
    operations: list[Any] = [None, lambda x, k: x + k.view(-1, 1, 1, 1), lambda x, k: -x]
    choice = torch.tensor([2, 0, 1, 1, 0, 2])
    found = by_choice(images, choice, torch.arange(6.0) * 10, operations)
    assert found.flatten().tolist() == [0, 1, 22, 33, 4, -5]


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: DSA("color_colour"), "unknown operation 'colour'; did you mean 'color'"),
        (lambda: AutoAugment(MEAN, STD, "svhn"), "unknown policy of AutoAugment 'svhn'"),
        (lambda: RandAugment(MEAN, STD, 1, 31), "at 31: .* 0 to 30"),
        (lambda: RandAugment(MEAN, STD, 0), "of 0 operations"),
        (lambda: every("mixup"), "unknown augmentation 'mixup'"),
        (lambda: DSA().draw(2, "per-pixel", generator()), "mode of augmentation 'per-pixel'"),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_exist_is_named(make: Callable[[], object], told: str) -> None:
    with pytest.raises(HyperParameterError, match=told):
        make()
