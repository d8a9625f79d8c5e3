"""Networks for images: published sizes, torchvision's own networks, and what they must refuse."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn

from benchbuild.errors import ArchitectureError
from benchbuild.kinds.condense.images.networks import ConvNet, Shape
from benchbuild.kinds.evaluate.images.nas_bench import CellNetwork
from benchbuild.kinds.evaluate.images.networks import NETWORKS, make_network
from benchbuild.kinds.evaluate.images.resnet import Basic, Bottleneck, ResNet
from benchbuild.kinds.evaluate.images.vit import ViT
from benchquery.errors import ArchitectureError as NoCellError
from benchquery.kinds.cells.cell import Cell, sample_cells
from tests.benchbuild.vision import torchvision

pytestmark = pytest.mark.usefixtures("one_thread")

CIFAR: Shape = (3, 32, 32)
SHAPES: tuple[Shape, ...] = ((1, 8, 8), (1, 28, 28), CIFAR, (3, 64, 64))


def parameters(network: nn.Module) -> int:
    return sum(weight.numel() for weight in network.parameters())


def of_meta(name: str, shape: Shape = CIFAR, classes: int = 10) -> nn.Module:
    """A network without the memory of its weights."""
    with torch.device("meta"):
        return make_network(name, shape, classes)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("convnet", 320_010),  # "around 320K", DC-Bench
        ("mlp", 3_072 * 128 + 128 + 128 * 128 + 128 + 1_290),
        ("resnet18", 11_173_962),  # as published with CIFAR stems
        ("resnet152", 58_156_618),
        ("vit", 9_523_722),
    ],
)
def test_networks_have_their_published_sizes(name: str, expected: int) -> None:
    assert parameters(of_meta(name)) == expected


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "resnet152"])
def test_networks_take_images_of_every_size(name: str, shape: Shape) -> None:
    torch.manual_seed(0)
    network = make_network(name, shape, 7).eval()
    images = torch.randn(3, *shape)
    logits = network(images)
    assert logits.shape == (3, 7)
    assert (logits[0] - logits[1]).abs().max() > 1e-4, "the output hangs on the input"
    if name not in ("mlp",):
        assert torch.allclose(network.classifier(network.embed(images)), logits)


def test_the_convnet_deepens_with_the_images() -> None:
    blocks = {shape: len(ConvNet(shape, 10, width=8).features) // 4 for shape in SHAPES}
    assert list(blocks.values()) == [2, 3, 3, 4]
    embedded = [ConvNet(shape, 10, width=8).embedded for shape in SHAPES]
    assert embedded == [8 * 4, 8 * 16, 8 * 16, 8 * 16]
    assert ConvNet((1, 12, 9), 2, width=4, depth=2).embedded == 4 * 3 * 2


def test_the_convnet_normalises_each_channel_of_each_image() -> None:
    torch.manual_seed(0)
    network = ConvNet(CIFAR, 10, width=6, depth=1)
    images = torch.randn(2, *CIFAR)
    convolved = nn.functional.conv2d(
        images, network.features[0].weight, network.features[0].bias, padding=1
    )
    normed = nn.functional.instance_norm(convolved, eps=1e-5)
    expected = nn.functional.avg_pool2d(normed.relu(), 2).flatten(1)
    assert torch.allclose(network.embed(images), expected, atol=1e-5)


@pytest.mark.parametrize("depth", [0, 4, 9])
def test_blocks_that_pool_the_image_away_are_refused(depth: int) -> None:
    with pytest.raises(ArchitectureError, match=f"{depth} blocks .* 8 x 8 pixels"):
        ConvNet((1, 8, 8), 10, depth=depth)


def test_unknown_networks_are_named() -> None:
    with pytest.raises(ArchitectureError, match=r"'resnet19'; did you mean 'resnet18'\?"):
        make_network("resnet19", CIFAR, 10)


def test_images_that_are_no_whole_patches_are_refused() -> None:
    with pytest.raises(ArchitectureError, match=r"10 x 8 pixels: .* patches of 4"):
        ViT((1, 10, 8), 10)


# ------------------------------------------------------------------------------ against torchvision


def in_order(ours: nn.Module, theirs: nn.Module) -> None:
    """Copy weights; both list them in the same order but for shortcuts, which come last there."""

    def ordered(network: nn.Module) -> list[nn.Parameter]:
        named = list(network.named_parameters())
        blocks: dict[str, list[tuple[int, nn.Parameter]]] = {}
        for name, weight in named:
            shortcut = "shortcut" in name or "downsample" in name
            cut = name.split(".layers.")[0].split(".shortcut.")[0].split(".downsample.")[0]
            key = cut.rpartition(".conv")[0] or cut.rpartition(".bn")[0] or cut
            blocks.setdefault(key, []).append((shortcut, weight))
        return [
            weight
            for of_block in blocks.values()
            for _, weight in sorted(of_block, key=lambda item: item[0])
        ]

    for mine, other in zip(ordered(ours), ordered(theirs), strict=True):
        assert mine.shape == other.shape
        other.data.copy_(mine.data)


@pytest.mark.parametrize("name", ["resnet18", "resnet152"])
def test_resnets_have_the_sizes_of_torchvisions(name: str) -> None:
    with torch.device("meta"):
        theirs = getattr(torchvision().models, name)(num_classes=10)
        theirs.conv1 = nn.Conv2d(3, 64, 3, bias=False)
    assert parameters(theirs) == parameters(of_meta(name))


@pytest.mark.parametrize(("block", "name"), [(Basic, "BasicBlock"), (Bottleneck, "Bottleneck")])
def test_resnets_compute_what_torchvisions_do(
    block: type[Basic] | type[Bottleneck], name: str
) -> None:
    """With few blocks: with and without a shortcut of their own."""
    models = torchvision().models.resnet
    torch.manual_seed(0)
    ours = ResNet(CIFAR, 10, block, (1, 2, 1, 1)).eval()
    theirs = models.ResNet(
        getattr(models, name), [1, 2, 1, 1], num_classes=10, norm_layer=lambda c: nn.GroupNorm(c, c)
    )
    theirs.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    theirs.maxpool = nn.Identity()
    in_order(ours, theirs.eval())
    images = torch.randn(2, *CIFAR)
    with torch.no_grad():
        assert torch.allclose(ours(images), theirs(images), atol=1e-5)


def test_the_transformer_computes_what_torchvisions_does() -> None:
    """Theirs has a bias of queries, keys and values, which is set to nothing."""
    module = torchvision().models.vision_transformer
    torch.manual_seed(0)
    ours = ViT(CIFAR, 10, dim=64, depth=2, heads=4, mlp_dim=96).eval()
    theirs = module.VisionTransformer(
        32, 4, 2, 4, 64, 96, num_classes=10, norm_layer=partial(nn.LayerNorm, eps=1e-5)
    ).eval()
    assert parameters(theirs) == parameters(ours) + 2 * 3 * 64
    rest = [ours.token, ours.places]
    for layer in ours.layers[1:]:
        norm, attention = layer.attention
        rest += [norm.weight, norm.bias, attention.inputs.weight, torch.zeros(3 * 64)]
        rest += [attention.output[0].weight, attention.output[0].bias]
        rest += list(layer.mlp.parameters())
    last = [ours.norm.weight, ours.norm.bias, *ours.classifier.parameters()]
    named = dict(theirs.named_parameters())
    mine = {"class_token": ours.token, "encoder.pos_embedding": ours.places}
    mine |= {f"conv_proj.{name}": weight for name, weight in ours.patches.named_parameters()}
    others = [name for name in named if name not in mine]
    mine |= dict(zip(others, [*rest[2:], *last], strict=True))
    with torch.no_grad():
        for name, weight in named.items():
            assert weight.shape == mine[name].shape, name
            weight.copy_(mine[name])
        images = torch.randn(2, *CIFAR)
        assert torch.allclose(ours(images), theirs(images), atol=1e-5)


# ---------------------------------------------------------------------------------- NAS-Bench-201


@pytest.mark.parametrize(
    ("architecture", "expected"),
    [
        # NATS-Bench's own get_cost_info, for CIFAR-10.
        (
            "|skip_connect~0|+|none~0|nor_conv_3x3~1|+|avg_pool_3x3~0|nor_conv_3x3~1|nor_conv_3x3~2|",
            802_426,
        ),
        # The least and the greatest that the benchmark states: 0.073306 and 1.531546 M.
        ("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|", 73_306),
        (
            "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1"
            "|nor_conv_3x3~2|",
            1_531_546,
        ),
    ],
)
def test_cell_networks_have_their_published_sizes(architecture: str, expected: int) -> None:
    cell = Cell.parse(architecture)
    assert parameters(CellNetwork(cell, CIFAR, 10)) == cell.parameters() == expected


@pytest.mark.parametrize("cell", sample_cells(5, seed=0), ids=str)
def test_sizes_are_known_without_the_network(cell: Cell) -> None:
    for shape, classes, channels, cells in ((CIFAR, 100, 16, 1), ((1, 8, 8), 10, 4, 2)):
        with torch.device("meta"):
            network = CellNetwork(cell, shape, classes, channels=channels, cells=cells)
        counted = cell.parameters(classes, inputs=shape[0], channels=channels, cells=cells)
        assert parameters(network) == counted


def test_a_cell_network_is_made_by_its_name() -> None:
    name = f"nas-bench-201:{sample_cells(1, seed=1)[0]}"
    network = make_network(name, (1, 8, 8), 10, width=4, depth=1)
    assert network(torch.zeros(2, 1, 8, 8)).shape == (2, 10)
    for wrong in ("nas-bench-201", "nas-bench-101:|none~0|", "convnet:3"):
        with pytest.raises(ArchitectureError, match="unknown network"):
            make_network(wrong, CIFAR, 10)


def test_a_cell_is_the_sum_of_its_paths() -> None:
    """Written out by hand: node 3 = pool(0) + conv(1) + node 2, node 1 = 0, node 2 = conv1(1)."""
    text = "|skip_connect~0|+|none~0|nor_conv_1x1~1|+|avg_pool_3x3~0|nor_conv_3x3~1|skip_connect~2|"
    torch.manual_seed(0)
    cell = CellNetwork(Cell.parse(text), CIFAR, 10, channels=4, cells=1).eval().features[2]
    x = torch.randn(2, 4, 6, 6)
    first, third = (
        next(m for m in cell.modules() if isinstance(m, nn.Conv2d) and m.kernel_size == (k, k))
        for k in (1, 3)
    )
    scale = (1 + 1e-5) ** -0.5
    pooled = torch.zeros_like(x)
    for i in range(6):
        for j in range(6):
            window = x[:, :, max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]
            pooled[:, :, i, j] = window.mean(dim=(2, 3))
    expected = (
        pooled
        + nn.functional.conv2d(x.relu(), third.weight, padding=1) * scale
        + nn.functional.conv2d(x.relu(), first.weight) * scale
    )
    assert torch.allclose(cell(x), expected, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_cell_networks_take_images_of_every_size(shape: Shape) -> None:
    text = "|nor_conv_3x3~0|+|none~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_1x1~1|none~2|"
    network = CellNetwork(Cell.parse(text), shape, 7, cells=1)
    assert network(torch.randn(3, *shape)).shape == (3, 7)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "|none~0|",
        "|none~0|+|none~0|none~1|+|none~0|none~1|",
        "|none~0|+|none~0|none~1|+|none~0|none~1|conv~2|",
        "|none~0|+|none~1|none~0|+|none~0|none~1|none~2|",
        "|none~0|+|none~0|none~1|+|none~0|none~1|none~2",
        "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|+|none~0|none~1|none~2|none~3|",
    ],
)
def test_wrong_architectures_are_refused(text: str) -> None:
    with pytest.raises(NoCellError, match=r"is no architecture of NAS-Bench-201"):
        Cell.parse(text)
