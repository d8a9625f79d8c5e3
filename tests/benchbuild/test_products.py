"""Products of dense matrices against double precision."""

from __future__ import annotations

import pytest
import torch

from benchbuild.compute import products
from benchbuild.compute.products import has_onednn, product


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


def test_only_single_precision_on_a_cpu_is_for_onednn() -> None:
    assert not has_onednn(torch.zeros(2, 2, dtype=torch.float64))
    assert not has_onednn(torch.zeros(2, 2, device="meta"))
    torch.testing.assert_close(
        product(torch.eye(200, dtype=torch.float64), torch.ones(200, 200, dtype=torch.float64)),
        torch.ones(200, 200, dtype=torch.float64),
    )
