"""What people say of releases and findings: tags and reviews, on the command line and in Python alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from abistore.interface import ReviewPlan, TagPlan, open_store, release_tag, review, reviews
from abistore.report.plain import plain
from tests.cli.conftest import Call

pytestmark = pytest.mark.fast


@pytest.fixture
def stored(abistore: Call, old: Path, new: Path) -> Call:
    for library, version in ((old, "1.0"), (new, "2.0")):
        assert abistore("ingest", library, "--version", version).code == 0
    assert abistore("verdict", "libcase@2.0").code == 4
    return abistore


def test_a_tag_is_put_on_shown_and_taken_away(stored: Call, database: Path) -> None:
    done = stored("db", "release", "tag", "libcase@1.0", "lts", "--note", "until 2028", "--json").json["tagged"]
    assert (done["changed"], done["release"]["tags"]) == (
        True,
        [{"name": "lts", "note": "until 2028", "signature": None}],
    )
    assert stored("db", "release", "tag", "libcase@1.0", "lts").out == "libcase 1.0: lts, as before\n"
    assert "tags          lts: until 2028" in stored("show", "libcase@1.0").out
    heads, first, second = stored("list", "libcase").out.splitlines()
    assert (heads.split()[-1], first.split()[-1], second.split()[-1] == "lts") == ("tags", "lts", False)
    assert "tagged: 1.0 (lts)" in stored("history", "libcase").out.splitlines()
    with open_store(database) as store:
        again = release_tag("libcase@1.0", "lts", TagPlan("other"), database=store)
        assert plain(again.release) == done["release"]
    assert stored("db", "release", "tag", "libcase@1.0", "lts", "--remove").out == "libcase 1.0: no tags\n"
    assert "tag" not in stored("list", "libcase").out + stored("history", "libcase").out
    assert stored("db", "release", "tag", "libcase@1.0", "a b").code == 64
    assert [row["action"] for row in stored("db", "audit", "--json").json["audit"]][:2] == ["untag", "tag"]


def test_a_finding_is_reviewed_by_its_first_digits(stored: Call, database: Path) -> None:
    changes = stored("verdict", "libcase@2.0", "--json").json["changes"]
    digits = changes[0]["id"]
    done = stored("approve", "note", digits[:14], "to be mended", "--state", "defect", "--json").json
    assert (done["noted"]["changed"], done["noted"]["review"]["identity"]) == (True, digits)
    assert stored("approve", "note", digits, "to be mended", "--state", "defect").out.endswith("as before\n")
    listed = stored("approve", "list", "--notes", "libcase", "--json").json["notes"]
    with open_store(database) as store:
        assert json.loads(json.dumps(plain(reviews("libcase", database=store)))) == listed
        assert not review(digits, ReviewPlan("defect", "to be mended"), database=store).changed
    assert "to be mended" in stored("approve", "list", "--notes").out
    assert stored("approve", "note", digits, "--state", "open").code == 0
    assert stored("approve", "list", "--notes").out == "no notes\n"
    assert len(stored("approve", "list", "--notes", "--past", "--json").json["notes"]) == 2
    assert stored("approve", "note", "ffffffffffffffffffff").code == 67
    assert stored("verdict", "libcase@2.0").code == 4


def test_a_dry_run_of_ingest_tells_what_would_become_of_each_file(stored: Call, old: Path, added: Path) -> None:
    before = stored("db", "audit").out
    done = stored("ingest", added, old, "--version", "1.0", "--dry-run", "--json")
    assert [file["status"] for file in done.json["files"]] == ["failed", "known"]
    assert stored("ingest", added, "--version", "1.1", "--dry-run").out.startswith("would be stored    ")
    refused = stored("ingest", added, "--version", "1.1", "--dry-run", "--against", "2.0")
    assert (refused.code, "would be refused" in refused.out) == (4, True)
    replaced = stored("ingest", added, "--version", "1.0", "--dry-run", "--replace", "--json").json["files"][0]
    assert (replaced["status"], replaced["dry_run"]) == ("replaced", True)
    assert stored("db", "audit").out == before


def test_ingest_tags_what_it_stores_and_refuses_another_file(stored: Call, added: Path) -> None:
    assert stored("ingest", added, "--version", "1.1", "--expected-digest", "0" * 12).code == 65
    done = stored("ingest", added, "--version", "1.1", "--tag", "lts", "--tag", "shipped", "--json").json
    assert [tag["name"] for tag in done["files"][0]["release"]["tags"]] == ["lts", "shipped"]
