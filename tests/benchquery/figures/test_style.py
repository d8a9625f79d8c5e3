"""The look of pictures: ticks that can be read, colours and dots that can be told apart."""

from __future__ import annotations

import itertools

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

import benchquery
from benchquery.figures.style import log_scale, look, new_figure, specks
from benchquery.table.schema import CURVE_COLUMNS


def drawn_ticks(axes: Axes) -> list[tuple[str, float, float]]:
    """Return the labels below the axes as they are drawn: text, left and right end."""
    figure = axes.get_figure()
    assert figure is not None
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    low, high = axes.get_xlim()
    boxes = [
        (label.get_text(), label.get_window_extent(canvas.get_renderer()))
        for label, place in zip(axes.get_xticklabels(), axes.get_xticks(), strict=True)
        if label.get_text() and low <= place <= high
    ]
    return [(text, box.x0, box.x1) for text, box in boxes]


@pytest.mark.parametrize("decades", [0.3, 1, 2, 3, 5, 8, 14])
def test_ticks_of_any_range_stand_apart(decades: float) -> None:
    axes = new_figure().subplots()
    axes.plot([1e-4, 1e-4 * 10**decades], [0, 1])
    log_scale(axes, "s")
    ticks = drawn_ticks(axes)
    assert len(ticks) >= 2
    assert all(end < start for (_, _, end), (_, start, _) in itertools.pairwise(ticks))
    assert all(text.endswith("s") for text, _, _ in ticks)


def test_an_m_alone_never_stands_for_thousandths_of_a_second() -> None:
    axes = benchquery.open("cora").plot.pareto().axes[0]
    texts = [text for text, _, _ in drawn_ticks(axes)]
    assert "2 ms" in texts
    assert not any(text.endswith(" m") for text in texts)


def test_ticks_of_costs_stand_apart() -> None:
    ticks = drawn_ticks(benchquery.open("cora-condensed").plot.costs().axes[0])
    assert all(end < start for (_, _, end), (_, start, _) in itertools.pairwise(ticks))


def test_ten_series_have_ten_colours() -> None:
    colours = np.array([matplotlib.colors.to_rgb(look(number)["color"]) for number in range(10)])
    apart = [np.abs(a - b).max() for a, b in itertools.combinations(colours, 2)]
    assert min(apart) > 0.2


def test_few_points_are_larger_and_darker_than_many() -> None:
    few, many = specks(200), specks(26_206)
    assert few["s"] > 2 * many["s"]
    assert few["alpha"] > many["alpha"]


def test_one_model_is_drawn_as_dots_in_their_places() -> None:
    table = benchquery.open("cora-condensed")
    assert set(table.column("model").tolist()) == {"gcn"}
    (axes,) = table.plot.models().axes
    assert not axes.images
    places = np.asarray(axes.collections[0].get_offsets())
    texts = [float(text.get_text()) for text in axes.texts]
    assert texts == pytest.approx(places[:, 0], abs=0.06)


def test_the_curve_of_one_architecture() -> None:
    table = benchquery.open("cora-built")
    (best,) = table.top(1)
    left, right = table.plot.curve().axes
    assert f"{best:05}" in left.get_figure().get_suptitle()
    names = [column.name for column in CURVE_COLUMNS]
    mean = table.curves.curve(best)
    for axes in (left, right):
        for line in axes.get_lines():
            drawn = np.asarray(line.get_ydata())
            np.testing.assert_array_equal(drawn, mean[: len(drawn), names.index(line.get_label())])
