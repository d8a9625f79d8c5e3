"""The server for agents, asked by the protocol's own client."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

import benchquery
from benchquery.adapters.mcp import make_server
from benchquery.table.store import BUNDLED

HASH = {"hash": "61237"}


def ask(tool: str, server: Any = None, **arguments: Any) -> Any:
    """Call a tool through a client and return what it answers, or the text of its error."""

    async def call() -> Any:
        async with Client(server or make_server()) as client:
            result = await client.call_tool(tool, arguments)
            if result.is_error:
                return result.content[0].text
            found = result.structured_content
            return found["result"] if set(found) == {"result"} else found

    return anyio.run(call)


def test_every_tool_says_that_it_only_reads() -> None:
    async def listed() -> Any:
        async with Client(make_server()) as client:
            return (await client.list_tools()).tools

    tools = anyio.run(listed)
    assert len(tools) == 7
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)


def test_a_look_up_is_what_the_table_says() -> None:
    bench = benchquery.lightread("cora")
    found = ask("look_up", table="cora", values=HASH)
    assert found["perf"] == bench[61237]["perf"]
    assert found["rank"] == bench.rank(61237)
    same = ask("look_up", table="cora", values={"link": "0,1,2,1", "ops": "gcn,gin,fc,cheb"})
    assert same == found


def test_lists_and_conditions_are_those_of_the_table() -> None:
    bench = benchquery.lightread("cora")
    quick = ["latency < 0.002", "gat == 0"]
    best = ask("top", table="cora", k=3, conditions=quick)
    assert [row["hash"] for row in best] == list(bench.where(*quick).top(3))
    counted = ask("where", table="cora", conditions=quick, limit=2)
    assert counted["rows_in_all"] == bench.where(*quick).num_rows
    assert len(counted["rows"]) == 2
    side_by_side = ask("compare", table="cora", rows=[HASH, {"hash": str(best[0]["hash"])}])
    assert [row["rank"] for row in side_by_side] == [bench.rank(61237), bench.rank(best[0]["hash"])]
    assert ask("regret", table="cora", values=HASH)["regret"] == bench.regret(61237)


def test_tables_are_listed_and_described() -> None:
    names = {row["name"] for row in ask("list_tables")}
    assert names == {info.name for info in benchquery.tables()}
    about = ask("describe_table", table="cora")
    assert about["ranked_by"] == "valid_perf"
    assert {"name": "latency", "unit": "s"}.items() <= next(
        column for column in about["columns"] if column["name"] == "latency"
    ).items()


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("look_up", {"table": "nowhere", "values": HASH}, "no table 'nowhere'"),
        ("look_up", {"table": "/etc/passwd", "values": HASH}, "is no name of a table"),
        ("look_up", {"table": "cora", "values": {"hash": "99999999"}}, "99999999"),
        ("look_up", {"table": "cora", "values": {"hash": "9" * 5_000}}, "name an architecture"),
        ("look_up", {"table": "cora", "values": {"self": "1"}}, "given: --self 1"),
        ("regret", {"table": "cora-condensed", "values": {"self": "1"}}, "unknown column 'self'"),
        ("top", {"table": "cora", "k": 10**6}, "allowed are 1 to 100"),
        ("where", {"table": "cora", "conditions": ["__import__('os')"]}, "__import__"),
    ],
)
def test_bad_questions_are_answered_in_words(
    tool: str, arguments: dict[str, Any], said: str
) -> None:
    answer = ask(tool, **arguments)
    assert isinstance(answer, str)
    assert said in answer


def test_a_name_leads_to_no_other_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not to the folder above a source, to a hidden one, or to a file where the server runs."""
    for place in (".", "source/.hidden"):
        shutil.copytree(BUNDLED / "cora-built", tmp_path / place, dirs_exist_ok=True)
    (tmp_path / "cells.pickle.pbz2").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHTAB_TABLES", str(tmp_path / "source"))
    for name in ("..", ".", ".hidden", "cells.pickle.pbz2"):
        assert f"there is no table '{name}'" in ask("describe_table", table=name)


def test_the_command_speaks_the_protocol() -> None:
    command = StdioServerParameters(command=sys.executable, args=["-m", "benchquery", "mcp"])
    assert json.loads(json.dumps(ask("regret", command, table="cora", values=HASH)))["rank"] == 8582


def test_without_a_stream_to_speak_over_it_says_so() -> None:
    command = f"{shlex.quote(sys.executable)} -m benchquery mcp <&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
