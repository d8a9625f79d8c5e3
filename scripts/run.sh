#!/bin/sh
# The main job: sets GraphTab up in .venv, asks the published tables and draws a picture,
# then trains a small table of its own on data that comes with it, and asks that.
# Safe to run again: the training resumes. Everything it writes goes to out/.
set -eu
cd "$(dirname "$0")/.."
. scripts/setup.sh

setup_environment .venv '.[build,plot]'
PATH="$PWD/.venv/bin:$PATH"
mkdir -p out

say "the tables that come with it"
benchquery datasets

say "one architecture on cora, as published"
benchquery show cora --link 0,1,2,1 --ops gcn,gin,fc,cheb

say "the five best on cora by validation performance"
benchquery top cora -k 5

say "a picture of all 26,206 and their Pareto front"
benchquery plot cora pareto -o out/pareto.png

say "training 12 architectures, two seeds each, on Zachary's karate club"
benchbuild train --dataset karate --sample 12 --seeds 2 --out out/karate-run

say "merging what was trained into a table, and checking it"
rm -rf out/tables/karate
benchbuild merge out/karate-run --out out/tables/karate
benchbuild verify out/tables/karate

say "asking the new table"
benchquery top karate --source out/tables -k 5
