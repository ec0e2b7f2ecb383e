"""The wheel alone is a working tool: it creates, fills and upgrades a database from any folder."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
from pathlib import Path
from textwrap import indent
from zipfile import ZipFile

import pytest

from abistore.mcp.resources import PAGES
from tests.build import build_library
from tests.cli.commands import commands
from tests.interface.test_python_page import blocks

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` folder of an empty environment with nothing but the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT], check=True, capture_output=True
    )
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv")
    scripts = folder / "venv" / "bin"
    pip = [sys.executable, "-m", "pip", "--python", scripts / "python", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-q", wheel], check=True)
    return scripts


def test_an_installed_wheel_ingests_and_upgrades_from_another_folder(installed: Path, tmp_path: Path) -> None:
    library = build_library("int answer(void) { return 42; }\n")
    database = tmp_path / "abi.db"

    def run(*words: str | Path) -> dict[str, object]:
        done = subprocess.run(
            [installed / "abistore", *words, "--db", database, "--json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert isinstance(answer, dict)
        return answer

    run("ingest", library, "--version", "1.0")
    run("db", "upgrade")
    run("db", "check")
    assert "libcase" in json.dumps(run("list"))


def test_an_installed_wheel_reads_policies_and_suppressions(installed: Path, tmp_path: Path) -> None:
    old, new = (
        build_library(f"int answer(void) {{ return 42; }}\nint {name}(void) {{ return 1; }}\n") for name in "ab"
    )

    def code(*words: str | Path) -> int:
        return subprocess.run([installed / "abistore", *words], cwd=tmp_path, capture_output=True).returncode

    assert code("compare", old, new, "--policy", "sdk_vendor") == 4
    assert code("policy", "suppress", "suggest", old, new, "-o", "accepted.yml") == 0
    assert code("compare", old, new, "--suppress", "accepted.yml") == 64  # nobody has written the reasons
    accepted = tmp_path / "accepted.yml"
    accepted.write_text(re.sub(r"reason: (''|\"\")", "reason: agreed", accepted.read_text()))
    assert code("compare", old, new, "--suppress", "accepted.yml") == 0


def test_an_installed_wheel_explains_kinds_by_their_cases_and_draws_pages(installed: Path, tmp_path: Path) -> None:
    library = build_library("int answer(void) { return 42; }\n")

    def printed(*words: str | Path) -> str:
        done = subprocess.run([installed / "abistore", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "int drop(void) { return 2; }" in printed("explain", "func_removed")
    assert "prefers-color-scheme" in printed("compare", library, library, "--format", "html")


@pytest.mark.parametrize("folder", ["abistore/report/templates", "abistore/report/templates/site"])
def test_a_wheel_holds_what_pages_are_made_of(folder: str, installed: Path) -> None:
    (wheel,) = installed.parents[1].glob("*.whl")
    names = {name.rpartition("/")[2] for name in ZipFile(wheel).namelist() if name.rpartition("/")[0] == folder}
    assert names == {path.name for path in (ROOT / folder).iterdir() if path.is_file()}
    assert any(name.endswith(".html") for name in names)


def test_a_wheel_holds_the_pages_that_agents_read(installed: Path) -> None:
    (wheel,) = installed.parents[1].glob("*.whl")
    assert {f"abistore/docs/{file}" for file in PAGES.values()} <= set(ZipFile(wheel).namelist())


SHARED = {
    "man/man1/abistore.1": b".TH ABISTORE 1",
    "bash-completion/completions/abistore": b"complete -o nosort",
    "zsh/site-functions/_abistore": b"#compdef abistore",
    "fish/vendor_completions.d/abistore.fish": b"complete --no-files --command abistore",
}


@pytest.mark.parametrize("file", SHARED)
def test_an_installed_wheel_brings_a_manual_page_and_completions(installed: Path, file: str) -> None:
    assert SHARED[file] in (installed.parent / "share" / file).read_bytes()


def test_the_manual_page_is_rendered_without_a_warning_and_names_every_command(installed: Path) -> None:
    page = installed.parent / "share/man/man1/abistore.1"
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-P-c", page], capture_output=True, text=True, check=True, errors="replace"
    )
    assert done.stderr == ""
    printed = re.sub(".\b", "", done.stdout)  # bold letters are printed twice
    for words, _ in commands():
        assert f"abistore {' '.join(words)}" in printed


def test_a_script_that_uses_an_installed_wheel_passes_a_strict_type_checker(installed: Path, tmp_path: Path) -> None:
    code = "\n".join(
        f"def example_{number}() -> None:\n{indent(text, '    ')}" for number, text in enumerate(blocks("python"))
    )
    wrong = "from abistore import history\n\nfound: int = history('libfoo')\nfound.nothing()\n"
    for name, text in (("script.py", code), ("wrong.py", wrong)):
        (tmp_path / name).write_text(text)

    def checked(name: str) -> subprocess.CompletedProcess[str]:
        call = [sys.executable, "-m", "mypy", "--strict", "--python-executable", installed / "python", name]
        return subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)

    assert checked("script.py").stdout.startswith("Success"), checked("script.py").stdout
    assert 'expression has type "tuple[History, ...]"' in checked("wrong.py").stdout


def test_the_server_without_its_extra_says_how_to_install_it(installed: Path) -> None:
    done = subprocess.run([installed / "abistore-mcp"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(r"-m pip install '/\S+/abistore-\S+\.whl\[mcp\]'|uv pip install .*\.whl\[mcp\]'", done.stderr)
