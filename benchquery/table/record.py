"""One row of a table as plain data."""

from __future__ import annotations

from typing import Any, NoReturn


class Record(dict[str, Any]):
    """One row: from column name to a plain Python value.

    It is a dictionary, so that it goes through ``json.dumps``, pickles and process pools, but it
    can't be changed: tables keep the records that they gave out. ``dict(record)`` is a copy that
    can be.
    """

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("records can't be changed; dict(record) is a copy that can be")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> Record:
        return self

    def __deepcopy__(self, memo: object) -> Record:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def __hash__(self) -> NoReturn:  # type: ignore[override]
        raise TypeError("records hold figures, which are no keys; use the key of the row")
