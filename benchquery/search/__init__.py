"""Searching a table fairly: a budgeted oracle, its trace, and baseline strategies.

Example:
    >>> from benchquery.search import run
    >>> trace = run("evolution", "cora", "2%", seed=0)
    >>> report = trace.report()
    >>> report.queries, report.protocol
    (524, 'validation')
"""

from benchquery.search.budget import Budget
from benchquery.search.chance import RandomSearch, random_search_exactly
from benchquery.search.clock import Clock, estimate_times
from benchquery.search.contests import Difference, MeanRanks, differences, mean_ranks
from benchquery.search.front import Front, front
from benchquery.search.oracle import PROTOCOLS, Oracle
from benchquery.search.resampling import Resampled, resample
from benchquery.search.run import run
from benchquery.search.strategies import STRATEGIES, Strategy, get_strategy, strategy_names
from benchquery.search.summary import (
    CHANCE,
    Average,
    Contest,
    Standing,
    aggregate,
    compare,
)
from benchquery.search.trace import SearchReport, Trace, load, save
from benchquery.search.workers import SimulatedWorkers, keep_busy

__all__ = [
    "CHANCE",
    "PROTOCOLS",
    "STRATEGIES",
    "Average",
    "Budget",
    "Clock",
    "Contest",
    "Difference",
    "Front",
    "MeanRanks",
    "Oracle",
    "RandomSearch",
    "Resampled",
    "SearchReport",
    "SimulatedWorkers",
    "Standing",
    "Strategy",
    "Trace",
    "aggregate",
    "compare",
    "differences",
    "estimate_times",
    "front",
    "get_strategy",
    "keep_busy",
    "load",
    "mean_ranks",
    "random_search_exactly",
    "resample",
    "run",
    "save",
    "strategy_names",
]
