"""Checks of what others add, and synthetic runs.

Each check is a plain function that raises `AssertionError` with a message that names what is wrong.
So they work in any test framework, and in a notebook::

    from benchbuild.testing import check_dataset, check_job_kind, check_method

    def test_my_method():
        check_method("mixup", parents=2)

What comes with this package passes them too. `benchquery.testing` has the same for kinds of table,
tables and search strategies.
"""

from benchbuild.testing.datasets import check_dataset
from benchbuild.testing.kinds import check_job_kind
from benchbuild.testing.methods import check_method
from benchbuild.testing.synthetic import synthetic_record, synthetic_run

__all__ = ["check_dataset", "check_job_kind", "check_method", "synthetic_record", "synthetic_run"]
