"""What decides figures on a GPU is pinned and recorded, and mixed hardware is named."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch.utils import deterministic

from benchbuild.cli import main
from benchbuild.compute.devices import environment, reproducible
from benchbuild.compute.sparse import PRODUCT_VARIABLE
from benchbuild.engines.base import Refusal, open_context, run_job
from benchbuild.pipeline.hardware import hardware_warnings
from benchbuild.pipeline.jobs import Place, canonical
from benchbuild.pipeline.plan import Shard
from benchbuild.pipeline.registry import kind_of
from benchbuild.pipeline.runfolder import RunFolder
from benchbuild.testing.everything import graph_runs
from benchbuild.testing.gpu import PretendGpu
from benchbuild.testing.synthetic import synthetic_record, synthetic_run
from benchquery.table.manifest import read_manifest
from benchquery.table.schema import CURVE_COLUMNS


def modes() -> tuple[object, ...]:
    return (
        torch.get_float32_matmul_precision(),
        torch.backends.cudnn.allow_tf32,
        deterministic.fill_uninitialized_memory,
        torch.are_deterministic_algorithms_enabled(),
    )


def test_a_gpu_s_modes_are_pinned_and_restored(gpu: PretendGpu) -> None:
    torch.set_float32_matmul_precision("high")
    try:
        before = modes()
        assert before == ("high", True, True, False)
        with reproducible(gpu.device, 0, threads=1):
            assert modes() == ("highest", False, False, True)
        assert modes() == before
        with reproducible(torch.device("cpu"), 0, threads=1):
            assert modes() == before, "on a CPU nothing is changed"
    finally:
        torch.set_float32_matmul_precision("highest")


def test_the_environment_can_t_flip_the_precision() -> None:
    code = (
        "import torch\n"
        "from benchbuild.compute.devices import reproducible\n"
        "from benchbuild.testing.gpu import PretendGpu\n"
        "assert torch.get_float32_matmul_precision() == 'high'\n"
        "with PretendGpu() as gpu, reproducible(gpu.device, 0, 1):\n"
        "    print(torch.get_float32_matmul_precision())\n"
    )
    env = os.environ | {"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=env
    )
    assert done.stdout == "highest\n"


def test_a_record_names_the_gpu(gpu: PretendGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu.capacity = 10**9
    said = environment(gpu.device, 1)
    assert said["device_name"] == "a pretend GPU"
    assert (said["device_memory"], said["tf32"]) == ("1000000000", "off")
    assert {"cuda", "driver"} <= said.keys()
    assert not {"cuda", "driver", "tf32"} & environment(torch.device("cpu"), 1).keys()
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "1")
    assert environment(gpu.device, 1)["tf32"] == "NVIDIA_TF32_OVERRIDE=1"


@pytest.mark.parametrize(
    ("place", "devices", "sharing"),
    [
        (Place("auto"), 4, 1),
        (Place("cuda", per_device=3), 4, 3),
        (Place("cuda", workers=6), 4, 2),
        (Place("cuda:1", workers=6), 4, 6),
    ],
)
def test_a_record_says_how_many_workers_share_its_gpu(
    place: Place, devices: int, sharing: int
) -> None:
    assert place.sharing(devices) == sharing


def where(name: str, sharing: str = "1") -> str:
    said = {"device": "cuda:0", "device_name": name, "workers_per_device": sharing}
    return "" if not name else canonical(said)


CPUS = [canonical({"device": "cpu", "device_name": name}) for name in ("one", "another")]


@pytest.mark.parametrize(
    ("environments", "expected"),
    [
        ([*CPUS, ""], []),
        ([where("A100"), where("A100"), ""], []),
        ([where("A100"), where("V100"), where("A100")], ["2 on A100, 1 on V100"]),
        ([where("A100"), *CPUS], ["1 on A100, 2 on CPUs"]),
        ([where("A100"), where("A100", "4")], ["up to 4 workers shared a device"]),
        ([CPUS[0], canonical({"device": "cpu", "batch": "3"})], ["1 of the records were trained"]),
        ([], []),
    ],
)
def test_mixed_and_shared_devices_are_named(environments: list[str], expected: list[str]) -> None:
    found = list(hardware_warnings(pa.table({"environment": pa.array(environments, pa.string())})))
    assert len(found) == len(expected)
    assert all(text in said for text, said in zip(expected, found, strict=True))
    assert not list(hardware_warnings(pa.table({"hash": [1]})))


def test_merging_seeds_of_two_models_warns_and_shows_in_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder.begin(tmp_path / "run", synthetic_run(archs=[61237], seeds=[0, 1]))
    for key, name in zip(folder.job_keys(), ("A100", "V100"), strict=True):
        record = synthetic_record(folder.run, key)
        folder.parts.add(Shard(), [dataclasses.replace(record, environment=where(name))])
    assert main(["merge", str(tmp_path / "run"), "--out", str(tmp_path / "table")]) == 0
    said = capsys.readouterr().err
    assert "warning: the records are of different devices" in said
    (kept,) = read_manifest(tmp_path / "table").provenance["warnings"]
    assert f"warning: {kept}\n" == said
    assert main(["verify", str(tmp_path / "table")]) == 0


def test_the_sparse_product_is_chosen_and_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    run = graph_runs()["gcn"]
    kind, records = kind_of(run.kind), []
    for product in ("", "csr"):
        monkeypatch.setenv(PRODUCT_VARIABLE, product)
        context = open_context(kind, run.settings, Place("cpu"))
        assert not isinstance(context, Refusal)
        records.append(run_job(kind, context, kind.keys(run)[0]))
    assert [record.status for record in records] == ["ok", "ok"]
    first = slice(len(CURVE_COLUMNS))
    np.testing.assert_allclose(records[0].curve[first], records[1].curve[first], rtol=1e-4)
    assert "sparse_product" not in records[0].environment
    assert json.loads(records[1].environment)["sparse_product"] == "csr"
    monkeypatch.setenv(PRODUCT_VARIABLE, "best")
    refusal = open_context(kind, run.settings, Place("cpu"))
    assert isinstance(refusal, Refusal)
    assert refusal.reason == f"{PRODUCT_VARIABLE}=best is not one of embedding_bag, csr"
