"""Tables fetched from a real server on this machine: cut off, damaged, hostile, killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import benchquery
from benchbuild.publishing import write_registry
from benchquery.cli import main
from benchquery.errors import BenchQueryError, FetchError, QueryError, TableNotFoundError
from benchquery.remote import fetch, offers
from benchquery.table.manifest import describe_file
from benchquery.table.offers import REGISTRY, parse_registry
from benchquery.table.sealed import seal
from benchquery.table.store import BUNDLED
from tests.mirror import Mirror, serving

GOLDEN = Path(__file__).parent.parent / "data" / "tables-v1"
NAME = "karate-condensed"


@pytest.fixture
def offered(tmp_path: Path) -> Path:
    """A folder of tables with its registry."""
    folder = tmp_path / "offered"
    shutil.copytree(GOLDEN, folder)
    write_registry(folder)
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "graphtab" / "tables"


def registry_of(mirror: Mirror) -> str:
    return f"{mirror.address}/{REGISTRY}"


def same_files(one: Path, other: Path) -> bool:
    names = sorted(path.name for path in one.iterdir())
    return names == sorted(path.name for path in other.iterdir()) and all(
        (one / name).read_bytes() == (other / name).read_bytes() for name in names
    )


def test_a_table_comes_whole_and_opens_by_its_name_without_the_network(
    offered: Path, cache: Path
) -> None:
    with serving(offered) as mirror:
        done = fetch(NAME, registry_of(mirror))
    assert done.new
    assert done.path == cache / NAME
    assert same_files(done.path, offered / NAME)
    assert len(benchquery.open(NAME)) == len(benchquery.open(offered / NAME))


def test_what_is_there_in_the_offered_version_is_not_brought_again(offered: Path) -> None:
    with serving(offered) as mirror:
        fetch(NAME, registry_of(mirror))
        asked = len(mirror.asked)
        assert not fetch(NAME, registry_of(mirror)).new
        assert {path for path, _ in mirror.asked[asked:]} == {f"/{REGISTRY}"}


def test_a_new_version_takes_the_place_of_the_old(offered: Path) -> None:
    with serving(offered) as mirror:
        fetch(NAME, registry_of(mirror))
        shutil.rmtree(offered / NAME)
        shutil.copytree(offered / "karate", offered / NAME)
        assert write_registry(offered).offers[NAME].version == "2"
        assert fetch(NAME, registry_of(mirror)).new
    assert benchquery.open(NAME).kind.name == "architectures"


@pytest.mark.parametrize("ranges", [True, False])
def test_cut_connections_go_on_where_they_were(offered: Path, cache: Path, ranges: bool) -> None:
    with serving(offered, ranges=ranges, cuts=[100, 500, 1_000]) as mirror:
        fetch(NAME, registry_of(mirror))
        assert same_files(cache / NAME, offered / NAME)
        assert "bytes=100-" in [asked for _, asked in mirror.asked]


def test_a_mirror_that_always_cuts_gives_way_to_the_next_which_goes_on(
    offered: Path, cache: Path
) -> None:
    with (
        serving(offered, cuts=[100] + [0] * 50) as bad,
        serving(offered) as good,
    ):
        fetch(NAME, offered, mirrors=[bad.address, good.address])
        assert "bytes=100-" in [asked for _, asked in good.asked]
    assert same_files(cache / NAME, offered / NAME)


def test_wrong_bytes_are_thrown_away_and_the_next_mirror_is_asked(
    offered: Path, cache: Path
) -> None:
    with serving(offered, wrong={"graphs.h5"}) as bad, serving(offered) as good:
        with pytest.raises(FetchError, match=r"graphs\.h5 can't be had.*other bytes"):
            fetch(NAME, registry_of(bad))
        assert not (cache / NAME).exists()
        fetch(NAME, registry_of(bad), mirrors=[good.address])
    assert same_files(cache / NAME, offered / NAME)


def test_a_mirror_that_begins_with_wrong_bytes_does_not_spoil_the_next(
    offered: Path, cache: Path
) -> None:
    copy = offered.parent / "copy"
    shutil.copytree(offered, copy)
    for file in (copy / NAME).iterdir():
        file.write_bytes(bytes(len(file.read_bytes())))
    with serving(copy, cuts=[50] * 1_000) as bad, serving(offered) as good:
        fetch(NAME, offered, mirrors=[bad.address, good.address])
    assert same_files(cache / NAME, offered / NAME)


def test_a_mirror_that_goes_forth_and_back_is_given_up(offered: Path) -> None:
    with (
        serving(offered, ranges=False, cuts=[10, 5] * 1_000) as mirror,
        pytest.raises(FetchError, match="it ends after 10 of"),
    ):
        fetch(NAME, registry_of(mirror))


@pytest.mark.parametrize("ending", ["part", "lock"])
def test_links_and_pipes_among_the_parts_are_not_followed(
    ending: str, offered: Path, cache: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("mine")
    (cache / ".parts").mkdir(parents=True)
    manifest, *others = (describe_file(path).sha256 for path in (offered / NAME).iterdir())
    os.mkfifo(cache / ".parts" / f"{manifest}.{ending}")
    for digest in others:
        (cache / ".parts" / f"{digest}.{ending}").symlink_to(tmp_path / "mine")
    fetch(NAME, offered)
    assert same_files(cache / NAME, offered / NAME)
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_table_of_another_size_than_is_offered_is_refused(offered: Path) -> None:
    body = json.loads((offered / REGISTRY).read_text())
    del body["sha256"]
    for table in body["tables"]:
        table["bytes"] = 1
    (offered / REGISTRY).write_text(seal(body))
    with pytest.raises(FetchError, match="offered were 1"):
        fetch(NAME, offered)


def test_places_that_can_t_be_written_are_named(offered: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for to in (tmp_path / "file", tmp_path / "file" / "x", tmp_path / ("x" * 300), "a\0b"):
        with pytest.raises(FetchError, match="can't put 'karate-condensed' into"):
            fetch(NAME, offered, to=to)
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / NAME).symlink_to("nowhere")
    with pytest.raises(QueryError, match="is no table, so it is not replaced"):
        fetch(NAME, offered, to=tmp_path / "to")
    for registry in ("x" * 5_000, "a\0b", "http://["):
        with pytest.raises(FetchError, match="can't be read"):
            offers(registry)


def test_files_that_are_too_long_or_too_short_are_refused(offered: Path) -> None:
    for change in (lambda content: content + b"x", lambda content: content[:-1]):
        copy = offered.parent / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(offered, copy)
        file = copy / NAME / "summary.parquet"
        file.write_bytes(change(file.read_bytes()))
        with serving(copy) as mirror, pytest.raises(FetchError, match=r"summary\.parquet"):
            fetch(NAME, registry_of(mirror))


def test_a_killed_fetch_goes_on(offered: Path, cache: Path) -> None:
    """The process is killed while the server keeps it waiting."""
    big = offered / NAME / "graphs.h5"
    with serving(offered, cuts=[10**9, len(big.read_bytes()) // 2]) as mirror:
        code = f"import benchquery; benchquery.fetch({NAME!r}, {registry_of(mirror)!r})"
        process = subprocess.Popen([sys.executable, "-c", code])
        while not list(cache.glob(".parts/*.part")):
            assert process.poll() in (None, 0)
            if process.poll() == 0:
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with serving(offered) as mirror:
        fetch(NAME, registry_of(mirror))
    assert same_files(cache / NAME, offered / NAME)
    assert not list(cache.glob(".*.stage"))


def test_nothing_but_http_is_followed(offered: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("{}")
    with (
        serving(offered, sent_on=secret.as_uri()) as mirror,
        pytest.raises(FetchError, match="can't be read"),
    ):
        offers(registry_of(mirror))
    with pytest.raises(FetchError, match="none of: http, https, file"):
        fetch(NAME, offered, mirrors=["ftp://example.org"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "../escape"), ("name", "a/b"), ("name", ""), ("name", 3), ("version", None),
        ("rows", -1), ("bytes", 2**80), ("bytes", True), ("manifest", {"bytes": 1}),
        ("manifest", {"bytes": 1, "sha256": "x"}), ("kind", "a\nb"),
    ],
)  # fmt: skip
def test_hostile_registries_are_refused(offered: Path, field: str, value: object) -> None:
    body = json.loads((offered / REGISTRY).read_text())
    del body["sha256"]
    body["tables"][0][field] = value
    (offered / REGISTRY).write_text(seal(body))
    with pytest.raises(FetchError, match="is no registry of tables"):
        offers(offered)


def test_every_flipped_bit_of_a_registry_is_noticed(offered: Path) -> None:
    content = (offered / REGISTRY).read_bytes()
    whole = parse_registry(content)
    for place in range(0, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        try:
            assert parse_registry(bytes(changed)) == whole  # a space is as good as a line's end
        except ValueError:
            continue


def test_a_linked_or_missing_local_file_is_refused(offered: Path) -> None:
    summary = offered / NAME / "summary.parquet"
    summary.rename(offered / "elsewhere")
    with pytest.raises(FetchError, match="No such file"):
        fetch(NAME, offered)
    summary.symlink_to(offered / "elsewhere")
    with pytest.raises(FetchError, match="no regular file"):
        fetch(NAME, offered)


def test_an_unknown_table_is_named_with_those_that_are_offered(offered: Path) -> None:
    with pytest.raises(FetchError, match=r"'karate-condenst'.*karate-weights"):
        fetch("karate-condenst", offered)


def test_a_table_that_is_offered_and_not_here_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small installation: the registry is there, one of its tables is not."""
    small = tmp_path / "small"
    shutil.copytree(BUNDLED / "cora", small / "cora")
    shutil.copy(BUNDLED / REGISTRY, small)
    monkeypatch.setattr("benchquery.table.store.BUNDLED", small)
    with pytest.raises(TableNotFoundError, match=r"benchquery\.fetch\('cora-condensed'\)"):
        benchquery.open("Cora-Condensed")
    with pytest.raises(BenchQueryError, match=r"to be had by benchquery fetch: .*cora-condensed"):
        benchquery.condread("cora")


def test_the_bundled_registry_offers_every_bundled_table_as_it_is(tmp_path: Path) -> None:
    """Write it anew with ``benchbuild registry data`` when a table has changed."""
    copy = tmp_path / "data"
    copy.mkdir()
    for folder in BUNDLED.iterdir():
        if folder.is_dir():
            (copy / folder.name).symlink_to(folder)
    shutil.copy(BUNDLED / REGISTRY, copy)
    assert write_registry(copy) == parse_registry((BUNDLED / REGISTRY).read_bytes())


def test_the_command_lists_and_fetches(
    offered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch", "--registry", str(offered), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in listed] == ["karate", "karate-condensed", "karate-weights"]
    to = str(tmp_path / "there")
    assert main(["fetch", NAME, "karate", "--registry", str(offered), "--to", to]) == 0
    assert main(["fetch", NAME, "--registry", str(offered), "--to", to]) == 0
    assert "is here already" in capsys.readouterr().out.splitlines()[-1]
    assert main(["fetch", "nothing", "--registry", str(offered)]) == 2
    assert main(["fetch", "--registry", str(tmp_path / "nowhere")]) == 2
