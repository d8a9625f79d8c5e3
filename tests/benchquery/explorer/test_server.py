"""The server: answers, refusals, and many requests at once."""

# ruff: noqa: E402 (the packages of the server are looked for before they are imported)

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the explorer's server needs graphtab[web]")
httpx2 = pytest.importorskip("httpx2", reason="the tests of the server need httpx2")

from starlette.testclient import TestClient

from benchquery.cli import main
from benchquery.explorer import Site
from benchquery.explorer.app import create_app
from benchquery.explorer.guard import LONGEST_ADDRESS

from .running import ROOT, running_explorer

HOST = "127.0.0.1:8765"
AT_ONCE = 200


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(create_app(Site()), base_url=f"http://{HOST}")


@pytest.fixture(scope="module")
def running() -> Iterator[str]:
    with running_explorer() as url:
        yield url


# ---------------------------------------------------------------- answers


def test_the_page_and_its_parts_are_served(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.text == client.get("/index.html").text
    for path in ("main.js", "theme.css", "vendor/d3.js", "icon.svg", "data/catalogue.json"):
        assert client.get(f"/{path}").status_code == 200
    assert client.get("/main.js").headers["content-type"] == "text/javascript; charset=utf-8"
    assert client.head("/").status_code == 200
    assert client.head("/").content == b""


def test_every_answer_carries_the_protecting_headers(client: TestClient) -> None:
    for path in ("/", "/data/catalogue.json", "/nope"):
        headers = client.get(path).headers
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert not any(name.startswith("access-control-") for name in headers)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/data/tables/nope.arrow.gz", "no table 'nope'; there are: acm-condensed, arxiv"),
        ("/data/curves/cora/0.arrow.gz", "no learning curves"),
        ("/nope", "nothing at '/nope'"),
        ("/docs", "nothing at"),
        ("/openapi.json", "nothing at"),
        ("/data/tables/%00.arrow.gz", "no table"),
        ("/%2e%2e/%2e%2e/etc/passwd", "nothing at"),
        ("//etc/passwd", "nothing at"),
        ("/data/tables/..%2f..%2fmanifest.json", "nothing at"),
    ],
)
def test_what_is_not_there_is_a_404_in_json(client: TestClient, path: str, named: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert named in answer.json()["error"]


def test_over_long_addresses_are_refused(client: TestClient) -> None:
    for path in (f"/?{'x' * LONGEST_ADDRESS}", f"/{'x' * LONGEST_ADDRESS}"):
        answer = client.get(path)
        assert answer.status_code == 414
        assert f"{LONGEST_ADDRESS:,}" in answer.json()["error"]
    assert client.get(f"/?{'x' * 100}").status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(client: TestClient, method: str) -> None:
    answer = client.request(method, "/data/catalogue.json")
    assert answer.status_code == 405
    assert "GET" in answer.json()["error"]


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "192.168.0.7", "", "[::2]:1"],
)
def test_other_hosts_are_refused(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 400
    assert "host" in answer.json()["error"]


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1", "127.0.0.1", "[::1]:8765", "LOCALHOST"]
)
def test_names_of_the_loopback_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


def test_an_open_server_answers_for_numbers_and_its_own_name_only() -> None:
    client = TestClient(create_app(Site(), "0.0.0.0"))
    for host in ("192.168.0.7:8765", socket.gethostname(), "localhost", "[2001:db8::1]"):
        assert client.get("/", headers={"host": host}).status_code == 200
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://localhost:9999"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"},
    ],
)
def test_other_origins_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.get("/data/catalogue.json", headers=headers)
    assert answer.status_code == 403
    assert "other sites" in answer.json()["error"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": f"http://{HOST}"},
        {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"},
        {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    ],
)
def test_the_page_and_links_to_it_are_answered(client: TestClient, headers: dict[str, str]) -> None:
    assert client.get("/", headers=headers).status_code == 200


def test_a_damaged_table_is_named(built: Path) -> None:
    client = TestClient(create_app(Site(built)), base_url=f"http://{HOST}")
    (built / "summary.parquet").write_bytes(b"damaged")
    answer = client.get("/data/tables/toy.arrow.gz")
    assert answer.status_code == 500
    assert "summary.parquet has 7 bytes" in answer.json()["error"]


# ---------------------------------------------------------------- a real server


@pytest.mark.slow
def test_many_requests_at_once_are_all_answered(running: str) -> None:
    paths = {
        "": 200, "data/catalogue.json": 200, "data/kinds/architectures/forms.arrow.gz": 200,
        "data/tables/cora.arrow.gz": 200, "data/tables/arxiv.arrow.gz": 200,
        "data/comparisons/cora/cs.json": 200, "data/tables/nope.arrow.gz": 404,
        f"?{'x' * 3000}": 414,
    }  # fmt: skip

    async def ask_all() -> Counter[tuple[int, int]]:
        limits = httpx2.Limits(max_connections=AT_ONCE)
        async with httpx2.AsyncClient(base_url=running, limits=limits, timeout=60) as client:
            wanted = [path for path, _ in zip(_cycle(paths), range(AT_ONCE), strict=False)]
            answers = await asyncio.gather(*(client.get(path) for path in wanted))
        pairs = zip(wanted, answers, strict=True)
        return Counter((paths[path], answer.status_code) for path, answer in pairs)

    for _ in range(2):
        counts = asyncio.run(ask_all())
        assert sum(counts.values()) == AT_ONCE
        assert all(expected == got for expected, got in counts), counts
    assert httpx2.get(running).status_code == 200


def _cycle(paths: dict[str, int]) -> Iterator[str]:
    while True:
        yield from paths


@pytest.mark.parametrize(
    "request_line",
    [
        b"GET /../../../../etc/passwd HTTP/1.1",
        b"GET /data/tables/../../manifest.json HTTP/1.1",
        b"GET http://evil.example/ HTTP/1.1",
        b"GET /%ff%fe HTTP/1.1",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1",
        b"\x16\x03\x01 nonsense",
    ],
    ids=lambda line: line[:30].decode("latin-1"),
)
def test_raw_tricks_are_refused_and_harm_nothing(running: str, request_line: bytes) -> None:
    address = urllib.parse.urlsplit(running)
    head = request_line + f"\r\nHost: {address.netloc}\r\nConnection: close\r\n\r\n".encode()
    answer = b""
    place = "127.0.0.1", address.port or 0
    with contextlib.suppress(ConnectionError), socket.create_connection(place, timeout=10) as link:
        link.sendall(head)  # who sends too much is cut off
        while chunk := link.recv(65536):
            answer += chunk
    status = int(answer.split()[1]) if answer else 400
    assert status in {200, 400, 404, 414}
    assert b"root:" not in answer
    assert (status == 200) == (b"GraphTab explorer" in answer)
    assert httpx2.get(running).status_code == 200


def start(*args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "benchquery", "explore", "--no-browser", "--port", "0", *args],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_the_command_says_where_the_page_is_and_ends_quietly() -> None:
    with start() as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        url = line.split()[4]
        assert line == f"the explorer is at {url} (end it with Ctrl+C)\n"
        assert httpx2.get(url).status_code == 200
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert errors == ""


def test_only_the_loopback_address_listens_by_default(running: str) -> None:
    port = urllib.parse.urlsplit(running).port or 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=5)


# ---------------------------------------------------------------- bad input


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["explore", "--help"])
    assert "example: benchquery explore" in capsys.readouterr().out


def refused(args: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    try:
        code = main(["explore", "--no-browser", *args])
    except SystemExit as stopped:
        code = stopped.code  # type: ignore[assignment]
    output = capsys.readouterr()
    assert code == 2
    assert output.out == ""
    (line,) = output.err.splitlines()
    return line


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["--port", "70000"], "'70000'"),
        (["--port", "-1"], "-1"),
        (["--port", "http"], "'http'"),
        (["--host", "no such host"], "no such host"),
        (["--host", "203.0.113.7"], "203.0.113.7"),
        (["--source", "nowhere"], "nowhere"),
        (["--export", "tests"], "tests exists already"),
        (["--export", "README.md"], "README.md exists already"),
        (["--export", "README.md/site"], "README.md"),
        (["--export", "/proc/site"], "/proc/site"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_one_line_and_exit_code_2(
    args: list[str], named: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert named in refused(args, capsys)


def test_the_logging_of_other_packages_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    closed = []

    class Handler(logging.Handler):
        def close(self) -> None:
            closed.append(self)
            super().close()

    handler = Handler()
    refused(["--host", "no such host"], capsys)
    assert closed == []
    handler.close()


def test_a_port_in_use_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"port {port} of 127.0.0.1 is in use" in refused(["--port", str(port)], capsys)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may use every port")
def test_a_privileged_port_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "port 80 of 127.0.0.1" in refused(["--port", "80"], capsys)


def test_the_export_says_what_it_wrote(
    capsys: pytest.CaptureFixture[str], built: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    assert main(["explore", "--export", str(folder), "--source", str(built), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    files = sum(path.is_file() for path in folder.rglob("*"))
    assert said == {"path": str(folder), "tables": 1, "files": files}


@pytest.mark.parametrize("blocked", ["starlette", "uvicorn"])
def test_a_missing_package_gives_an_install_hint(blocked: str) -> None:
    program = (
        f"import sys; sys.modules[{blocked!r}] = None; from benchquery.cli import main;"
        "sys.exit(main(['explore', '--no-browser', '--port', '0']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 2
    assert "pip install 'graphtab[web]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_export_needs_no_server_packages(built: Path, tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['starlette'] = sys.modules['uvicorn'] = None;"
        "from benchquery.cli import main;"
        f"sys.exit(main(['explore', '--export', {str(tmp_path / 'site')!r},"
        f" '--source', {str(built)!r}]))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)
    assert (tmp_path / "site" / "index.html").is_file()
