"""Workers with a dataset in memory: what kinds of job on one graph share."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Annotated, Any, TypedDict

from benchbuild.pipeline.jobs import Found, Place
from benchbuild.pipeline.settings import Name
from benchquery.allowed import Range

Size = Annotated[int, Range(least=0, most=2**53)]
Bytes = Annotated[int, Range(least=1, most=2**53)]


class DataFacts(TypedDict):
    """What decides figures on any data: see `benchbuild.pipeline.jobs.Run.facts`."""

    checksum: Name
    metric: Name
    features: Size
    classes: Size


class SetFacts(DataFacts, total=False):
    """The same of one graph or of a set, as far as it has such sizes."""

    nodes: Size
    edges: Size
    graphs: Size
    images: Size
    bytes_dense: Bytes
    bytes_compact: Bytes


class GraphFacts(DataFacts):
    """The same of one graph."""

    nodes: Size
    edges: Size


class GraphAbout(TypedDict):
    """What readers of a table want to know of the data."""

    split: str
    source: str
    licence: str


class DatasetWorker:
    """A worker with a dataset in memory, ready to compute with it.

    Args:
        dataset: The dataset.
        place: Where to run.
    """

    def __init__(self, dataset: str, place: Place) -> None:
        import torch

        from benchbuild.compute.devices import claim, device_count, resolve_device
        from benchbuild.compute.sparse import DEFAULT_PRODUCT, chosen_product
        from benchbuild.datasets.parsed import load_shared
        from benchbuild.datasets.registry import dataset_spec

        warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
        torch.set_num_threads(1)
        self._device = resolve_device(spread(place, device_count()))
        claim(self._device)
        devices = device_count(self._device.type)
        self._where = {"workers_per_device": str(place.sharing(devices))} if devices else {}
        if (product := chosen_product()) != DEFAULT_PRODUCT:
            self._where["sparse_product"] = product
        self._graph: Any = load_shared(dataset, place.data_root)
        self._spec = dataset_spec(dataset)

    @cached_property
    def found(self) -> Found:
        """The data itself decides the figures; how it is described does not."""
        from benchbuild.compute.devices import accelerates, capacity, device_count

        graph, spec = self._graph, self._spec
        about: GraphAbout = {"split": graph.split, "source": spec.source, "licence": spec.licence}
        room = capacity(self._device) if accelerates(self._device) else 0
        return Found(graph.facts, about, device_count(self._device.type), room)

    def recover(self) -> None:
        """Give the memory back that a failed job held; a kind forgets what it keeps first."""
        from benchbuild.compute.devices import release

        release(self._device)


def spread(place: Place, devices: int) -> str:
    """Choose the device of a worker: workers take turns over all devices unless one is named."""
    if place.device in ("auto", "cuda") and devices:
        return f"cuda:{place.slot % devices}"
    return place.device
