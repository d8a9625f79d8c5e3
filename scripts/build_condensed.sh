#!/bin/sh
# Builds the bundled tables of condensed graphs, data/cora-condensed and data/citeseer-condensed,
# from the datasets that GRAPHTAB_DATA names. Hours on a laptop; safe to stop and run again.
# Needs an environment with the extra `build`; its folder of programs is named by PATH.
set -eu
cd "$(dirname "$0")/.."

condense() {
    benchbuild condense --dataset "$dataset" --device cpu --out "out/runs/$dataset-$run" "$@"
}

build() {
    dataset=$1 ratios=$2 middle=$3
    run=core-sets condense --method random,herding,k-center --ratio "$ratios" --seed 0,1,2
    run=trajectory condense --method sfgc,geom --ratio "$ratios" --seed 0,1,2
    run=dm condense --method dm --ratio "$ratios" --seed 0,1,2
    run=gradient condense --method gcond,doscond,sgdd --ratio "$ratios"
    run=gcdm condense --method gcdm --ratio "$ratios"
    run=released condense --method gcond,gcdm,dm --ratio "$middle" --protocol as-released
    rm -rf "data/$dataset-condensed"
    benchbuild merge out/runs/"$dataset"-* --out "data/$dataset-condensed"
    benchbuild verify "data/$dataset-condensed"
}

build cora 0.013,0.026,0.052 0.026
build citeseer 0.009,0.018,0.036 0.018
