"""Products of dense matrices against double precision."""

from __future__ import annotations

import pytest
import torch

from benchbuild.compute import products
from benchbuild.compute.products import has_onednn, linear, product


@pytest.fixture(params=[False, True], ids=["onednn", "mkl"], autouse=True)
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of this on a processor that either library is the quicker one on."""
    monkeypatch.setattr(products, "mkl_is_quicker", lambda: request.param)


@pytest.mark.parametrize("worthwhile", [0, 1 << 40])
@pytest.mark.parametrize("shape", [(70, 300, 64), (1, 5, 7), (33, 1, 9), (4, 90, 1), (0, 3, 2)])
@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)])
def test_a_product_is_one(
    monkeypatch: pytest.MonkeyPatch,
    worthwhile: int,
    shape: tuple[int, int, int],
    turned: tuple[bool, bool],
) -> None:
    monkeypatch.setattr(products, "WORTHWHILE", worthwhile)
    rows, inner, columns = shape
    left = torch.randn(inner, rows).T if turned[0] else torch.randn(rows, inner)
    right = torch.randn(columns, inner).T if turned[1] else torch.randn(inner, columns)
    found, exact = product(left, right), (left.double() @ right.double()).float()
    assert found.shape == exact.shape
    torch.testing.assert_close(found, exact, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("turned", [False, True])
def test_a_linear_layer_is_one(kind: torch.dtype, turned: bool) -> None:
    rows = torch.randn(33, 10, dtype=kind)
    weight = torch.randn(10, 7, dtype=kind).T if turned else torch.randn(7, 10, dtype=kind)
    expected = rows @ weight.T
    torch.testing.assert_close(linear(rows, weight), expected)
    torch.testing.assert_close(linear(rows, weight, relu=True), expected.relu())


def test_only_single_precision_on_a_cpu_is_for_onednn() -> None:
    assert not has_onednn(torch.zeros(2, 2, dtype=torch.float64))
    assert not has_onednn(torch.zeros(2, 2, device="meta"))
    torch.testing.assert_close(
        product(torch.eye(200, dtype=torch.float64), torch.ones(200, 200, dtype=torch.float64)),
        torch.ones(200, 200, dtype=torch.float64),
    )


@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)])
def test_gradients_of_a_product_lie_as_its_factors_do(
    monkeypatch: pytest.MonkeyPatch, turned: tuple[bool, bool]
) -> None:
    """Also those of gradients. Adam, fused, takes the layout for granted."""
    monkeypatch.setattr(products, "WORTHWHILE", 0)
    torch.manual_seed(0)
    wide = torch.randn(6, 10)[:, :5].T if turned[0] else torch.randn(5, 12)[:, 3:9]
    left, right = wide.clone(), torch.randn(4, 6).T if turned[1] else torch.randn(6, 4)
    found = _slopes(left, right)
    exact = _slopes(left.double(), right.double())
    for one, other, factor in zip(found, exact, (left, right, left, right), strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-4)
        assert one.stride() == factor.stride()


def _slopes(left: torch.Tensor, right: torch.Tensor) -> list[torch.Tensor]:
    """Return the gradients of a product's cubes, then those of the squares of these."""
    leaves = [part.detach().requires_grad_() for part in (left, right)]
    once = torch.autograd.grad(product(*leaves).pow(3).sum(), leaves, create_graph=True)
    twice = torch.autograd.grad(sum(slope.square().sum() for slope in once), leaves)
    return [part.detach() for part in (*once, *twice)]
