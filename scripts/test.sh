#!/bin/sh
# Sets up .venv-test and runs the checks: style, types, the plain installation, the tests but for
# the slow ones (those too with -m ''). Safe to run again. Arguments go to pytest. Real datasets
# are used where the variable GRAPHTAB_DATA names a folder that holds them; tests say when they
# are absent.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

say "checking that a plain installation is complete and light"
rm -rf .venv-plain
setup_environment .venv-plain .
(
    cd .venv-plain
    bin/python - <<'PYTHON'
import importlib.util, sys
import benchquery
heavy = [name for name in ("torch", "pandas", "h5py", "matplotlib") if importlib.util.find_spec(name)]
assert not heavy, f"a plain installation brought {heavy}"
assert "site-packages" in benchquery.__file__, benchquery.__file__
bench = benchquery.lightread("cora")
assert len(bench) == 26206 and bench[61237]["perf"] == 0.8046666666666668
print("plain installation: ok,", len(benchquery.tables()), "tables")
PYTHON
    bin/benchquery verify
)

setup_environment .venv-test --editable '.[dev]'
python=".venv-test/bin/python"

say "style"
"$python" -m ruff check .
"$python" -m ruff format --check .
say "types"
"$python" -m mypy
say "tests"
if [ -z "${GRAPHTAB_DATA:-}" ]; then
    say "GRAPHTAB_DATA is not set: tests on real datasets are skipped"
fi
"$python" -m pytest -n 2 -m "not slow" "$@"
