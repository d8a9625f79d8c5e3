"""Pictures of tables, by matplotlib: ``table.plot.pareto()``, or `figures_of` by name."""

from benchquery.figures.kinds import drawable, figures_of
from benchquery.figures.page import save
from benchquery.kinds.architectures.figures.several import SEVERAL_FIGURES
from benchquery.kinds.architectures.figures.single import TABLE_FIGURES
from benchquery.kinds.condensed.figures import CONDENSED_FIGURES

__all__ = [
    "CONDENSED_FIGURES",
    "SEVERAL_FIGURES",
    "TABLE_FIGURES",
    "drawable",
    "figures_of",
    "save",
]
