# Makes virtual environments. Sourced by the scripts beside it.
#
#   make_environment FOLDER                        an empty one, unless it is there
#   setup_environment FOLDER PIP_ARGUMENTS...      one with the versions that are tested
#   try_adapter FOLDER TESTS DATASET STRATEGY...   test an adapter there, then search for real

say() {
    printf '== %s\n' "$*"
}

find_python() {
    for candidate in "${PYTHON:-}" python3.11 python3.12 python3.13 python3; do
        if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    echo "Python 3.11 or newer with venv is needed; name it with the variable PYTHON" >&2
    exit 2
}

make_environment() {
    if [ ! -x "$1/bin/python" ]; then
        say "making a virtual environment in $1"
        "$(find_python)" -m venv "$1"
    fi
    say "installing into $1 (quick when it is there already)"
}

setup_environment() {
    folder=$1
    shift
    make_environment "$folder"
    "$folder/bin/python" -m pip install --quiet --constraint constraints.txt "$@"
}

try_adapter() {
    python=$1/bin/python
    file=$2
    dataset=$3
    shift 3
    # Their networks are tiny: more threads only wait for each other.
    export PYTHONPATH=. OMP_NUM_THREADS=1
    say "testing the adapter"
    "$python" -W ignore -m pytest -q "$file"
    for strategy in "$@"; do
        say "searching $dataset with $strategy"
        "$python" -W ignore -m benchquery search "$dataset" \
            --strategy "$strategy" --budget 2% --seeds 1
    done
}
