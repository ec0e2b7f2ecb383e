"""Hints about extras name what abistore was installed from, and never a name of a package index."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any, NoReturn

import pytest

from abistore import installing
from abistore.installing import REQUIRED, Source, checkout, how_to_install, recorded_source, source
from tests.build import build_library

ROOT = Path(__file__).parents[1]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Recorded:
    """A distribution with a ``direct_url.json``, or without one."""

    def __init__(self, recorded: object) -> None:
        self.recorded = recorded

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.recorded is None else json.dumps(self.recorded)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(recorded: object) -> None:
        monkeypatch.setattr("importlib.metadata.distribution", lambda name: Recorded(recorded))

    return install


def wanted(extra: str) -> list[str]:
    """What the hint installs, without the program that does."""
    words = shlex.split(how_to_install(extra))
    assert words[:4] == [sys.executable, "-m", "pip", "install"] or words[:2] == ["uv", "pip"]
    return words[words.index("install") + 1 :]


@pytest.fixture(autouse=True)
def with_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "find_spec", lambda name: object())


def test_a_checkout_is_installed_again_as_it_was(installed: Any, tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    installed({"url": folder.as_uri(), "dir_info": {"editable": True}})
    assert wanted("postgres") == ["-e", f"{folder}[postgres]"]
    installed({"url": folder.as_uri(), "dir_info": {}})
    assert wanted("postgres") == [f"{folder}[postgres]"]


def test_a_wheel_is_named_by_its_path(installed: Any, tmp_path: Path) -> None:
    wheel = tmp_path / "abistore-0.1.0-py3-none-any.whl"
    wheel.touch()
    installed({"url": wheel.as_uri(), "archive_info": {}})
    assert wanted("mcp") == [f"{wheel}[mcp]"]
    assert Source(wheel).with_extra("mcp") == f"abistore[mcp] @ {wheel.as_uri()}"


def test_a_url_is_named_as_it_was_given(installed: Any) -> None:
    installed({"url": "https://git.example.org/abi", "vcs_info": {"vcs": "git", "commit_id": COMMIT}})
    assert wanted("mcp") == [f"abistore[mcp] @ git+https://git.example.org/abi@{COMMIT}"]
    installed({"url": "https://files.example.org/abistore-0.1.0-py3-none-any.whl", "archive_info": {}})
    assert wanted("mcp") == ["abistore[mcp] @ https://files.example.org/abistore-0.1.0-py3-none-any.whl"]


@pytest.mark.parametrize("recorded", [None, {"url": "file:///removed/since", "dir_info": {}}])
@pytest.mark.parametrize("extra", list(REQUIRED))
def test_where_nothing_is_known_the_requirement_itself_is_named(installed: Any, recorded: object, extra: str) -> None:
    installed(recorded)
    assert wanted(extra) == [REQUIRED[extra]]


def test_a_checkout_that_was_never_installed_is_found_beside_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> NoReturn:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", missing)
    assert wanted("mcp") == ["-e", f"{ROOT}[mcp]"]


def test_a_package_without_a_project_around_it_has_no_source(tmp_path: Path) -> None:
    assert checkout(tmp_path) is None
    assert recorded_source({"url": tmp_path.as_uri(), "dir_info": {}}) == Source(tmp_path)


def test_this_installation_has_a_source() -> None:
    found = source()
    assert found is not None and found.path == ROOT


def test_an_environment_without_pip_is_filled_by_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "find_spec", lambda name: None)
    assert shlex.split(how_to_install("mcp"))[:5] == ["uv", "pip", "install", "--python", sys.executable]


def test_extras_require_what_the_project_says() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {extra: [required] for extra, required in REQUIRED.items()} == {extra: extras[extra] for extra in REQUIRED}
    assert set(extras) == {*REQUIRED, "docs", "test", "dev"}


def test_headers_without_libclang_say_what_to_install(tmp_path: Path) -> None:
    library, header = build_library("int answer(void) { return 42; }\n"), tmp_path / "answer.h"
    header.write_text("int answer(void);\n")
    code = "import sys; sys.modules['clang'] = None; from abistore.cli.entry import main; main()"

    def call(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)

    done = call("compare", library, library, "--header", header)
    assert (done.returncode, done.stdout) == (65, "")
    assert done.stderr.startswith("error: libclang is missing, which reads headers\nhint: install it: ")
    assert call("compare", library, library).returncode == 0
