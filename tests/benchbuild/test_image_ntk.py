"""Tangent kernels: by hand, by brute force, and against wide networks that are really there."""

from __future__ import annotations

import dataclasses
import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from benchbuild.errors import HyperParameterError
from benchbuild.kinds.condense.images.ntk import (
    POOLINGS,
    ConvKernel,
    FullyConnectedKernel,
    Pooling,
    TangentKernel,
)
from benchbuild.kinds.evaluate.gntk import tangent_kernel

pytestmark = pytest.mark.usefixtures("one_thread")

KERNELS = (FullyConnectedKernel(2), *(ConvKernel(2, pooling=pooling) for pooling in POOLINGS))


def pictures(count: int, *shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, *shape, generator=generator, dtype=torch.float64)


# ------------------------------------------------------------------------------------------ by hand


def test_one_layer_by_hand() -> None:
    """Without biases, two inputs at a right angle and of lengths 3 and 4, of four features."""
    left = torch.tensor([[3.0, 0, 0, 0]], dtype=torch.float64).view(1, 1, 2, 2)
    right = torch.tensor([[0.0, 4, 0, 0]], dtype=torch.float64).view(1, 1, 2, 2)
    kernel = FullyConnectedKernel(1, weight=2.0, bias=0.0)
    # K = sqrt(2 * 9 / 4 * 2 * 16 / 4) / (2 pi) = 3 / pi, and 2 K comes out; no first layer's share.
    assert float(kernel(left, right)) == pytest.approx(6 / math.pi)
    # With itself: q = 4.5, half of it goes on, times 2; the tangent has that of both layers.
    assert float(kernel(left, left)) == pytest.approx(4.5 + 4.5)
    # Opposite: nothing gets through at both.
    assert float(kernel(left, -left)) == pytest.approx(0.0, abs=1e-12)


def test_one_layer_is_that_of_graphs_without_edges() -> None:
    x = pictures(7, 1, 3, 4)
    theirs = tangent_kernel(x.flatten(1), x.flatten(1)) * 2 / 12
    assert torch.allclose(FullyConnectedKernel(1, bias=0.0)(x, x), theirs, atol=1e-7)


def test_a_single_pixel_sees_only_itself() -> None:
    """Of nine neighbours eight are outside, so a convolution is a linear map with a ninth of it."""
    x, y = pictures(3, 5, 1, 1), pictures(4, 5, 1, 1, seed=1)
    found = ConvKernel(1, weight=2.0, bias=0.0, pooling="none")(x, y)
    expected = FullyConnectedKernel(1, weight=2.0, bias=0.0)(x, y) / 9
    assert torch.allclose(found, expected)


# ----------------------------------------------------------------------------------- by brute force


def brute_conv(x: np.ndarray, y: np.ndarray, kernel: ConvKernel) -> float:
    """Every pair of pixels of every pair of images on its own."""
    both = [x, y]
    sides = x.shape[1:]
    cov = {
        (a, b): np.einsum("cij,ckl->ijkl", both[a], both[b]) / len(x)
        for a, b in product(range(2), repeat=2)
    }
    tan = np.zeros_like(cov[0, 1])
    for _ in range(kernel.depth):
        cov = {pair: kernel.weight * nine(part) + kernel.bias for pair, part in cov.items()}
        tan = kernel.weight * nine(tan) + cov[0, 1]
        own = [np.einsum("ijij->ij", cov[a, a]) for a in range(2)]
        bent = {}
        for (a, b), part in cov.items():
            lengths = np.sqrt(own[a][:, :, None, None] * own[b][None, None])
            u = np.clip(part / lengths, -1, 1)
            bent[a, b] = lengths * (u * (np.pi - np.arccos(u)) + np.sqrt(1 - u**2)) / (2 * np.pi)
            if (a, b) == (0, 1):
                tan = tan * (np.pi - np.arccos(u)) / (2 * np.pi)
        cov = bent
        if kernel.pooling == "average":
            sides = tuple(side // 2 for side in sides)
            cov = {pair: halved(part, sides) for pair, part in cov.items()}
            tan = halved(tan, sides)
    if kernel.pooling == "global":
        ends = [part.mean() for part in (cov[0, 1], tan)]
    else:
        ends = [np.einsum("ijij->ij", part).mean() for part in (cov[0, 1], tan)]
    return float(kernel.weight * sum(ends) + kernel.bias)


def nine(part: np.ndarray) -> np.ndarray:
    padded = np.pad(part, 1)
    height, width = part.shape[:2]
    out = np.zeros_like(part)
    for i, j in product(range(3), repeat=2):
        out += padded[i : i + height, j : j + width, i : i + height, j : j + width]
    return out / 9


def halved(part: np.ndarray, sides: tuple[int, ...]) -> np.ndarray:
    height, width = sides
    out = np.zeros((height, width, height, width))
    for i, j, k, m in product(*map(range, out.shape)):
        window = part[2 * i : 2 * i + 2, 2 * j : 2 * j + 2, 2 * k : 2 * k + 2, 2 * m : 2 * m + 2]
        out[i, j, k, m] = window.mean()
    return out


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("sides", [(6, 6), (5, 7)])
def test_convolutions_by_brute_force(pooling: Pooling, sides: tuple[int, int]) -> None:
    kernel = ConvKernel(2, weight=1.7, bias=0.3, pooling=pooling)
    x, y = pictures(2, 3, *sides), pictures(3, 3, *sides, seed=1)
    expected = [[brute_conv(a, b, kernel) for b in y.numpy()] for a in x.numpy()]
    assert np.allclose(kernel(x, y).numpy(), expected, atol=1e-10)
    alike = [[brute_conv(a, b, kernel) for b in x.numpy()] for a in x.numpy()]
    assert np.allclose(kernel(x, x).numpy(), alike, atol=1e-6)


# -------------------------------------------------------------------------- against wide networks


def empirical(outputs: Tensor, weights: list[Tensor]) -> Tensor:
    """The inner products of the gradients of outputs."""
    rows = [
        torch.cat([g.flatten() for g in torch.autograd.grad(out, weights, retain_graph=True)])
        for out in outputs
    ]
    return torch.stack(rows) @ torch.stack(rows).T


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape).requires_grad_()


def wide_dense(kernel: TangentKernel, images: Tensor, width: int) -> Tensor:
    out, weights = images.float().flatten(1), []
    for layer in range(kernel.depth + 1):
        wide = width if layer < kernel.depth else 1
        weight, bias = draw(wide, out.shape[1]), draw(wide)
        weights += [weight, bias]
        out = out @ weight.T * math.sqrt(kernel.weight / out.shape[1])
        out = out + math.sqrt(kernel.bias) * bias
        out = out.relu() if layer < kernel.depth else out
    return empirical(out[:, 0], weights)


def wide_conv(kernel: ConvKernel, images: Tensor, width: int) -> Tensor:
    out, weights = images.float(), []
    for _ in range(kernel.depth):
        weight, bias = draw(width, out.shape[1], 3, 3), draw(width)
        weights += [weight, bias]
        scaled = weight * math.sqrt(kernel.weight / (9 * out.shape[1]))
        out = functional.conv2d(out, scaled, math.sqrt(kernel.bias) * bias, padding=1).relu()
        if kernel.pooling == "average":
            out = functional.avg_pool2d(out, 2)
    out = out.mean(dim=(2, 3)) if kernel.pooling == "global" else out.flatten(1)
    weight, bias = draw(1, out.shape[1]), draw(1)
    out = out @ weight.T * math.sqrt(kernel.weight / out.shape[1]) + math.sqrt(kernel.bias) * bias
    return empirical(out[:, 0], [*weights, weight, bias])


def check_mean(networks: list[Tensor], expected: Tensor) -> None:
    """The mean over networks is the kernel, within four standard errors, and these are small."""
    found = torch.stack(networks).double()
    error = found.std(dim=0) / math.sqrt(len(networks))
    assert float(error.max() / expected.abs().max()) < 0.03
    assert float(((found.mean(dim=0) - expected) / error).abs().max()) < 4


@pytest.mark.parametrize("depth", [1, 3])
def test_wide_networks_have_the_kernel(depth: int) -> None:
    torch.manual_seed(0)
    images = pictures(4, 1, 3, 3)
    kernel = FullyConnectedKernel(depth, weight=2.0, bias=0.2)
    networks = [wide_dense(kernel, images, 256) for _ in range(60)]
    check_mean(networks, kernel(images, images))


@pytest.mark.parametrize("pooling", POOLINGS)
def test_wide_convolutional_networks_have_the_kernel(pooling: Pooling) -> None:
    torch.manual_seed(0)
    images = pictures(4, 2, 6, 6)
    kernel = ConvKernel(2, weight=2.0, bias=0.2, pooling=pooling)
    networks = [wide_conv(kernel, images, 64) for _ in range(80)]
    check_mean(networks, kernel(images, images))


# --------------------------------------------------------------------------------- what they share


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_are_symmetric_and_positive(kernel: TangentKernel) -> None:
    x = pictures(12, 2, 6, 6)
    found = kernel(x, x)
    assert torch.allclose(found, found.T)
    assert float(torch.linalg.eigvalsh(found).min()) > 0


class Largest(TorchDispatchMode):
    """Sees the largest tensor that is made."""

    bytes = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        out = function(*args, **(kwargs or {}))
        for part in out if isinstance(out, tuple | list) else [out]:
            if isinstance(part, Tensor):
                self.bytes = max(self.bytes, part.numel() * part.element_size())
        return out


@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_change_nothing_and_bound_the_memory(kernel: TangentKernel) -> None:
    x, y = pictures(6, 1, 8, 8), pictures(5, 1, 8, 8, seed=1)
    whole = kernel(x, y)
    inputs = 6 * 64 * 8
    for memory in (1, 1 << 23):
        with Largest() as seen:
            found = dataclasses.replace(kernel, memory=memory)(x, y)
        assert torch.allclose(found, whole, atol=1e-12)
        one = 64**2 * 8 if isinstance(kernel, ConvKernel) else 5 * 8
        assert seen.bytes <= max(memory // 16, one, inputs)


@pytest.mark.parametrize("kernel", KERNELS)
def test_nothing_but_inputs_is_kept_for_gradients(kernel: TangentKernel) -> None:
    kept: dict[int, int] = {}

    def keep(part: Tensor) -> Tensor:
        kept[part.untyped_storage().data_ptr()] = part.untyped_storage().nbytes()
        return part

    x, y = pictures(10, 1, 8, 8).requires_grad_(), pictures(10, 1, 8, 8, seed=1)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda part: part):
        kernel(x, y).sum()
    assert sum(kept.values()) <= 8 * 20 * 64 * 8, "images and variances, a few times"


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("memory", [1, 1 << 28])
def test_gradients_get_through(kernel: TangentKernel, memory: int) -> None:
    small = dataclasses.replace(kernel, memory=memory)
    x, y = pictures(1, 1, 4, 4), pictures(2, 1, 4, 4, seed=1)
    assert torch.autograd.gradcheck(lambda a: small(a, y), x.requires_grad_())


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_of_images_with_themselves(kernel: TangentKernel) -> None:
    """The angle of an image with itself has no derivative; the kernel has one all the same."""
    x = pictures(2, 1, 4, 4).requires_grad_()
    (found,) = torch.autograd.grad(kernel(x, x).diagonal().sum(), x)
    step, direction = 1e-5, pictures(2, 1, 4, 4, seed=3)
    with torch.no_grad():
        ahead, behind = (
            float(kernel(x + sign * step * direction, x + sign * step * direction).trace())
            for sign in (1, -1)
        )
    assert float((found * direction).sum()) == pytest.approx(
        (ahead - behind) / (2 * step), rel=1e-4
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_single_precision_is_close(kernel: TangentKernel) -> None:
    x = pictures(5, 1, 6, 6)
    rough = dataclasses.replace(kernel, dtype=torch.float32)(x, x)
    assert rough.dtype == torch.float32
    assert torch.allclose(rough.double(), kernel(x, x), rtol=1e-3)


def test_blank_images_have_a_kernel() -> None:
    blank = torch.zeros(2, 1, 4, 4)
    for kernel in KERNELS:
        bare = dataclasses.replace(kernel, bias=0.0)
        assert not bare(blank, blank).any()


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: FullyConnectedKernel(0), "depth=0 must be from 1 up"),
        (lambda: ConvKernel(weight=-1.0), r"weight=-1\.0 must be from 0 up"),
        (lambda: ConvKernel(pooling="max"), "unknown pooling 'max'"),
        (lambda: ConvKernel(3)(pictures(1, 1, 4, 4), pictures(1, 1, 4, 4)), "pool images of 4 x 4"),
    ],
)
def test_networks_that_there_are_not_are_refused(make: object, told: str) -> None:
    assert callable(make)
    with pytest.raises(HyperParameterError, match=told):
        make()
