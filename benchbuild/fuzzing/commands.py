"""Hostile command lines for both programs: real commands and options with values that do harm.

The exit code must be 0 or 2, with one line on standard error for 2, and never a traceback. The
commands and options come from the parsers themselves, so that new ones are tried too. Nothing is
trained, submitted or listened to, and nothing is written outside the folder of the fuzzer. Most
trials call the program within this process; some start it anew, with streams that are closed or
full, without a home or with an encoding that knows ASCII only. What takes the process's own streams
is always started anew.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import benchbuild.cli
import benchquery.cli
from benchbuild.fuzzing.outcome import Outcome

SECONDS = 120
"""How long a command may take that is started anew."""
_ANEW = 0.03
_HOSTILE = (
    "", " ", "\n", "a\nb\n\nc", "\r\x1b[2J", "x" * 300, "x" * 5_000, "a b " * 2_000, "é", "日本",
    "\udcff\udcfe", "caf\udce9.csv", "..", "/", "/nonexistent/x", "/dev/null", "/dev/null/x.csv",
    "-", "-1", "0", "1", "3", "1e999", "nan", "inf", "9" * 5_000, "0x10", "1/0", "%s%n", "{0}",
    "$(exit 3)", "'", '"', "\\", "[", "a=b", "=", ",", "0,0", "loop", "file", "table", "run",
    "unfinished", "loop/x.csv", "file/x.csv", "x" * 300 + ".csv", "\udcff.csv", "a\nb.csv",
    "depth == 2", "perf >", "perf > 0.8 and", "x" * 3_000 + " > 1", "__class__ == 1", "~nosuch/x",
)  # fmt: skip
_LIKELY = {
    "table": ("cora", "proteins", "cora-built", "cora-condensed", "nope", "table"),
    "tables": ("cora", "proteins", "nope", "table"),
    "names": ("cora", "proteins", "pareto", "pie", "cora-condensed"),
    "dataset": (
        "karate",
        "cora",
        "csbm",
        "nope",
        f"digits:train={'9' * 5_000}",
        "csbm:nodes=-1",
        "own-images:file=x",
    ),
    "graph": ("file", "loop", "table", "/dev/null", "nope.npz"),
    "registry": (".", "file", "loop", "table", "ftp://x", "http://[", "http://127.0.0.1:1/"),
    "mirror": (".", "loop", "ftp://x", "http://127.0.0.1:1/"),
    "to": ("fetched", "file", "loop", "/dev/null"),
    "strategy": ("random", "evolution", "nope"),
    "budget": ("5", "0.01%", "1s", "0", "-3", "many", "nan", "nan%", "9" * 5_000),
    "seeds": ("1", "2", "0", "-1", "some", "0,1"),
    "workers": ("1", "2", "0", "none"),
    "out": (
        "out.csv",
        "out.json",
        "out.parquet",
        "sub/out.csv",
        "out.png",
        "out",
        "\udcff.csv",
        "\udcff.parquet",
    ),
    "plot": ("out.png", "sub/out.svg", "out.gif"),
    "export": ("site", "file", "table", "a\nb"),
    "where": ("depth == 2", "perf > 0.8", "method == gcond", "perf ==", "perf"),
    "by": ("perf", "valid", "speed", "status", "seed"),
    "hash": ("61237", "0", "99999", "ten"),
    "shards": ("2", "0", "x"),
    "shard": ("1/2", "0/2", "3/2", "x"),
    "method": ("gcond", "random", "nope", "gcond,random"),
    "ratio": ("0.026", "2", "-1", "x"),
    "k": ("5", "0", "99999999999999999999"),
    "maximise": ("perf", "perf,valid_perf", ",", "status"),
    "minimise": ("latency", "latency,para", "speed", "reason", "method"),
    "share": ("0.1", "2", "nan"),
    "worst": ("3", "0"),
    "sample": ("3", "30000"),
    "archs": ("61237", "file", "loop", "run"),
    "hp": ("lr=0.1", "lr=nan", "epochs=9", "lr"),
    "range": ("lr=0.1,0.2", "lr", "none=1"),
    "port": ("0", "70000"),
    "source": (".", "table", "file", "loop"),
    "data_root": (".", "file", "loop"),
    "folders": ("run", "unfinished", "file", "table"),
    "folder": ("run", "unfinished", "file", "table", "loop", "nope"),
}
_NEVER_HOSTILE = ("budget", "seeds", "strategy", "export", "workers", "trials", "epochs")
"""Options whose hostile values could run for very long, or that keep a command from listening."""
_LEFT_OUT = {"benchquery": ("report",), "benchbuild": ("submit",)}
"""Commands that take long even if all is well, or that leave this machine."""
_ALWAYS = {"explore": ("--no-browser", "--export"), "plot": ("--out",), "search": ("--budget",)}
_SHOWS_EVERY_PROBLEM = "verify"
_TAKES_STREAMS = "mcp"
"""A command that speaks over standard input and output; those of this process are not its own."""

_Main = Callable[[Sequence[str]], int]
_PROGRAMS: dict[str, tuple[_Main, Callable[[], argparse.ArgumentParser]]] = {
    "benchquery": (benchquery.cli.main, benchquery.cli.build_parser),
    "benchbuild": (benchbuild.cli.main, benchbuild.cli.make_parser),
}


def fuzz(trials: int, seed: int, folder: Path) -> Outcome:
    """Try so many command lines; see `benchbuild.fuzzing.outcome.Fuzzer`."""
    outcome = Outcome(0, 0, 0)
    commands = {name: list(_commands(make(), (name,))) for name, (_, make) in _PROGRAMS.items()}
    with _prepared(folder):
        for trial in range(trials):
            rng = random.Random(f"{seed} {trial}")
            program = rng.choice(list(_PROGRAMS))
            words = _words(rng, *rng.choice(commands[program]))
            anew = rng.random() < _ANEW or words[0] == _TAKES_STREAMS
            run = _run_anew if anew else _run_here
            code, errors = run(rng, program, words)
            wrong = _fault(words, code, errors)
            said = (f"seed {seed}, {trial}: {program} {words!a:.200}: {wrong}",) if wrong else ()
            outcome += Outcome(1, code == 2 and not wrong, code == 0 and not wrong, said)
    return outcome


@contextlib.contextmanager
def _prepared(folder: Path) -> Iterator[None]:
    """Work in a folder that has files which are not what they seem."""
    (folder / "file").write_text("no table\n")
    (folder / "loop").symlink_to("loop")
    for name, file, text in (("table", "manifest.json", "{"), ("run", "run.json", "[[[")):
        (folder / name).mkdir()
        (folder / name / file).write_text(text)
    (folder / "unfinished").mkdir()
    with contextlib.chdir(folder):
        yield


def _commands(
    parser: argparse.ArgumentParser, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[argparse.Action]]]:
    """Find all commands of a parser, with the arguments of each."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield words, parser._actions
    for name, command in (inner[0].choices if inner else {}).items():
        if name not in _LEFT_OUT.get(words[0], ()):
            yield from _commands(command, (*words, name))


def _words(rng: random.Random, names: tuple[str, ...], actions: list[argparse.Action]) -> list[str]:
    """Return a command line without the program's name."""
    words, harm = list(names[1:]), rng.choice([0.0, 0.1, 0.6])
    flags = {flag for action in actions for flag in action.option_strings}
    if "--dry-run" in flags:
        words.append("--dry-run")
    for action in actions:
        flag = action.option_strings[-1] if action.option_strings else None
        needed = action.required or flag in _ALWAYS.get(words[0], ())
        known = action.dest in _LIKELY or action.choices or action.nargs == 0
        wanted = needed or rng.random() < (0.25 if known else harm / 3)
        if flag in ("--help", "--dry-run", "--wait") or not wanted:
            continue
        if needed and rng.random() < harm / 10 and words[0] not in _ALWAYS:
            continue
        words += [flag] if flag else []
        if action.nargs != 0:
            many = rng.randrange(1, 4) if action.nargs in ("+", "*") else 1
            words += [_value(rng, action, harm) for _ in range(many)]
    if rng.random() < (0.6 if words[0] == "show" else harm / 3):
        words += rng.choice([["--hash", "61237"], ["--nope"], ["--ops", "gcn"], ["x\ny"], ["--"]])
    elif words[0] == "show":
        keys = rng.sample(["hash", "link", "ops", "method", "ratio", "seed", "self"], 2)
        words += [word for key in keys for word in (f"--{key}", rng.choice(_HOSTILE))]
    return words


def _value(rng: random.Random, action: argparse.Action, harm: float) -> str:
    """Return a value for an argument: one that may be right, or a hostile one.

    Args:
        rng: Where choices come from.
        action: The argument.
        harm: How likely a hostile value is.
    """
    likely = [*_LIKELY.get(action.dest, ()), *(action.choices or ())]
    if likely and (action.dest in _NEVER_HOSTILE or rng.random() >= harm):
        return str(rng.choice(likely))
    if action.dest in _NEVER_HOSTILE:
        return rng.choice(["1", "0", "-1", "x\ny", "9" * 5_000])
    return rng.choice(_HOSTILE)


def _run_here(rng: random.Random, program: str, words: list[str]) -> tuple[int, str]:
    """Run a command within this process; returns its exit code and what it said of errors."""
    main, _ = _PROGRAMS[program]
    out, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = main(words)
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 1
        except BaseException:
            code = 1
            traceback.print_exc()
    errors.seek(0)
    return code, errors.read()


def _run_anew(rng: random.Random, program: str, words: list[str]) -> tuple[int, str]:
    """Run a command in a process of its own, in an environment that has something wrong."""
    env = dict(os.environ)
    if rng.random() < 0.5:
        env |= {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    if rng.random() < 0.3:
        env.pop("HOME", None)
    redirection = rng.choice(["", "", ">/dev/full", ">&-", "2>&-", "| head -n 1", "</dev/null"])
    folder = "/proc" if "/dev" in redirection else os.curdir
    script = f'set -o pipefail; "$@" {redirection}'
    done = subprocess.run(
        ["bash", "-c", script, "bash", sys.executable, "-m", program, *map(os.fsencode, words)],
        env=env,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stderr.decode(errors="replace")


_UNREAD = "left out: "
"""What a line begins with that names a table which a list leaves out; there may be many."""


def _fault(words: list[str], code: int, errors: str) -> str:
    """Return what is wrong with how a command ended, or nothing."""
    lines = [line for line in errors.splitlines() if not line.startswith(_UNREAD)]
    if code not in (0, 2) or "Traceback" in errors or "Exception ignored" in errors:
        return f"exit code {code}: {(lines or ['no message'])[-1]}"
    if code == 2 and len(lines) > 1 and words[0] != _SHOWS_EVERY_PROBLEM:
        return f"{len(lines)} lines of errors, first {lines[0]}"
    if any(len(line) > 5_000 for line in lines):
        return f"a line of {max(map(len, lines)):,} characters"
    return ""
