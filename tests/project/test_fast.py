"""``pytest -m fast`` asks something of every package, and nothing that takes long."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import FAST, LONGEST, is_fast

TESTS = Path(__file__).parents[1]
PACKAGES = {path.parent.name for path in (TESTS.parent / "abistore").glob("*/__init__.py")}
CHOSEN = re.compile(r"^pytestmark = pytest.mark.fast$", re.MULTILINE)


@pytest.mark.parametrize("folder", sorted({*FAST, *PACKAGES, "laws"}))
def test_every_package_has_tests_that_give_an_answer_in_seconds(folder: str) -> None:
    modules = sorted((TESTS / folder).glob("test_*.py"))
    assert [path.name for path in modules if is_fast(path) or CHOSEN.search(path.read_text())]


def test_what_starts_a_process_or_a_server_is_not_fast() -> None:
    chosen = [path for path in TESTS.rglob("test_*.py") if CHOSEN.search(path.read_text())]
    assert len(chosen) > 10
    for path in chosen:
        assert not re.search(r"address: str|process: Call|Popen|postgres", path.read_text()), path


@pytest.mark.parametrize("name", LONGEST)
def test_what_takes_longest_is_there(name: str) -> None:
    assert (TESTS / name).is_file()
