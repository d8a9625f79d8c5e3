"""Configurations: one form for every spelling, and one hash for ever."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchquery import CondenseConfig, EvalConfig
from benchquery.allowed import Allowed, Choice, Pattern, Range
from benchquery.errors import ConfigError
from benchquery.kinds.condensed import domains, methods
from benchquery.kinds.condensed.config import PROTOCOLS, RATIOS_OF, TASKS, Config, text_hash
from benchquery.kinds.condensed.domains import DOMAINS, domain_of_dataset, domain_of_task
from benchquery.kinds.condensed.domains.nodes import METHODS, NODES
from benchquery.kinds.condensed.domains.spec import NONE, DomainSpec
from benchquery.kinds.condensed.hyperparameters import ALLOWED
from benchquery.kinds.condensed.methods import MethodSpec

ARXIV = CondenseConfig("arxiv", "gcond", 0.026)
MIXED = CondenseConfig(
    "citeseer", "sfgc", 0.018, "noise", "transformer", 7, "as-released",
    ratio_of="labelled", lr_feat=0.5, epochs=3,
)  # fmt: skip
MLP = EvalConfig(model="mlp", seed=3, dropout=0)
GOLDEN = (
    (ARXIV, "aa05b15c59d987f5"),
    (MIXED, "ce5c2dc44e76e8e7"),
    (EvalConfig(), "bf5d5adb0faddd33"),
    (MLP, "c133cdac29cd7a4c"),
)

FROZEN = {
    "random": "0f62c891715f",
    "herding": "bf2d190fdd69",
    "k-center": "bf2d190fdd69",
    "gcond": "1cf643bca3de",
    "doscond": "4c8c9c30014d",
    "sgdd": "f227b72e9386",
    "gcdm": "e535e4169f13",
    "dm": "1f6e3b09470f",
    "sfgc": "cf0b8586a692",
    "geom": "6c55b5aa9e7a",
}
"""Digests of the defaults of recipe 1. A configuration's text leaves defaults out, so a changed
default would change what a hash means: it needs a new recipe. Datasets whose settings were chosen
anew have another recipe; tests/benchbuild/test_chosen.py holds them to what was found."""


TOGETHER = {"start_epochs", "expert_interval", "expert_epochs", "adj_steps", "layers", "fanout"}
"""Hyper-parameters whose values depend on those of others: here they keep their defaults."""


def value_like(name: str, default: object, allowed: Allowed | None) -> st.SearchStrategy[Any]:
    """Values of a hyper-parameter, the default among them."""
    if name in TOGETHER or isinstance(allowed, Pattern):
        return st.just(default)
    if isinstance(allowed, Choice):
        return st.sampled_from(allowed.words)
    kinds: dict[type, st.SearchStrategy[Any]] = {
        bool: st.booleans(),
        int: st.integers(1, 10_000),
        float: st.floats(0, 1, exclude_min=True, exclude_max=True),
    }
    values = kinds[type(default)]
    if allowed is not None:
        values = values.filter(lambda value: allowed.meant(value) is not None)
    return st.one_of(st.just(default), values)


def changed_nodes(**changes: Any) -> dict[str, DomainSpec]:
    """The domains, with something else said of one graph with labelled nodes."""
    return {**DOMAINS, "nodes": dataclasses.replace(NODES, **changes)}


@st.composite
def spellings(draw: st.DrawFn) -> tuple[dict[str, Any], CondenseConfig]:
    """The arguments of a configuration, and the configuration."""
    dataset = draw(st.sampled_from(["cora", "nci1"]))
    domain = domain_of_dataset(dataset)
    method = draw(st.sampled_from(list(domain.methods)))
    protocol = draw(st.sampled_from(PROTOCOLS[: 1 if domain.methods[method].unreleased else 2]))
    spec = domain.methods[method].under(protocol)
    defaults = spec.hyperparameters(dataset)
    inits = (NONE,) if spec.init == NONE else spec.begins or domain.inits
    arguments: dict[str, Any] = {
        "dataset": dataset,
        "method": method,
        "init": draw(st.sampled_from([None, *inits])),
        "backbone": draw(st.sampled_from([None, *domain.backbones])),
        "seed": draw(st.integers(0, 2**40)),
        "protocol": protocol,
    }
    if domain.size == "ratio":
        ratio_of = draw(st.sampled_from(RATIOS_OF))
        arguments |= {"ratio": draw(st.floats(1e-6, 1)), "ratio_of": ratio_of}
    else:
        arguments["per_class"] = draw(st.integers(1, 1000))
    names = draw(st.lists(st.sampled_from(list(defaults)), unique=True)) if defaults else []
    allowed = {**ALLOWED, **spec.allowed}
    for name in names:
        arguments[name] = draw(value_like(name, defaults[name], allowed.get(name)))
    return arguments, CondenseConfig(**arguments)


@given(spellings(), st.randoms())
def test_spelling_does_not_matter(case: tuple[dict[str, Any], CondenseConfig], random: Any) -> None:
    arguments, config = case
    whole: list[tuple[str, Any]] = list(config.values.items())
    random.shuffle(whole)
    as_texts = {name: str(value) for name, value in config.hyperparameters.items()}
    for other in (
        CondenseConfig(**dict(whole)),
        CondenseConfig(**{**dict(whole), **as_texts}),
        CondenseConfig(**{k: v for k, v in arguments.items() if v is not None}),
        CondenseConfig.from_text(config.text),
        config.replace(),
        config.replace(seed=config.seed + 1).replace(seed=config.seed),
        pickle.loads(pickle.dumps(config)),
        copy.deepcopy(config),
    ):
        assert other == config
        assert hash(other) == hash(config)
        assert (other.valid_hash(), other.text) == (config.valid_hash(), config.text)
        assert dict(other.values) == dict(config.values)


@given(spellings(), spellings())
def test_equal_means_equal_values(
    first: tuple[Any, CondenseConfig], second: tuple[Any, CondenseConfig]
) -> None:
    (_, a), (_, b) = first, second
    assert (a == b) == (dict(a.values) == dict(b.values)) == (a.valid_hash() == b.valid_hash())


@given(st.data(), st.sampled_from(TASKS), st.integers(0, 99), st.integers(1, 9))
def test_evaluations_come_back(data: st.DataObject, task: str, seed: int, epochs: int) -> None:
    model = data.draw(st.sampled_from(domain_of_task(task).tasks[task].models))
    config = EvalConfig(task, model, seed, epochs=epochs)
    assert EvalConfig.from_text(config.text) == config
    assert config.replace(seed=0) == EvalConfig(epochs=epochs, model=model, task=task)
    assert config != ARXIV


def test_a_set_has_another_size_and_other_methods_than_a_graph() -> None:
    config = CondenseConfig("nci1", "random", per_class=10)
    assert config.domain is DOMAINS["graphs"]
    assert (config.size, ARXIV.size) == (10, 0.026)
    assert config != CondenseConfig("nci1", "random", per_class=10, seed=1)
    assert CondenseConfig("mine", "random", per_class=2, domain="graphs")["domain"] == "graphs"
    assert "domain" not in ARXIV


def test_a_preset_is_what_it_stands_for() -> None:
    task = "graph-classification"
    for name, changes in DOMAINS["graphs"].tasks[task].presets.items():
        preset = EvalConfig.preset(name, task, "gin", epochs=3)
        assert preset == EvalConfig(task, "gin", **{**changes, "epochs": 3})
    with pytest.raises(ConfigError, match="preset is 'none'"):
        EvalConfig.preset("none", task)


@pytest.mark.parametrize(("config", "number"), GOLDEN)
def test_hashes_never_change(config: Config, number: str) -> None:
    assert config.valid_hash() == number


def test_hashes_are_the_same_in_other_processes() -> None:
    program = (
        "import pickle, sys; configs = pickle.loads(sys.stdin.buffer.read());"
        "from benchquery import CondenseConfig, EvalConfig;"
        "assert configs[0] == CondenseConfig('arxiv', 'gcond', 0.026, epochs=600.0);"
        "assert configs[2] in {EvalConfig()};"
        "print(*(config.valid_hash() for config in configs))"
    )
    for seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            input=pickle.dumps([config for config, _ in GOLDEN]),
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        )  # fmt: skip
        assert done.stdout.decode().split() == [number for _, number in GOLDEN]


def test_configurations_are_read_only_values() -> None:
    with pytest.raises(AttributeError):
        ARXIV.seed = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        ARXIV.other = 3  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        ARXIV.values["seed"] = 3  # type: ignore[index]
    assert ARXIV.hyperparameters["epochs"] == ARXIV["epochs"] == ARXIV.count("epochs")
    assert eval(repr(MIXED)) == MIXED
    assert CondenseConfig("arxiv", "gcond", 0.026, seed=np.int64(0)) == ARXIV  # type: ignore[arg-type]


UNSOUND = EvalConfig().text.replace('"model"', '"epochs":"many","lr":0.5,"model"')
"""A text that can be read, but not run: nothing is known of its values."""


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CondenseConfig("cora", "gcnod", 0.026), "'gcnod'; did you mean 'gcond'.* random"),
        (lambda: CondenseConfig("cora", ["gcond"], 0.026), r"unknown method \['gcond'\]"),
        (lambda: CondenseConfig("", "gcond", 0.026), "dataset is ''"),
        (lambda: CondenseConfig("cora", "gcond", 2.6), "ratio is 2.6; .* 0.026 for 2.6%"),
        (lambda: CondenseConfig("cora", "gcond", True), "ratio is True"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, "ones"), "init is 'ones'; allowed: noise"),
        (lambda: CondenseConfig("cora", "random", 0.026, "noise"), "'noise'.* allowed: none"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, backbone="gat"), "backbone is 'gat'"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, seed=-1), "seed is -1"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, seed=True), "seed is True"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, seed=0.5), "seed is 0.5"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, protocol="new"), "allowed: corrected, as"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, ratio_of="x"), "allowed: nodes, labelled"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, depth=2), "hyper-parameter 'depth'"),
        (lambda: CondenseConfig("cora", "random", 0.026, epochs=2), "allowed: none"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, epochs=1.5), "epochs is 1.5; .* int"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, lr_feat="nan"), "lr_feat is 'nan'"),
        (lambda: EvalConfig(model="gat"), "model is 'gat'; allowed: gcn, sgc"),
        (lambda: EvalConfig(task="poetry"), "task is 'poetry'"),
        (lambda: EvalConfig(seed=-1), "seed is -1"),
        (lambda: EvalConfig(width=1), "unknown hyper-parameter 'width'"),
        (lambda: ARXIV.replace(method="gcnod"), "unknown method 'gcnod'"),
        (lambda: ARXIV["depth"], "has no 'depth'; it has dataset"),
        (lambda: CondenseConfig("nci1", "random", 0.1), "said by per_class, .* not by ratio"),
        (lambda: CondenseConfig("cora", "random", per_class=3), "said by ratio, .* not by per_cl"),
        (lambda: CondenseConfig("nci1", "random"), "said by per_class, as in per_class=10$"),
        (lambda: CondenseConfig("nci1", "random", per_class=0), "per_class is 0; .* from 1"),
        (lambda: CondenseConfig("nci1", "gcond", per_class=1), "it condenses nodes, not graphs"),
        (lambda: CondenseConfig("x", "random", 0.1, domain="sets"), "domain is 'sets'; allowed"),
        (lambda: EvalConfig("graph-classification", "sgc"), "model is 'sgc'; .*allowed: gcn, gin"),
        (lambda: CondenseConfig.from_text("{"), "is no configuration"),
        (lambda: CondenseConfig.from_text("[]"), "is no configuration"),
        (lambda: CondenseConfig.from_text('{"recipe": "1"}'), "is no configuration: it has no 'da"),
        (lambda: CondenseConfig.from_text(ARXIV.text.replace('"1"', "1")), "recipe is 1"),
        (lambda: CondenseConfig.from_text(ARXIV.text.replace("0.026", "26")), "ratio is 26"),
        (lambda: CondenseConfig.from_text(MIXED.text.replace(":3", ":[3]")), "epochs: not a numb"),
        (lambda: CondenseConfig.from_text(MLP.text), "is no configuration"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


def made(method: str, **changes: Any) -> CondenseConfig:
    return CondenseConfig("cora", method, 0.026, **changes)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: made("gcond", epochs=-5), "epochs is -5; it must be at least 0"),
        (lambda: made("gcond", lr_feat=-1), "lr_feat is -1.0; it must be at least 0"),
        (lambda: made("gcond", distance="foo"), "distance is 'foo'; it must be one of cosine, mse"),
        (lambda: made("gcond", distance="cosin"), "mse; did you mean 'cosine'?"),
        (lambda: made("gcond", evaluate_every=0), "evaluate_every is 0; it must be at least 1"),
        (lambda: made("gcond", fanout="some"), "fanout is 'some'; it must be full, or"),
        (lambda: made("gcond", fanout="0,5"), "fanout is '0,5'; it must be full, or"),
        (lambda: made("gcond", fanout=""), "fanout is ''; it must be full, or"),
        (lambda: made("gcond", fanout="10"), "fanout is '10'; .* for each of 2 layers"),
        (lambda: made("gcond", fanout="10,5,5"), "for each of 2 layers"),
        (lambda: made("gcond", layers=3, fanout="10,5"), "for each of 3 layers"),
        (lambda: made("gcond", adj_steps=0, feat_steps=0), "adj_steps and feat_steps are 0"),
        (lambda: made("sgdd", feature_share=1.5), "feature_share is 1.5; .* 0 and at most 1"),
        (lambda: made("geom", curriculum_share=0), "above 0 and at most 1"),
        (lambda: made("sfgc", expert_lr=0), "expert_lr is 0.0; it must be above 0"),
        (lambda: made("sfgc", start_epochs=120), "start_epochs is 120; it must leave"),
        (lambda: EvalConfig(dropout=7.0), "dropout is 7.0; it must be at least 0 and below 1"),
        (lambda: EvalConfig(dropout=1), "dropout is 1.0"),
        (lambda: EvalConfig(epochs=0), "epochs is 0; it must be at least 1"),
        (lambda: EvalConfig(lr=0), "lr is 0.0; it must be above 0"),
        (lambda: EvalConfig(epochs=2**70), "epochs is 11.*; it must be .* at most 1,000,000"),
        (lambda: EvalConfig(hidden=10**400), "hidden is 10+; it is of the type int"),
        (lambda: EvalConfig(seed=2**63), "seed is 9223372036854775808; .* below 9,223"),
        (lambda: made("gcond", lr_feat=1e300), "lr_feat is 1e.300; .* at most 1e.38"),
        (lambda: made("gcond", layers=10**6), "layers is 1000000"),
        (lambda: made("gcond", fanout="9" * 5_000), "fanout is"),
        (lambda: CondenseConfig.from_text("[" * 100_000), "nested"),
        (lambda: CondenseConfig.from_text('{"ratio": NaN}'), "NaN is no number"),
        (lambda: EvalConfig.from_text(UNSOUND).count("epochs"), "epochs of .* is no number"),
        (lambda: EvalConfig.from_text(UNSOUND).count("lr"), "lr of .* is no whole number"),
        (lambda: EvalConfig(threshold=-0.1), "threshold is -0.1"),
        (lambda: ARXIV.replace(hidden=0), "hidden is 0"),
        (lambda: EvalConfig().replace(layers=0), "layers is 0"),
        (lambda: made("gcond", epoch=3), "unknown hyper-parameter 'epoch'; did you mean 'epochs'"),
        (lambda: made("gcond", init="sampel"), "init is 'sampel'; did you mean 'sample'"),
        (lambda: made("gcond", backbone="gc"), "backbone is 'gc'; did you mean '"),
        (lambda: EvalConfig(model="sag"), "model is 'sag'; did you mean 'sage'"),
        (lambda: EvalConfig("link_prediction"), "did you mean 'link-prediction'"),
    ],
)  # fmt: skip
def test_what_can_not_be_is_said_at_once(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


def test_a_method_may_say_what_its_own_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it says nothing, what is shared holds; and of an unheard-of name, the type."""
    defaults = {"epochs": "auto", "hidden": 8, "depth": 2, "batch": 1}
    allowed = {"epochs": Pattern("auto|[0-9]+", "auto or a number"), "batch": Range(below=5)}
    theirs = MethodSpec("theirs", "gradient", "sample", "gcn", defaults, allowed=allowed)
    monkeypatch.setattr(methods, "DOMAINS", changed_nodes(methods={**METHODS, "theirs": theirs}))
    assert made("theirs", epochs="12", batch=-3, depth=-9).count("depth") == -9
    for changes, message in (
        ({"epochs": "many"}, "epochs is 'many'; it must be auto or a number"),
        ({"batch": 5}, "batch is 5; it must be below 5"),
        ({"hidden": 0}, "hidden is 0; it must be at least 1"),
        ({"depth": "deep"}, "depth is 'deep'; it is of the type int"),
    ):
        with pytest.raises(ConfigError, match=message):
            made("theirs", **changes)


def test_every_hyper_parameter_has_a_range() -> None:
    """And the defaults are inside, on every dataset."""
    for name, spec in METHODS.items():
        assert spec.defaults.keys() <= ALLOWED.keys()
        for dataset in ("cora", "citeseer", "other"):
            values = spec.hyperparameters(dataset)
            assert CondenseConfig(dataset, name, 0.5, **values) == CondenseConfig(
                dataset, name, 0.5
            )
    usual = EvalConfig()
    assert usual.hyperparameters.keys() <= {*ALLOWED, "control"}
    assert EvalConfig(**usual.hyperparameters) == usual


def test_letter_case_does_not_matter() -> None:
    assert CondenseConfig("arxiv", "GCond", 0.026, "Sample", "SGC", 0, "Corrected") == ARXIV  # type: ignore[arg-type]
    assert made("DosCond", distance="Cosine") == made("doscond")
    assert EvalConfig("Node-Classification", "GCN") == EvalConfig()
    assert made("K-Center").method == "k-center"


UNKNOWN = {
    "another package's": ARXIV.text.replace('"gcond"', '"theirs"').replace(
        '"init"', '"depth":3,"init"'
    ),
    "another recipe": ARXIV.text.replace('"recipe":"1"', '"recipe":"2"'),
    "a later hyper-parameter": ARXIV.text.replace('"init"', '"depth":3,"init"'),
    "what is refused now": ARXIV.text.replace('"init"', '"epochs":-5,"init"'),
}
"""Texts of configurations that can't be run here."""


@pytest.mark.parametrize("case", UNKNOWN)
def test_a_configuration_that_can_not_be_run_is_what_its_text_says(case: str) -> None:
    text = UNKNOWN[case]
    fields = json.loads(text)
    config = CondenseConfig.from_text(text)
    assert (config.text, config.valid_hash()) == (text, text_hash(text))
    assert config.recipe == fields.pop("recipe")
    assert (config.method, config.ratio, config.init) == (fields["method"], 0.026, "sample")
    assert dict(config.values) == fields
    own = {name: value for name, value in fields.items() if name in ("depth", "epochs")}
    assert dict(config.hyperparameters) == own
    for other in (CondenseConfig.from_text(text), pickle.loads(pickle.dumps(config))):
        assert other == config
        assert hash(other) == hash(config)
    assert config != ARXIV
    assert eval(repr(config)) == config
    for refused in (lambda: config.spec, lambda: config.replace(seed=1)):
        with pytest.raises(ConfigError, match=r"from_text\(.*can't be run here: "):
            refused()


def test_evaluations_of_other_recipes_and_models_are_read() -> None:
    usual = EvalConfig()
    for text in (usual.text.replace("gcn", "gat"), usual.text.replace('"1"', '"2"')):
        config = EvalConfig.from_text(text)
        assert (config.text, dict(config.hyperparameters)) == (text, {})
        with pytest.raises(ConfigError, match="can't be run here"):
            config.check_runnable()
    usual.check_runnable()


def test_a_new_recipe_changes_the_keys_of_its_own_method_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {name: made(name) for name in METHODS}
    task = EvalConfig("link-prediction")
    changed = {**METHODS, "gcond": dataclasses.replace(METHODS["gcond"], recipe="3", recipes={})}
    tasks = dict(NODES.tasks)
    first = dataclasses.replace(tasks["node-classification"], recipe="2")
    both = changed_nodes(methods=changed, tasks={**tasks, "node-classification": first})
    monkeypatch.setattr(methods, "DOMAINS", both)
    monkeypatch.setattr(domains, "DOMAINS", both)
    after = {name: made(name) for name in METHODS}
    assert [name for name in METHODS if before[name] != after[name]] == ["gcond"]
    assert json.loads(after["gcond"].text)["recipe"] == after["gcond"].recipe == "3"
    old = CondenseConfig.from_text(ARXIV.text)
    assert old == ARXIV
    with pytest.raises(ConfigError, match="it follows recipe '1', and this version knows '3'"):
        old.check_runnable()
    assert EvalConfig("link-prediction") == task
    assert EvalConfig().recipe == "2"


def test_as_released_has_settings_of_its_own_and_a_recipe() -> None:
    for method in ("gcond", "doscond", "sgdd", "gcdm", "dm", "sfgc"):
        kept = CondenseConfig("cora", method, 0.026, protocol="as-released")
        assert (CondenseConfig("arxiv", method, 0.026).recipe, kept.recipe) == ("1", "2")
        assert kept["epochs"] >= 600
        assert kept.spec is METHODS[method].released
    assert CondenseConfig("cora", "random", 0.026, protocol="as-released").recipe == "1"
    gcond = {
        name: CondenseConfig(name, "gcond", 0.002, protocol="as-released")
        for name in ("cora", "dblp", "reddit")
    }
    assert [gcond[name]["inner"] for name in gcond] == [15, 10, 10]
    assert [gcond[name]["lr_feat"] for name in gcond] == [1e-4, 0.1, 1e-4]
    assert [gcond[name]["edge_width"] for name in gcond] == [128, 128, 256]
    sgdd = [CondenseConfig("cora", "sgdd", at, protocol="as-released") for at in (0.013, 0.026)]
    assert [one["lr_adj"] for one in sgdd] == [0.01, 0.1]


def test_rows_of_the_older_as_released_are_what_they_were() -> None:
    text = MIXED.text.replace('"recipe":"2"', '"recipe":"1"')
    old = CondenseConfig.from_text(text)
    assert (old.text, old.valid_hash()) == (text, "734c8239d409dcb5")
    with pytest.raises(ConfigError, match="it follows recipe '1', and this version knows '2'"):
        old.check_runnable()


def test_what_was_not_released_is_refused() -> None:
    with pytest.raises(ConfigError, match="'geom' has no protocol 'as-released': the released con"):
        CondenseConfig("cora", "geom", 0.026, protocol="as-released")


@pytest.mark.parametrize("method", METHODS)
def test_defaults_are_those_of_the_recipe(method: str) -> None:
    spec = METHODS[method]
    by_dataset = {
        name: dict(changes) for name, changes in spec.by_dataset.items() if name not in spec.recipes
    }
    body = json.dumps([spec.init, spec.backbone, dict(spec.defaults), by_dataset], sort_keys=True)
    assert spec.recipe == "1"
    assert hashlib.sha256(body.encode()).hexdigest()[:12] == FROZEN[method]


def test_dm_learns_large_sets_of_images_faster() -> None:
    rates = {n: CondenseConfig("mnist", "dm", per_class=n)["lr_image"] for n in (1, 99, 100, 1000)}
    assert rates == {1: 1.0, 99: 1.0, 100: 10.0, 1000: 10.0}
    config = CondenseConfig("mnist", "dm", per_class=100, lr_image=10.0)
    assert config == CondenseConfig("mnist", "dm", per_class=100)
