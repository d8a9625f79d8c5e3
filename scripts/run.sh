#!/bin/sh
# The main job: sets GraphTab up in .venv, asks the published tables, draws a picture.
# Safe to run again. Everything it writes goes to out/.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

setup_environment .venv '.[pandas,plot]'
benchquery=".venv/bin/benchquery"
mkdir -p out

say "the tables that come with it"
"$benchquery" datasets

say "one architecture on cora"
"$benchquery" show cora --link 0,1,2,1 --ops gcn,gin,fc,cheb

say "the five best on cora by validation performance"
"$benchquery" top cora -k 5

say "a picture of all 26,206 and their Pareto front"
"$benchquery" plot cora pareto -o out/pareto.png
