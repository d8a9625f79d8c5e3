"""Condensing images: against autograd, plain loops over classes, and what must hold."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from benchbuild.datasets import load_images
from benchbuild.errors import CondenseError
from benchbuild.kinds.condense.distances import DISTANCES, SLOPES, matching_loss
from benchbuild.kinds.condense.expert_files import CHECKPOINTS
from benchbuild.kinds.condense.images import backbone as backbone_module
from benchbuild.kinds.condense.images.augment.dsa import DSA
from benchbuild.kinds.condense.images.backbone import Backbone
from benchbuild.kinds.condense.images.coreset import nearest_to_centres
from benchbuild.kinds.condense.images.experts import ImageExperts
from benchbuild.kinds.condense.images.networks import ConvNet, Shape
from benchbuild.kinds.condense.images.payload import CondensedImages, StoredImages
from benchbuild.kinds.condense.images.problem import ImagesProblem
from benchbuild.kinds.condense.images.synthetic import Siamese, first_images
from benchbuild.kinds.condense.method import Snapshot, Workspace
from benchbuild.kinds.condense.methods.images.dc import LOOPS, GradientMatching, loops
from benchbuild.kinds.condense.methods.images.dm import DistributionMatching
from benchbuild.kinds.condense.methods.images.kip import tangent_kernel
from benchbuild.kinds.condense.methods.images.tm import Student
from benchbuild.kinds.condense.registry import condenser
from benchbuild.testing.methods import check_method
from benchquery.errors import ConfigError
from benchquery.kinds.condensed.config import CondenseConfig
from benchquery.kinds.condensed.domains import DOMAINS
from benchquery.kinds.condensed.forms import FORMS
from benchquery.kinds.condensed.pixels import shown_pixels

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")
DIGITS = "digits:train=200,valid=40,test=40"
EXPERTS: dict[str, Any] = {"experts": 2, "expert_epochs": 4, "start_epochs": 1, "stretch": 2}


def problem() -> ImagesProblem:
    return ImagesProblem.of(load_images(DIGITS), CPU)


def config(method: str, per_class: int = 2, **changed: Any) -> CondenseConfig:
    whole = CondenseConfig(DIGITS, method, per_class=per_class)
    quick = {"width": 4, "epochs": 3, "evaluate_every": 2, "batch": 16}
    quick = {name: value for name, value in quick.items() if name in whole.hyperparameters}
    return whole.replace(**{**quick, **changed})


def condensed(settings_: CondenseConfig, scratch: Path = Path("unused")) -> list[Snapshot]:
    return list(condenser(settings_)(problem(), settings_, Workspace(scratch, {})))


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# -------------------------------------------------------------------------------------- conformance


@pytest.mark.parametrize(
    ("method", "changed"),
    [
        ("random", {}),
        ("k-center", {}),
        ("k-center", {"choice": "farthest"}),
        ("dc", {"outer": 2, "inner": 1}),
        ("dc", {"outer": 1, "inner": 1, "distance": "mse", "init": "k-center"}),
        ("dsa", {"outer": 2, "inner": 1, "init": "noise"}),
        ("dm", {}),
        ("dm", {"init": "noise", "augmentation": "none"}),
        ("tm", EXPERTS),
        ("kip", {"kernel": "fc", "init": "k-center"}),
        ("kip", {"pooling": "none", "batch": 16}),
    ],
)
def test_every_method_does_what_a_method_must(method: str, changed: dict[str, Any]) -> None:
    check_method(method, domain="images", **changed)


def test_raw_pixels_need_no_seed_but_that_of_the_centres() -> None:
    check_method("k-center", domain="images", seeded=False, embedding="raw", choice="farthest")


def test_all_numbers_of_the_domain_have_both_bounds() -> None:
    from benchquery.allowed import Range
    from benchquery.kinds.condensed.hyperparameters import ALLOWED

    domain = DOMAINS["images"]
    for spec in (*domain.methods.values(), *domain.tasks.values()):
        for name, default in spec.defaults.items():
            allowed = {**ALLOWED, **spec.allowed}[name]
            assert allowed.meant(default) == default
            if isinstance(allowed, Range):
                assert allowed.least is not None or allowed.above is not None, name
                assert allowed.most is not None or allowed.below is not None, name


# ---------------------------------------------------------------------------------------- backbone


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 9, 12), (1, 28, 28)])
def test_the_backbone_is_the_convnet(shape: Shape) -> None:
    network = ConvNet(shape, 5, width=6)
    backbone = Backbone.of(config("dm", width=6), shape, 5)
    weights = list(network.parameters())
    for weight in weights:
        nn.init.normal_(weight)
    images = drawn(3, *shape)
    assert [weight.shape for weight in weights] == list(backbone.shapes)
    assert torch.allclose(backbone.embed(weights, images), network.embed(images), atol=1e-5)
    assert torch.allclose(backbone.logits(weights, images), network(images), atol=1e-4)


def test_weights_are_drawn_as_torch_draws_them() -> None:
    """The same bounds, filled: the deviation of a uniform distribution is its bound by root 3."""
    backbone = Backbone.of(config("dm", width=64), (3, 8, 8), 10)
    ours = backbone.draw(torch.Generator().manual_seed(0), CPU)
    theirs = [part.detach() for part in ConvNet((3, 8, 8), 10, width=64).parameters()]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape
        if len(mine.unique()) == 1:
            assert torch.equal(mine, other)
        elif mine.numel() > 500:
            assert float(mine.abs().max()) == pytest.approx(float(other.abs().max()), rel=0.02)
            assert float(mine.std()) == pytest.approx(float(other.std()), rel=0.05)


def by_autograd(network: ConvNet, images: Tensor, labels: Tensor) -> list[Tensor]:
    """The gradients of each class's mean cross-entropy, kernels with their channels last."""
    found = []
    for label in labels.unique():
        mine = labels == label
        loss = functional.cross_entropy(network(images[mine]), labels[mine])
        parts = torch.autograd.grad(loss, list(network.parameters()), create_graph=True)
        found.append(
            [part.permute(0, 2, 3, 1).flatten(1) if part.dim() == 4 else part for part in parts]
        )
    return [torch.stack(parts) for parts in zip(*found, strict=True)]


def close(one: Tensor, other: Tensor, tolerance: float) -> bool:
    scale = max(float(other.detach().abs().max()), 1e-2)
    return one.shape == other.shape and float((one - other).abs().max()) <= tolerance * scale


@given(
    shape=st.tuples(st.sampled_from([1, 3, 9]), st.integers(8, 13), st.integers(8, 13))
    | st.just((1, 28, 28)),
    depth=st.integers(1, 2),
    counts=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    distance=st.sampled_from(sorted(DISTANCES)),
    noise=st.sampled_from([0.0, 0.3]),
)
@settings(max_examples=40, deadline=None)
def test_passes_by_formula_give_what_autograd_gives(
    shape: Shape, depth: int, counts: list[int], distance: str, noise: float
) -> None:
    """Embeddings, gradients by class, and the slopes at the images of what depends on either.

    Of weights as they are drawn, whose gains and shifts only scale, and of others.
    """
    classes = len(counts)
    backbone = Backbone.of(config("dm", width=5, depth=depth), shape, classes)
    weights = [w.double() for w in backbone.draw(torch.Generator().manual_seed(0), CPU)]
    weights = [w + noise * drawn(*w.shape, seed=i) for i, w in enumerate(weights)]
    network = ConvNet(shape, classes, width=5, depth=depth).double()
    network.load_state_dict(dict(zip(network.state_dict(), weights, strict=True)))
    images = drawn(sum(counts), *shape).double().requires_grad_()
    labels = torch.arange(classes).repeat_interleave(torch.tensor(counts))
    passed = backbone.passed(weights, images)

    embedded = network.embed(images)
    assert close(passed.embedded, embedded, 1e-9)
    at = drawn(*embedded.shape, seed=1).double()
    assert close(passed.slopes(at), torch.autograd.grad(embedded, images, at)[0], 1e-9)

    ours = passed.gradients(labels, torch.tensor(counts), further=True)
    theirs = by_autograd(network, images, labels)
    for mine, other in zip(ours, theirs, strict=True):
        assert close(mine, other, 1e-9)

    wanted = [drawn(*part.shape, seed=2).double() for part in ours]
    loss = DISTANCES[distance](theirs, wanted).sum()
    moved = passed.moved_slopes(SLOPES[distance](ours, wanted)[1])
    assert close(moved, torch.autograd.grad(loss, images)[0], 1e-9)


def test_rounding_gives_no_variance_below_zero() -> None:
    """Kernels of opposite colours make nothing of images of one colour, however bright they are."""
    backbone = Backbone.of(config("dm", width=64), (3, 8, 8), 2)
    weights = backbone.draw(torch.Generator().manual_seed(0), CPU)
    weights[0][:, 1], weights[0][:, 2] = -weights[0][:, 0] / 3, 0
    colour = torch.tensor([1e3, 3e3, 0]).view(3, 1, 1)
    passed = backbone.passed(weights, drawn(9, 1, 8, 8) * colour)
    assert passed.embedded.isfinite().all()


@pytest.mark.parametrize("distance", DISTANCES)
def test_slopes_of_distances_are_those_of_autograd(distance: str) -> None:
    ours = [drawn(2, 3, 4), drawn(2, 3, seed=1)]
    ours[0][1, 2] = 0
    ours = [part.double().requires_grad_() for part in ours]
    real = [drawn(*part.shape, seed=2).double() for part in ours]
    total = DISTANCES[distance](ours, real)
    expected = torch.autograd.grad(total.sum(), ours, allow_unused=True)
    found, slopes = SLOPES[distance]([part.detach() for part in ours], real)
    assert torch.allclose(found, total.detach())
    for one, other in zip(slopes, expected, strict=True):
        assert (one is None) == (other is None)
        assert one is None or other is None or torch.allclose(one, other)


@pytest.mark.parametrize("pixels", [64, 5 * 64, 21 * 64, 2**20])
def test_gradients_of_real_images_are_those_of_each_class(
    pixels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many images pass at a time, and where classes have different numbers of them."""
    monkeypatch.setattr(backbone_module, "PIXELS", pixels)
    method = GradientMatching(problem(), config("dc"))
    backbone = Backbone.of(config("dc"), (1, 8, 8), 10)
    weights = backbone.draw(torch.Generator().manual_seed(0), CPU)
    numbers = [problem().members(label)[: 7 + label % 2] for label in range(10)]
    found = method.real_gradients(weights, numbers, torch.zeros(10, 0))
    chosen = torch.cat(numbers)
    images, labels = problem().images(chosen), problem().y[chosen]
    expected = by_autograd(reference(backbone, weights), images, labels)
    for one, other in zip(found, expected, strict=True):
        assert close(one, other.detach(), 1e-4)


# ------------------------------------------------------------------------------ plain loops


def reference(backbone: Backbone, weights: list[Tensor]) -> ConvNet:
    network = ConvNet((1, 8, 8), 10, width=4)
    network.load_state_dict(dict(zip(network.state_dict(), weights, strict=True)))
    assert [weight.shape for weight in weights] == list(backbone.shapes)
    return network


class Replay:
    """Draws what a method draws, in the same order, for a loop over classes to use."""

    def __init__(self, settings_: CondenseConfig) -> None:
        self.problem, self.config = problem(), settings_
        self.generator = torch.Generator().manual_seed(settings_.seed)
        self.backbone = Backbone.of(settings_, self.problem.shape, 10)
        self.x = first_images(self.problem, settings_, self.generator, self.backbone)
        self.labels = self.problem.synthetic_labels(settings_)

    def network(self) -> ConvNet:
        return reference(self.backbone, self.backbone.draw(self.generator, CPU))

    def draws(self) -> list[Tensor]:
        return [torch.rand(1, 4, dtype=torch.float64, generator=self.generator) for _ in range(10)]

    def real(self, label: int) -> Tensor:
        members = (self.problem.y == label).nonzero().view(-1)
        order = torch.randperm(len(members), generator=self.generator)
        return members[order[: self.config.count("batch")]]


def test_distribution_matching_is_that_of_a_loop_over_classes() -> None:
    settings_ = config("dm", batch=7)
    ours, plain = DistributionMatching(problem(), settings_), Replay(settings_)
    x = plain.x.clone().requires_grad_()
    optimizer = torch.optim.SGD([x], lr=1.0, momentum=0.5)
    for _ in range(3):
        network, draws = plain.network(), plain.draws()
        loss = torch.zeros(())
        for label in range(10):
            real = DSA().apply(plain.problem.images(plain.real(label)), draws[label])
            made = DSA().apply(x[plain.labels == label], draws[label])
            gap = network.embed(real).detach().mean(dim=0) - network.embed(made).mean(dim=0)
            loss = loss + gap.square().sum()
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        assert float(ours.step()) == pytest.approx(float(loss.detach()), rel=1e-5)
        assert torch.allclose(ours.x.detach(), x.detach(), atol=1e-5)


@pytest.mark.parametrize("method", ["dc", "dsa"])
def test_gradient_matching_is_that_of_a_loop_over_classes(method: str) -> None:
    settings_ = config(method, batch=7, outer=1, inner=1)
    ours, plain = GradientMatching(problem(), settings_), Replay(settings_)
    x = plain.x.clone().requires_grad_()
    optimizer = torch.optim.SGD([x], lr=0.1, momentum=0.5)
    augmented = DSA().apply if method == "dsa" else lambda images, _draws: images
    for _ in range(3):
        network = plain.network()
        parameters = list(network.parameters())
        draws = plain.draws() if method == "dsa" else [torch.zeros(1, 0)] * 10
        loss = torch.zeros(())
        for label in range(10):
            chosen = plain.real(label)
            images = augmented(plain.problem.images(chosen), draws[label])
            entropy = functional.cross_entropy(network(images), plain.problem.y[chosen])
            real = torch.autograd.grad(entropy, parameters)
            mine = plain.labels == label
            logits = network(augmented(x[mine], draws[label]))
            entropy = functional.cross_entropy(logits, plain.labels[mine])
            made = torch.autograd.grad(entropy, parameters, create_graph=True)
            for one, other in zip(made, real, strict=True):
                if one.dim() > 1:
                    rows, wanted = one.flatten(1), other.flatten(1)
                    norms = rows.norm(dim=1) * wanted.norm(dim=1) + 1e-6
                    loss = loss + (1 - (rows * wanted).sum(dim=1) / norms).sum()
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        assert float(ours.epoch()) == pytest.approx(float(loss.detach()) / 10, rel=1e-4)
        assert torch.allclose(ours.x.detach(), x.detach(), atol=1e-3)


@pytest.mark.parametrize("together", [2, 6])
def test_large_sets_are_matched_a_few_classes_at_a_time(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of a class: one class at a time, or three and one at the end."""
    makers = (
        lambda: DistributionMatching(problem(), config("dm")).step,
        lambda: GradientMatching(problem(), config("dc", outer=2, inner=1)).epoch,
    )
    at_once = [[float(step()) for _ in range(3)] for step in (make() for make in makers)]
    monkeypatch.setattr(backbone_module, "PIXELS", together * 64)
    parts = [[float(step()) for _ in range(3)] for step in (make() for make in makers)]
    assert np.allclose(parts, at_once, rtol=1e-4)
    sizes = [
        made.stop - made.start for _, made in DistributionMatching(problem(), config("dm")).groups()
    ]
    assert sizes == ([2] * 10 if together == 2 else [6, 6, 6, 2])


@pytest.mark.parametrize("method", ["random", "dm", "dc"])
def test_a_class_may_have_a_thousand_images(method: str) -> None:
    random = torch.Generator().manual_seed(0)
    y = torch.arange(2).repeat_interleave(1_100)
    pixels = torch.randint(256, (2_200, 1, 8, 8), generator=random, dtype=torch.uint8)
    many = ImagesProblem(pixels, y, torch.full((1,), 0.5), torch.full((1,), 0.3), 2)
    loops_ = {"outer": 1, "inner": 1} if method == "dc" else {}
    settings_ = config(method, 1_000, **({} if method == "random" else {"epochs": 1, **loops_}))
    *_, last = condenser(settings_)(many, settings_, Workspace(Path("unused"), {}))
    assert last.payload.x.shape == (2_000, 1, 8, 8)
    assert torch.equal(torch.bincount(last.payload.y), torch.tensor([1_000, 1_000]))
    assert bool(last.payload.x.isfinite().all())


def test_a_network_learns_on_synthetic_images_between_outer_loops() -> None:
    matched = [
        GradientMatching(problem(), config("dc", outer=3, inner=1, lr_model=rate)).epoch()
        for rate in (0.0, 0.5)
    ]
    assert float(matched[0]) != float(matched[1])


def test_loops_are_the_papers() -> None:
    for size, expected in LOOPS.items():
        assert loops(config("dc", size)) == expected
    assert loops(config("dc", 2)) == LOOPS[10]
    assert loops(config("dc", 100)) == LOOPS[50]
    assert loops(config("dc", 10, outer=3)) == (3, 50)


def test_a_student_is_plain_gradient_descent() -> None:
    settings_ = config("tm", augmentation="none", batch_student=256, steps=4, **EXPERTS)
    backbone = Backbone.of(settings_, (1, 8, 8), 10)
    start = backbone.draw(torch.Generator().manual_seed(1), CPU)
    x, labels = drawn(20, 1, 8, 8), torch.arange(20) % 10
    network = reference(backbone, start)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.3)
    for _ in range(4):
        optimizer.zero_grad()
        torch.autograd.backward(functional.cross_entropy(network(x), labels))
        optimizer.step()
    student = Student(backbone, settings_, torch.Generator().manual_seed(0))
    reached = student.taught(x, labels, torch.tensor(0.3), start)
    for one, other in zip(reached, network.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_a_students_slopes_are_those_of_differences() -> None:
    settings_ = config("tm", augmentation="none", steps=2, **EXPERTS)
    backbone = Backbone.of(settings_, (1, 8, 8), 10)
    start, end = (
        [part.double() for part in backbone.draw(torch.Generator().manual_seed(seed), CPU)]
        for seed in (1, 2)
    )
    labels = torch.arange(10)

    def loss(x: Tensor, rate: Tensor) -> Tensor:
        student = Student(backbone, settings_, torch.Generator().manual_seed(0))
        return matching_loss(student.taught(x, labels, rate, start), start, end)

    x = drawn(10, 1, 8, 8).double().requires_grad_()
    rate = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    slopes = torch.autograd.grad(loss(x, rate), [x, rate])
    direction, step = drawn(10, 1, 8, 8, seed=3).double(), 1e-6
    ahead, behind = (float(loss(x + sign * step * direction, rate)) for sign in (1, -1))
    assert float((slopes[0] * direction).sum()) == pytest.approx(
        (ahead - behind) / (2 * step), rel=1e-4
    )
    ahead, behind = (float(loss(x, rate + sign * step)) for sign in (1, -1))
    assert float(slopes[1]) == pytest.approx((ahead - behind) / (2 * step), rel=1e-4)


def test_kernel_ridge_regression_learns_what_it_minimises() -> None:
    """Its own loss on all training images, worked out with numpy, falls."""
    settings_ = config("kip", 1, kernel="fc", depth=1, epochs=40, evaluate_every=40, batch=200)
    first, *_, last = condensed(settings_)
    given_, kernel = problem(), tangent_kernel(settings_)
    everything = given_.images(torch.arange(len(given_)))
    targets = np.eye(10)[given_.y.numpy()] - 0.1

    def error(x: Tensor) -> float:
        k_ss, k_st = kernel(x, x).numpy(), kernel(x, everything).numpy()
        k_ss = k_ss + 1e-6 * np.trace(k_ss) / len(k_ss) * np.eye(len(k_ss))
        predicted = k_st.T @ np.linalg.inv(k_ss) @ (np.eye(10) - 0.1)
        return float(((predicted - targets) ** 2).sum(axis=1).mean() / 2)

    assert error(last.payload.x) < 0.7 * error(first.payload.x)
    assert last.losses["regression"] < error(first.payload.x)


# ----------------------------------------------------------------------------------------- experts


def test_experts_are_plain_training_and_are_kept(tmp_path: Path) -> None:
    settings_ = config("tm", augmentation="none", expert_batch=256, **EXPERTS)
    given_ = problem()
    backbone = Backbone.of(settings_, given_.shape, 10)
    experts = ImageExperts(given_, settings_, backbone, tmp_path)
    network = reference(backbone, experts.checkpoint(0, 0))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    for row in range(1, 5):
        optimizer.zero_grad()
        logits = network(given_.images(torch.arange(len(given_))))
        torch.autograd.backward(functional.cross_entropy(logits, given_.y))
        optimizer.step()
        for one, other in zip(experts.checkpoint(0, row), network.parameters(), strict=True):
            assert torch.allclose(one, other, atol=1e-5)
    with h5py.File(experts.files[1]) as file:
        assert file[CHECKPOINTS].shape[0] == 5
    stamps = [file.stat().st_mtime_ns for file in experts.files]
    experts.files[0].unlink()
    again = ImageExperts(given_, settings_.replace(epochs=9, per_class=3), backbone, tmp_path)
    assert again.files == experts.files
    assert again.files[0].stat().st_mtime_ns > stamps[0]
    assert again.files[1].stat().st_mtime_ns == stamps[1]
    for changed in ({"expert_lr": 0.1}, {"seed": 1}, {"augmentation": "dsa"}, {"width": 5}):
        other_config = settings_.replace(**changed)
        other_backbone = Backbone.of(other_config, given_.shape, 10)
        other = ImageExperts(given_, other_config, other_backbone, tmp_path)
        assert not set(other.files) & set(experts.files)


def test_a_student_can_not_be_asked_to_go_beyond_an_experts_end() -> None:
    with pytest.raises(ConfigError, match="together they must be at most the 50 expert_epochs"):
        CondenseConfig("digits", "tm", per_class=1, start_epochs=48)


# ---------------------------------------------------------------------------------------- core sets


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(0, 10_000))
def test_images_nearest_to_centres_are_as_many_and_none_twice(count: int, seed: int) -> None:
    members = drawn(12, 3, seed=seed)
    taken = nearest_to_centres(members, count, seed)
    assert len(set(taken.tolist())) == count
    if count == 1:
        distance = (members - members.mean(dim=0)).norm(dim=1)
        assert float(distance[taken[0]]) == pytest.approx(float(distance.min()))


@pytest.mark.parametrize("method", ["random", "k-center"])
def test_chosen_images_are_training_images_of_their_class(method: str) -> None:
    data = load_images(DIGITS)
    (snapshot,) = condensed(config(method, 3))
    stored = snapshot.payload.stored()
    assert stored.x.dtype == np.uint8
    known = {
        (int(data.y[number]), data.pixels[number].numpy().tobytes()) for number in data.train_index
    }
    found = {(int(y), x.tobytes()) for x, y in zip(stored.x, stored.y, strict=True)}
    assert len(found) == 30
    assert found <= known
    assert stored.y.tolist() == sorted(stored.y.tolist())


@pytest.mark.parametrize("method", ["random", "k-center", "dc", "dm", "tm", "kip"])
def test_more_of_a_class_than_there_are_is_refused(method: str) -> None:
    with pytest.raises(CondenseError, match="500 images of each class are asked for, but class 0"):
        condensed(config(method, 500))


def test_initial_images_are_what_is_asked_for() -> None:
    given_ = problem()
    everything = given_.images(torch.arange(len(given_)))
    for init in ("sample", "k-center"):
        x = first_images(given_, config("dm", init=init), torch.Generator().manual_seed(0))
        gaps = torch.cdist(x.flatten(1).double(), everything.flatten(1).double())
        assert float(gaps.min(dim=1).values.max()) < 1e-3
        assert given_.y[gaps.argmin(dim=1)].tolist() == [n // 2 for n in range(20)]
    noise = first_images(given_, config("dm", 5, init="noise"), torch.Generator().manual_seed(0))
    assert abs(float(noise.mean())) < 4 / math.sqrt(noise.numel())
    assert float(noise.std()) == pytest.approx(1, abs=0.05)


def test_augmentation_is_shared_within_a_class_and_not_beyond() -> None:
    siamese = Siamese(config("dsa"), torch.Generator().manual_seed(0))
    draws = siamese.draw(6)
    assert draws.shape == (6, 4)
    assert len(draws.unique(dim=0)) == 6
    images = drawn(1, 1, 8, 8).expand(2, -1, -1, -1)
    first, second = siamese.apply(images, draws[:1])
    assert torch.equal(first, second)


# ------------------------------------------------------------------------------------------ payload


def test_what_is_kept_of_images() -> None:
    data = load_images(DIGITS)
    images = data.normalised(data.train_index[:4])
    made = CondensedImages(images, data.y[data.train_index[:4]], data.mean, data.std)
    chosen = dataclasses.replace(made, chosen=True)
    assert np.array_equal(chosen.stored().x, data.pixels[data.train_index[:4]].numpy())
    assert torch.allclose(chosen.stored().payload().x, images, atol=1e-6)
    assert made.stored().x.dtype == np.float16
    assert torch.allclose(made.stored().payload().x, images, atol=2e-3)
    for stored in (made.stored(), chosen.stored()):
        assert not FORMS["images"].problem(stored.to_arrays())
        read = StoredImages.from_record(stored.to_record())
        assert read is not None
        assert np.array_equal(read.x, stored.x)
        assert stored.columns(0.0) == {"items": 4, "graph_bytes": stored.bytes}
        pixels = data.pixels[data.train_index[:4], 0].numpy() / 255
        assert np.allclose(shown_pixels(stored.to_arrays()), pixels, atol=2e-3)
        image, label = stored.data(0.5)[1]
        assert torch.allclose(image, images[1], atol=2e-3)
        assert int(label) == int(data.y[data.train_index[1]])
    soft = dataclasses.replace(made, y=torch.full((4, 10), 0.1))
    assert soft.stored().payload().y.shape == (4, 10)
    assert not dataclasses.replace(made, x=images * 1e9).stored().is_finite


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"x": np.zeros((2, 64), np.float16)}, r"not \(images, channels, height, width\)"),
        ({"x": np.zeros((2, 1, 8, 8), np.int64)}, r"not \(images, channels, height, width\)"),
        ({"y": np.zeros(3, np.int64)}, "not 2 classes or rows of probabilities"),
        ({"y": np.array([0, -1])}, "classes are from 0 up"),
        ({"std": np.ones(3, np.float32)}, "std is .* not one number a channel"),
        ({"edges": np.zeros((2, 0), np.int32)}, "it has .* not x, y, mean, std$"),
    ],
)
def test_arrays_that_are_no_images_are_refused(changed: dict[str, Any], told: str) -> None:
    good = {
        "x": np.zeros((2, 1, 8, 8), np.float16),
        "y": np.array([0, 1]),
        "mean": np.zeros(1, np.float32),
        "std": np.ones(1, np.float32),
    }
    assert not FORMS["images"].problem(good)
    assert re.search(told, FORMS["images"].problem({**good, **changed}))
