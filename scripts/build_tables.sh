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
        condense chosen $sizes --method random,herding,k-center --seed 1,2,3
        for seed in 1 2 3; do
            condense "learnt-$seed" $sizes --method kidd-lr,kidd-d,doscond --seed "$seed"
            condense "init-$seed" $sizes --method kidd-lr,kidd-d,doscond --seed "$seed" --hp epochs=0
        done
    }
}

# released RUN OPTIONS...: by the faults and the settings of published code, a table a run.
released() {
    run=$1
    shift
    condense "released-$run" --protocol as-released --seed 1 --eval-hp full_graphs=0 "$@"
    benchbuild merge "out/runs/$dataset-condensed-released-$run" \
        --out "out/released/$dataset-$run" --replace
}

# joined NAME: what was published of a dataset and what was released become one table.
joined() {
    benchbuild join "data/$1-condensed" out/released/"$1"-* --out "data/$1-condensed" --replace
    benchbuild verify "data/$1-condensed"
}

condensed cora 0.013,0.026,0.052
condense gcond --ratio 0.026 --method gcond --seed 1,2
condense released --ratio 0.026 --method gcond,gcdm,dm --protocol as-released
publish cora-condensed out/runs/cora-condensed-*

condensed citeseer 0.009,0.018,0.036
publish citeseer-condensed out/runs/citeseer-condensed-*

sets nci1
condense mirage-more --per-class 5,20 --models gcn,gin --method mirage --seed 1
publish nci1-condensed out/runs/nci1-condensed-mirage* out/runs/nci1-condensed-[cil]*
kidd="--method kidd-lr --init published-herding --models gin --eval-preset kidd --eval-hp pooling=mean"
both="--per-class 1,10,50 --models gcn,gin"
# shellcheck disable=SC2086
{
    released kidd-1 --per-class 1 $kidd --eval-hp layers=3
    released kidd-10 --per-class 10 $kidd --eval-hp layers=4
    released kidd-50 --per-class 50 $kidd
    released core-sets $both --method herding,k-center --hp embedding=published --eval-preset gc-bench
    released random $both --method random --eval-preset gc-bench
    released doscond $both --method doscond --eval-preset gc-bench
    released mirage $both --method mirage --eval-preset mirage
}
joined nci1

for name in molbace molbbbp; do
    sets "$name"
    publish "$name-condensed" out/runs/"$name"-condensed-*
done
