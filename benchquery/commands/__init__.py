"""The commands of ``benchquery``: one file each, with its options and what it prints."""

from benchquery.commands import (
    datasets,
    explore,
    export,
    pareto,
    plot,
    report,
    search,
    show,
    top,
    verify,
)
from benchquery.kinds.architectures.commands import compare, fidelity
from benchquery.kinds.condensed import command as condensed

COMMANDS = (
    datasets,
    show,
    top,
    pareto,
    compare,
    fidelity,
    condensed,
    search,
    plot,
    report,
    explore,
    export,
    verify,
)
"""In the order of the help text; each has ``add(commands)``."""
