#!/bin/sh
# Sets up .venv-autogl with AutoGL 0.4.0, tests its adapter there, and lets its algorithms
# search cora for real. AutoGL pins NNI 2.8 and works with numpy below 2 only, so it can't
# share an environment with the rest. It imports torch_scatter and torch_sparse, which build
# for a long time from source and which no search of a table calls: two empty modules stand
# in for them, unless the variable BUILD_EXTENSIONS is set. Safe to run again.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

make_environment .venv-autogl
python=.venv-autogl/bin/python
"$python" -m pip install --quiet torch==2.13.0 torch-geometric==2.8.1 pyarrow==20.0.0 \
    'numpy<2' 'networkx<=3.0' autogl==0.4.0 pytest==9.2.0 nas_bench_graph==1.4.0

if [ -n "${BUILD_EXTENSIONS:-}" ]; then
    say "building torch_scatter and torch_sparse"
    "$python" -m pip install --quiet --no-build-isolation torch-scatter torch-sparse
else
    "$python" - <<'PYTHON'
import importlib.util
import pathlib
import sysconfig

STAND_IN = '''"""Stands in for {name}: any name can be imported, and none does anything."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (), {{}})
'''
for name in ("torch_scatter", "torch_sparse"):
    if importlib.util.find_spec(name) is None:
        folder = pathlib.Path(sysconfig.get_path("purelib"))
        (folder / f"{name}.py").write_text(STAND_IN.format(name=name))
PYTHON
fi

export AUTOGL_BACKEND=pyg
try_adapter .venv-autogl tests/benchquery/adapters/test_autogl.py cora \
    autogl:random autogl:graphnas autogl:agnn
