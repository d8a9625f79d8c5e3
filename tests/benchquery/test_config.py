"""Configurations: one form for every spelling, and one hash for ever."""

from __future__ import annotations

import copy
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
from benchquery.errors import ConfigError
from benchquery.kinds.condensed.config import MODELS, PROTOCOLS, RATIOS_OF, Config
from benchquery.kinds.condensed.methods import BACKBONES, METHODS, RECIPE

CORA = CondenseConfig("cora", "gcond", 0.026)
MIXED = CondenseConfig(
    "citeseer", "sfgc", 0.018, "noise", "transformer", 7, "as-released",
    ratio_of="labelled", lr_feat=0.5, epochs=3,
)  # fmt: skip
MLP = EvalConfig(model="mlp", seed=3, dropout=0)
GOLDEN = (
    (CORA, "bc9786690b12aa48"),
    (MIXED, "734c8239d409dcb5"),
    (EvalConfig(), "bf5d5adb0faddd33"),
    (MLP, "c133cdac29cd7a4c"),
)

FROZEN = {
    "random": "0f62c891715f",
    "herding": "bf2d190fdd69",
    "k-center": "bf2d190fdd69",
    "gcond": "49ac082e4502",
    "doscond": "a79c81587a43",
    "sgdd": "32548fb8a813",
    "gcdm": "bf689aef9e33",
    "dm": "1f6e3b09470f",
    "sfgc": "583f4b738136",
    "geom": "eb97266972b7",
}
"""Digests of the defaults of recipe 1. A configuration's text leaves defaults out, so a changed
default would change what a hash means: it needs a new recipe."""


def value_like(default: object) -> st.SearchStrategy[Any]:
    """Values of a hyper-parameter, the default among them."""
    kinds: dict[type, st.SearchStrategy[Any]] = {
        bool: st.booleans(),
        int: st.integers(0, 10_000),
        float: st.floats(0, 10, allow_nan=False),
        str: st.sampled_from(["cosine", "mse"]),
    }
    return st.one_of(st.just(default), kinds[type(default)])


@st.composite
def spellings(draw: st.DrawFn) -> tuple[dict[str, Any], CondenseConfig]:
    """The arguments of a configuration, and the configuration."""
    method = draw(st.sampled_from(list(METHODS)))
    spec = METHODS[method]
    defaults = spec.hyperparameters("cora")
    arguments: dict[str, Any] = {
        "dataset": "cora",
        "method": method,
        "ratio": draw(st.floats(1e-6, 1)),
        "init": draw(st.sampled_from([None, *spec.inits])),
        "backbone": draw(st.sampled_from([None, *BACKBONES])),
        "seed": draw(st.integers(0, 2**40)),
        "protocol": draw(st.sampled_from(PROTOCOLS)),
        "ratio_of": draw(st.sampled_from(RATIOS_OF)),
    }
    names = draw(st.lists(st.sampled_from(list(defaults)), unique=True)) if defaults else []
    arguments |= {name: draw(value_like(defaults[name])) for name in names}
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


@given(st.sampled_from(MODELS), st.integers(0, 99), st.floats(0, 1), st.integers(1, 9))
def test_evaluations_come_back(model: str, seed: int, dropout: float, layers: int) -> None:
    config = EvalConfig(model=model, seed=seed, dropout=dropout, layers=layers)
    assert EvalConfig.from_text(config.text) == config
    assert config.replace(seed=0) == EvalConfig(layers=layers, dropout=dropout, model=model)
    assert config != CORA


@pytest.mark.parametrize(("config", "number"), GOLDEN)
def test_hashes_never_change(config: Config, number: str) -> None:
    assert config.valid_hash() == number


def test_hashes_are_the_same_in_other_processes() -> None:
    program = (
        "import pickle, sys; configs = pickle.loads(sys.stdin.buffer.read());"
        "from benchquery import CondenseConfig, EvalConfig;"
        "assert configs[0] == CondenseConfig('cora', 'gcond', 0.026, epochs=300.0);"
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
        CORA.seed = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        CORA.other = 3  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        CORA.values["seed"] = 3  # type: ignore[index]
    assert CORA.hyperparameters["epochs"] == CORA["epochs"] == CORA.count("epochs")
    assert eval(repr(MIXED)) == MIXED
    assert CondenseConfig("cora", "gcond", 0.026, seed=np.int64(0)) == CORA  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CondenseConfig("cora", "gcnod", 0.026), "unknown method 'gcnod'; allowed: random"),
        (lambda: CondenseConfig("", "gcond", 0.026), "dataset is ''"),
        (lambda: CondenseConfig("cora", "gcond", 2.6), "ratio is 2.6; .* 0.026 for 2.6%"),
        (lambda: CondenseConfig("cora", "gcond", True), "ratio is True"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, "ones"), "init is 'ones'; allowed: noise"),
        (lambda: CondenseConfig("cora", "random", 0.026, "noise"), "'noise'; allowed: none"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, backbone="gat"), "backbone is 'gat'"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, seed=-1), "seed is -1"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, seed=True), "seed is True"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, seed=0.5), "seed is 0.5"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, protocol="new"), "allowed: corrected, as"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, ratio_of="x"), "allowed: nodes, labelled"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, depth=2), "no hyper-parameter 'depth'"),
        (lambda: CondenseConfig("cora", "random", 0.026, epochs=2), "it has none"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, epochs=1.5), "epochs is 1.5; .* int"),
        (lambda: CondenseConfig("cora", "gcond", 0.026, lr_feat="nan"), "lr_feat is 'nan'"),
        (lambda: EvalConfig(model="gat"), "model is 'gat'; allowed: gcn, sgc"),
        (lambda: EvalConfig(task="poetry"), "task is 'poetry'"),
        (lambda: EvalConfig(seed=-1), "seed is -1"),
        (lambda: EvalConfig(width=1), "no hyper-parameter 'width'; it has hidden"),
        (lambda: CORA.replace(method="gcnod"), "unknown method 'gcnod'"),
        (lambda: CORA["depth"], "has no 'depth'; it has dataset"),
        (lambda: CondenseConfig.from_text("{"), "is no configuration"),
        (lambda: CondenseConfig.from_text("[]"), "is no configuration"),
        (lambda: CondenseConfig.from_text('{"recipe": "1"}'), "is no configuration"),
        (lambda: CondenseConfig.from_text('{"recipe": "0"}'), "follows recipe '0'"),
        (lambda: CondenseConfig.from_text(MLP.text), "is no configuration"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize("method", METHODS)
def test_defaults_are_those_of_the_recipe(method: str) -> None:
    spec = METHODS[method]
    by_dataset = {name: dict(changes) for name, changes in spec.by_dataset.items()}
    body = json.dumps([spec.init, spec.backbone, dict(spec.defaults), by_dataset], sort_keys=True)
    assert RECIPE == "1"
    assert hashlib.sha256(body.encode()).hexdigest()[:12] == FROZEN[method]
