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
from benchquery.adapters.fidelities import ELAPSED, REWARD, by_epoch, forms
from benchquery.errors import QueryError
from benchquery.kinds.architectures.space import SPACES
from benchquery.kinds.architectures.table import ArchTable
from benchquery.search.choices import choices

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    np = LazyModule("numpy")
    pa = LazyModule("pyarrow")
    pq = LazyModule("pyarrow.parquet")

FIDELITY = "epochs"


def write_blackbox(table: ArchTable, folder: Path) -> None:
    """Write a folder that Syne Tune's ``blackbox_tabular.deserialize`` opens, whole or not at all.

    Seeds are numbered from 0 in the order of the table; a published table has its mean
    alone. A training that diverged keeps its last figure.

    Args:
        table: The table.
        folder: The folder, which must not exist.

    Raises:
        QueryError: If the folder exists, or can't be written.
    """
    if folder.exists():
        raise QueryError(f"{folder} exists already; name another folder or remove it first")
    found = by_epoch(table)
    if found is not None:
        names, epochs = [REWARD, ELAPSED], found.numbers
        figures = np.stack([found.rewards, found.seconds], axis=3)
    else:
        names, epochs = [REWARD], np.array([1])
        figures = table.column(REWARD)[:, None, None, None]
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
        pq.write_table(
            pa.table(forms(table)), aside / "hyperparameters.parquet", compression="gzip"
        )
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
