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

# sets DATASET: sets of graphs, by methods that choose and methods that learn, and what those began
# with. Seed 0 is what settings may be chosen by.
sets() {
    dataset=$1
    sizes="--per-class 1,10,50 --models gcn,gin"
    # shellcheck disable=SC2086
    {
        condense mirage $sizes --method mirage --seed 1
        condense learnt $sizes --method kidd-lr,kidd-d,doscond --seed 1
        condense init $sizes --method kidd-lr,kidd-d,doscond --seed 1 --hp epochs=0
    }
}

condensed cora 0.013,0.026,0.052
condense gcond --ratio 0.026 --method gcond --seed 1,2
condense released --ratio 0.026 --method gcond,gcdm,dm --protocol as-released
publish cora-condensed out/runs/cora-condensed-*

condensed citeseer 0.009,0.018,0.036
publish citeseer-condensed out/runs/citeseer-condensed-*

sets nci1
condense chosen --per-class 1,10,50 --models gcn,gin --method random,herding,k-center --seed 1
condense random --per-class 1,10,50 --models gcn,gin --method random --seed 2,3
condense mirage-more --per-class 5,20 --models gcn,gin --method mirage --seed 1
publish nci1-condensed out/runs/nci1-condensed-*

sets molbace
condense chosen --per-class 1,10,50 --models gcn,gin --method random,herding,k-center --seed 1,2,3
publish molbace-condensed out/runs/molbace-condensed-*
