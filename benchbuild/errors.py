"""The exceptions of benchbuild: one root, so that a caller can catch everything it raises."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchquery.naming import DATASET_ALIASES, suggestion


class BenchBuildError(Exception):
    """Root of every exception that benchbuild raises on purpose."""


class UnknownDatasetError(BenchBuildError, KeyError):
    """A dataset name that no registry entry answers to."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        """Names the dataset that was asked for and the ones that exist."""
        names = sorted(known)
        guess = suggestion(name, [*names, *DATASET_ALIASES])
        super().__init__(
            f"unknown dataset {name!r}{guess or ';'} known datasets: {', '.join(names)}. "
            "Add your own with an entry point in the group 'graphtab.datasets'."
        )

    def __str__(self) -> str:
        """Return the message itself (a plain KeyError would show its repr)."""
        return str(self.args[0])


class DatasetMissingError(BenchBuildError, FileNotFoundError):
    """A known dataset whose files are not on disk and could not be downloaded."""

    def __init__(self, name: str, expected: Path, reason: str) -> None:
        """Names the dataset, where its files were looked for and why no download helped."""
        super().__init__(
            f"dataset {name!r} is not on disk: looked for {expected}. The download failed "
            f"({reason}). Put the files there, or point --data-root or the environment variable "
            "GRAPHTAB_DATA at a folder that has them; 'karate', 'csbm' and 'motifs' need no files."
        )


class DatasetError(BenchBuildError, ValueError):
    """A dataset whose parameters or contents are not what they have to be."""


class HyperParameterError(BenchBuildError, ValueError):
    """A hyper-parameter that does not exist or has a value out of range."""


class ArchitectureError(BenchBuildError, ValueError):
    """An architecture that can't be built as a network."""


class DeviceError(BenchBuildError, ValueError):
    """A device that does not exist on this machine."""


class BrokenDeviceError(BenchBuildError, RuntimeError):
    """A device that is there and does not work, or that another process keeps to itself.

    Attributes:
        devices: How many devices of its sort there are.
    """

    def __init__(self, message: str, devices: int) -> None:
        """Say what is wrong, and how many devices there are to choose from."""
        super().__init__(message)
        self.devices = devices


class PlanError(BenchBuildError, ValueError):
    """A shard, a list of seeds or a choice of architectures that can't be planned."""


class KindError(BenchBuildError):
    """A kind of job that does not exist, or whose package can't be used."""


class RunFolderError(BenchBuildError):
    """A run folder that holds another run, is in use, or is none."""


class CorruptPartError(BenchBuildError):
    """A part file that is truncated, damaged or does not belong to its run."""


class MergeError(BenchBuildError):
    """Records that can't become one table: in conflict, mixed, or with gaps."""


class WriteError(BenchBuildError, OSError):
    """A result that could not be written: a full disk, a read-only folder."""


class CondenseError(BenchBuildError, ValueError):
    """A problem that a method can't condense as it is asked to."""


class EvaluationError(BenchBuildError, ValueError):
    """A condensed graph that a task can't be tried on."""


class WorkerError(BenchBuildError, RuntimeError):
    """Workers that can't start, or an engine that is not there."""


class PublishError(BenchBuildError, ValueError):
    """Something can't be published as it was asked for."""
