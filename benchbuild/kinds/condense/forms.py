"""The forms of what is kept, by name: how a record or a table's file is read back.

Each is referred to by text and imported when it is first asked for; none needs torch before it
computes. `benchquery.kinds.condensed.forms` has the same names, with the arrays of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from benchbuild.kinds.condense.payload import StoredPayload
from benchquery.kinds.condensed.forms import FORMS as ARRAYS
from benchquery.kinds.condensed.forms import GRAPH, IMAGES

if TYPE_CHECKING:
    from benchbuild.kinds.condense.records import CondenseRecord

_HERE = "benchbuild.kinds.condense"
FORMS: Mapping[str, str] = MappingProxyType(
    {
        GRAPH: f"{_HERE}.nodes.payload:StoredGraph",
        "graphs": f"{_HERE}.graphs.payload:StoredGraphs",
        "trees": f"{_HERE}.graphs.tree_payload:StoredTrees",
        IMAGES: f"{_HERE}.images.payload:StoredImages",
    }
)
"""By form: the module and the name of its class."""


def payload_type(form: str) -> type[StoredPayload]:
    """Return the class of a form.

    Args:
        form: A name in `FORMS`.
    """
    module, _, name = FORMS[form].partition(":")
    return cast("type[StoredPayload]", getattr(import_module(module), name))


def payload_of(record: CondenseRecord) -> StoredPayload | None:
    """Read what a record of a run keeps; None if it keeps nothing.

    Raises:
        ValueError: If it is not what its form has, or of a form that there is none of.
    """
    form = record.form or GRAPH
    if form not in FORMS:
        raise ValueError(f"its form is {form!r}; there are {', '.join(FORMS)}")
    kept = payload_type(form).from_record(record.to_row())
    if kept is not None and (problem := ARRAYS[form].problem(kept.to_arrays())):
        raise ValueError(f"what it keeps is none of the form {form}: {problem}")
    return kept
