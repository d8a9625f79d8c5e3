#!/bin/sh
# Sets up .venv-rl with NNI's PolicyBasedRL, tests its adapter there, and lets it search
# proteins for real. It needs tianshou 0.4.11, which forces an old protobuf, so it can't
# share an environment with the rest. Safe to run again.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

setup_environment .venv-rl --editable '.[rl]' pytest nas_bench_graph
try_adapter .venv-rl tests/benchquery/adapters/test_nni_rl.py proteins nni:rl
