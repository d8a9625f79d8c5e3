"""A kind of job in a package of its own, as the source of its one module.

A job squares a number; those that are named fail.
"""

SOURCE = '''
"""Square numbers."""

from dataclasses import dataclass

from benchbuild.commands.options import add_engine, add_shard
from benchbuild.errors import PlanError
from benchbuild.pipeline.jobs import Cost, Found, JobKind, Run
from benchbuild.pipeline.records import JobRecord, column
from benchbuild.pipeline.settings import JobSettings, RunPart

NAME = "squares"
HELP = "square numbers"
EXAMPLE = "benchbuild squares --upto 3"


@dataclass(frozen=True)
class SquareSettings(JobSettings):
    failing: int

    def __post_init__(self):
        if self.failing < 0:
            raise PlanError(f"failing={self.failing} is not allowed: must be from 0 up")


@dataclass(frozen=True)
class SquareJobs(RunPart):
    numbers: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SquareRecord(JobRecord):
    number: int = column("int32", "key")
    square: int = column("int64", "figure")
    words: tuple[str, ...] = column("string", "figure", separator="|")


class Worker:
    def __init__(self, settings):
        self._settings = settings

    @property
    def found(self):
        return Found({"version": 1}, {}, 0)

    def run(self, key):
        if key[0] <= self._settings.failing:
            raise ValueError(f"{key[0]} can't be squared")
        return SquareRecord(key[0], key[0] ** 2, ("a", "b"))

    def recover(self):
        pass


class SquareKind(JobKind):
    name = "squares"
    settings, jobs, record = SquareSettings, SquareJobs, SquareRecord
    commands = ("toy_squares",)

    def keys(self, run):
        return [(number,) for number in run.jobs.numbers]

    def costs(self, run, keys):
        return [Cost(1.0, 1.0) for _ in keys]

    def open(self, settings, place):
        return Worker(settings)

    def score(self, record):
        return float(record.square)


JOB = SquareKind()


def add_arguments(parser):
    parser.add_argument("--upto", type=int, required=True)
    parser.add_argument("--failing", type=int, default=0)
    add_shard(parser)
    add_engine(parser)


def described(args):
    numbers = tuple(range(1, args.upto + 1))
    return Run("squares", SquareSettings("numbers", args.failing), SquareJobs(numbers))


def run(args):
    from benchbuild.commands.running import run_or_describe

    return run_or_describe(args, described(args))
'''
MODULE = "toy_squares"
POINTS = {"squares": f"{MODULE}:JOB", "square-tables": "no_such_module:TABLE"}
"""The second one is benchquery's business: it must not be imported here."""
