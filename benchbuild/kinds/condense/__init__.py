"""Graph condensation: one file a method, beside what they share."""

from benchbuild.kinds.condense.loading import load

__all__ = ["load"]
