"""Syne Tune: tables of architectures as one of its tabular blackboxes, written without it.

A blackbox is a folder: the configurations, one array of figures by configuration, seed, fidelity
and objective, and the spaces. Fidelities are epochs where a table has learning curves; else there
is one, the whole training. Test figures are left out: a search must not see them.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchquery._imports import LazyModule
from benchquery.errors import QueryError
from benchquery.kinds.architectures.arch import NODES
from benchquery.kinds.architectures.space import SPACES
from benchquery.kinds.architectures.table import ArchTable
from benchquery.search.choices import choices
from benchquery.table.manifest import CURVES
from benchquery.table.schema import curve_index

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchquery._typing import Floats, Ints
else:
    np = LazyModule("numpy")
    pa = LazyModule("pyarrow")
    pq = LazyModule("pyarrow.parquet")

REWARD = "valid_perf"
"""What is to be maximised."""
ELAPSED = "elapsed_time"
"""Seconds of training until an epoch, where the table knows them."""
FIDELITY = "epochs"


def write_blackbox(table: ArchTable, folder: Path) -> None:
    """Write a folder that Syne Tune's ``blackbox_tabular.deserialize`` opens, whole or not at all.

    Configurations are canonical forms: a choice for each link but the first, and for each
    operation. Seeds are numbered from 0 in the order of the table; a published table has its mean
    alone. A training that diverged keeps its last figure.

    Args:
        table: The table.
        folder: The folder, which must not exist.

    Raises:
        QueryError: If the folder exists, or can't be written.
    """
    if folder.exists():
        raise QueryError(f"{folder} exists already; name another folder or remove it first")
    names, epochs, figures = (
        _with_curves(table) if CURVES in table.manifest.files else _without_curves(table)
    )
    forms: dict[str, list[Any]] = {
        **{f"link{node}": [arch.link[node] for arch in table.archs()] for node in range(1, NODES)},
        **{f"op{node}": [arch.ops[node] for arch in table.archs()] for node in range(NODES)},
    }
    space = {
        name: _domain("Categorical", categories=list(values))
        for name, values in choices(SPACES[table.manifest.space]).items()
    }
    fidelities = {FIDELITY: _domain("Integer", lower=1, upper=int(epochs[-1]))}
    try:
        aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    except OSError as error:
        raise QueryError(f"can't write to {folder.parent}: {error.strerror}") from error
    try:
        for name, content in (
            ("configspace", space),
            ("fidelityspace", fidelities),
            ("metadata", {"objectives_names": names, "task_names": [table.name]}),
        ):
            (aside / f"{name}.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
        pq.write_table(pa.table(forms), aside / "hyperparameters.parquet", compression="gzip")
        np.save(aside / "fidelities_values.npy", epochs)
        np.save(aside / "objectives_evaluations.npy", figures[None].astype(np.float32))
        aside.chmod(0o755)
        aside.rename(folder)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def _domain(name: str, **arguments: Any) -> dict[str, Any]:
    return {
        "domain_cls": name,
        "domain_kwargs": arguments,
        "sampler_cls": "Uniform",
        "sampler_kwargs": {},
    }


def _with_curves(table: ArchTable) -> tuple[list[str], Ints, Floats]:
    """Return objectives, epochs and figures: (architectures, seeds, epochs, objectives)."""
    curves = table.curves
    epochs = np.arange(1, curves.epochs + 1)
    place = curve_index(REWARD)
    rewards = np.stack([curves.block(number)[..., place] for number in table.hashes.tolist()])
    known = ~np.isnan(rewards)
    last = np.maximum.accumulate(np.where(known, np.arange(curves.epochs), 0), axis=2)
    filled = np.take_along_axis(rewards, last, axis=2)
    seconds = np.stack([table.column(f"train_time_seed{seed}") for seed in curves.seeds], axis=1)
    share = (last + 1) / np.maximum(last[..., -1:] + 1, 1)
    return [REWARD, ELAPSED], epochs, np.stack([filled, seconds[..., None] * share], axis=3)


def _without_curves(table: ArchTable) -> tuple[list[str], Ints, Floats]:
    return [REWARD], np.array([1]), table.column(REWARD)[:, None, None, None]
