"""A kind of another package, with a view and a script of its own, and no edit anywhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .running import ROOT
from .visiting import BROWSER_MARKS, Visit, hosting

pytestmark = BROWSER_MARKS

FILES = {
    "poems/__init__.py": '''
"""Poems, rated by their readers."""
from benchquery.explorer.view import KindFile, TableFiles, View
from benchquery.table.kind import TableKind
from benchquery.table.schema import Column

TABLE = TableKind(
    name="poems",
    one="poem",
    many="poems",
    columns=(
        Column("title", "string", "Its title."),
        Column("mood", "string", "Its mood."),
        Column("lines", "int32", "How long it is.", None, None, "lower"),
        Column("rating", "float64", "How it is liked.", None, None, "higher"),
    ),
    key=("title",),
    brief=("title", "mood", "rating"),
    expense="lines",
    view="poems:VIEW",
)
VIEW = View(
    facts=lambda: {"greeting": "Read"},
    files={
        "feet": KindFile(".json", lambda: b'["iamb"]'),
        "texts": TableFiles(
            ".json", iter, lambda table, title: f'["{title} is {table[title]["mood"]}"]'.encode()
        ),
    },
    page="poems:page",
)
''',
    "poems/page/view.js": """
import { loadFacts } from "../../data.js";
import { make } from "../../dom.js";
import { createView as createGenericView } from "../../generic_view.js";
import { shout } from "./shouting.js";

export function createView(kind, catalogue) {
  const generic = createGenericView(kind, catalogue);
  return {
    ...generic,
    details(shown, actions) {
      const { table } = shown.model;
      const said = make("p", { id: "poem" });
      Promise.all([
        loadFacts(["kinds", kind.name, "feet"]),
        loadFacts(["texts", table.name, table.keys[shown.row]]),
      ]).then(([[foot], [text]]) => {
        said.textContent = shout(`${kind.facts.greeting}: ${text}, ${foot}`);
      });
      return [...generic.details(shown, actions), said];
    },
  };
}
""",
    "poems/page/shouting.js": """
export const shout = (text) => `${text}!`;
""",
    "poems/page/poems.css": "#poem { color: rgb(1, 2, 3); }\n",
    "poems-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: poems\nVersion: 1.0\n",
    "poems-1.0.dist-info/entry_points.txt": "[graphtab.kinds]\npoems = poems:TABLE\n",
}
WRITE = """
import sys
from pathlib import Path
import numpy as np
from benchquery.cli import main
from benchquery.table.writer import new_table, write_table

tables, site = Path(sys.argv[1]), sys.argv[2]
with new_table(tables / "anthology") as stage:
    write_table(
        stage,
        {
            "title": np.array(["Dawn & Dusk", "50% Rain", "Stone"], dtype=object),
            "mood": np.array(["glad", "sad", "glad"], dtype=object),
            "lines": np.array([14, 20, 8], np.int32),
            "rating": np.array([4.5, 4.0, 3.0]),
        },
        name="readers", space="all", origin="synthetic", metric="stars", source={},
        licence="CC0-1.0", kind="poems",
    )
sys.exit(main(["explore", "--export", site, "--source", str(tables)]))
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The page with a table of poems, on a plain server."""
    for name, text in FILES.items():
        path = tmp_path / "packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    places = os.pathsep.join([str(tmp_path / "packages"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", WRITE, str(tmp_path / "tables"), str(tmp_path / "site")],
        env=os.environ | {"PYTHONPATH": places}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    with hosting(tmp_path / "site") as address:
        yield address


def test_a_kind_of_another_package_brings_its_own_view(browser: Any, address: str) -> None:
    visit = Visit(browser)
    visit.open(address)
    page = visit.page
    assert visit.status() == "3 of 3 poems · 2 on the front"
    assert page.title().startswith("anthology: rating by lines")
    assert page.locator("#table optgroup").get_attribute("label") == "Poems"
    page.wait_for_function("() => document.querySelector('#poem').textContent")
    assert page.inner_text("#poem") == "Read: Dawn & Dusk is glad, iamb!"
    assert page.locator("#poem").evaluate("(p) => getComputedStyle(p).color") == "rgb(1, 2, 3)"
    page.click("[data-key=mood-glad]")
    assert visit.status() == "1 of 3 poems · 1 on the front"
    page.wait_for_function(
        "(text) => document.querySelector('#poem').textContent === text",
        arg="Read: 50% Rain is sad, iamb!",
    )
    page.wait_for_load_state("networkidle")
    visit.check(address)
    page.close()
