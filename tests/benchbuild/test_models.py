"""Models: parameter counts against the published tables, the forward pass against plain algebra."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nas_bench_graph import light_read

from benchbuild.datasets import dataset_spec, hyperparameters_for, load
from benchbuild.errors import HyperParameterError
from benchbuild.hyperparameters import DEFAULT_HYPERPARAMETERS, HyperParameters
from benchbuild.kinds.train.network import build_network, count_parameters, describe, wire
from benchbuild.kinds.train.network.size import OP_SIZE
from benchquery.kinds.architectures.arch import OPS, Arch

NINE = ("cora", "citeseer", "pubmed", "cs", "physics", "photo", "computers", "arxiv", "proteins")
CONSISTENT = dict.fromkeys(NINE, 26206) | {"physics": 24639, "proteins": 2021}

architectures = st.builds(
    Arch,
    st.tuples(*(st.integers(0, k) for k in range(4))).map(list),
    st.lists(st.sampled_from(OPS), min_size=4, max_size=4).filter(lambda ops: set(ops) != {"skip"}),
)


@cache
def arch_of(number: int) -> Arch:
    return Arch.from_hash(number).canonical()


@pytest.mark.parametrize("name", NINE)
def test_counts_equal_the_published_ones_on_every_row(name: str) -> None:
    spec, hp = dataset_spec(name), hyperparameters_for(name)
    assert spec.num_features is not None
    assert spec.num_classes is not None
    table = light_read(name)
    ours = [
        count_parameters(arch_of(number), spec.num_features, spec.num_classes, hp)
        for number in table
    ]
    published = np.rint(np.array([row["para"] for row in table.values()], dtype=float) * 1e6)
    assert int((np.array(ours) == published).sum()) == CONSISTENT[name]


@settings(max_examples=40, deadline=None)
@given(
    arch=architectures,
    pre=st.integers(0, 1),
    post=st.integers(0, 1),
    features=st.integers(1, 9),
    classes=st.integers(2, 5),
)
def test_counts_equal_the_module_s(
    arch: Arch, pre: int, post: int, features: int, classes: int
) -> None:
    hp = hyperparameters_for("karate").override(pre=pre, post=post, hidden=8)
    network = build_network(arch, features, classes, hp, seed=0)
    real = sum(parameter.numel() for parameter in network.parameters())
    assert count_parameters(arch, features, classes, hp) == real


@settings(max_examples=60, deadline=None)
@given(arch=architectures, pre=st.integers(0, 1))
def test_wiring(arch: Arch, pre: int) -> None:
    hp = hyperparameters_for("karate").override(pre=pre)
    wiring = wire(arch, 34, 4, hp)
    form = arch.canonical()
    assert [node.op for node in wiring.nodes] == list(form.ops)
    for k, node in enumerate(wiring.nodes, start=1):
        assert node.leaf == (k not in form.link)
        chain = node.parent
        while chain and form.ops[chain - 1] == "skip":
            chain = form.link[chain - 1]
        assert node.raw == (pre == 0 and chain == 0)
        assert node.in_width == (34 if node.raw else hp.hidden)
    assert wire(form, 34, 4, hp) == wiring


def test_description_adds_up_and_reads_well() -> None:
    arch = Arch([0, 1, 2, 2], ["skip", "gcn", "gat", "arma"])
    layers = describe(arch, 1433, 7, hyperparameters_for("cora"))
    assert [layer.name for layer in layers] == [
        "node 1", "node 2", "node 3", "node 4", "post", "head",
    ]  # fmt: skip
    assert layers[1].layer == "GCNConv(1433, 256)"
    assert layers[1].reads == "node 1"
    assert layers[2].reads == "dropout(relu(BatchNorm(node 2)))"
    assert layers[4].layer == "Linear(512, 256)"
    assert sum(layer.params for layer in layers) == count_parameters(
        arch, 1433, 7, hyperparameters_for("cora")
    )


def test_every_operation_has_a_size() -> None:
    assert tuple(OP_SIZE) == OPS


def dense_gcn(adjacency: np.ndarray, h: np.ndarray, layer: torch.nn.Module) -> np.ndarray:
    loops = adjacency + np.eye(len(adjacency))
    scale = 1 / np.sqrt(loops.sum(axis=1))
    return scale[:, None] * loops * scale @ h @ layer.lin.weight.detach().numpy().T + (
        layer.bias.detach().numpy()
    )


def dense_sage(adjacency: np.ndarray, h: np.ndarray, layer: torch.nn.Module) -> np.ndarray:
    mean = adjacency / adjacency.sum(axis=1, keepdims=True) @ h
    left, right = layer.lin_l, layer.lin_r
    return (
        mean @ left.weight.detach().numpy().T
        + left.bias.detach().numpy()
        + (h @ right.weight.detach().numpy().T)
    )


@pytest.mark.parametrize("pre", [0, 1])
@pytest.mark.parametrize("post", [0, 1])
def test_forward_pass_is_the_formula(pre: int, post: int) -> None:
    """A gcn on the input, then a sage and a skip as leaves: worked out with dense matrices."""
    graph = load("karate")
    hp = hyperparameters_for("karate").override(pre=pre, post=post)
    network = build_network(Arch([0, 1, 2, 2], ["skip", "gcn", "sage", "skip"]), 34, 4, hp, 5)
    assert [n.op for n in network.wiring.nodes] == ["skip", "gcn", "sage", "skip"]
    random = torch.Generator().manual_seed(0)
    for node in network.nodes:
        node.norm.running_mean.normal_(generator=random)
        node.norm.running_var.uniform_(0.5, 2.0, generator=random)
        torch.nn.init.normal_(node.norm.weight, generator=random)
        torch.nn.init.normal_(node.norm.bias, generator=random)
    network.eval()

    def linear(h: np.ndarray, layer: torch.nn.Linear) -> np.ndarray:
        return h @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()

    def activate(k: int, h: np.ndarray) -> np.ndarray:
        norm = network.nodes[k - 1].norm
        mean, variance = norm.running_mean.numpy(), norm.running_var.numpy()
        scale = norm.weight.detach().numpy() / np.sqrt(variance + norm.eps)
        return np.maximum((h - mean) * scale + norm.bias.detach().numpy(), 0)

    adjacency = np.zeros((34, 34))
    adjacency[graph.edge_index[1], graph.edge_index[0]] = 1
    x = graph.x.numpy()
    h1 = activate(1, linear(x, network.pre)) if pre else x
    h2 = dense_gcn(adjacency, activate(2, h1) if pre else h1, network.nodes[1].op)
    leaves = [dense_sage(adjacency, activate(3, h2), network.nodes[2].op), activate(4, h2)]
    out = np.maximum(np.concatenate(leaves, axis=1), 0)
    out = linear(linear(out, network.post), network.head) if post else linear(out, network.head)
    with torch.no_grad():
        ours = network(graph.x, graph.edge_index).numpy()
    assert np.allclose(ours, out, atol=1e-4)


def test_raw_input_has_an_unused_batch_norm() -> None:
    graph = load("karate")
    hp = hyperparameters_for("karate")
    network = build_network(Arch([0, 1, 2, 3], ["gcn", "gin", "fc", "sage"]), 34, 4, hp, 0)
    network(graph.x, graph.edge_index).sum().backward()
    used = [node.norm.weight.grad is not None for node in network.nodes]
    assert used == [False, True, True, True]


def test_seed_fixes_the_weights_and_leaves_the_generator_alone() -> None:
    hp = hyperparameters_for("karate")
    arch = Arch([0, 1, 1, 2], ["gat", "cheb", "arma", "graph"])
    state = torch.random.get_rng_state()
    one, two, other = (build_network(arch, 34, 4, hp, seed).state_dict() for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert not all(torch.equal(one[key], other[key]) for key in one)


def test_hyperparameters_are_the_corrected_table() -> None:
    own = {name: hyperparameters_for(name) for name in NINE}
    assert DEFAULT_HYPERPARAMETERS not in own.values()
    assert own["photo"].pre == 0
    assert own["physics"].post == 0
    assert hyperparameters_for("csbm:nodes=50") == hyperparameters_for("csbm")


def test_hyperparameters_change_by_name_and_by_text() -> None:
    hp = hyperparameters_for("cora")
    changed = hp.override_from(["lr=0.05", " epochs = 7", "optimizer=Adam"])
    assert changed == hp.override(lr=0.05, epochs=7, optimizer="adam")
    assert HyperParameters(**changed.to_dict()) == changed
    assert hp.lr == 0.1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lr", "not of the form name=value"),
        ("speed=3", "unknown hyper-parameter 'speed'; known: pre"),
        ("lr=fast", "lr='fast' is not of type float"),
        ("lr=-1", "lr=-1.0 is not allowed"),
        ("lr=nan", "lr=nan is not allowed"),
        ("dropout=1", "at least 0 and below 1"),
        ("epochs=2.5", "epochs='2.5' is not of type int"),
        ("optimizer=lion", "one of sgd, adam"),
        ("heads=3", "a divisor of hidden=256"),
        ("pre=2", "at least 0 and at most 1"),
    ],
)
def test_wrong_hyperparameters_are_named(text: str, words: str) -> None:
    with pytest.raises(HyperParameterError, match=words):
        hyperparameters_for("cora").override_from([text])


def test_hyperparameter_given_twice() -> None:
    with pytest.raises(HyperParameterError, match="'lr' is given twice"):
        hyperparameters_for("cora").override_from(["lr=1", "lr=2"])
    with pytest.raises(HyperParameterError, match=r"epochs=2\.5"):
        hyperparameters_for("cora").override(epochs=2.5)
