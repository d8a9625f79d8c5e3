"""A pretend GPU: a device of torch's own kind, whose tensors hold their values in main memory.

It stands in for a GPU where there is none. To torch it is a device like any other, so code that
leaves a tensor behind fails on it as it would on CUDA; and it counts what makes a GPU wait::

    with PretendGpu() as gpu:
        train(arch, graph, hp, 0, gpu.device)
    print(gpu.operations, gpu.synchronisations, gpu.peak)

What it says is exact: which tensors are where, which operations are asked for, where the host waits
for the device, and the bytes of all tensors that are alive. What it can't say: how long anything
takes, what kernels and the allocator need beside the tensors, and what sums CUDA's kernels give.
Figures are those of the CPU.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, cast

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from benchbuild.testing.cuda_graph import REPLAY, PretendGraph

NAME = "pretend"
"""What torch calls the device."""

_COPIES = ("aten::_to_copy", "aten::copy_")
_INDEXING = ("aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")
_TAKE_A_NUMBER = ("aten::fill_", "aten::masked_fill", "aten::masked_fill_", *_INDEXING)
"""Operations, beside those on single entries, that take one number from main memory."""
_NO_KERNEL = ("aten::empty", "aten::new_empty", "aten::_unsafe_view", "aten::resize_")
"""How the names of operations begin that give a tensor and start nothing on a device."""
_WAITING = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)
"""Torch's own marks of operations that the host can't go on after before it sees their result."""


class _Memory:
    """The bytes of one tensor and all its views, for as long as one of them is alive."""

    def __init__(self, gpu: PretendGpu, size: int) -> None:
        self._gpu, self._size = gpu, size
        gpu.live += size
        gpu.peak = max(gpu.peak, gpu.live)

    def __del__(self) -> None:
        self._gpu.live -= self._size


class PretendTensor(Tensor):
    """A tensor that says it is on the pretend GPU.

    Attributes:
        held: Its values, in main memory.
        memory: The bytes that it keeps alive.
    """

    held: Tensor
    memory: Sequence[_Memory]
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls, held: Tensor, gpu: PretendGpu) -> PretendTensor:
        """Wrap a tensor in main memory."""
        memory = gpu.allocate(held)
        places: dict[str, Any] = {}
        if held.layout is torch.strided:
            places = {"strides": held.stride(), "storage_offset": held.storage_offset()}
        made = Tensor._make_wrapper_subclass(
            cls, held.shape, dtype=held.dtype, device=gpu.device, layout=held.layout, **places
        )
        made.held, made.memory = held, memory
        return made

    @property
    def data(self) -> Tensor:
        """The tensor without its history; setting it also exchanges the values."""
        return self.detach()

    @data.setter  # type: ignore[override]
    def data(self, other: PretendTensor) -> None:
        Tensor.data.__set__(self, other)  # type: ignore[attr-defined]
        self.held, self.memory = other.held, other.memory

    def tolist(self) -> Any:
        """Hand the values to the host, which waits for them."""
        return self.cpu().tolist()

    def __repr__(self) -> str:  # type: ignore[override]
        """Show the values, which a test may want to see, without counting that."""
        return f"{type(self).__name__}({self.held!r})"

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: OpOverload, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Compute where torch has set the mode aside."""
        return _MODULE.gpu.compute(func, args, kwargs or {})


class PretendGpu(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """One GPU, there for as long as the block lasts; its figures can be read afterwards.

    Args:
        capacity: Bytes that it has; None for as many as are asked for.

    Attributes:
        device: Its name for torch.
        operations: How often each operation was started on it.
        synchronisations: How often the host waited for it, by what it waited for.
        uploads: How often a tensor was copied onto it.
        live: Bytes of the tensors that are alive.
        peak: The most so far.
        generator: Its default generator.
        recording: The graph that operations are recorded in now; None if they are not.
    """

    def __init__(self, capacity: int | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        register()
        self.device = torch.device(NAME, 0)
        self.capacity = capacity
        self.live = self.peak = self.uploads = 0
        self.operations: Counter[str] = Counter()
        self.synchronisations: Counter[str] = Counter()
        self.generator = torch.Generator().manual_seed(0)
        self.recording: PretendGraph | None = None
        self._alive: weakref.WeakValueDictionary[int, _Memory] = weakref.WeakValueDictionary()

    def __enter__(self) -> Self:
        """Plug it in."""
        self._before = torch.Generator, torch._C._only_lift_cpu_tensors()
        torch.Generator = _Generator  # type: ignore[assignment, misc]
        torch._C._set_only_lift_cpu_tensors(True)
        _MODULE.plugged.append(self)
        return cast(Self, super().__enter__())  # type: ignore[no-untyped-call]

    def __exit__(self, *raised: Any) -> None:
        """Unplug it."""
        super().__exit__(*raised)  # type: ignore[no-untyped-call]
        _MODULE.plugged.pop()
        torch.Generator, only_cpu = self._before  # type: ignore[misc]
        torch._C._set_only_lift_cpu_tensors(only_cpu)

    def reset_counts(self) -> None:
        """Count from 0 again; of memory, from what is alive."""
        self.operations.clear()
        self.synchronisations.clear()
        self.uploads = 0
        self.peak = self.live

    def allocate(self, held: Tensor) -> Sequence[_Memory]:
        """Return the memory of a tensor: its own, or that of the tensor that it is a view of.

        Raises:
            OutOfMemoryError: If there is no room for it.
        """
        return [self._memory_of(storage) for storage in _storages(held)]

    def _memory_of(self, storage: torch.UntypedStorage) -> _Memory:
        known = self._alive.get(storage._cdata)
        if known is None:
            size = storage.nbytes()
            if self.capacity is not None and self.live + size > self.capacity:
                raise torch.OutOfMemoryError(
                    f"the pretend GPU is out of memory: {size:,} bytes were asked for, "
                    f"{self.live:,} of {self.capacity:,} are in use"
                )
            known = self._alive[storage._cdata] = _Memory(self, size)
        return known

    def __torch_dispatch__(
        self, func: OpOverload, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Compute one operation, on whichever device its arguments are."""
        return self.compute(func, args, kwargs or {})

    def compute(self, func: OpOverload, args: Any, kwargs: dict[str, Any]) -> Any:
        """Compute one operation, and count it if it is one of the GPU.

        Raises:
            RuntimeError: If its arguments are on different devices.
        """
        call = _Call(func, args, kwargs)
        if not call.touches:
            return func(*args, **kwargs)
        call.check()
        self._count(call)
        inside, named = tree_map_only(PretendTensor, lambda tensor: tensor.held, (args, kwargs))
        if call.asked is not None:
            named["device"] = "cpu"
        if self.recording is not None:
            self.recording.check(call)
            self.recording.see((inside, named))
        with self._drawing(call):
            out = func(*inside, **named)
        if self.recording is not None:
            self.recording.add(partial(func, *inside, **named), out)
        if not call.onto:
            return args[0] if call.name == "aten::copy_" else out
        wrapped = tree_map_only(Tensor, lambda tensor: PretendTensor(tensor, self), out)
        return return_and_correct_aliasing(func, args, kwargs, wrapped)  # type: ignore[no-untyped-call]

    def _count(self, call: _Call) -> None:
        self.uploads += call.uploads
        if call.waits:
            self.synchronisations[call.name] += 1
        if call.starts_a_kernel:
            self.operations[call.name] += 1

    @contextmanager
    def _drawing(self, call: _Call) -> Iterator[None]:
        """Draw from the device's own generator where the operation names none."""
        if not call.onto or not call.draws:
            yield
            return
        before = torch.get_rng_state()
        torch.set_rng_state(self.generator.get_state())
        try:
            yield
        finally:
            self.generator.set_state(torch.get_rng_state())
            torch.set_rng_state(before)


class _Call:
    """One operation with its arguments, and what that means for a device.

    Attributes:
        name: Its name.
        asked: The device that it asks for; None for that of its arguments.
        tensors: Its arguments that are tensors.
        reads: Whether one of them is on the GPU.
        onto: Whether its result is.
    """

    def __init__(self, func: OpOverload, args: Any, kwargs: dict[str, Any]) -> None:
        self._func, self._args, self._kwargs = func, args, kwargs
        self.name = func.name().partition(".")[0]  # type: ignore[no-untyped-call]
        self.asked = kwargs.get("device")
        leaves = tree_leaves((args, kwargs))
        self.tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        self.reads = any(isinstance(tensor, PretendTensor) for tensor in self.tensors)
        self.onto = self.reads
        if self.asked is not None:
            self.onto = torch.device(self.asked).type == NAME
        elif self.name == "aten::copy_":
            self.onto = isinstance(args[0], PretendTensor)

    @property
    def touches(self) -> bool:
        """Whether the GPU has anything to do with it."""
        return self.reads or self.onto

    @property
    def draws(self) -> bool:
        """Whether it draws from the default generator."""
        seeded = torch.Tag.nondeterministic_seeded in self._func.tags
        return seeded and self.generator is None

    @property
    def uploads(self) -> bool:
        """Whether it copies from main memory onto the GPU."""
        all_there = all(isinstance(tensor, PretendTensor) for tensor in self.tensors)
        return self.name in _COPIES and self.onto and not all_there

    @property
    def hidden_upload(self) -> bool:
        """Whether its kernel copies a number from main memory, where others are handed it."""
        from_host = any(not isinstance(tensor, PretendTensor) for tensor in self.tensors)
        return self.name == "aten::where" and self.reads and from_host

    @property
    def generator(self) -> Any:
        """The generator that it names; None if it names none."""
        return self._kwargs.get("generator")

    @property
    def waits(self) -> bool:
        """Whether the host waits for its result."""
        if not self.reads:
            return False
        if self.name in _COPIES:
            return not self.onto
        if self.name in _INDEXING:
            places = [place for place in self._args[1] if place is not None]
            from_host = any(not isinstance(place, PretendTensor) for place in places)
            return from_host or any(place.dtype is torch.bool for place in places)
        if self._kwargs.get("output_size") is not None:
            return False
        return any(tag in self._func.tags for tag in _WAITING)

    @property
    def starts_a_kernel(self) -> bool:
        """Whether anything is started on the device: views and unset memory cost nothing."""
        if self.name.startswith(_NO_KERNEL):
            return False
        returned = [given.alias_info for given in self._func._schema.returns]
        return not any(alias is not None and not alias.is_write for alias in returned)

    def check(self) -> None:
        """Refuse arguments that are on different devices, as CUDA does.

        Raises:
            RuntimeError: If there are any.
        """
        generator = self.generator
        if generator is not None and self.onto != (generator._cdata in _GENERATORS):
            raise RuntimeError(f"{self.name}: its generator is one of another device")
        if not self.reads or self.name in _COPIES:
            return
        others = [tensor for tensor in self.tensors if not isinstance(tensor, PretendTensor)]
        if torch.Tag.pointwise in self._func.tags or self.name in _TAKE_A_NUMBER:
            others = [tensor for tensor in others if tensor.dim()]
        if others:
            shapes = ", ".join(str(tuple(tensor.shape)) for tensor in others)
            raise RuntimeError(
                f"{self.name}: tensors on the {NAME} GPU and in main memory; those of the shapes "
                f"{shapes} were left behind"
            )


def _storages(held: Tensor) -> list[torch.UntypedStorage]:
    """Return where the numbers of a tensor lie: of a sparse one, its entries and their places."""
    if held.layout is torch.strided:
        return [held.untyped_storage()]
    if held.layout is torch.sparse_csr:
        parts = [held.crow_indices(), held.col_indices(), held.values()]
    else:
        parts = [held._indices(), held._values()]
    return [part.untyped_storage() for part in parts]


class _Generator(torch.Generator):
    """A generator that can also be one of the pretend GPU."""

    def __new__(cls, device: str | torch.device = "cpu") -> Self:
        """Make one in main memory, and remember those that are not for it."""
        made = super().__new__(cls)
        if torch.device(device).type == NAME:
            _GENERATORS[made._cdata] = made  # type: ignore[attr-defined]
        return made


_GENERATORS: weakref.WeakValueDictionary[int, _Generator] = weakref.WeakValueDictionary()
"""The generators of the pretend GPU; torch hands on the address, not the object."""


@dataclass(frozen=True)
class _Properties:
    """What torch says of a device.

    Attributes:
        name: Its model.
        total_memory: Its bytes.
    """

    name: str
    total_memory: int


class _Module:
    """What ``torch.cuda`` is to CUDA; one for all pretend GPUs of the process.

    Attributes:
        plugged: The GPUs that are there; the last one counts.
    """

    def __init__(self) -> None:
        self.plugged: list[PretendGpu] = []

    @property
    def gpu(self) -> PretendGpu:
        """The GPU that is there."""
        return self.plugged[-1]

    @property
    def default_generators(self) -> list[torch.Generator]:
        return [self.gpu.generator]

    def is_available(self) -> bool:
        return bool(self.plugged)

    def is_initialized(self) -> bool:
        return True

    def device_count(self) -> int:
        return min(len(self.plugged), 1)

    def current_device(self) -> int:
        return 0

    def set_device(self, device: object) -> None:
        pass

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        for gpu in self.plugged:
            gpu.generator.manual_seed(seed)

    def get_rng_state(self, device: object = None) -> Tensor:
        return self.gpu.generator.get_state()

    def set_rng_state(self, state: Tensor, device: object = None) -> None:
        self.gpu.generator.set_state(state)

    def synchronize(self, device: object = None) -> None:
        self.gpu.synchronisations["synchronize"] += 1

    def empty_cache(self) -> None:
        pass

    class CUDAGraph(PretendGraph):
        """A graph of the GPU that is there."""

        def replay(self) -> None:
            _MODULE.gpu.operations[REPLAY] += 1
            self.repeat()

    @contextmanager
    def graph(self, graph: PretendGraph) -> Iterator[None]:
        gpu = self.gpu
        counted = gpu.operations.copy()
        gpu.recording = graph
        graph.begin()
        try:
            yield
        finally:
            gpu.recording = None
            gpu.operations = counted
            graph.end()

    class Stream:
        """Everything is in order here, so that there is nothing to wait for."""

        def wait_stream(self, other: object) -> None:
            pass

    def current_stream(self) -> Stream:
        return self.Stream()

    def stream(self, stream: Stream) -> nullcontext[None]:
        return nullcontext()

    def reset_peak_memory_stats(self, device: object = None) -> None:
        self.gpu.peak = self.gpu.live

    def max_memory_allocated(self, device: object = None) -> int:
        return self.gpu.peak

    def get_device_name(self, device: object = None) -> str:
        return self.get_device_properties().name

    def get_device_properties(self, device: object = None) -> _Properties:
        return _Properties("a pretend GPU", self.gpu.capacity or 0)


_MODULE = _Module()


def register() -> None:
    """Tell torch of the device, once in a process.

    Torch counts devices when it computes its first gradient. Where gradients come before the first
    `PretendGpu`, as in a suite of tests, this comes before them.
    """
    if getattr(torch, NAME, None) is None:
        _setup_privateuseone_for_python_backend(rename=NAME, backend_module=_MODULE)
