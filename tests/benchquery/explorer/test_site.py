"""The files of the explorer: what they hold, and that nothing else can be read."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchquery import SPACES, Arch, BenchQueryError, lightread
from benchquery.errors import (
    CorruptTableError,
    QueryError,
    TableNotFoundError,
    UnknownNameError,
)
from benchquery.explorer import Site, write_site
from benchquery.explorer.guard import CONTENT_POLICY
from benchquery.kinds.architectures.analysis.agreement import agreement
from benchquery.kinds.architectures.arch import RAW_LINKS, RAW_OPS
from benchquery.table.registry import kind_names
from benchquery.table.schema import CURVE_COLUMNS
from benchquery.table.writer import new_table, write_table

ROOT = Path(__file__).parents[3]
STATIC = ROOT / "benchquery" / "explorer" / "static"
PAGES = tuple((ROOT / "benchquery" / "kinds").glob("*/page/*.js"))
"""The modules that kinds bring to the page."""
LARGEST_TABLE = 1_500_000


@pytest.fixture(scope="module")
def site() -> Site:
    return Site()


def arrow(site: Site, path: str) -> pa.Table:
    file = site.read(path)
    assert file.media_type == "application/gzip"
    return pa.ipc.open_stream(gzip.decompress(file.body)).read_all()


def catalogue(site: Site) -> dict[str, Any]:
    return json.loads(site.read("data/catalogue.json").body)


def test_the_catalogue_describes_every_table(site: Site) -> None:
    described = {table["name"]: table for table in catalogue(site)["tables"]}
    assert tuple(described) == site.names
    cora = described["cora"]
    assert (cora["origin"], cora["rows"], cora["metric"]) == ("published", 26_206, "accuracy")
    latency = next(column for column in cora["columns"] if column["name"] == "latency")
    assert (latency["unit"], latency["direction"], latency["is_metric"]) == ("s", "lower", True)
    assert [c["name"] for c in cora["columns"] if not c["is_metric"]] == ["hash", "para_consistent"]
    assert catalogue(site)["start"] == "cora"


def test_the_catalogue_describes_every_link_list(site: Site) -> None:
    kinds = {kind["name"]: kind for kind in catalogue(site)["kinds"]}
    assert kinds["architectures"]["expense"] == "latency"
    links = kinds["architectures"]["facts"]["links"]
    for index, link in enumerate(links):
        arch = Arch.from_hash(index * 10_000 + 123)
        assert tuple(link["link"]) == arch.link
        assert link["depth"] == arch.depth
        texts = re.findall(r">([a-z]+)</text>", link["svg"])
        assert texts == ["input", *arch.ops, "output"]


@pytest.mark.parametrize("name", ["cora", "proteins"])
def test_figures_are_sent_exactly(site: Site, name: str) -> None:
    sent = arrow(site, f"data/tables/{name}.arrow.gz")
    table = lightread(name)
    assert tuple(sent.column_names) == table.columns
    for column in table.columns:
        np.testing.assert_array_equal(sent[column].to_numpy(), table.column(column))


def test_every_table_is_small_over_the_wire(site: Site) -> None:
    for name in site.names:
        assert len(site.read(f"data/tables/{name}.arrow.gz").body) < LARGEST_TABLE


def test_forms_are_the_hashes_of_all_raw_forms(site: Site) -> None:
    hashes = arrow(site, "data/kinds/architectures/forms.arrow.gz")["hash"].to_numpy()
    assert len(hashes) == len(RAW_LINKS) * len(RAW_OPS)
    for form in range(0, len(hashes), 1_237):
        link, ops = divmod(form, len(RAW_OPS))
        assert hashes[form] == Arch(RAW_LINKS[link], RAW_OPS[ops]).valid_hash()
    assert (hashes[len(RAW_OPS) - 1 :: len(RAW_OPS)] == -1).all()
    assert set(hashes.tolist()) == {-1, *SPACES["full"].hashes.tolist()}


def test_comparisons_are_those_of_the_analysis(site: Site) -> None:
    rows = json.loads(site.read("data/comparisons/citeseer/cora.json").body)
    assert [row["by"] for row in rows] == ["latency", "para", "perf", "valid_perf"]
    for row in rows:
        assert row == agreement(lightread("citeseer"), lightread("cora"), row["by"])


def test_built_tables_have_curves_and_no_single_seeds(built: Path) -> None:
    site = Site(built.parent)
    assert site.names == ("toy",)
    (toy,) = catalogue(site)["tables"]
    assert toy["curves"] is True
    sent = arrow(site, "data/tables/toy.arrow.gz")
    assert "perf" in sent.column_names
    assert "perf_seed0" not in sent.column_names
    assert sent["status"].to_pylist() == ["ok", "ok", "diverged", "ok", "ok"]
    table = lightread("toy", built.parent)
    row = list(table).index(61237)
    curve = arrow(site, f"data/curves/toy/{row}.arrow.gz")
    for seed in table.curves.seeds:
        of_seed = curve.filter(pa.compute.equal(curve["seed"], seed))
        for position, column in enumerate(CURVE_COLUMNS):
            expected = table.curve(61237, seed)[:, position]
            np.testing.assert_array_equal(of_seed[column.name].to_numpy(), expected)


def test_architectures_without_a_curve_have_an_empty_one(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(built)
    table = site._table("toy")
    monkeypatch.delitem(table.curves._row, 61237)
    row = list(table).index(61237)
    assert len(arrow(site, f"data/curves/toy/{row}.arrow.gz")) == 0


def test_tables_with_little_in_common_are_not_compared(tmp_path: Path) -> None:
    for name, number in (("one", 0), ("two", 1)):
        with new_table(tmp_path / name) as stage:
            columns = {"hash": np.array([number], np.int32), "perf": np.array([0.5])}
            write_table(
                stage, columns, name=name, space="full", origin="synthetic", metric="accuracy",
                source={}, licence="CC0-1.0",
            )  # fmt: skip
    assert Site(tmp_path).read("data/comparisons/one/two.json").body == b"[]"


@pytest.mark.parametrize(
    ("path", "error", "named"),
    [
        (
            "data/tables/nope.arrow.gz",
            TableNotFoundError,
            "'nope'; there are: acm-condensed, arxiv",
        ),
        ("data/tables/../cora.arrow.gz", UnknownNameError, "nothing at"),
        ("data/tables/..%2fcora.arrow.gz", TableNotFoundError, "'..%2fcora'"),
        ("data/curves/cora/0.arrow.gz", QueryError, "no learning curves"),
        ("data/curves/cora-built/01.arrow.gz", UnknownNameError, "nothing at"),
        ("data/curves/cora-built/61237.arrow.gz", UnknownNameError, "nothing at"),
        (f"data/curves/cora-built/{'9' * 9000}.arrow.gz", UnknownNameError, "nothing at"),
        ("data/comparisons/cora/nope.json", TableNotFoundError, "'nope'"),
        ("data/comparisons/cora/citeseer.json", UnknownNameError, "nothing at"),
        ("data/comparisons/cora/cora-condensed.json", UnknownNameError, "nothing at"),
        ("data/forms/cora/x.arrow.gz", UnknownNameError, "nothing at"),
        ("data/kinds/architectures/comparisons.json", UnknownNameError, "nothing at"),
        ("data/kinds/poems/forms.arrow.gz", UnknownNameError, "nothing at"),
        ("kinds/architectures/", UnknownNameError, "nothing at"),
        ("../../../etc/passwd", UnknownNameError, "'/../../../etc/passwd'"),
        ("/etc/passwd", UnknownNameError, "nothing at"),
        ("vendor/", UnknownNameError, "nothing at"),
        ("static/index.html", UnknownNameError, "nothing at"),
        ("x" * 10_000, UnknownNameError, "xxx..."),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_other_paths_are_named_and_refused(
    site: Site, path: str, error: type[Exception], named: str
) -> None:
    with pytest.raises(error, match=re.escape(named)) as caught:
        site.read(path)
    assert len(str(caught.value)) < 1_000


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.text(alphabet="./\\%~adestv0123\0-_ é", max_size=40), below=st.booleans())
def test_only_listed_paths_can_be_read(site: Site, path: str, below: bool) -> None:
    path = f"data/tables/{path}.arrow.gz" if below else path
    try:
        site.read(path)
    except BenchQueryError:
        return
    assert path in set(site.paths())


def test_a_source_without_tables_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableNotFoundError, match=re.escape(str(tmp_path))):
        Site(tmp_path)


@pytest.mark.parametrize("name", [".hidden", "a\\b"])
def test_a_name_that_is_no_file_name_is_refused(built: Path, name: str) -> None:
    folder = built.rename(built.with_name(name))
    with pytest.raises(TableNotFoundError, match=re.escape(f"{name!r} is no file name")):
        Site(folder)


def test_the_folder_holds_what_the_server_serves(built: Path, tmp_path: Path) -> None:
    site = Site(built)
    folder = tmp_path / "deep" / "site"
    count = write_site(site, folder)
    written = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert written == set(site.paths())
    assert len(written) == count
    for path in written:
        assert (folder / path).read_bytes() == site.read(path).body
    assert {"index.html", "data/curves/toy/3.arrow.gz", "vendor/licences.txt"} <= written
    with pytest.raises(QueryError, match="exists already"):
        write_site(site, folder)


def test_a_failed_export_leaves_nothing(built: Path, tmp_path: Path) -> None:
    site = Site(built)
    (built / "curves.h5").write_bytes(b"damaged")
    with pytest.raises(CorruptTableError):
        write_site(site, tmp_path / "out" / "site")
    assert list((tmp_path / "out").iterdir()) == []


# ---------------------------------------------------------------- the page's own files


def test_the_page_has_no_inline_code_and_loads_only_its_own() -> None:
    page = (STATIC / "index.html").read_text()
    assert re.findall(r"<script(?![^>]* src=)|\son\w+=|\sstyle=|javascript:", page) == []
    assert re.findall(r'(?:src|href)="(?:https?:)?//', page) == []
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy == CONTENT_POLICY


def test_every_module_is_preloaded_but_the_parquet_writer() -> None:
    page = (STATIC / "index.html").read_text()
    preloaded = set(re.findall(r'modulepreload" href="([^"]+)"', page)) | {"main.js"}
    modules = {str(path.relative_to(STATIC)) for path in STATIC.rglob("*.js")}
    assert preloaded == modules - {"vendor/parquet.js"}


def test_modules_of_the_kinds_that_are_shown_are_preloaded_too(site: Site, built: Path) -> None:
    for shown, kinds in ((site, {"architectures", "condensed"}), (Site(built), {"architectures"})):
        page = shown.read("index.html").body.decode()
        linked = set(re.findall(r'<link rel="[a-z]+" href="(kinds/[^"]+)"', page))
        assert linked == {path for path in shown.paths() if path.startswith("kinds/")}
        assert {path.split("/")[1] for path in linked} == kinds
        assert {f"kinds/{kind}/view.js" for kind in kinds} < linked


def test_the_explorer_names_no_kind() -> None:
    own = [*STATIC.glob("*"), *STATIC.parent.glob("*.py")]
    texts = {path.name: path.read_text() for path in own if path.is_file()}
    assert len(texts) > 30
    for name, text in texts.items():
        assert [
            kind for kind in kind_names() if re.search(rf"[\"'./]{kind}\b(?!\()", text)
        ] == [], name


def test_no_script_evaluates_text() -> None:
    for script in (*STATIC.rglob("*.js"), *PAGES):
        text = script.read_text()
        assert re.findall(r"\beval\(|\bnew Function\b|\bFunction\(", text) == [], script
    for script in (*STATIC.glob("*.js"), *PAGES):
        assert re.findall(r"innerHTML|insertAdjacentHTML|\.html\(", script.read_text()) == [], (
            script
        )


def test_every_vendored_package_has_its_licence() -> None:
    licences = (STATIC / "vendor" / "licences.txt").read_text()
    for script in (STATIC / "vendor").glob("*.js"):
        header = script.read_text().partition("\n")[0]
        packages = re.findall(r"(\S+ \d[\w.]*)(?=[,;])", header)
        assert packages, script
        for package in packages:
            assert f"{package} (" in licences
