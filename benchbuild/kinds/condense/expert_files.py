"""Files of expert trajectories: the weights of models on their way through training on real data.

An expert is one HDF5 file with a row of weights for every checkpoint. Rows are written as they come
and read one at a time, so memory doesn't depend on how many there are. A file is written aside and
renamed when it is whole: a killed run keeps its finished experts. Its name is a digest of all it
depends on, so all sizes of condensed data and later runs share it. Every row has a checksum: a file
that was damaged meanwhile is made anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from torch import Tensor

from benchbuild.compute.meters import Stopwatch
from benchbuild.kinds.condense.method import Workspace
from benchbuild.pipeline.files import locked, make_folder, remove_leftovers, written_aside
from benchquery.errors import CorruptTableError
from benchquery.table.hdf5 import dataset, new_hdf5, open_hdf5, read_chunk, reading

CHECKPOINTS = "checkpoints"

Train = Callable[[int], Iterator[Tensor]]
"""Trains the expert of a number; gives its weights, flat, at every checkpoint."""


class ExpertFiles:
    """Some experts on disk; those that are missing are trained when this is made.

    Args:
        scratch: The folder of their files.
        facts: All that they depend on, in plain JSON values.
        count: How many there are.
        shapes: The shapes of a model's weights.
        device: Where weights are wanted.

    Attributes:
        files: One an expert.
    """

    def __init__(
        self,
        scratch: Path,
        facts: Mapping[str, Any],
        count: int,
        shapes: Sequence[torch.Size],
        device: torch.device,
    ) -> None:
        make_folder(scratch)
        text = json.dumps(facts, sort_keys=True)
        name = f"expert-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        self.files = [scratch / f"{name}-{number:03d}.h5" for number in range(count)]
        self._shapes = shapes
        self._device = device
        self._seconds_here = 0.0

    def __len__(self) -> int:
        """Return how many experts there are."""
        return len(self.files)

    def complete(self, train: Train, checkpoints: int) -> None:
        """Train what is missing: first what no other process is at, then wait for the others.

        Args:
            train: Trains an expert.
            checkpoints: How many each has.

        Raises:
            WriteError: If the disk is full, the folder is read-only, or the like.
        """
        watch, whole = Stopwatch(self._device), set[Path]()
        for wait in (False, True):
            for number, file in enumerate(self.files):
                if file in whole:
                    continue
                with locked(file.with_suffix(".lock"), wait=wait) as held:
                    if held is None:
                        continue
                    whole.add(file)
                    if file.exists() and _is_whole(file, checkpoints):
                        continue
                    remove_leftovers(file.parent, file.stem)
                    self._write(file, train(number), checkpoints)
        self._seconds_here += watch.seconds()

    def checkpoint(self, expert: int, row: int) -> list[Tensor]:
        """Read the weights of an expert: row 0 is before training, -1 the end of it.

        Raises:
            CorruptTableError: If its file was damaged since this was made.
        """
        flat = torch.tensor(_read(self.files[expert], row)).to(self._device)
        parts = torch.split(flat, [shape.numel() for shape in self._shapes])
        return [part.view(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def add_costs(self, workspace: Workspace) -> None:
        """Add the seconds of their training, whenever that was, and the bytes of their files.

        ``expert_seconds_here`` are those that this process spent on it, waiting included.
        """
        costs = workspace.costs
        costs["expert_seconds_here"] = costs.get("expert_seconds_here", 0.0) + self._seconds_here
        for path in self.files:
            with h5py.File(path, "r") as file:
                seconds = float(file.attrs["seconds"])
            costs["expert_seconds"] = costs.get("expert_seconds", 0.0) + seconds
            costs["expert_bytes"] = costs.get("expert_bytes", 0.0) + path.stat().st_size

    def _write(self, file: Path, rows: Iterator[Tensor], checkpoints: int) -> None:
        """Write the checkpoints of an expert as they come, with the time that they took."""
        with written_aside(file, file.stem) as aside, new_hdf5(aside) as store:
            watch = Stopwatch(self._device)
            for number, row in enumerate(rows):
                shape = (checkpoints, len(row))
                table = store.require_dataset(
                    CHECKPOINTS, shape, "float32", chunks=(1, len(row)), fletcher32=True
                )
                table[number] = row.numpy()
            store.attrs["seconds"] = watch.seconds()


def _read(path: Path, row: int) -> np.ndarray:
    """Read a row by its checksum; zeros are their own, but no model has nothing but zeros.

    Raises:
        CorruptTableError: If the file is damaged there.
    """
    with reading(f"{path} is damaged at checkpoint {row}"), open_hdf5(path) as file:
        rows = dataset(file, CHECKPOINTS, chunk=1)
        found = read_chunk(rows, row % len(rows))
        if not found.any():
            raise ValueError("it holds nothing")
    return found


def _is_whole(path: Path, checkpoints: int) -> bool:
    """Tell whether a file has as many rows as it should, and all can be read."""
    try:
        with reading(str(path)), open_hdf5(path) as file:
            known = len(dataset(file, CHECKPOINTS, chunk=1))
            float(file.attrs["seconds"])
        return known == checkpoints and all(_read(path, row).size for row in range(known))
    except CorruptTableError:
        return False


def expert_generator(seed: int, expert: int) -> torch.Generator:
    """Return the source of everything random in the training of an expert."""
    digest = hashlib.sha256(f"expert {seed} {expert}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:4], "big"))


def flat_copy(weights: Sequence[Tensor]) -> Tensor:
    """Return the weights in one new vector, which later steps of training don't change."""
    return torch.cat([weight.detach().reshape(-1) for weight in weights]).cpu()
