"""The package as users install it: complete, and light."""

from __future__ import annotations

import ast
import configparser
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OPTIONAL = ("torch", "pandas", "h5py", "matplotlib", "scipy", "sklearn", "pyarrow")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, not built in it: another test may do so at the same time."""
    folder, build = (tmp_path_factory.mktemp(name) for name in ("wheel", "build"))
    (build / "extra.cfg").write_text(f"[build]\nbuild_base = {build}\n")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "-w", folder, ROOT],
        env=os.environ | {"DIST_EXTRA_CONFIG": str(build / "extra.cfg")},
        check=True,
    )
    (path,) = folder.glob("graphtab-*.whl")
    return path


def test_the_wheel_holds_every_module_and_every_table_that_is_not_fetched(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    for package in ("benchquery", "benchbuild"):
        modules = {str(path.relative_to(ROOT)) for path in (ROOT / package).rglob("*.py")}
        assert modules <= inside
        assert f"{package}/py.typed" in inside
    page = {
        str(path.relative_to(ROOT))
        for ending in ("html", "js", "css")
        for path in (ROOT / "benchquery").rglob(f"*.{ending}")
    }
    assert len(page) > 30
    assert page <= inside
    metadata = configparser.ConfigParser()
    metadata.read(ROOT / "setup.cfg")
    left_out = metadata["options.exclude_package_data"]["benchquery.data"].split()
    data = [path.relative_to(ROOT) for path in (ROOT / "data").rglob("*.*")]
    fetched = {path for path in data if any(path.match(f"data/{one}") for one in left_out)}
    assert len(fetched) >= 3 * len(left_out)
    assert {f"benchquery/{path}" for path in data if path not in fetched} <= inside
    assert not {f"benchquery/{path}" for path in fetched} & inside


def test_the_wheel_is_small(wheel: Path) -> None:
    """What is larger is fetched: name it in setup.cfg under options.exclude_package_data."""
    assert wheel.stat().st_size < 15_000_000


def test_the_wheel_works_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = "import benchquery as b; print(b.__file__); print(b.lightread('cora')[61237]['perf'])"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / "site")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    home, perf = done.stdout.split()
    assert home.startswith(str(tmp_path))
    assert perf == "0.8046666666666668"


def test_a_look_up_imports_nothing_heavy() -> None:
    code = (
        "import sys; from benchquery import Arch, SPACES, lightread; bench = lightread('cora');"
        "bench[Arch([0, 1, 2, 1], ['gcn', 'gin', 'fc', 'cheb'])]; bench.top(3); bench.pareto();"
        "bench.where('depth == 2'); SPACES['full'].sample(3, seed=0);"
        f"print([name for name in {OPTIONAL} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("blocked", "code", "hint"),
    [
        ("pandas", "lightread('cora').frame()", "graphtab[pandas]"),
        ("matplotlib", "lightread('cora').plot.pareto()", "graphtab[plot]"),
    ],
)  # fmt: skip
def test_missing_packages_give_an_install_hint(blocked: str, code: str, hint: str) -> None:
    program = (
        f"import sys; sys.modules[{blocked!r}] = None;from benchquery import lightread; {code}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 1
    assert f"pip install '{hint}'" in done.stderr


def test_benchquery_never_imports_benchbuild_or_torch() -> None:
    for path in (ROOT / "benchquery").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not {name.partition(".")[0] for name in names} & {"torch", "benchbuild"}, path
