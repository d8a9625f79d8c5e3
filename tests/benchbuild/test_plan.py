"""Shards: disjoint, complete, balanced, and the same everywhere."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import astuple, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from benchbuild.commands.options import parse_seeds
from benchbuild.datasets import dataset_names, dataset_spec
from benchbuild.errors import PlanError
from benchbuild.kinds.train.costs import CostModel
from benchbuild.kinds.train.kind import parse_archs, train_run
from benchbuild.kinds.train.network.wiring import wire
from benchbuild.pipeline.jobs import Cost
from benchbuild.pipeline.plan import Shard, assign, positions_of, units_of
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runner import shard_keys
from benchquery import Arch, BenchQueryError, get_space, lightread

Units = list[list[int]]
jobs_of_units = st.lists(
    st.tuples(st.floats(0.0, 1e4).map(lambda s: Cost(s, 0.0)), st.integers(0, 60)), max_size=200
)
"""Jobs with the unit that each is in."""


def costs_and_units(jobs: list[tuple[Cost, int]]) -> tuple[list[Cost], Units]:
    units: dict[int, list[int]] = {}
    for position, (_, unit) in enumerate(jobs):
        units.setdefault(unit, []).append(position)
    return [cost for cost, _ in jobs], list(units.values())


def apart(costs: list[Cost]) -> Units:
    return [[position] for position in range(len(costs))]


@given(jobs_of_units, st.integers(1, 40))
def test_shards_are_disjoint_complete_and_ordered(jobs: list[tuple[Cost, int]], count: int) -> None:
    costs, units = costs_and_units(jobs)
    for dealt in (units, apart(costs)):
        shards = assign(costs, count, dealt)
        assert len(shards) == count
        assert sorted(p for shard in shards for p in shard) == list(range(len(jobs)))
        assert all(shard == sorted(shard) for shard in shards)
        assert [positions_of(Shard(i + 1, count), costs, dealt) for i in range(count)] == shards
        assert all(any(set(unit) <= set(shard) for shard in shards) for unit in dealt)


@given(jobs_of_units, st.integers(1, 40))
def test_no_two_shards_differ_by_more_than_the_longest_unit(
    jobs: list[tuple[Cost, int]], count: int
) -> None:
    costs, units = costs_and_units(jobs)
    for dealt in (units, apart(costs)):
        loads = [sum(costs[p].seconds for p in shard) for shard in assign(costs, count, dealt)]
        longest = max((sum(costs[p].seconds for p in unit) for unit in dealt), default=0.0)
        assert max(loads) - min(loads) <= longest + 1e-5 * (1 + len(jobs))


@given(jobs_of_units, st.integers(1, 40))
def test_jobs_that_are_not_joined_are_dealt_as_they_always_were(
    jobs: list[tuple[Cost, int]], count: int
) -> None:
    """The longest first, to whichever of the least loaded shards comes first."""
    costs = [cost for cost, _ in jobs]
    loads, shards = [0] * count, [set[int]() for _ in range(count)]
    micros = [round(cost.seconds * 1e6) for cost in costs]
    for position in sorted(range(len(costs)), key=lambda p: (-micros[p], p)):
        least = loads.index(min(loads))
        loads[least] += micros[position]
        shards[least].add(position)
    assert assign(costs, count, apart(costs)) == [sorted(shard) for shard in shards]


def test_seeds_that_can_be_joined_are_in_one_shard() -> None:
    run = train_run("cora", sample=60, seeds=range(4))
    spread = [shard_keys(run, Shard(i + 1, 7)) for i in range(7)]
    joined = [shard_keys(replace(run, joined=True), Shard(i + 1, 7)) for i in range(7)]
    keys = kind_of("train").keys(run)
    for shares in (spread, joined):
        assert sorted(key for share in shares for key in share) == sorted(keys)
    archs = {key[0] for key in keys}
    assert all(sum(arch in {key[0] for key in share} for share in joined) == 1 for arch in archs)
    assert any(sum(arch in {key[0] for key in share} for share in spread) > 1 for arch in archs)


def test_the_whole_space_in_32_shards_is_balanced_to_two_thousandths() -> None:
    run = train_run("proteins")
    kind = kind_of("train")
    keys = kind.keys(run)
    predicted = kind.costs(run, keys)
    shards = assign(predicted, 32, units_of(run, keys))
    loads = [sum(predicted[p].seconds for p in shard) for shard in shards]
    assert max(loads) / min(loads) < 1.002
    assert {key for i in range(32) for key in shard_keys(run, Shard(i + 1, 32))} == set(keys)


def test_another_process_deals_the_same_shard() -> None:
    code = (
        "from benchbuild.kinds.train.kind import train_run\n"
        "from benchbuild.pipeline.plan import Shard\n"
        "from benchbuild.pipeline.runner import shard_keys\n"
        "from benchbuild.pipeline.jobs import digest\n"
        "print(digest(shard_keys(train_run('cora', sample=500), Shard(3, 7))))"
    )
    results = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(results) == 1


@pytest.mark.parametrize("text", ["0/32", "33/32", "1/0", "3", "a/b", "", "-1/4", "1/2/3", "1.0/2"])
def test_shards_that_do_not_exist_are_refused_by_name(text: str) -> None:
    with pytest.raises(PlanError) as caught:
        Shard.parse(text)
    assert text in str(caught.value)


def test_shards_are_read_as_written() -> None:
    assert Shard.parse("32/32") == Shard(32, 32)
    assert str(Shard.parse(" 3/32 ")) == "3/32"


def test_seeds_are_a_count_or_a_list() -> None:
    assert parse_seeds("3") == [0, 1, 2]
    assert parse_seeds("0,2") == [0, 2]
    assert parse_seeds("5,") == [5]


@pytest.mark.parametrize("text", ["", "0", "a", "1,1", "-1", "1,,2", "1.5", ","])
def test_other_seeds_are_refused(text: str) -> None:
    with pytest.raises(PlanError):
        parse_seeds(text)


def test_architectures_come_from_the_line_or_a_file(tmp_path: Path) -> None:
    listing = tmp_path / "some.txt"
    listing.write_text("10000, 61237  # two\n\n20000\n")
    assert parse_archs([str(listing)], "full") == [10000, 61237, 20000]
    assert parse_archs(["10000,61237", "20000"], "full") == [10000, 61237, 20000]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["99999"], "99999"),
        (["10000,10000"], "10000"),
        (["no-such-file"], "no-such-file"),
        (["10000,,x"], "10000,,x"),
        ([","], ","),
    ],
)
def test_other_architectures_are_refused_by_name(words: list[str], named: str) -> None:
    with pytest.raises((PlanError, BenchQueryError)) as caught:
        parse_archs(words, "full")
    assert named in str(caught.value)


def test_architectures_outside_the_space_are_refused() -> None:
    gin = Arch([0, 0, 0, 0], ["gin", "gcn", "gcn", "gcn"]).valid_hash()
    with pytest.raises(BenchQueryError, match=str(gin)):
        parse_archs([str(gin)], "proteins")


def test_a_sample_keeps_its_order_and_its_beginning() -> None:
    few = [key[0] for key in kind_of("train").keys(train_run("cora", sample=50, seeds=[0]))]
    assert few == [arch.valid_hash() for arch in get_space("full").sample(50, seed=0)]


@pytest.mark.parametrize("pre", [0, 1])
def test_predicted_work_follows_the_wiring_of_an_architecture(pre: int) -> None:
    hp = dataset_spec("cora").hyperparameters.override(pre=pre)
    model = CostModel(dataset_spec("cora").size, hp)
    for arch in get_space("full").sample(3000, seed=1):
        nodes = wire(arch, 10, 2, hp).nodes
        parts = [model.frame_work(sum(node.leaf for node in nodes))]
        parts += [model.node_work(node.op, node.raw, node.leaf) for node in nodes]
        work = model.work(arch)
        assert work.layers == sum(part.layers for part in parts)
        assert work.sums == pytest.approx(sum(part.sums for part in parts))


def test_predicted_cost_grows_with_the_work() -> None:
    model = CostModel(dataset_spec("cora").size, dataset_spec("cora").hyperparameters)
    light = model.cost(Arch([0, 1, 2, 3], ["skip", "skip", "skip", "gcn"]))
    heavy = model.cost(Arch([0, 0, 0, 0], ["arma", "arma", "arma", "arma"]))
    assert heavy.seconds > light.seconds
    assert heavy.memory > light.memory


def test_the_area_under_the_roc_curve_is_part_of_the_predicted_time() -> None:
    size, hp = dataset_spec("proteins").size, dataset_spec("proteins").hyperparameters
    small = Arch([0, 0, 0, 0], ["fc", "fc", "fc", "fc"])
    costs = [CostModel(size, hp, metric).cost(small) for metric in ("rocauc", "accuracy")]
    assert costs[0].seconds - costs[1].seconds == pytest.approx(hp.epochs * 6.1, rel=0.01)
    assert costs[0].memory == costs[1].memory
    planned = train_run("proteins", archs=[small.valid_hash()], seeds=[0])
    assert kind_of("train").costs(planned, kind_of("train").keys(planned)) == [costs[0]]


@pytest.mark.parametrize("dataset", ["cora", "citeseer", "pubmed"])
def test_predicted_times_rank_as_measured_ones_do(dataset: str) -> None:
    table = lightread(f"{dataset}-built").where("status == ok")
    model = CostModel(dataset_spec(dataset).size, dataset_spec(dataset).hyperparameters)
    predicted = [model.cost(arch).seconds for arch in table.archs()]
    assert spearmanr(predicted, table.column("train_time")).statistic > 0.9


def test_planning_knows_the_size_of_every_graph() -> None:
    for spec in filter(lambda spec: spec.sort == "nodes", map(dataset_spec, dataset_names())):
        name = spec.name
        sizes = (spec.num_nodes, spec.num_edges, spec.num_features, spec.nonzeros)
        assert None not in sizes, name
        assert (*sizes, spec.num_classes, spec.trained, spec.labelled) == astuple(spec.size), name


def test_what_a_dataset_does_not_state_is_assumed() -> None:
    size = dataset_spec("csbm:nodes=1000,features=10").size
    assert (size.nodes, size.features, size.nonzeros) == (1000, 10, 10_000)
    assert (size.edges, size.trained, size.labelled) == (10_000, 50, 1000)
