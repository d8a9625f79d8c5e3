"""Blackboxes: read back by numpy and pandas, and by Syne Tune where it is installed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchquery import Arch, lightread
from benchquery.adapters.syne_tune import write_blackbox
from benchquery.errors import QueryError


@pytest.mark.parametrize("name", ["citeseer-built", "cora-stacks"])
def test_figures_are_those_of_the_curves(name: str, tmp_path: Path) -> None:
    table = lightread(name)
    write_blackbox(table, tmp_path / "box")
    figures = np.load(tmp_path / "box" / "objectives_evaluations.npy")
    forms = pd.read_parquet(tmp_path / "box" / "hyperparameters.parquet")
    seeds = table.curves.seeds
    assert figures.shape == (1, len(table), len(seeds), table.curves.epochs, 2)
    for row in range(0, len(table), 7):
        form = forms.iloc[row]
        links = [0, *(int(form[f"link{node}"]) for node in (1, 2, 3))]
        number = Arch(links, [form[f"op{node}"] for node in range(4)]).valid_hash()
        assert number == table.hashes[row]
        for place, seed in enumerate(seeds):
            curve = pd.Series(table.curve(number, seed)[:, 1]).ffill()
            assert figures[0, row, place, :, 0] == pytest.approx(curve.to_numpy())
            assert figures[0, row, place, -1, 1] == pytest.approx(
                table[number][f"train_time_seed{seed}"]
            )
            assert (np.diff(figures[0, row, place, :, 1]) >= 0).all()
    assert not np.isnan(figures).any()


def test_a_published_table_has_one_fidelity(tmp_path: Path) -> None:
    table = lightread("proteins")
    write_blackbox(table, tmp_path / "box")
    figures = np.load(tmp_path / "box" / "objectives_evaluations.npy")
    assert figures[0, :, 0, 0, 0] == pytest.approx(table.column("valid_perf"))
    said = json.loads((tmp_path / "box" / "metadata.json").read_text())
    assert said == {"objectives_names": ["valid_perf"], "task_names": ["proteins"]}
    with pytest.raises(QueryError, match="exists already"):
        write_blackbox(table, tmp_path / "box")
    with pytest.raises(QueryError, match="can't write to"):
        write_blackbox(table, tmp_path / "nowhere" / "box")


def test_syne_tune_opens_it(tmp_path: Path) -> None:
    tabular = pytest.importorskip("syne_tune.blackbox_repository.blackbox_tabular")
    table = lightread("citeseer-built")
    write_blackbox(table, tmp_path / "box")
    box = tabular.deserialize(tmp_path / "box")["citeseer-built"]
    arch = table.archs()[5]
    chosen = {f"link{node}": arch.link[node] for node in (1, 2, 3)}
    chosen |= {f"op{node}": arch.ops[node] for node in range(4)}
    found = box.objective_function(chosen, {"epochs": 30}, seed=1)
    assert found["valid_perf"] == pytest.approx(table.curve(arch, 1)[29, 1])
