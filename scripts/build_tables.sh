#!/bin/sh
# Builds the tables of data/ that were measured with benchbuild, from the datasets that the
# variable GRAPHTAB_DATA names: hours on two cores. Needs benchbuild on the PATH. Safe to stop and
# run again: what is finished in out/runs is not run again.
set -eu
cd "$(dirname "$0")/.."

# condense RUN OPTIONS...
condense() {
    out="out/runs/$dataset-condensed-$1"
    shift
    benchbuild condense --dataset "$dataset" --device cpu --out "$out" "$@"
}

# condensed DATASET RATIOS
condensed() {
    dataset=$1
    condense core-sets --ratio "$2" --method random,herding,k-center --seed 0,1,2
    condense trajectory --ratio "$2" --method sfgc,geom --seed 0,1,2
    condense dm --ratio "$2" --method dm --seed 0,1,2
    condense gcdm --ratio "$2" --method gcdm
    condense gradient --ratio "$2" --method gcond,doscond,sgdd
}

# publish NAME RUNS...
publish() {
    table="data/$1"
    shift
    benchbuild merge "$@" --out "$table" --replace
    benchbuild verify "$table"
}

# trained DATASET OPTIONS...
trained() {
    run="out/runs/$1-built"
    name="$1-built"
    # The bundled ones are rounded as the published tables are.
    benchbuild train --dataset "$@" --round-valid 3 --device cpu --out "$run"
    publish "$name" "$run"
}

trained cora --sample 200 --seeds 3
trained citeseer --sample 40 --seeds 3
trained pubmed --sample 12 --seeds 3
trained photo --sample 12 --seeds 3
trained computers --sample 12 --seeds 3

condensed cora 0.013,0.026,0.052
condense gcond --ratio 0.026 --method gcond --seed 1,2
condense released --ratio 0.026 --method gcond,gcdm,dm --protocol as-released
publish cora-condensed out/runs/cora-condensed-*

condensed citeseer 0.009,0.018,0.036
publish citeseer-condensed out/runs/citeseer-condensed-*
