"""``statement`` from the command line: text, Markdown and JSON, printed or written to a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.statement_schema import STATEMENTS
from tests.store.test_ledger import release, stored

pytestmark = pytest.mark.fast

SENTENCE = "FAIL: 1.1 removes 1 function under the same SONAME: release it as 2.0 and bump the SONAME, or restore it"


def test_a_statement_begins_with_its_sentence_in_every_format(abistore: Call, database: Path, tmp_path: Path) -> None:
    stored(str(database), release("f", "g"), release("f", "h")).close()
    told = abistore("verdict", "--statement", "libgeo@1.1")
    assert (told.code, told.out.splitlines()[0]) == (4, SENTENCE)
    assert abistore("verdict", "--statement", "libgeo@1.1").out == told.out
    answer = abistore("verdict", "--statement", "libgeo@1.1", "--json").json["statement"]
    assert (answer["sentence"], answer["outcome"], answer["verdict"]) == (SENTENCE, "fail", "BREAKING")
    page, document = tmp_path / "RELEASE.md", tmp_path / "release.json"
    assert abistore("verdict", "--statement", "libgeo@1.1", "--format", "markdown", "-o", page).code == 4
    assert page.read_text().splitlines()[0] == f"### {SENTENCE}"
    assert "| elf-" not in page.read_text()
    assert abistore("verdict", "--statement", "libgeo@1.1", "--format", "json", "-o", document).code == 4
    assert json.loads(document.read_text())["data"]["statement"] == answer
    STATEMENTS.validate(json.loads(document.read_text()))


def test_a_release_that_is_not_stored_is_an_error(abistore: Call, database: Path) -> None:
    stored(str(database), release("f")).close()
    done = abistore("verdict", "--statement", "libgeo@9.9")
    assert (done.code >= 64, "9.9" in done.err) == (True, True)
