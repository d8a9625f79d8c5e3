"""Tables written by earlier versions still open and say the same.

``tests/data/tables-v1`` was trained and merged by benchbuild (karate, 6 architectures, two
seeds, 20 epochs) when the schema had version 1. It is never written anew.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchquery import lightread, read, verify

FOLDER = Path(__file__).parent.parent / "data" / "tables-v1"


def test_a_table_of_schema_version_1_opens_whole() -> None:
    verify(FOLDER / "karate")
    table = lightread("karate", source=FOLDER)
    assert table.manifest.origin == "measured"
    assert list(table) == [13234, 41572, 55288, 61103, 66227, 86356]
    assert table[13234]["perf"] == pytest.approx(0.6730769230769231)
    assert table[13234]["status"] == "ok"
    np.testing.assert_allclose(
        table.column("perf"), (table.column("perf_seed0") + table.column("perf_seed1")) / 2
    )


def test_its_curves_lead_to_its_figures() -> None:
    for seed in (0, 1):
        for number, info in read(FOLDER / "karate", seed=seed).items():
            least = int(np.argmin(info["dur"][:, 4]))
            assert info["perf"] == pytest.approx(float(info["dur"][least][2])), number
            assert info["best_epoch"] == least
