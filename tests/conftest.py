"""What all tests share: torch, where it is, knows the pretend GPU before it computes a gradient.

Properties have no deadline: machines are shared, and how long an example takes says nothing.
An adapter's own environment may lack either package.
"""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("hypothesis"):
    from hypothesis import HealthCheck, settings

    settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("shared")

if importlib.util.find_spec("torch"):
    from benchbuild.testing.gpu import register

    register()
