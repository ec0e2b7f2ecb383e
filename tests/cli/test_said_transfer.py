"""What people said of findings goes with an exported release; what a foreign file says is approved opens no gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call

pytestmark = pytest.mark.fast


@pytest.fixture
def breaks(abistore: Call, old: Path, new: Path) -> list[str]:
    for library, version in ((old, "1.0"), (new, "2.0")):
        assert abistore("ingest", library, "--version", version).code == 0
    changes = abistore("verdict", "libcase@2.0", "--json").json["changes"]
    return [one["id"] for one in changes if one["impact"] == "breaking"]


@pytest.fixture
def exported(abistore: Call, breaks: list[str], tmp_path: Path) -> list[Path]:
    """Both releases, from a store in which everything that breaks is approved and one finding is reviewed."""
    abistore("approve", *breaks, "--reason", "nobody calls it", "--approver", "eve", "--until", "3.0")
    abistore("approve", "note", breaks[0], "as planned", "--state", "intended", "--actor", "ben")
    files = [tmp_path / f"{version}.json" for version in ("1.0", "2.0")]
    for file in files:
        assert abistore("export", f"libcase@{file.stem}", "-o", file).code == 0
    return files


def test_a_foreign_file_opens_no_gate_unless_somebody_takes_its_approvals_over(
    abistore: Call, exported: list[Path], breaks: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABISTORE_DB", str(tmp_path / "other.db"))
    assert abistore("import", exported[0]).code == 0
    refused = abistore("ingest", exported[1], "--against", "1.0")
    assert (refused.code, "approved" in refused.out) == (4, False)
    assert abistore("approve", "list").out == "no approvals\n"
    done = abistore("import", exported[1])
    assert (done.code, "2 approvals left out (import --approvals takes them over)" in done.out) == (0, True)
    assert abistore("verdict", "libcase@2.0").code == 4
    taken = abistore("import", exported[1], "--approvals")
    assert "2 approvals taken over, by eve" in taken.out
    passed = abistore("verdict", "libcase@2.0")
    said = " ".join(passed.out.split())
    assert (passed.code, "[from import of 2.0.json]" in said) == (0, True)
    row = abistore("db", "audit", "--json").json["audit"][0]
    assert (row["action"], "from import of 2.0.json" in row["detail"]) == ("approve", True)
    # what is withdrawn here stays withdrawn, however often the file comes
    abistore("approve", "withdraw", breaks[0], "--reason", "used after all")
    abistore("import", exported[1], "--approvals")
    assert abistore("verdict", "libcase@2.0").code == 4


def test_a_review_goes_along_and_says_who_imported_it(
    abistore: Call, exported: list[Path], breaks: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABISTORE_DB", str(tmp_path / "other.db"))
    done = abistore("import", *exported)
    assert (done.code, done.out.count("1 review taken over")) == (0, 1)
    (one,) = abistore("approve", "list", "--notes", "--json").json["notes"]
    assert (one["identity"], one["state"], one["note"]) == (breaks[0], "intended", "as planned")
    assert one["actor"].startswith("ben, imported by ")
    abistore("approve", "note", breaks[0], "--state", "defect", "--library", "libcase")
    abistore("import", exported[1])
    assert abistore("approve", "list", "--notes", "--json").json["notes"][0]["state"] == "defect"


def test_an_export_carries_nothing_where_nobody_said_anything(abistore: Call, breaks: list[str]) -> None:
    assert "exported" not in json.loads(abistore("export", "libcase@2.0").out)


WRONG: dict[str, dict[str, Any]] = {
    "another finding than it says": {"symbol": "harmless"},
    "no identity": {"identity": "0123"},
    "no reason": {"reason": " "},
    "nobody": {"approver": ""},
    "a scope that is none": {"scope": "world"},
    "an end that is none": {"until": "date:2001-13-13"},
    "no declaration": {"subject": "galaxy"},
    "a control character": {"reason": "a\x1b[2Jb"},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_approval_that_is_not_sound_refuses_its_file(
    abistore: Call, exported: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    document = json.loads(exported[1].read_text())
    document["exported"]["approvals"][0] |= WRONG[wrong]
    del document["digest"]
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(document))
    monkeypatch.setenv("ABISTORE_DB", str(tmp_path / "other.db"))
    for words in ((), ("--approvals",)):
        done = abistore("import", forged, *words)
        assert (done.code, "stored" in done.out) == (65, False), done.out
