"""Sets of images: small data in the published layouts, the real files, and what is refused."""

from __future__ import annotations

import dataclasses
import gzip
import io
import os
import pickle
import struct
import tarfile
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from sklearn.datasets import load_digits

from benchbuild.datasets import ImageSet, dataset_spec, load, load_data, load_images
from benchbuild.datasets.images import cifar, mnist, tiny_imagenet
from benchbuild.datasets.images.sampling import stratified
from benchbuild.datasets.safe_pickles import read_plain
from benchbuild.datasets.spec import DatasetSpec
from benchbuild.errors import DatasetError, DatasetMissingError
from benchbuild.testing import check_dataset
from tests.benchbuild.real import real_root

RANDOM = np.random.RandomState(0)


def pictures(count: int, *shape: int) -> np.ndarray:
    return RANDOM.randint(0, 256, (count, *shape)).astype(np.uint8)


def in_turn(count: int, classes: int) -> list[int]:
    return [number % classes for number in range(count)]


def unsplit(images: ImageSet) -> list[list[int]]:
    return [part.tolist() for part in (images.train_index, images.valid_index, images.test_index)]


# ------------------------------------------------------------------------------------------ CIFAR


BATCHES = ("data_batch_1", "data_batch_2", "test_batch")
SMALL = dataclasses.replace(cifar.CIFAR10, trained=80, tested=40)
FOLDER = "images/CIFAR10/cifar-10-batches-py"
small_cifar = partial(
    cifar.batches_factory, folder=FOLDER, archive="small.tar.gz", names=BATCHES, labels="labels"
)


def small_batches() -> dict[str, dict[str, Any]]:
    return {
        name: {"batch_label": name, "labels": in_turn(40, 10), "data": pictures(40, 3072)}
        for name in BATCHES
    }


def write_batches(root: Path, batches: dict[str, Any]) -> Path:
    folder = root / FOLDER
    folder.mkdir(parents=True)
    for name, batch in batches.items():
        (folder / name).write_bytes(pickle.dumps(batch, protocol=2))
    return folder


def small_spec() -> DatasetSpec:
    return small_cifar(SMALL)({})


def test_cifar_is_read_from_its_batches(tmp_path: Path) -> None:
    batches = small_batches()
    write_batches(tmp_path, batches)
    images = small_spec().loader(tmp_path)
    assert isinstance(images, ImageSet)
    expected = np.concatenate([batches[name]["data"] for name in BATCHES])
    assert np.array_equal(images.pixels.numpy().reshape(120, -1), expected)
    assert images.y.tolist() == in_turn(40, 10) * 3
    train, valid, test = unsplit(images)
    assert sorted(train + valid) == list(range(80))
    assert torch.bincount(images.y[valid]).tolist() == [1] * 10
    assert test == list(range(80, 120))
    assert not images.provenance
    assert small_spec().on_disk(tmp_path)


def test_cifar_is_read_from_its_archive_as_from_its_folder(tmp_path: Path) -> None:
    folder = write_batches(tmp_path / "one", small_batches())
    archive = tmp_path / "two" / "images" / "CIFAR10" / "small.tar.gz"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:gz") as file:
        file.add(folder, "cifar-10-batches-py")
    assert small_spec().on_disk(tmp_path / "two")
    one, two = (small_spec().loader(tmp_path / name) for name in ("one", "two"))
    assert one.checksum == two.checksum
    whole = archive.read_bytes()
    for kept in (0, 100, len(whole) // 2, len(whole) - 20):
        archive.write_bytes(whole[:kept])
        with pytest.raises(DatasetError, match=r"small\.tar\.gz is damaged"):
            small_spec().loader(tmp_path / "two")


def test_an_archive_without_a_batch_says_which(tmp_path: Path) -> None:
    folder = write_batches(tmp_path / "one", small_batches())
    archive = tmp_path / "images" / "CIFAR10" / "small.tar.gz"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:gz") as file:
        file.add(folder / "test_batch", "cifar-10-batches-py/test_batch")
    with pytest.raises(DatasetError, match="it has no cifar-10-batches-py/data_batch_1"):
        small_spec().loader(tmp_path)


def test_batches_that_python_2_wrote_are_read() -> None:
    """As the published ones are: texts and arrays as byte strings, numpy.core by its old name."""
    pixels = pictures(2, 4)
    parts = [
        b"\x80\x02}q\x01(U\x04dataq\x02cnumpy.core.multiarray\n_reconstruct\nq\x03cnumpy\nndarray\n"
        b"q\x04K\x00\x85U\x01b\x87Rq\x05(K\x01K\x02K\x04\x86cnumpy\ndtype\nq\x06U\x02u1K\x00K\x01"
        b"\x87Rq\x07(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T",
        struct.pack("<I", 8) + pixels.tobytes(),
        b"tbU\x06labelsq\x08]q\x09(K\x03K\x07eu.",
    ]
    found = read_plain(b"".join(parts), "a batch")
    assert found["labels"] == [3, 7]
    assert np.array_equal(found["data"], pixels)


class Harmful:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("harm",)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda b: Harmful(), "batch data_batch_2 is not loaded: it asks for .*mkdir"),
        (lambda b: [1], "batch data_batch_2 has no 'data' and 'labels'"),
        (lambda b: b | {"data": b["data"][:, 1:]}, r"shape \(40, 3071\).*must be \(40, 3072\)"),
        (lambda b: b | {"data": b["data"].astype("i2")}, "type int16; .* of uint8"),
        (lambda b: b | {"labels": b["labels"][:-1]}, r"for 39 classes it must be \(39, 3072\)"),
        (lambda b: b | {"labels": [0.5, *b["labels"][1:]]}, "class that is no whole number"),
        (lambda b: b | {"labels": [10, *b["labels"][1:]]}, "is of class 10; .* from 0 to 9"),
        (lambda b: b | {"labels": [-1, *b["labels"][1:]]}, "is of class -1"),
        (
            lambda b: {"labels": b["labels"][:9], "data": b["data"][:9]},
            r"images of the shape \(89, 3, 32, 32\), 49 of them .*80 for training",
        ),
    ],
)
def test_wrong_batches_are_named(
    change: Any, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    batches = small_batches()
    batches["data_batch_2"] = change(batches["data_batch_2"])
    write_batches(tmp_path, batches)
    with pytest.raises(DatasetError, match=told):
        small_spec().loader(tmp_path)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(("which", "part"), [(slice(2), "training"), (slice(2, 3), "test")])
def test_a_missing_class_is_named(which: slice, part: str, tmp_path: Path) -> None:
    batches = small_batches()
    for name in BATCHES[which]:
        batches[name]["labels"] = [label if label != 7 else 6 for label in in_turn(40, 10)]
    write_batches(tmp_path, batches)
    with pytest.raises(DatasetError, match=f"no {part} image is of class 7"):
        small_spec().loader(tmp_path)


def test_cifar_is_downloaded_as_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = tmp_path / "served"
    folder = write_batches(tmp_path / "one", small_batches())
    served.mkdir()
    with tarfile.open(served / "small.tar.gz", "w:gz") as file:
        file.add(folder, "cifar-10-batches-py")
    handler = partial(SimpleHTTPRequestHandler, directory=str(served))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(cifar, "URL", f"http://127.0.0.1:{server.server_port}")
        images = small_spec().loader(tmp_path / "two")
        server.shutdown()
    assert images.checksum == small_spec().loader(tmp_path / "one").checksum
    assert [path.name for path in (tmp_path / "two").rglob("*.tar.gz")] == ["small.tar.gz"]


def test_cifar100_has_its_fine_classes(tmp_path: Path) -> None:
    facts = dataclasses.replace(cifar.CIFAR100, classes=20, trained=60, tested=20)
    folder = tmp_path / "images" / "CIFAR100" / "cifar-100-python"
    folder.mkdir(parents=True)
    for name, count in (("train", 60), ("test", 20)):
        batch = {
            "fine_labels": in_turn(count, 20),
            "coarse_labels": [0] * count,
            "data": pictures(count, 3072),
        }
        (folder / name).write_bytes(pickle.dumps(batch))
    factory = cifar.batches_factory(
        facts, "images/CIFAR100/cifar-100-python", "a.tar.gz", ("train", "test"), "fine_labels"
    )
    assert factory({}).loader(tmp_path).y.tolist() == in_turn(80, 20)


# ------------------------------------------------------------------------------------------- JPEG


def jpeg(picture: np.ndarray) -> bytes:
    stream = io.BytesIO()
    mode = picture.transpose(1, 2, 0) if picture.ndim == 3 else picture
    Image.fromarray(mode).save(stream, "JPEG", quality=95)
    return stream.getvalue()


def flat(colour: int, side: int = 32) -> np.ndarray:
    return np.full((3, side, side), colour, np.uint8)


def write_jpegs(path: Path, files: list[bytes], labels: list[int], **changes: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = len(files) // 2
    arrays: dict[str, Any] = {}
    for part, chosen in (("train", slice(half)), ("test", slice(half, None))):
        arrays[f"{part}_jpeg"] = np.frombuffer(b"".join(files[chosen]), np.uint8)
        arrays[f"{part}_offset"] = np.cumsum([0, *map(len, files[chosen])])
        arrays[f"{part}_label"] = np.array(labels[chosen], np.uint8)
    np.savez(path, **(arrays | changes))


def jpeg_set(root: Path) -> ImageSet:
    facts = dataclasses.replace(cifar.CIFAR10_JPEG, trained=20, tested=20)
    found = cifar.jpeg_factory(facts, cifar.JPEG_FILE)({}).loader(root)
    assert isinstance(found, ImageSet)
    return found


def test_the_jpeg_form_says_what_it_is(tmp_path: Path) -> None:
    files = [jpeg(flat(number * 6)) for number in range(40)]
    write_jpegs(tmp_path / cifar.JPEG_FILE, files, in_turn(40, 10))
    images = jpeg_set(tmp_path)
    colours = images.pixels.double().mean(dim=(1, 2, 3))
    assert (colours - torch.arange(40) * 6).abs().max() < 2
    assert images.provenance == "JPEG-recompressed"
    spec = dataset_spec("cifar10-jpeg")
    for text in (spec.name, spec.split, spec.source, images.split):
        assert "jpeg" in text.lower()


def test_only_images_that_are_used_are_decoded(tmp_path: Path) -> None:
    """All but those of a sample are damaged, and nobody notices."""
    files = [jpeg(flat(number * 4)) for number in range(60)]
    path, labels = tmp_path / cifar.JPEG_FILE, in_turn(60, 10)
    write_jpegs(path, files, labels)
    facts = dataclasses.replace(cifar.CIFAR10_JPEG, trained=30, tested=30)
    make = cifar.jpeg_factory(facts, cifar.JPEG_FILE)
    spec = make({"train": "10", "valid": "10", "test": "10"})
    sample, whole = spec.loader(tmp_path), make({}).loader(tmp_path)
    assert isinstance(sample, ImageSet)
    assert isinstance(whole, ImageSet)
    used = [
        next(place for place in range(60) if torch.equal(whole.pixels[place], image))
        for image in sample.pixels
    ]
    assert (len(set(used)), whole.num_images) == (30, 60)
    assert torch.equal(whole.y[torch.tensor(used)], sample.y)
    write_jpegs(path, [file if at in used else b"x" for at, file in enumerate(files)], labels)
    again = spec.loader(tmp_path)
    assert again.checksum == sample.checksum
    with pytest.raises(DatasetError, match="no whole JPEG"):
        make({}).loader(tmp_path)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("CIFAR-10", "cifar10"),
        ("cifar_100:train=100", "cifar100:train=100"),
        ("FashionMNIST", "fashion-mnist"),
        ("tiny-imagenet-200", "tinyimagenet"),
    ],
)
def test_names_are_those_that_people_write(written: str, meant: str) -> None:
    assert dataset_spec(written).name == meant


def test_wrong_jpegs_are_named(tmp_path: Path) -> None:
    path = tmp_path / cifar.JPEG_FILE
    files = [jpeg(flat(number)) for number in range(40)]
    labels = in_turn(40, 10)
    write_jpegs(path, [*files[:3], files[3][:-200], *files[4:]], labels)
    with pytest.raises(DatasetError, match=r"image 3 of train in .* is no whole JPEG"):
        jpeg_set(tmp_path)
    write_jpegs(path, [*files[:3], jpeg(flat(3, 16)), *files[4:]], labels)
    with pytest.raises(DatasetError, match=r"image 3 of train .* has 16 x 16 pixels; .* 32 x 32"):
        jpeg_set(tmp_path)
    write_jpegs(path, files, labels, test_offset=np.arange(21))
    with pytest.raises(DatasetError, match="the offsets of test don't fit its content"):
        jpeg_set(tmp_path)
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(DatasetError, match=r"cifar10_jpeg\.npz is damaged"):
        jpeg_set(tmp_path)


# ----------------------------------------------------------------------------------- TinyImageNet

TINY = dataclasses.replace(tiny_imagenet.TINY_IMAGENET, classes=3, trained=12, tested=6)
WNIDS = ("n01", "n02", "n03")


def write_tiny(root: Path, **changes: bytes) -> Path:
    folder = root / tiny_imagenet.PLACE / tiny_imagenet.FOLDER
    files = {"wnids.txt": "\n".join(WNIDS).encode()}
    for number, name in enumerate(WNIDS):
        for i in range(4):
            picture = flat(50 * number + i, 64) if i else flat(50 * number, 64)[0]
            files[f"train/{name}/images/{name}_{i}.JPEG"] = jpeg(picture)
    lines = []
    for i in range(6):
        files[f"val/images/val_{i}.JPEG"] = jpeg(flat(200 + i, 64))
        lines.append(f"val_{i}.JPEG\t{WNIDS[i % 3]}\t0\t0\t10\t10")
    files["val/val_annotations.txt"] = "\n".join(lines).encode()
    for name, content in (
        files | {key.replace("__", "/"): v for key, v in changes.items()}
    ).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def tiny(root: Path) -> ImageSet:
    found = tiny_imagenet.folder_factory(TINY)({}).loader(root)
    assert isinstance(found, ImageSet)
    return found


def test_tiny_imagenet_is_read_from_its_folder_and_its_archive(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path)
    images = tiny(tmp_path)
    assert images.y.tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [0, 1, 2] * 2
    assert images.shape == (3, 64, 64)
    assert abs(float(images.pixels[5].double().mean()) - 51) < 2
    assert abs(float(images.pixels[13].double().mean()) - 201) < 2
    assert "validation images of the source as test images" in images.split
    archive = tmp_path / "packed" / tiny_imagenet.PLACE / "tiny-imagenet-200.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.rglob("*"):
            file.write(path, path.relative_to(folder.parent))
    assert tiny(tmp_path / "packed").checksum == images.checksum
    archive.write_bytes(archive.read_bytes()[:-100])
    with pytest.raises(DatasetError, match=r"tiny-imagenet-200\.zip is damaged"):
        tiny(tmp_path / "packed")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"wnids.txt": b"n01\nn02"}, "names 2 classes, not 3"),
        ({"wnids.txt": b"n01\nn02\n../n03"}, "has the class '../n03'"),
        ({"val__val_annotations.txt": b"val_0.JPEG\tn09"}, "has the line 'val_0.JPEG.*n09'"),
        ({"val__val_annotations.txt": b"../../x.JPEG\tn01"}, "has the line '../../x"),
        ({"val__val_annotations.txt": b"val_0.JPEG\tn01"}, r"of the shape \(13, 3, 64, 64\)"),
        ({"train__n02__images__n02_1.JPEG": b"nothing"}, r"n02_1\.JPEG is no whole JPEG"),
    ],
)
def test_wrong_tiny_imagenets_are_named(
    changes: dict[str, bytes], told: str, tmp_path: Path
) -> None:
    write_tiny(tmp_path, **changes)
    with pytest.raises(DatasetError, match=told):
        tiny(tmp_path)


def test_a_missing_image_is_named(tmp_path: Path) -> None:
    (write_tiny(tmp_path) / "train" / "n03" / "images" / "n03_2.JPEG").unlink()
    with pytest.raises(DatasetError, match=r"n03_2\.JPEG can't be read"):
        tiny(tmp_path)


# -------------------------------------------------------------------------------------------- idx


def idx(values: np.ndarray) -> bytes:
    return struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape) + values.tobytes()


def write_idx(root: Path, *, packed: bool) -> tuple[Path, np.ndarray]:
    folder = root / "images"
    folder.mkdir(parents=True, exist_ok=True)
    pixels = pictures(60, 28, 28)
    labels = np.array(in_turn(60, 10), np.uint8)
    parts = (pixels[:40], labels[:40], pixels[40:], labels[40:])
    for name, part in zip(mnist.NAMES, parts, strict=True):
        content = idx(part)
        path = folder / (f"{name}.gz" if packed else name)
        path.write_bytes(gzip.compress(content) if packed else content)
    return folder, pixels


def idx_set(root: Path) -> ImageSet:
    facts = dataclasses.replace(mnist.MNIST, trained=40, tested=20)
    found = mnist.idx_factory(facts, "images", "http://127.0.0.1:9")({}).loader(root)
    assert isinstance(found, ImageSet)
    return found


@pytest.mark.parametrize("packed", [False, True])
def test_idx_files_are_read(packed: bool, tmp_path: Path) -> None:
    _, pixels = write_idx(tmp_path, packed=packed)
    images = idx_set(tmp_path)
    assert np.array_equal(images.pixels.numpy()[:, 0], pixels)
    assert images.y.tolist() == in_turn(60, 10)


@pytest.mark.parametrize("packed", [False, True])
def test_idx_files_that_are_cut_short_are_named(packed: bool, tmp_path: Path) -> None:
    folder, _ = write_idx(tmp_path, packed=packed)
    path = folder / (mnist.NAMES[0] + (".gz" if packed else ""))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(DatasetError, match=f"{path.name} is damaged or cut short"):
        idx_set(tmp_path)


def test_wrong_idx_files_are_named(tmp_path: Path) -> None:
    folder, pixels = write_idx(tmp_path, packed=False)
    (folder / mnist.NAMES[1]).write_bytes(idx(np.zeros(39, np.uint8)))
    with pytest.raises(DatasetError, match="has 39 classes for 40 images"):
        idx_set(tmp_path)
    (folder / mnist.NAMES[1]).write_bytes(idx(pixels))
    with pytest.raises(DatasetError, match="is no idx file of bytes in 1 dimensions"):
        idx_set(tmp_path)


def test_missing_files_say_where_they_belong(tmp_path: Path) -> None:
    with pytest.raises(DatasetMissingError, match=r"train-images-idx3-ubyte\.gz.*GRAPHTAB_DATA"):
        idx_set(tmp_path)


# ----------------------------------------------------------------------------- digits and one's own


def test_digits_are_those_of_scikit_learn() -> None:
    images = load_images("digits")
    theirs = load_digits()
    pairs = zip(images.pixels.numpy(), images.y.tolist(), strict=True)
    ours = {(row.tobytes(), label) for row, label in pairs}
    assert ours == {
        (np.rint(image * 255 / 16).astype(np.uint8).tobytes(), label)
        for image, label in zip(theirs.images, theirs.target, strict=True)
    }
    assert [len(part) for part in unsplit(images)] == [1294, 143, 360]


def write_own(root: Path, stem: str = "own", **arrays: np.ndarray) -> None:
    (root / "images").mkdir(exist_ok=True)
    np.savez(root / "images" / f"{stem}.npz", **arrays)


@pytest.mark.parametrize("form", ["grey", "first", "last", "floats"])
def test_images_of_ones_own(form: str, tmp_path: Path) -> None:
    grey = pictures(60, 9, 10)
    colour = pictures(60, 3, 9, 10)
    x, expected = {
        "grey": (grey, grey[:, None]),
        "first": (colour, colour),
        "last": (colour.transpose(0, 2, 3, 1), colour),
        "floats": (grey / np.float32(255), grey[:, None]),
    }[form]
    y = np.array(in_turn(60, 4))
    write_own(tmp_path, "mine", x=x[:40], y=y[:40], x_test=x[40:], y_test=y[40:])
    images = load_images("own-images:file=mine", tmp_path)
    assert np.array_equal(images.pixels.numpy(), expected)
    assert images.test_index.tolist() == list(range(40, 60))
    assert images.num_classes == 4
    check_dataset("own-images:file=mine,train=20", tmp_path)


def test_without_test_images_a_fifth_is_taken(tmp_path: Path) -> None:
    write_own(tmp_path, x=pictures(50, 8, 8), y=np.array(in_turn(50, 5)))
    images = load_images("own-images", tmp_path)
    assert torch.bincount(images.y[images.test_index]).tolist() == [2] * 5
    assert images.pixels[images.test_index].flatten(1).unique(dim=0).shape[0] == 10


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"x": pictures(20, 8, 8)}, "must hold x and y"),
        ({"x": pictures(20, 8, 8).astype(int)}, "of type int64 from 0 to 255; allowed are uint8"),
        ({"x": pictures(20, 8, 8) / 100}, r"from 0 to 2\.55; allowed are"),
        ({"x": np.full((20, 8, 8), np.nan)}, "floats from 0 to 1"),
        ({"x": pictures(20, 2, 8, 8)}, r"shape \(20, 2, 8, 8\); allowed"),
        ({"x": pictures(20, 7, 8)}, "sides of 8 pixels at least"),
        ({"x": pictures(20, 64)}, r"shape \(20, 64\); allowed"),
        ({"x": pictures(19, 8, 8)}, r"classes are int64 of the shape \(20,\)"),
        ({"x": pictures(20, 8, 8), "y": np.full(20, -1)}, "whole numbers from 0"),
        ({"x": pictures(20, 8, 8), "y": np.arange(20) * 10**12}, "is of class"),
        ({"x": pictures(20, 8, 8), "y": np.ones(20)}, "classes are float64"),
        ({"x": pictures(20, 8, 8), "y_test": np.arange(2)}, "x_test and y_test or neither"),
        (
            {"x": pictures(20, 8, 8), "x_test": pictures(2, 9, 9), "y_test": np.arange(2)},
            r"images of x have the shape \(1, 8, 8\), those of x_test \(1, 9, 9\)",
        ),
    ],
)
def test_wrong_files_of_ones_own_are_named(
    arrays: dict[str, np.ndarray], told: str, tmp_path: Path
) -> None:
    whole = {"y": np.array(in_turn(20, 2))} if told != "must hold x and y" else {}
    write_own(tmp_path, **(whole | arrays))
    with pytest.raises(DatasetError, match=told):
        load_images("own-images", tmp_path)


@pytest.mark.parametrize("stem", ["../own", "/own", "a.b", ".."])
def test_a_file_can_not_be_elsewhere(stem: str) -> None:
    with pytest.raises(DatasetError, match="must be the name of a file in images/"):
        dataset_spec(f"own-images:file={stem}")


# ----------------------------------------------------------------------------------------- samples


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=6),
    share=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_a_sample_keeps_the_shares_of_its_classes(
    sizes: list[int], share: float, seed: int
) -> None:
    labels = np.random.RandomState(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    count = len(sizes) + int(share * (len(labels) - len(sizes)))
    drawn = stratified(labels, count, seed)
    assert len(set(drawn.tolist())) == count
    for size, kept in zip(sizes, np.bincount(labels[drawn], minlength=len(sizes)), strict=True):
        quota = count * size / len(labels)
        assert 1 <= kept <= size
        if min(count * other / len(labels) for other in sizes) >= 1:
            assert abs(kept - quota) < 1


def test_a_name_may_ask_for_fewer_images() -> None:
    whole, part = load_images("digits"), load_images("digits:train=200,test=50")
    assert [len(index) for index in unsplit(part)] == [200, 143, 50]
    assert part.num_images == 393
    assert part.name == dataset_spec("digits:test=50,train=200").name == "digits:train=200,test=50"
    rows = {row.tobytes() for row in whole.pixels[whole.train_index].numpy()}
    assert {row.tobytes() for row in part.pixels[part.train_index].numpy()} <= rows
    assert "200 train and 50 test images" in part.split


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("digits:train=9", "train=9 must be from 10 to 1294"),
        ("digits:train=1295", "train=1295 must be from 10 to 1294"),
        ("cifar10:valid=5001", "valid=5001 must be from 10 to 5000"),
        ("digits:train=many", "train=many is not a whole number from 1 up"),
        ("digits:nodes=3", "unknown parameter 'nodes'; known: train, valid, test"),
    ],
)
def test_wrong_samples_are_named(name: str, told: str) -> None:
    with pytest.raises(DatasetError, match=told):
        dataset_spec(name)


def test_more_than_a_file_of_ones_own_has(tmp_path: Path) -> None:
    write_own(tmp_path, x=pictures(50, 8, 8), y=np.array(in_turn(50, 5)))
    with pytest.raises(DatasetError, match="own-images:train=99: 99 images can't be drawn"):
        load_images("own-images:train=99", tmp_path)


# ---------------------------------------------------------------------------------- the set itself


def test_mean_and_deviation_are_those_of_the_training_pixels() -> None:
    images = load_images("digits")
    values = images.pixels[images.train_index].double() / 255
    assert torch.allclose(images.mean.double(), values.mean(dim=(0, 2, 3)))
    assert torch.allclose(images.std.double(), values.std(dim=(0, 2, 3), correction=0))
    found = images.normalised(images.train_index)
    assert abs(float(found.mean())) < 1e-5
    assert abs(float(found.std()) - 1) < 1e-4
    raw = images.pixels[images.train_index].float() / 255
    assert torch.allclose(images.denormalise(found), raw, atol=1e-6)


@pytest.mark.parametrize("part", ["pixels", "y", "train_index"])
def test_checksum_sees_every_tensor(part: str) -> None:
    images = load_images("digits")
    tensor = getattr(images, part).clone()
    tensor = tensor[1:] if part == "train_index" else tensor.flip(0)
    assert dataclasses.replace(images, **{part: tensor}).checksum != images.checksum


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"metric": "rocauc"}, "metric 'rocauc' is not accuracy"),
        ({"pixels": torch.zeros(5, 1, 8, 8)}, "pixels are of type torch.float32"),
        ({"y": torch.zeros(3, dtype=torch.long)}, r"shape \(3,\); it must be int64"),
        ({"num_classes": 9}, "is of class 9; classes are from 0 to 8"),
        ({"num_classes": 11}, "no training image is of class 10"),
        ({"test_index": torch.tensor([1797])}, "test_index names an image beyond the 1797"),
        ({"valid_index": torch.tensor([], dtype=torch.long)}, "valid_index must be a list"),
        ({"valid_index": torch.arange(1700, 1710)}, "used twice"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(
    changes: dict[str, object], told: str
) -> None:
    with pytest.raises(DatasetError, match=told):
        dataclasses.replace(load_images("digits"), **changes)


def test_images_that_are_all_alike_have_no_deviation() -> None:
    images = load_images("digits")
    blank = dataclasses.replace(images, pixels=torch.zeros_like(images.pixels))
    with pytest.raises(DatasetError, match="all training pixels of a channel are alike"):
        blank.normalised(torch.arange(3))


def test_each_sort_is_loaded_as_what_it_is() -> None:
    with pytest.raises(DatasetError, match=r"'digits' is a set of images; load needs one graph"):
        load("digits")
    with pytest.raises(DatasetError, match=r"'karate' is one graph .*; load_images needs a set of"):
        load_images("karate")
    assert (load_data("digits").sort, load_data("karate").sort) == ("images", "nodes")


# -------------------------------------------------------------------------------------- real files

REAL = {
    "mnist": ([0.1307], [0.3081]),
    "fashion-mnist": ([0.2860], [0.3530]),
    "cifar10-jpeg": ([0.4913, 0.4821, 0.4465], None),
}
"""Mean and deviation of all training images, as they are published."""


@pytest.mark.parametrize("name", REAL)
def test_real_images_are_what_their_spec_says(name: str) -> None:
    images = load_images(name, real_root(name))
    spec = dataset_spec(name)
    assert images.num_images == spec.num_items
    assert len(images.train_index) == spec.trained
    everything = dataclasses.replace(
        images,
        train_index=torch.cat([images.train_index, images.valid_index[1:]]),
        valid_index=images.valid_index[:1],
    )
    mean, std = REAL[name]
    assert torch.allclose(everything.mean, torch.tensor(mean), atol=2e-4)
    if std:
        assert torch.allclose(everything.std, torch.tensor(std), atol=2e-4)
    trained, kept = (
        torch.bincount(images.y[part]) for part in (images.train_index, images.valid_index)
    )
    assert (kept - (trained + kept) / 10).abs().max() < 1
