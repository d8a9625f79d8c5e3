"""Times and sizes as people read them."""

from __future__ import annotations

_TIMES = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
_SIZES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes"))


def readable_seconds(seconds: float) -> str:
    """Return a time in the unit that suits it: ``1.5 hours``."""
    return _readable(seconds, _TIMES)


def readable_bytes(count: float) -> str:
    """Return a size in the unit that suits it: ``1.5 GB``."""
    return _readable(count, _SIZES)


def _readable(value: float, units: tuple[tuple[float, str], ...]) -> str:
    size, name = next((unit for unit in units if value >= 2 * unit[0]), units[-1])
    return f"{value / size:,.1f} {name}"
