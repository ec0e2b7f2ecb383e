"""Start-up is lean: what a command does not need is not imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from abistore.cli.main import COMMANDS, cli
from abistore.report.model import formats
from tests.cli.conftest import Call
from tests.subjects import assert_each

pytestmark = pytest.mark.full

PROBE = """
import json, sys
from abistore.cli.main import run
import os
code = run(json.loads(sys.argv[1]))
sys.stdout.flush()
sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
"""
STORE = {"sqlalchemy", "alembic", "packaging", "platformdirs"}
HEAVY = STORE | {"msgspec", "pydantic", "asyncio", "json", "sqlite3", "difflib", "hashlib", "ctypes", "concurrent"}


def imported(*words: str | Path) -> set[str]:
    """The modules that a call in its own process has imported when it ends."""
    call = [sys.executable, "-c", PROBE, json.dumps([str(word) for word in words])]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1])) - {"abistore._version"}  # one line, which a build writes


def roots(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_the_overview_imports_click_and_nothing_heavy(word: str) -> None:
    modules = imported(word)
    third_party = {
        name for name in roots(modules) - sys.stdlib_module_names - {"__main__"} if not name.startswith(("_", "sitec"))
    }
    assert third_party == {"abistore", "click"}
    own = {module for module in modules if module.startswith("abistore.")}
    rooms = ("cli", "cli.main", "cli.options", "errors")
    assert own == {f"abistore.{name}" for name in rooms}
    assert not roots(modules) & (HEAVY - {"json"})


def test_dump_does_not_import_what_only_the_store_and_the_rules_need(old: Path) -> None:
    modules = imported("export", old)
    assert not roots(modules) & STORE
    assert not {module for module in modules if module.startswith(("abistore.store", "abistore.diffing"))}


MOST_MODULES = 110
"""Of abistore, packages included. A few more are no matter, many are paid for by every call."""


def test_comparing_files_imports_no_more_modules_than_it_did(old: Path, new: Path) -> None:
    own = {module for module in imported("compare", old, new) if roots({module}) == {"abistore"}}
    assert len(own) <= MOST_MODULES, f"{len(own)} modules: import what serves a rare path where it is used"


def test_comparing_files_imports_the_rules_of_what_differs_and_no_others(old: Path, new: Path) -> None:
    rules = {module.rpartition(".")[2] for module in imported("compare", old, new) if ".diffing.rules." in module}
    assert "symbols" in rules
    assert not {name for name in rules if name.startswith("headers_")}
    assert "platforms" not in rules


def test_comparing_libraries_of_c_imports_nothing_of_cpp_names_and_tables(old: Path, new: Path) -> None:
    modules = imported("compare", old, new)
    assert not modules & {
        "abistore.extract.elf.class_tables",
        "abistore.model.names.grammar",
        "abistore.model.names.microsoft",
    }


def test_comparing_files_works_out_no_digests_of_them(old: Path, new: Path) -> None:
    assert "_hashlib" not in imported("compare", old, new)
    assert "_hashlib" in imported("export", old)


def test_comparing_files_does_not_import_the_store(old: Path, new: Path) -> None:
    modules = imported("compare", old, new)
    assert not roots(modules) & STORE
    assert not {module for module in modules if module.startswith("abistore.store")}


def test_comparing_without_a_policy_imports_nothing_of_policies_and_suppressions(
    old: Path, new: Path, tmp_path: Path
) -> None:
    ruling = tuple(f"abistore.diffing.{name}" for name in ("policy", "suppression", "policy_documents"))
    plain = imported("compare", old, new)
    assert "abistore.diffing.judge.judged" in plain
    assert not {module for module in plain if module.startswith(ruling)}
    assert not plain & {"abistore.report.formats.html", "pydantic", "yaml"}
    accepted = tmp_path / "accepted.yaml"
    accepted.write_text("suppressions:\n  - symbol: nothing\n    reason: none is called so\n")
    ruled = imported("compare", old, new, "--suppress", accepted)
    assert all(any(module.startswith(one) for module in ruled) for one in ruling)


@pytest.mark.parametrize("format", formats())
def test_only_html_imports_the_template_engine(format: str, old: Path, new: Path, tmp_path: Path) -> None:
    modules = imported("compare", old, new, "--format", format, "-o", tmp_path / "report")
    assert ("jinja2" in modules) is (format == "html")


def test_a_file_name_that_asks_for_another_format_does_not_import_the_template_engine(
    old: Path, new: Path, tmp_path: Path
) -> None:
    assert "jinja2" not in imported("compare", old, new, "-o", tmp_path / "report.xml")


def test_reading_the_store_does_not_import_the_migrations(process: Call, old: Path, database: Path) -> None:
    assert process("ingest", old, "--version", "1").code == 0
    modules = imported("list", "--db", database)
    assert "abistore.store.store" in modules
    assert not roots(modules) & {"alembic", "platformdirs", "psycopg"}
    assert not modules & {"asyncio.events", "email"}


def test_what_sqlalchemy_imports_and_seldom_uses_is_there_once_it_is_used() -> None:
    code = (
        "import abistore.store.store, asyncio, importlib.metadata, sys\n"
        "async def one(): return 1\n"
        "print('asyncio.events' in sys.modules, asyncio.run(one()), importlib.metadata.version('click') != '')\n"
        "import asyncio.events\n"
        "print(sys.modules['asyncio'] is asyncio, asyncio.iscoroutine(1))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "1", "True", "True", "False"]


def test_each_command_of_the_overview_is_one_and_has_help() -> None:
    def law(name: str) -> None:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert command.name == name
        assert command.help

    assert_each(sorted(COMMANDS), law)
