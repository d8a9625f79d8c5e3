"""Pictures of tables, by matplotlib: ``table.plot.pareto()``, or `TABLE_FIGURES` by name."""

from benchquery.figures.page import save
from benchquery.figures.several import SEVERAL_FIGURES
from benchquery.figures.single import TABLE_FIGURES

__all__ = ["SEVERAL_FIGURES", "TABLE_FIGURES", "save"]
