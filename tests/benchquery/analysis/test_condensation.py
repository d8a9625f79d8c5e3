"""Which run of a method counts as its usual one."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchquery import CondenseConfig, condread
from benchquery.analysis import usual_means
from benchquery.errors import QueryError
from benchquery.kinds.condensed.analysis import common_size, method_name
from tests.benchquery.condensing import write_condensed

USUAL = CondenseConfig("toy", "gcond", 0.026)
CONFIGS = [
    *(USUAL.replace(init="noise", ratio=ratio, seed=seed)
      for ratio in (0.026, 0.013) for seed in range(3)),
    USUAL.replace(protocol="as-released"),
    USUAL,
    USUAL.replace(epochs=40),
    CondenseConfig("toy", "random", 0.013),
]  # fmt: skip


def test_the_most_usual_run_counts(tmp_path: Path) -> None:
    cond = condread(write_condensed(tmp_path / "toy-condensed", configs=CONFIGS))
    means = usual_means(cond)
    assert list(means) == ["random", "gcond"]
    (mean,) = means["gcond"]
    assert mean["perf"] == cond[USUAL]["perf"]
    assert method_name(mean) == "gcond"
    noise = usual_means(cond.where(init="noise"))["gcond"]
    assert [mean["ratio"] for mean in noise] == [0.013, 0.026]
    assert [mean["count"] for mean in noise] == [3, 3]
    assert method_name(noise[0]) == "gcond (noise)"
    (mean,) = usual_means(cond.where("init != noise", "protocol == as-released"))["gcond"]
    assert method_name(mean) == "gcond (as-released)"
    assert common_size(cond) == 0.013
    with pytest.raises(QueryError, match="no rows"):
        common_size(cond.where("ratio > 1"))
