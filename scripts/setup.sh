# Makes a virtual environment and installs GraphTab into it. Sourced by run.sh and test.sh.
#
#   setup_environment FOLDER PIP_ARGUMENTS...

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

setup_environment() {
    folder=$1
    shift
    if [ ! -x "$folder/bin/python" ]; then
        say "making a virtual environment in $folder"
        "$(find_python)" -m venv "$folder"
    fi
    say "installing into $folder (quick when it is there already)"
    "$folder/bin/python" -m pip install --quiet --constraint constraints.txt "$@"
}
