"""Running the command line in this process and in its own, on small real libraries."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from abistore.cli.main import run
from tests.build import NARROW, build_library
from tests.warm import starting

OLD = """
struct point { int x, y; };
int norm(const struct point *p) { return p->x + p->y; }
int gone(void) { return 1; }
"""
NEW = """
struct point { int x, y, z; };
int norm(const struct point *p) { return p->x + p->y; }
int fresh(int a) { return a; }
"""
ADDED = OLD + "int fresh(int a) { return a; }\n"


@dataclass(frozen=True)
class Done:
    """What a call printed and returned."""

    code: int
    out: str
    err: str

    @property
    def envelope(self) -> dict[str, Any]:
        """The one object that was printed, which says what the process does."""
        answer = json.loads(self.out)
        assert isinstance(answer, dict)
        assert answer["exit_code"] == self.code
        return answer

    @property
    def json(self) -> dict[str, Any]:
        """What the answer is about."""
        data = self.envelope["data"]
        assert isinstance(data, dict)
        return data

    @property
    def error(self) -> dict[str, str]:
        error = self.envelope["error"]
        assert isinstance(error, dict)
        return error


Call = Callable[..., Done]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    colours = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE")
    for name in ("COLUMNS", "ABISTORE_DB", "ABISTORE_DEBUG", "ABISTORE_BUSY_SECONDS", "DEBUGINFOD_URLS", *colours):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "abi.db"


@pytest.fixture
def abistore(capsys: pytest.CaptureFixture[str], database: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls the command line in this process, with the test's own database."""
    monkeypatch.setenv("ABISTORE_DB", str(database))

    def call(*words: str | Path) -> Done:
        capsys.readouterr()
        code = run([str(word) for word in words])
        printed = capsys.readouterr()
        return Done(code, printed.out, printed.err)

    return call


@pytest.fixture(params=["sqlite", "postgresql"])
def either_database(request: pytest.FixtureRequest, abistore: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs a test on each database that is supported; for `usefixtures`, which come first."""
    if request.param == "postgresql":
        monkeypatch.setenv("ABISTORE_DB", str(request.getfixturevalue("postgres_url")))


def obey_permissions() -> None:
    """Make file modes hold for this process, even where it is root's."""
    drop, override, search = 24, 1, 2
    libc = ctypes.CDLL(None)
    for capability in (override, search):
        libc.prctl(drop, capability, 0, 0, 0)


@pytest.fixture
def process(database: Path) -> Call:
    """Calls the command line in a process of its own, with the test's own database."""

    def call(*words: str | Path, unprivileged: bool = False, **environment: str) -> Done:
        told = {**os.environ, "ABISTORE_DB": str(database), **environment}
        done = subprocess.run(
            preexec_fn=obey_permissions if unprivileged else None,
            args=[*(starting.REAL if unprivileged else starting.abistore(told)), *map(str, words)],
            capture_output=True,
            text=True,
            env=told,
            timeout=120,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture(scope="session")
def old() -> Path:
    return build_library(OLD)


@pytest.fixture(scope="session")
def new() -> Path:
    return build_library(NEW)


@pytest.fixture(scope="session")
def added() -> Path:
    return build_library(ADDED)


@pytest.fixture(scope="session")
def narrow() -> Path:
    """The old source for another word size."""
    return build_library(OLD, flags=NARROW)


Fill = Callable[[str], None]


@pytest.fixture(scope="session")
def fill(old: Path, added: Path, new: Path) -> Fill:
    """Stores three releases of one library where nothing is stored."""

    def done(address: str) -> None:
        for version, library in (("1.0", old), ("1.1", added), ("2.0", new)):
            assert run(["ingest", str(library), "--version", version, "-q", "--db", address]) == 0

    return done


@pytest.fixture(scope="session")
def of_three(fill: Fill, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that holds them, to be copied."""
    database = tmp_path_factory.mktemp("three") / "abi.db"
    fill(str(database))
    return database


@pytest.fixture
def stored(abistore: Call, fill: Fill, of_three: Path, database: Path) -> Call:
    """The command line over a store that holds them."""
    if os.environ["ABISTORE_DB"] == str(database):
        shutil.copy(of_three, database)
    else:
        fill(os.environ["ABISTORE_DB"])
    return abistore
