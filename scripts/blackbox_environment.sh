#!/bin/sh
# Sets up .venv-blackbox with Syne Tune and mf-prior-bench, and lets them open what the adapters write. The
# latter wants numpy below 2, so they can't share an environment with the rest. Safe to run again.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

make_environment .venv-blackbox
.venv-blackbox/bin/python -m pip install --quiet mf-prior-bench==1.10.0 syne-tune==0.16.0 huggingface_hub \
    fastparquet h5py pyarrow==20.0.0 pytest==9.2.0 nas_bench_graph==1.4.0
PYTHONPATH=. .venv-blackbox/bin/python -W ignore -m pytest -q \
    tests/benchquery/adapters/test_mf_prior_bench.py tests/benchquery/adapters/test_syne_tune.py
