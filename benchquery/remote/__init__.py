"""Tables of other places: registries, downloads that go on where they were, and a cache."""

from __future__ import annotations

from benchquery.remote.fetch import Fetched, fetch, offers

__all__ = ["Fetched", "fetch", "offers"]
