"""Checks of what others add: a kind of table, a table, a search strategy.

Each check is a plain function that raises `AssertionError` with a message that names what is wrong.
So they work in any test framework, and in a notebook::

    from benchquery.testing import check_strategy, check_table, check_table_kind

    def test_my_strategy():
        check_strategy(my_strategy)

What comes with this package passes them too. `benchbuild.testing` has the same for kinds of job,
datasets and condensation methods.
"""

from benchquery.testing.kinds import check_table_kind
from benchquery.testing.strategies import check_strategy
from benchquery.testing.tables import check_table

__all__ = ["check_strategy", "check_table", "check_table_kind"]
