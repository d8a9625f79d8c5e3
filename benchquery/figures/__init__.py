"""Pictures of tables, by matplotlib: ``table.plot.pareto()``, or `figures_of` by name."""

from benchquery.figures.condensed import CONDENSED_FIGURES
from benchquery.figures.kinds import drawable, figures_of
from benchquery.figures.page import save
from benchquery.figures.several import SEVERAL_FIGURES
from benchquery.figures.single import TABLE_FIGURES

__all__ = [
    "CONDENSED_FIGURES",
    "SEVERAL_FIGURES",
    "TABLE_FIGURES",
    "drawable",
    "figures_of",
    "save",
]
