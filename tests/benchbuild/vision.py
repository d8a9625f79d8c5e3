"""torchvision as a reference, where it is installed; the product never imports it."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
import torch

_LIBRARIES: list[Any] = []


def torchvision() -> Any:
    """Return torchvision; skips the test where there is none.

    Beside a torch without CUDA its compiled part does not load, and its import fails on two
    operators of that part. Nothing here needs them, so they are declared.
    """
    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed: pip install --no-deps torchvision")
    try:
        import torchvision as module
    except RuntimeError:
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _LIBRARIES.append(library)
        import torchvision as module
    return module
