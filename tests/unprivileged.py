"""Commands as a user who may not do everything, run as a script by root, whom nothing stops.

It reads pairs of command lines from standard input, as JSON. The first of each pair is carried out
as root, so that all modules are loaded: nobody may be unable to read Python itself. Then
privileges are dropped for good, and the second is carried out. Prints exit code and standard error
of each, as JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOBODY = 65534

Words = Sequence[str]


def as_nobody(pairs: Sequence[tuple[Words, Words]]) -> list[tuple[int, str]]:
    """Carry out the second command line of each pair without privileges; see the module."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.unprivileged"],
        cwd=ROOT,
        env={**os.environ, "HOME": "/nonexistent", "PYTHONPATH": str(ROOT)},
        input=json.dumps(pairs),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [(code, errors) for code, errors in json.loads(done.stdout)]


def _carry_out(words: Words) -> tuple[int, str]:
    from benchbuild import cli as build
    from benchquery import cli as query

    main = {"benchquery": query.main, "benchbuild": build.main}[words[0]]
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        try:
            code = main(words[1:])
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        except BaseException:
            code = 1
            traceback.print_exc()
    return code, errors.getvalue()


def _main() -> None:
    import difflib  # noqa: F401  (names that are unknown need it)

    pairs = json.load(sys.stdin)
    for before, _ in pairs:
        code, errors = _carry_out(before)
        if code:
            raise SystemExit(f"{before}: {errors}")
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    json.dump([_carry_out(words) for _, words in pairs], sys.stdout)


if __name__ == "__main__":
    _main()
