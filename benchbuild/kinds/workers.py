"""Workers with a dataset in memory: what kinds of job on one graph share."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, TypedDict

from benchbuild.pipeline.jobs import Found, Place
from benchbuild.pipeline.settings import Name
from benchquery.allowed import Range

if TYPE_CHECKING:
    from benchbuild.datasets import Graph


Size = Annotated[int, Range(least=0, most=2**53)]


class GraphFacts(TypedDict):
    """What decides figures on a graph: see `benchbuild.pipeline.jobs.Run.facts`."""

    checksum: Name
    metric: Name
    nodes: Size
    edges: Size
    features: Size
    classes: Size


class GraphAbout(TypedDict):
    """What readers of a table want to know of a graph."""

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

        from benchbuild.compute.devices import claim, resolve_device
        from benchbuild.datasets import dataset_spec, load

        warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
        torch.set_num_threads(1)
        self._device = resolve_device(spread(place, torch.cuda.device_count()))
        claim(self._device)
        self._graph: Graph = load(dataset, place.data_root)
        self._spec = dataset_spec(dataset)

    @cached_property
    def found(self) -> Found:
        """The data itself decides the figures; how it is described does not."""
        import torch

        graph = self._graph
        facts: GraphFacts = {
            "checksum": graph.checksum,
            "metric": graph.metric,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "classes": graph.num_classes,
        }
        spec = self._spec
        about: GraphAbout = {"split": graph.split, "source": spec.source, "licence": spec.licence}
        on_gpu = self._device.type == "cuda"
        return Found(facts, about, torch.cuda.device_count() if on_gpu else 0)

    def recover(self) -> None:
        """Give the memory back that a failed job held; a kind forgets what it keeps first."""
        from benchbuild.compute.devices import release

        release(self._device)


def spread(place: Place, devices: int) -> str:
    """Choose the device of a worker: workers take turns over all devices unless one is named."""
    if place.device in ("auto", "cuda") and devices:
        return f"cuda:{place.slot % devices}"
    return place.device
