"""What ``import abistore`` offers: the verbs of the command line, records, and errors."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from enum import Enum
from inspect import isclass, isfunction
from pathlib import Path
from typing import Any

import msgspec
import pytest

import abistore
from abistore.errors import AbistoreError
from abistore.store.store import Store
from tests.build import build_library

pytestmark = pytest.mark.fast

COMMANDS = Path(abistore.__file__).parent / "cli" / "commands"
FIRST = "struct point { int x, y; };\nint norm(const struct point *p) { return p->x; }\n"
SECOND = FIRST.replace("int x, y", "int x, z, y")

FOR_TEXT = {"by_kind", "established", "standing_note", "strangers"}
"""What only the command line needs of the service: lists for its own texts and notes."""

NO_RECORDS = {"OpenStore"}
"""An open store."""


def called_by_commands() -> Iterator[str]:
    """The functions of the service, and of archives, that commands import."""
    rooms = ("abistore.service", "abistore.archive")
    for path in COMMANDS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(rooms):
                yield from (alias.name for alias in node.names if alias.name.islower())


def test_the_interface_offers_every_verb_of_the_command_line() -> None:
    assert set(called_by_commands()) - FOR_TEXT <= set(abistore.__all__)


def test_results_are_records_of_one_kind() -> None:
    classes = [found for name in abistore.__all__ if isclass(found := getattr(abistore, name))]
    others = {found.__name__ for found in classes if not issubclass(found, msgspec.Struct | Enum | AbistoreError)}
    assert others == NO_RECORDS
    assert all(found.__struct_config__.frozen for found in classes if issubclass(found, msgspec.Struct))


def test_every_name_says_what_it_is() -> None:
    for name in abistore.__all__:
        found = getattr(abistore, name)
        assert isclass(found) or isfunction(found), name
        assert found.__doc__ and not found.__doc__.startswith(f"{name}("), name


def test_every_error_is_offered() -> None:
    def kinds(error: type[AbistoreError]) -> Iterator[str]:
        yield error.__name__
        for kind in error.__subclasses__():
            yield from kinds(kind)

    own = {name for name in kinds(AbistoreError) if hasattr(sys.modules["abistore.errors"], name)}
    assert own <= set(abistore.__all__)


def test_importing_the_package_imports_no_verb() -> None:
    code = "import sys, abistore; print(*sorted(name for name in sys.modules if name.startswith('abistore')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - {"abistore._version"} == {"abistore"}


def test_the_verbs_of_files_import_no_database() -> None:
    code = "import sys, abistore; abistore.compare; print('sqlalchemy' in sys.modules, 'abistore.store' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_package_is_imported_beside_the_verbs() -> None:
    code = "import abistore, abistore.diffing.context as context; assert context.load;"
    code += "from abistore import compare; assert compare is abistore.compare; print(compare.__module__)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "abistore.service.comparing"


def test_an_unknown_name_is_an_attribute_error() -> None:
    unknown = "nothing"
    with pytest.raises(AttributeError, match="module 'abistore' has no attribute 'nothing'"):
        getattr(abistore, unknown)
    assert not hasattr(abistore, "__wrapped__")
    assert set(abistore.__all__) < set(dir(abistore))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Every opening of a database: whether it was to write."""
    calls: list[bool] = []
    real = Store.open

    def counted(*positional: Any, **named: Any) -> Store:
        calls.append(named["write"])
        return real(*positional, **named)

    monkeypatch.setattr(Store, "open", counted)
    return calls


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "abi.db"
    first, second = (build_library(source, soname="libfoo.so.1", name="libfoo.so") for source in (FIRST, SECOND))
    abistore.ingest(first, abistore.IngestPlan(version="1.0", gate=abistore.Gate(channel="release")), database=path)
    abistore.ingest(str(second), abistore.IngestPlan(version="1.1"), database=path)
    return path


def test_an_open_store_serves_many_calls_with_one_connection_to_read_and_one_to_write(
    database: Path, opened: list[bool]
) -> None:
    with abistore.open_store(database) as store:
        for _ in range(3):
            assert [len(one.rows) for one in abistore.history("libfoo", database=store)] == [2]
            assert abistore.verdict("libfoo@1.1", database=store).report.verdict == "BREAKING"
            assert [move.version for move in abistore.baselines(database=store)] == ["1.0"]
            assert len(abistore.log("point", database=store)) == 2
        abistore.set_baseline("libfoo@1.1", database=store)
        assert [move.version for move in abistore.baselines(database=store)] == ["1.1"]
        assert abistore.db_stats(database=store).releases == 2
    assert sorted(opened) == [False, True]


def test_opening_a_store_that_is_not_there_is_an_error_unless_it_may_be_created(tmp_path: Path) -> None:
    with pytest.raises(abistore.StoreError):
        abistore.open_store(tmp_path / "none.db")
    with abistore.open_store(tmp_path / "new.db", create=True) as store:
        assert abistore.lines(database=store) == ()


def test_a_path_is_a_file_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(abistore.InputError, match=r"libfoo@1\.0"):
        abistore.compare(Path("libfoo@1.0"), "libfoo@1.1", database=database)
    assert abistore.compare("libfoo@1.0", "libfoo@1.1", database=database).exit_code == 4


def test_a_verdict_is_printed_by_its_name() -> None:
    assert (str(abistore.Verdict.API_BREAK), f"{abistore.Verdict.BREAKING:>9}", int(abistore.Verdict.BREAKING)) == (
        "API_BREAK",
        " BREAKING",
        4,
    )
