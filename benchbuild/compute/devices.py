"""Devices: choosing one, waiting for one, and what a record says about it."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch.utils import deterministic

from benchbuild.errors import BrokenDeviceError, DeviceError

LIBRARIES = ("torch", "torch-geometric", "numpy", "scipy")


def accelerates(device: torch.device) -> bool:
    """Tell whether a device is another one than the CPU, with memory and a clock of its own."""
    return device.type != "cpu"


def device_count(kind: str = "cuda") -> int:
    """Return how many devices of a kind torch finds: CUDA's, or those of a package that adds one.

    Other devices that torch knows are left out: none of them can all that trainings ask for.
    """
    if kind not in ("cuda", torch._C._get_privateuse1_backend_name()):
        return 0
    return int(torch.get_device_module(kind).device_count())


def resolve_device(name: str | torch.device = "auto") -> torch.device:
    """Turn ``auto``, ``cpu``, ``cuda`` or ``cuda:i`` into a device that exists.

    Raises:
        DeviceError: If it does not exist on this machine.
    """
    if isinstance(name, str) and name == "auto":
        return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise DeviceError(f"unknown device {name!r}; use auto, cpu, cuda or cuda:<index>") from None
    if device.type == "cpu":
        return torch.device("cpu")
    found = device_count(device.type)
    index = device.index or 0
    if index >= found:
        raise DeviceError(
            f"device {str(name)!r} does not exist: torch finds {found} CUDA devices here"
            f"{_why_none() if not found else ''}; use cpu"
        )
    return torch.device(device.type, index)


def _why_none() -> str:
    """Say why torch finds no CUDA device, as far as it knows: no CUDA, no driver, an old one."""
    if torch.version.cuda is None:
        return f", because torch {torch.__version__} was built without CUDA"
    try:
        torch.cuda.init()  # type: ignore[no-untyped-call]
    except (AssertionError, RuntimeError) as error:
        return f" ({str(error).splitlines()[0].rstrip('.')})"
    return ""


def claim(device: torch.device) -> None:
    """Make a device the one that this process uses where none is named.

    Raises:
        BrokenDeviceError: If nothing can be computed on it: it is broken, or another process
            keeps it to itself.
    """
    if not accelerates(device):
        return
    try:
        torch.get_device_module(device).set_device(device)
        torch.ones(1, device=device)
        synchronize(device)
    except RuntimeError as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise BrokenDeviceError(
            f"device {str(device)!r} does not work: {said}", device_count(device.type)
        ) from error


def release(device: torch.device) -> None:
    """Give the memory back that nothing uses any more.

    Raises:
        RuntimeError: If the device no longer works, as CUDA's after an illegal access.
    """
    if accelerates(device):
        synchronize(device)
        torch.get_device_module(device).empty_cache()


def stream_seed(purpose: str, seed: int) -> int:
    """Return a seed of its own for one purpose, so that two streams of one job are unrelated."""
    return int.from_bytes(hashlib.sha256(f"{purpose} {seed}".encode()).digest()[:4], "big")


def synchronize(device: torch.device) -> None:
    """Wait until everything that was started on a device is done."""
    if accelerates(device):
        torch.get_device_module(device).synchronize(device)


def device_name(device: torch.device) -> str:
    """Return the model of a device, as its maker calls it."""
    if accelerates(device):
        return str(torch.get_device_module(device).get_device_name(device))
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def environment(device: torch.device, threads: int) -> dict[str, str]:
    """Return what a record says about where it was made: device, threads and library versions."""
    return {
        "device": str(device),
        "device_name": device_name(device),
        **(_accelerator(device) if accelerates(device) else {}),
        "threads": str(threads),
        "python": platform.python_version(),
        **{library: version(library) for library in LIBRARIES},
    }


def _accelerator(device: torch.device) -> dict[str, str]:
    """Return what else decides figures on an accelerator, or how fast it is."""
    return {
        "device_memory": str(capacity(device)),
        "cuda": str(torch.version.cuda),
        "driver": _driver(),
        "tf32": _tf32(),
    }


def capacity(device: torch.device) -> int:
    """Return the bytes that an accelerator has."""
    return int(torch.get_device_module(device).get_device_properties(device).total_memory)


def _driver() -> str:
    """Return the version of Nvidia's driver, as the driver itself tells it."""
    said = Path("/proc/driver/nvidia/version")
    found = re.search(r"\d+\.\d[\d.]*", said.read_text()) if said.exists() else None
    return found[0] if found else "unknown"


def _tf32() -> str:
    """Say that factors are not rounded, unless Nvidia's libraries were told to do it."""
    told = os.environ.get("NVIDIA_TF32_OVERRIDE", "0")
    return "off" if told == "0" else f"NVIDIA_TF32_OVERRIDE={told}"


@contextmanager
def reproducible(device: torch.device, seed: int, threads: int) -> Iterator[None]:
    """Make the same computation give the same numbers, and leave no trace.

    Sums depend on how many threads share them, so the number of threads is fixed; torch's own
    generators of the CPU and of the device are seeded; see `_pinned` for accelerators.

    Args:
        device: Device of the computation.
        seed: Seed of the generators.
        threads: Threads of a computation on the CPU.
    """
    threads_before = torch.get_num_threads()
    elsewhere = accelerates(device)
    with (
        torch.random.fork_rng(devices=[device] if elsewhere else []),
        _pinned() if elsewhere else nullcontext(),
    ):
        try:
            torch.set_num_threads(threads)
            torch.default_generator.manual_seed(seed)
            if elsewhere:
                torch.get_device_module(device).default_generators[device.index].manual_seed(seed)
            yield
        finally:
            torch.set_num_threads(threads_before)


@contextmanager
def _pinned() -> Iterator[None]:
    """Fix the modes that decide figures on an accelerator for a while.

    Deterministic kernels are asked for, and factors of full precision, whatever the environment
    says. Fresh memory is not filled: nothing here reads it before it is written, and filling it
    would double the kernels of a training.
    """
    modes: Any = deterministic
    before = torch.are_deterministic_algorithms_enabled(), modes.fill_uninitialized_memory
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    precision = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    try:
        torch.use_deterministic_algorithms(True, warn_only=True)
        modes.fill_uninitialized_memory = False
        torch.set_float32_matmul_precision("highest")
        torch.backends.cudnn.allow_tf32 = False
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=warn_only)
        modes.fill_uninitialized_memory = before[1]
        torch.set_float32_matmul_precision(precision[0])
        torch.backends.cudnn.allow_tf32 = precision[1]
