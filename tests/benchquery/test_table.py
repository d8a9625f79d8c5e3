from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchquery import Arch, lightread
from benchquery.errors import QueryError, UnknownHashError, UnknownNameError
from benchquery.kinds.architectures.table import ArchTable
from benchquery.table.fronts import pareto_rows


@pytest.fixture(scope="module")
def cora() -> ArchTable:
    return lightread("cora")


@pytest.fixture(scope="module")
def frame(cora: ArchTable) -> pd.DataFrame:
    return cora.frame()


def test_a_table_is_a_mapping(cora: ArchTable) -> None:
    arch = Arch([0, 1, 2, 1], ["gcn", "gin", "fc", "cheb"])
    assert list(cora.keys())[:2] == [0, 1]
    assert dict(cora.items())[61237] == cora[arch]
    assert cora[arch] == cora[arch.valid_hash()] == cora[np.int64(61237)]
    assert cora[arch]["perf"] == 0.8046666666666668
    assert arch in cora
    assert 61237 in cora
    assert cora.get(88888) is None
    assert cora.get(88888, 3) == 3
    assert next(iter(cora.items())) == (0, cora[0])
    assert list(cora) == sorted(cora.keys())
    assert set(cora[0]) == {"valid_perf", "perf", "latency", "para", "para_consistent"}
    with pytest.raises(TypeError):
        cora[0]["perf"] = 1.0  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        cora.column("perf")[0] = 1.0


@pytest.mark.parametrize("key", [88888, -1, -11113, 10**9, "61237", None, 1.5, [1], (0, 1)])
def test_unknown_keys_are_named(cora: ArchTable, key: object) -> None:
    assert key not in cora
    with pytest.raises(UnknownHashError) as caught:
        cora[key]  # type: ignore[index]
    assert str(key) in str(caught.value)


def test_architectures_of_other_spaces_are_named() -> None:
    with pytest.raises(UnknownHashError, match=r"hash 0\).*2,021.*proteins"):
        lightread("proteins")[Arch([0] * 4, ["gat"] * 4)]


def test_lookup_is_the_same_as_one_by_one(cora: ArchTable) -> None:
    rng = np.random.default_rng(0)
    hashes = rng.choice(cora.hashes, 5_000)
    looked_up = cora.lookup(hashes)
    for column in cora.columns[1:]:
        expected = [cora[number][column] for number in hashes.tolist()]
        np.testing.assert_array_equal(cora.lookup(hashes, column), expected)
        np.testing.assert_array_equal(looked_up[column], expected)
    archs = [Arch.from_hash(number) for number in hashes[:9].tolist()]
    np.testing.assert_array_equal(cora.lookup(archs, "perf"), cora.lookup(hashes[:9], "perf"))
    assert len(cora.lookup([], "perf")) == 0
    for wrong in (88888, -1, 10**9, -11113):
        with pytest.raises(UnknownHashError, match=str(wrong)):
            cora.lookup([0, wrong, 0], "perf")
        with pytest.raises(UnknownHashError, match=str(wrong)):
            cora.lookup(np.array([0, wrong]), "perf")
    with pytest.raises(QueryError, match="float64"):
        cora.lookup(np.array([0.5]), "perf")
    with pytest.raises(UnknownNameError, match=r"'accuracy'.*valid_perf"):
        cora.lookup([0], "accuracy")


def test_where_is_pandas_query(cora: ArchTable, frame: pd.DataFrame) -> None:
    found = cora.where("latency < 0.003", "perf>=0.8")
    expected = frame.query("latency < 0.003 and perf >= 0.8")
    assert list(found) == expected.index.tolist()
    np.testing.assert_array_equal(found.column("para"), expected["para"])


def test_where_knows_the_facts_of_architectures(cora: ArchTable) -> None:
    found = cora.where("gat >= 2", "link != 0123", depth=3, skip=0)
    expected = [
        arch.valid_hash()
        for arch in map(Arch.from_hash, cora)
        if arch.ops.count("gat") >= 2
        and arch.link != (0, 1, 2, 3)
        and arch.depth == 3
        and "skip" not in arch.ops
    ]
    assert list(found) == expected
    assert expected
    assert found.archs() == [Arch.from_hash(number) for number in expected]


def test_where_takes_masks_and_booleans() -> None:
    physics = lightread("physics")
    flagged = ~physics.column("para_consistent")
    assert list(physics.where(flagged)) == physics.hashes[flagged].tolist()
    assert len(physics.where(para_consistent=False)) == 1_567
    assert len(physics.where("para_consistent == true", "latency < 1e9")) == 26_206 - 1_567


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        ("speed < 3", "unknown column 'speed'.*latency.*depth"),
        ("latency", "'latency' is no condition.*'latency < 0.004'"),
        ("latency < fast", "'latency' holds numbers, not 'fast'"),
        ("para_consistent == maybe", "holds true or false, not 'maybe'"),
        ("latency ~ 3", "is no condition"),
        ("__import__('os').system('true') == 0", "is no condition"),
    ],
)
def test_bad_conditions_are_named(cora: ArchTable, condition: str, named: str) -> None:
    with pytest.raises(QueryError, match=named):
        cora.where(condition)


def test_masks_of_another_length_are_named(cora: ArchTable) -> None:
    with pytest.raises(QueryError, match="26,206 booleans"):
        cora.where(np.ones(3, dtype=bool))


@pytest.mark.parametrize("column", ["valid_perf", "perf", "latency", "para"])
def test_top_rank_and_regret_are_those_of_pandas(
    cora: ArchTable, frame: pd.DataFrame, column: str
) -> None:
    up = column.endswith("perf")
    best = frame.sort_values([column, "hash"], ascending=[not up, True])
    assert list(cora.top(100, by=column)) == best.index[:100].tolist()
    ranks = frame[column].round(13).rank(ascending=not up, method="min")
    for number in best.index[::2_000]:
        assert cora.rank(number, by=column) == ranks[number]
        gap = abs(frame.loc[number, column] - best[column].iloc[0])
        assert cora.regret(number, by=column) == pytest.approx(gap, abs=1e-15)
    assert cora.regret(best.index[0], by=column) == 0


def test_queries_chain_and_keep_their_order(cora: ArchTable) -> None:
    small = cora.where("para < 0.6").top(20, by="latency")
    assert (np.diff(small.column("latency")) >= 0).all()
    best = small.top(1)
    (number,) = best
    assert small.rank(number) == 1
    assert number in small
    assert best[number] == cora[number]
    assert len(cora.where("perf > 2")) == 0
    assert list(cora.where("perf > 2").pareto()) == []


def test_impossible_queries_are_named(cora: ArchTable) -> None:
    with pytest.raises(QueryError, match="at least 1, not 0"):
        cora.top(0)
    with pytest.raises(QueryError, match=r"'hash'; allowed: valid_perf, perf, latency, para$"):
        cora.top(3, by="hash")
    with pytest.raises(UnknownNameError, match="'speed'"):
        cora.pareto(maximise="speed")
    with pytest.raises(QueryError, match="at least one column"):
        cora.pareto(maximise=[], minimise=[])
    with pytest.raises(QueryError, match="no learning curves"):
        cora.curve(0)


def brute_force_front(costs: np.ndarray) -> list[int]:
    """The rows that no other row dominates, by comparing all with all."""
    return [
        i
        for i, row in enumerate(costs)
        if not np.isnan(row).any()
        and not any((other <= row).all() and (other < row).any() for other in costs)
    ]


@settings(deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda columns: st.integers(0, 30).flatmap(
            lambda rows: arrays(
                float, (rows, columns), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan])
            )
        )
    )
)
def test_pareto_is_brute_force(costs: np.ndarray) -> None:
    assert pareto_rows(costs).tolist() == brute_force_front(costs)


def test_pareto_of_a_real_table(cora: ArchTable) -> None:
    some = cora.where("latency < 0.0015")
    front = some.pareto("valid_perf", ["latency", "para"])
    costs = np.stack(
        [-some.column("valid_perf"), some.column("latency"), some.column("para")], axis=1
    )
    assert list(front) == some.hashes[brute_force_front(costs)].tolist()
    assert list(cora.pareto(minimise="latency")) == list(cora.pareto())


def test_frame_holds_all(cora: ArchTable, frame: pd.DataFrame) -> None:
    assert frame.index.name == "hash"
    assert frame.shape == (26_206, 7)
    named = {"link": "0112", "ops": "gcn,gin,cheb,fc"}
    assert frame.loc[61237].to_dict() == named | dict(cora[61237])
