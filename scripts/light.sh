#!/bin/sh
# Tests the light package, without torch, by every Python that is named and can be had, as in
# sh scripts/light.sh python3.12 python3.13
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

# works PYTHON: whether it is one that can make environments
works() {
    "$1" -c 'import venv' 2>/dev/null
}

for name in "$@"; do
    python=$name
    # Where versions are kept by pyenv, a name on the path may lead nowhere.
    for kept in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"${name#python}".*/bin/python; do
        works "$python" || python=$kept
    done
    if ! works "$python"; then
        say "$name is not here: the light package is not tested by it"
        continue
    fi
    folder=".venv-light-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
    PYTHON=$python setup_environment "$folder" --editable '.[light-test]'
    say "testing the light package by $("$folder/bin/python" --version)"
    "$folder/bin/python" -m pytest -q -p no:cacheprovider tests/light.py \
        tests/benchquery/test_arch.py tests/benchquery/test_space.py tests/benchquery/test_table.py \
        tests/benchquery/test_verbs.py tests/benchquery/test_golden.py tests/benchquery/test_ties.py \
        tests/benchquery/test_published_tables.py tests/benchquery/test_hostile_tables.py
done
