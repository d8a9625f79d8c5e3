"""Pictures of tables, by matplotlib: ``table.plot.pareto()``; here is what serves every kind."""

from benchquery.figures.page import save

__all__ = ["save"]
