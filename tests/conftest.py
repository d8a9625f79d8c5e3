"""What all tests share: torch knows the pretend GPU before it computes a gradient."""

from __future__ import annotations

from benchbuild.testing.gpu import register

register()
