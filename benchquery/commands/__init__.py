"""The commands of ``benchquery``: one file each, with its options and what it prints."""

from benchquery.commands import (
    compare,
    condensed,
    datasets,
    explore,
    export,
    fidelity,
    pareto,
    plot,
    report,
    search,
    show,
    top,
    verify,
)

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
