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
    benchbuild condense --dataset "$dataset${sample-}" --device cpu --out "$out" "$@"
}

# chosen DATASET METHOD: settings by validation nodes of condensation seed 0, which is not reported.
# What wins becomes the default, in benchquery/kinds/condensed/domains/chosen.py, before more is run.
chosen() {
    benchbuild tune --dataset "$1" --method "$2" --workers 1 --device cpu --json \
        --out "out/runs/$1-choose-$2" >"benchmarks/settings/$1-$2.json"
}

# condensed DATASET RATIOS SEEDS METHODS: core-sets and methods that learn.
condensed() {
    dataset=$1
    condense core-sets --ratio "$2" --method random,herding,k-center --seed "$3"
    for method in $4; do
        learnt "$method" "$2" "$3"
    done
}

# learnt METHOD RATIOS SEEDS: what a method learns, and what that began with.
learnt() {
    condense "$1" --ratio "$2" --method "$1" --seed "$3"
    condense "init-$1" --ratio "$2" --method "$1" --hp epochs=0 --seed "$3"
}

# reproduced DATASET RATIO METHODS: by the settings and the faults of what GC-Bench released.
reproduced() {
    for method in $3; do
        condense "released-$2-$method" --ratio "$2" --method "$method" --protocol as-released --seed 1
    done
}

# varied DATASET RATIO: what methods begin with and what they match, each of the others in turn.
varied() {
    dataset=$1
    seeds="--ratio $2 --seed 1,2,3"
    # shellcheck disable=SC2086
    {
        for method in gcond doscond dm; do
            condense "varied-begun-$method" --method "$method" --init noise,center,k-center,k-means $seeds
        done
        condense varied-begun-sfgc --method sfgc --init noise,sample,center,k-means $seeds
        condense varied-matched-gcond --method gcond --backbone gcn $seeds
        # About a quarter of an hour a seed.
        condense varied-matched-gcond-transformer --method gcond --backbone transformer $seeds
        condense varied-matched-dm --method dm --backbone gcn,transformer $seeds
        for method in doscond sfgc; do
            condense "varied-matched-$method" --method "$method" --backbone sgc,transformer $seeds
        done
    }
}

# publish NAME RUNS...
publish() {
    table="data/$1"
    shift
    benchbuild merge "$@" --out "$table" --replace
    benchbuild verify "$table"
}

# trained NAME DATASET OPTIONS...
trained() {
    name=$1
    shift
    # The bundled ones are rounded as the published tables are.
    benchbuild train --dataset "$@" --round-valid 3 --device cpu --out "out/runs/$name"
    publish "$name" "out/runs/$name"
}

trained cora-built cora --sample 200 --seeds 3
trained citeseer-built citeseer --sample 40 --seeds 3
trained pubmed-built pubmed --sample 12 --seeds 3
trained photo-built photo --sample 12 --seeds 3
trained computers-built computers --sample 12 --seeds 3

# All that stack four of gin and graph, once each, with a seed that cora-built does not have.
stacks=$(
    python3 - <<EOF
from benchquery import SPACES, Arch

archs = map(Arch.from_hash, SPACES["full"].hashes)
print(*(arch.valid_hash() for arch in archs if {"gin", "graph"}.issuperset(arch.ops)), sep=",")
EOF
)
trained cora-stacks cora --archs "$stacks" --seeds 3,

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

# aside RUN OPTIONS...: what is judged by other settings than the rest, a table a run.
aside() {
    run=$1
    shift
    condense "aside-$run" "$@"
    benchbuild merge "out/runs/$dataset-condensed-aside-$run" --out "out/aside/$dataset-$run" --replace
}

# released RUN OPTIONS...: by the faults and the settings of published code.
released() {
    run=$1
    shift
    aside "released-$run" --protocol as-released --seed 1 --eval-hp full_graphs=0 "$@"
}

# thrice RUN OPTIONS...: the same with three condensation seeds. Each is judged by networks of its own,
# as each run of published code is.
thrice() {
    name=$1
    shift
    released "$name" "$@"
    for seed in 2 3; do
        networks=$((3 * seed - 3)),$((3 * seed - 2)),$((3 * seed - 1))
        released "$name-seed-$seed" "$@" --seed "$seed" --eval-seeds "$networks"
    done
}

# joined NAME: what was published of a dataset and what was made aside become one table.
joined() {
    benchbuild join "data/$1-condensed" out/aside/"$1"-* --out "data/$1-condensed" --replace
    benchbuild verify "data/$1-condensed"
}

for name in cora citeseer; do
    for method in dm sfgc geom gcond sgdd doscond gcdm; do
        chosen "$name" "$method"
    done
done
for name in acm dblp; do
    for method in dm sfgc gcond; do
        chosen "$name" "$method"
    done
done

# longer RATIOS QUICK: GCDM takes over two minutes at some sizes and has three seeds there, at the QUICK
# ones five.
longer() {
    learnt gcdm "$1" 1,2,3
    condense gcdm-more --ratio "$2" --method gcdm --seed 4,5
    condense init-gcdm-more --ratio "$2" --method gcdm --seed 4,5 --hp epochs=0
}

methods="sfgc geom dm gcond sgdd doscond"
condensed cora 0.013,0.026,0.052 1,2,3,4,5 "$methods"
longer 0.013,0.026,0.052 0.013,0.026
# SFGC has 200 experts, 5 GB of them.
reproduced cora 0.026 "dm gcond doscond sgdd gcdm sfgc"
# With few edges to begin with, DM as released gives what is printed.
condense released-few --ratio 0.013,0.026 --method dm --protocol as-released --seed 1 --hp edge_bias=-5
publish cora-condensed out/runs/cora-condensed-[cdgirs]*
varied cora 0.026
benchbuild merge out/runs/cora-condensed-varied-* --out out/varied-whole --replace
benchbuild merge out/runs/cora-condensed-varied-matched-* --out out/matched --replace
benchbuild join out/varied-whole --graphs-where 'seed == 0' --out out/varied --replace

condensed citeseer 0.009,0.018,0.036 1,2,3,4,5 "$methods"
longer 0.009,0.018,0.036 0.009
publish citeseer-condensed out/runs/citeseer-condensed-*

# several DATASET RATIOS: graphs with several sorts of nodes. Their sources state no licence, so the
# condensed ones, which are made of their nodes, are left out.
several() {
    condensed "$1" "$2" 1,2,3,4,5 "dm sfgc gcond"
    benchbuild merge out/runs/"$1"-condensed-* --out "out/$1-whole" --replace
    benchbuild join "out/$1-whole" --graphs-where 'seed == 0' --out "data/$1-condensed" --replace
    benchbuild verify "data/$1-condensed"
}

several acm 0.00066,0.00332
several dblp 0.00037,0.00186

# judged NAME CONDITION OPTIONS...: judge the graphs of $source once more, and keep the rows that are new.
judged() {
    run="out/runs/$dataset-judged-$1"
    new="out/more/$dataset/$1"
    condition=$2
    shift 2
    benchbuild evaluate "$source" --seeds 1 --device cpu --out "$run" "$@"
    benchbuild merge "$run" --out "$new-whole" --replace
    benchbuild join "$new-whole" --where "$condition" --no-graphs --out "$new" --replace
    rm -r "$new-whole"
}

# more DATASET RATIO: other models and tasks on stored graphs of one size, in a table of their own
# without the graphs.
more() {
    dataset=$1
    source="data/$dataset-condensed"
    all="--where ratio==$2 --where seed==1 --where protocol==corrected"
    some="$all --where method!=geom --where method!=gcdm --where method!=k-center"
    some="$some --where method!=herding"
    task="task != node-classification"
    # shellcheck disable=SC2086
    {
        judged links "$task" $all --task link-prediction
        judged clusters "$task" $some --task node-clustering --models daegc,k-means
        judged pretrained "$task" $some --task node-clustering-pretrained
        judged structural "$task" $some --task structural-anomaly-detection
        judged contextual "$task" $some --task contextual-anomaly-detection
        judged models "model != gcn" $some --models $others
    }
    if [ "$dataset" = cora ]; then
        source=out/matched
        judged matched "model != gcn" --where seed==1 --where backbone!=gcn --models "$others"
    fi
    benchbuild join "out/more/$dataset"/* --no-graphs --out "data/$dataset-condensed-tasks" --replace
    benchbuild verify "data/$dataset-condensed-tasks"
}

others=sgc,mlp,appnp,sage,cheby,transformer
more cora 0.026
more citeseer 0.018

# less DATASET TABLES CONDITION...: with more tables, and of what is learnt only the graphs that fulfil
# the conditions. Where nothing is learnt, it takes no second.
less() {
    table="data/$1-condensed"
    parts="out/less/$1"
    tables=$2
    shift 2
    for method in random herding k-center; do
        benchbuild join "$table" --where "method == $method" --out "$parts/$method" --replace
    done
    benchbuild join "$table" --where 'method != random' --where 'method != herding' \
        --where 'method != k-center' "$@" --out "$parts/learnt" --replace
    # shellcheck disable=SC2086
    benchbuild join "$parts"/* $tables --out "$table" --replace
    benchbuild verify "$table"
}

less cora out/varied --graphs-where 'condense_time > 1' --graphs-where 'protocol == corrected'
less citeseer '' --graphs-where 'condense_time > 1' --graphs-where 'seed == 1' \
    --graphs-where 'protocol == corrected'

sets nci1
condense mirage-more --per-class 5,20 --models gcn,gin --method mirage --seed 1
publish nci1-condensed out/runs/nci1-condensed-mirage* out/runs/nci1-condensed-[cil]*
kidd="--method kidd-lr --init published-herding --models gin --eval-preset kidd --eval-hp pooling=mean"
sizes="--per-class 1,10,50"
chosen="$sizes --method herding,k-center --hp embedding=published"
# Of GC-Bench's GIN the last epoch counts; its GCN is that of DosCond.
gin="--models gin --eval-preset gc-bench"
gcn="--models gcn --eval-preset doscond --eval-hp tried_every=25"
decayed="--models gcn,gin --eval-preset mirage --eval-hp weight_decay=100 --eval-hp tried_every=25"
# shellcheck disable=SC2086
{
    released kidd-1 --per-class 1 $kidd --eval-hp layers=3
    released kidd-10 --per-class 10 $kidd --eval-hp layers=4
    released kidd-50 --per-class 50 $kidd
    released doscond $sizes --method doscond $gin
    released doscond-loop $sizes --method doscond --hp edges=likely $gcn
    released core-sets-gin $chosen $gin --eval-hp tried_every=200
    released core-sets-gcn $chosen $gcn
    released random-gin $sizes --method random $gin --eval-hp tried_every=200
    released random-gcn $sizes --method random $gcn
    # The supports of Table B1; those for 1 a class, 451 and 441, leave class 0 without a pattern.
    released mirage-5 --per-class 5 --method mirage --hp supports=351,381 $decayed
    released mirage-10 --per-class 10 --method mirage --hp supports=301,291 $decayed
    released mirage-20 --per-class 20 --method mirage --hp supports=251,231 $decayed
    released mirage-50 --per-class 50 --method mirage --hp supports=201,171 $decayed
}
joined nci1

for name in molbace molbbbp; do
    sets "$name"
    condense mirage-more --per-class 5,20 --models gcn,gin --method mirage --seed 1
    publish "$name-condensed" out/runs/"$name"-condensed-[cilm]*
done

dataset=molbace
judged="--models gin --eval-preset kidd --eval-hp pooling=mean --eval-hp tried_every=200"
# By KiDD's own commands. Their updates of 1e-6 change next to nothing: two snapshots are enough.
kidd="--method kidd-lr --hp evaluate_every=300"
added="$gin --eval-hp tried_every=200 --eval-hp pooling=sum"
# By the defaults of GC-Bench.
defaults="--method kidd-lr --init published-herding --hp lr_adj=1e-3 --hp lr_feat=1e-3"
defaults="$defaults --hp nodes=68 --hp rank=16"
# What KiDD itself prints beside the mean: the sum over nodes by its own GIN, not GC-Bench's. What is
# judged in another way may come from another snapshot, so it has other ones.
own="--models gin --eval-preset kidd --eval-hp tried_every=200"
three="--method kidd-lr --hp evaluate_every=150"
four="--method kidd-lr --hp evaluate_every=100"
decay="--eval-hp weight_decay=5e-5"
# Reported are means over the three seeds, of each way of pooling and of both, whatever they come to.
# shellcheck disable=SC2086
{
    thrice kidd-1 --per-class 1 --method kidd-lr --init published-random $judged
    thrice kidd-1-sum --per-class 1 --init published-random $kidd $added
    thrice kidd-10 --per-class 10 --init published-random --method kidd-lr --hp evaluate_every=10 $judged
    thrice kidd-10-sum --per-class 10 --init published-random $kidd $added
    thrice kidd-50-sum --per-class 50 --init published-herding $kidd $added $decay
    thrice kidd-own-sum --per-class 1,10 --init published-random $three $own
    thrice kidd-50-own-sum --per-class 50 --init published-herding $three $own $decay
    thrice kidd-50-own --per-class 50 --init published-herding $four $judged $decay
    released defaults-1 --per-class 1 $defaults $judged
    released defaults-50 --per-class 50 $defaults --hp evaluate_every=100 $judged
}
joined molbace

# cheap DATASET MIRAGE_SIZES OPTIONS...: what takes no training to make, tried now and then, on sets
# of which a pass takes a second and more.
cheap() {
    dataset=$1
    more=$2
    shift 2
    judged="--models gcn,gin --seed 1 --eval-seeds 1 $*"
    # shellcheck disable=SC2086
    {
        condense random --per-class 1,10 --method random $judged
        condense chosen --per-class 1,10 --method herding,k-center --hp embedding=propagated $judged
        condense mirage --per-class "$more" --method mirage $judged
    }
    publish "$dataset-condensed" out/runs/"$dataset"-condensed-*
}

# summed NAME: the same sets, judged by the GCN that benchmarks/judging.py chooses, too.
summed() {
    run="out/runs/$1-summed"
    benchbuild evaluate "data/$1-condensed" --where 'protocol == corrected' --models gcn \
        --eval-hp pooling=sum --device cpu --out "$run"
    publish "$1-condensed" "$run"
}

for name in nci1 molbbbp molbace; do
    summed "$name"
done

cheap dd 1,5,10,20,50 --eval-hp full_graphs=0 --eval-hp tried_every=25
cheap molhiv 1,10 --eval-hp tried_every=50

# Sets of images, by narrow networks and in few steps.
few="--eval-preset short --eval-hp lr=0.05 --eval-seeds 2"
gradient="--method dc,dsa --hp outer=3 --hp inner=3 --hp batch=25 --hp lr_image=0.3"
gradient="$gradient --hp evaluate_every=10"
kip="--method kip --hp kernel=fc --hp batch=128 --hp evaluate_every=100"
tm="--method tm --hp experts=2 --hp expert_epochs=10 --hp start_epochs=6 --hp stretch=2 --hp steps=5"
tm="$tm --hp batch_student=50 --hp expert_batch=64 --hp lr_image=100 --hp lr_rate=1e-4"
tm="$tm --hp evaluate_every=20"

# taught RUN SIZES SEEDS EPOCHS OPTIONS...: what learns, and what that began with.
taught() {
    run=$1
    sizes=$2
    seeds=$3
    epochs=$4
    shift 4
    # shellcheck disable=SC2086
    {
        condense "$run" --per-class "$sizes" --seed "$seeds" --hp "epochs=$epochs" "$@" $judged
        condense "init-$run" --per-class "$sizes" --seed 1 --hp epochs=0 "$@" $judged
    }
}

all="--per-class 1,10,50 --seed 1,2,3"
narrow="--hp width=16"
judged="$few --eval-hp width=16"
dataset=digits
# shellcheck disable=SC2086
{
    condense random $all --method random $judged
    condense k-center $all --method k-center $narrow $judged
    condense raw $all --method k-center --hp embedding=raw $judged
    taught dm 1,10,50 1,2,3 150 --method dm $narrow --hp batch=32 --hp evaluate_every=150
    taught kip 1,10,50 1,2,3 100 $kip
    taught gradient 1,10 1,2,3 10 $gradient $narrow
    condense gradient-50 --per-class 50 --seed 1,2,3 --hp epochs=10 $gradient $narrow $judged
    taught tm 1,10,50 1,2,3 20 $tm $narrow
}
publish digits-condensed out/runs/digits-condensed-[dgikrt]*
for augmentation in dsa imagenet randaugment autoaugment; do
    augmented="--per-class 10 --seed 1,2,3 $judged --eval-hp augmentation=$augmentation"
    # shellcheck disable=SC2086
    {
        aside "random-$augmentation" --method random $augmented
        aside "k-center-$augmentation" --method k-center $narrow $augmented
    }
done
joined digits

# Augmentation takes longer to learn from: the same in as many epochs as the paper has, in a table of
# their own.
for augmentation in none dsa; do
    longer="--per-class 10 --seed 1,2,3 $judged --eval-hp augmentation=$augmentation"
    longer="$longer --eval-hp epochs=1000 --eval-hp tried_every=200"
    # shellcheck disable=SC2086
    {
        condense "longer-random-$augmentation" --method random $longer
        condense "longer-k-center-$augmentation" --method k-center $narrow $longer
    }
    benchbuild merge out/runs/digits-condensed-longer-*-"$augmentation" \
        --out "out/longer/$augmentation" --replace
done
benchbuild join out/longer/* --no-graphs --out data/digits-condensed-longer --replace
benchbuild verify data/digits-condensed-longer

narrow="--hp width=8"
judged="$few --eval-hp epochs=40 --eval-hp width=8 --models convnet,mlp"
sample=:train=2000,valid=300,test=1000
for dataset in fashion-mnist cifar10-jpeg; do
    all="--per-class 1,10 --seed 1,2,3"
    # shellcheck disable=SC2086
    {
        condense random $all --method random $judged
        condense k-center $all --method k-center $narrow $judged
        condense raw $all --method k-center $narrow --hp embedding=raw $judged
        taught dm 1,10 1,2,3 60 --method dm $narrow --hp batch=25 --hp evaluate_every=60
        taught gradient 1,10 1 10 $gradient $narrow
    }
    if [ "$dataset" = fashion-mnist ]; then
        # shellcheck disable=SC2086
        {
            condense kip --per-class 1,10 --seed 1 --hp epochs=100 $kip $judged
            condense tm --per-class 1,10 --seed 1 --hp epochs=20 $tm $narrow $judged
        }
    fi
    publish "$dataset-condensed" out/runs/"$dataset"-condensed-*
done

# Do condensed images rank architectures? Networks of four channels, by eighty steps on the 100 images
# of each set, and by two epochs on all images beside.
dataset=cifar10-jpeg
cells="--where per_class==10 --where seed==1 --models nas-bench-201 --sample 30"
cells="$cells --eval-preset dc-bench-nas --eval-hp width=4 --eval-hp lr=0.05 --eval-hp batch=20"
cells="$cells --eval-hp epochs=16 --eval-hp tried_every=16 --eval-hp full_epochs=2"
# What was judged before has two seeds.
once="eval_seeds == 1"
source="data/$dataset-condensed"
# shellcheck disable=SC2086
{
    judged cells-learnt "$once" $cells --where "iteration_time > 0"
    judged cells-random "$once" $cells --where method==random
    # By embedding.
    judged cells-k-center "$once" $cells --where config==8a2361e81a13018f
}
benchbuild join out/more/$dataset/cells-* --no-graphs --out data/$dataset-condensed-cells --replace
benchbuild verify data/$dataset-condensed-cells
