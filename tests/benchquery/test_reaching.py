"""How soon condensations reach an accuracy, against the traces read one by one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchquery import condread
from benchquery.errors import QueryError
from benchquery.kinds.condensed.reaching import reaching
from benchquery.kinds.condensed.reproduction import TO_ACCURACY, figure_cells
from tests.benchquery.condensing import usual

CORA = condread("cora").where("ratio == 0.026", protocol="corrected")
USUAL = usual(CORA)


def test_the_first_snapshot_that_is_good_enough_counts() -> None:
    gcond = USUAL.where(method="gcond")
    (found,) = reaching(gcond, 0.79)
    seconds = []
    for config in dict.fromkeys(row["config"] for row in gcond.records()):
        trace = gcond.trace(config)
        pairs = zip(trace["valid_perf"].tolist(), trace["seconds"].tolist(), strict=True)
        seconds += [time for accuracy, time in pairs if accuracy >= 0.789999][:1]
    assert found.seeds == found.reached == len(seconds) == 5
    assert found.seconds == pytest.approx(sum(seconds) / 5)


def test_what_all_reach_is_reached_by_all_and_a_little_more_is_not() -> None:
    found = reaching(CORA)
    assert all(one.reached == one.seeds for one in found)
    more = reaching(CORA, found[0].accuracy + 1e-3)
    assert any(one.reached < one.seeds for one in more)


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_is_reached_later_and_by_fewer(one: float, other: float) -> None:
    less, more = (
        {(found.method, found.init, found.backbone): found for found in reaching(CORA, accuracy)}
        for accuracy in sorted([one, other])
    )
    for way, found in more.items():
        assert found.reached <= less[way].reached
        if found.reached == found.seeds:
            assert found.seconds >= less[way].seconds


def test_what_nobody_reaches_has_no_time() -> None:
    assert all(math.isnan(one.seconds) and not one.reached for one in reaching(CORA, 1.0))


def test_methods_that_choose_are_not_on_their_way() -> None:
    with pytest.raises(QueryError, match="those that choose nodes are not"):
        reaching(CORA.where(method="random"))


def test_figure_4_has_the_time_to_an_accuracy() -> None:
    cells = [cell for cell in figure_cells("4b") if cell.metric == TO_ACCURACY]
    assert {cell.init for cell in cells} == {"noise", "sample", "center", "k-center", "k-means"}
    assert not any(cell.missing for cell in cells)
    usual = CORA.where(method="gcond", backbone="sgc")
    found = {one.init: one.seconds for one in reaching(usual)}
    for cell in cells:
        assert cell.unit == "seconds"
        assert cell.ours == pytest.approx(found[cell.init])
