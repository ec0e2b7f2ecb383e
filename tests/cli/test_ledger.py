"""``ledger``, ``lines`` and ``evaluate`` from the command line, and what `history` says of several releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.model.findings import ENGINE
from abistore.model.history import IngestRequest
from abistore.store.store import Store
from tests.build import build_library
from tests.cli.conftest import Call
from tests.store.builders import ARM, X86
from tests.store.test_ledger import LINE, boxed, release, stored
from tests.store.test_lines import release as plain_release

pytestmark = pytest.mark.fast


def test_a_ledger_is_shown_as_text_json_and_markdown_and_is_stored_with_its_asker(
    abistore: Call, database: Path
) -> None:
    with stored(str(database), release("f"), release("f", "g"), release("f")) as store:
        store.set_baseline(LINE, "lts", "1.0")
    told = abistore("verdict", "--all-baselines", "libgeo@1.2").out.splitlines()
    assert told[0] == "libgeo (elf-x86_64-64-little, default): 1.2: BREAKING, fail"
    assert told[2].split() == ["1.1", "previous", "release", "BREAKING", "fail", "1", "major"]
    assert "first with this SONAME, channel lts" in told[3]
    answer = abistore("verdict", "--all-baselines", "libgeo@1.2", "--json").json["ledgers"][0]
    assert [each["against"]["version"] for each in answer["standings"]] == ["1.1", "1.0"]
    summary = answer["standings"][0]["summary"]
    assert summary["asker"].endswith("(abistore verdict)")
    assert summary["evidence"][0]["layout"] == "full"
    page = abistore("verdict", "--all-baselines", "libgeo@1.2", "--format", "markdown").out
    assert "| 1.1 | previous release | BREAKING |" in page


def test_ledger_and_sentence_count_alike_what_breaks_programs_and_what_breaks_sources(
    abistore: Call, tmp_path: Path
) -> None:
    for version, functions, macro in (("1.0", "fgh", "#define LIMIT 4\n"), ("1.1", "f", "")):
        header = tmp_path / version / "api.h"
        header.parent.mkdir()
        header.write_text(macro + "".join(f"int {name}(int value);\n" for name in functions))
        built = build_library("".join(f"int {name}(int value) {{ return value; }}\n" for name in functions))
        words = ("--library", "libgeo", "--version", version, "--header", header)
        assert abistore("ingest", built, *words).code == 0
    assert "1.1 removes 2 functions" in abistore("verdict", "--statement", "libgeo").out.splitlines()[0]
    heads, row = abistore("verdict", "--all-baselines", "libgeo").out.splitlines()[1:3]
    at = heads.index("  breaks") + 2, heads.index("source breaks")
    assert [row[each:].split()[0] for each in at] == ["2", "1"]


def test_the_history_says_what_no_single_verdict_shows(abistore: Call, database: Path) -> None:
    stored(str(database), release(), release(fields=None), release(fields="abc"), release(fields="abc")).close()
    history = abistore("history", "libgeo").out
    assert "1.0 -> 1.2 is BREAKING though each step is compatible" in history
    assert history.count("though each step") == 1
    answer = abistore("history", "libgeo", "--json").json["histories"][0]
    assert answer["remarks"] == ["1.0 -> 1.2 is BREAKING though each step is compatible"]


def test_the_history_says_what_a_release_restores(abistore: Call, database: Path) -> None:
    steps = (release("f"), release("f", "g"), release("f"), release("f", "g"), release("f", "g", fields="abc"))
    stored(str(database), *steps, release("f", "g")).close()
    answer = abistore("history", "libgeo", "--json").json["histories"][0]
    assert answer["remarks"] == [
        "1.3 restores g, which 1.2 removed",
        "1.5 restores what 1.4 breaks for programs built against 1.0",
    ]


def test_history_ledger_and_statement_tell_the_programs_that_a_release_between_left_behind(
    abistore: Call, database: Path
) -> None:
    stored(str(database), release(), release("f"), release(), release("h")).close()
    said = "1.3 lacks f, which 1.1 added and 1.2 removed: programs built against 1.1 may need it"
    assert said in abistore("history", "libgeo").out
    told = abistore("verdict", "--all-baselines", "libgeo").out.splitlines()
    assert told[0].endswith("1.3: BREAKING, fail")
    assert told[4].startswith("  1.1      last before a break     BREAKING")
    assert told[-2:] == ["! fails compared with 1.1", said]
    standing = abistore("verdict", "--all-baselines", "libgeo", "--json").json["ledgers"][0]["standings"][-1]
    assert ([one["role"] for one in standing["roles"]], standing["against"]["version"]) == (["last_with"], "1.1")
    statement = abistore("verdict", "--statement", "libgeo").out
    assert statement.startswith("FAIL: 1.3 removes 1 function under the same SONAME")
    assert "last before a break" in statement


def test_the_history_of_several_lines_tells_the_fold(abistore: Call, database: Path) -> None:
    with Store.open(database, write=True) as store:
        for version, exports in (("1.0", "fg"), ("1.1", "fgh")):
            store.ingest(plain_release(*exports), IngestRequest(version))
        store.ingest(plain_release("f", "g", target=ARM), IngestRequest("1.0"))
        store.ingest(plain_release("f", target=ARM), IngestRequest("1.2"))
    lines = abistore("history", "libgeo").out.splitlines()
    at = lines.index("all lines: the worst verdict compared with the previous release, and the outcome")
    assert [line.split()[:2] for line in lines[at + 1 :]] == [["1.1", "not"], ["1.2", "BREAKING"]]
    assert "; outcome undecided; hole: elf-aarch64-64-little" in lines[at + 1]
    assert "; outcome fail" in lines[at + 2]


def test_all_history_is_judged_by_another_policy_and_what_moves_is_shown_and_stored(
    abistore: Call, database: Path, tmp_path: Path
) -> None:
    stored(str(database), release("f", "g"), release("f"), release("f", "h")).close()
    accepted = tmp_path / "accepted.yaml"
    accepted.write_text("suppressions:\n  - change_kind: func_removed\n    reason: nobody calls it\n")
    answer = abistore("history", "--compare-with-strict", "libgeo", "--suppress", accepted, "--json").json[
        "evaluations"
    ][0]
    assert [(each["old"], each["new"], each["before"], each["after"]) for each in answer["moved"]] == [
        ("1.0", "1.1", "BREAKING", "NO_CHANGE"),
        ("1.0", "1.2", "BREAKING", "COMPATIBLE"),
    ]
    (finding,) = answer["moved"][0]["findings"]
    assert (finding["kind"], finding["before"], finding["after"]) == ("func_removed", "breaking", "suppressed")
    told = abistore("history", "--compare-with-strict", "libgeo", "--suppress", accepted).out
    assert "2 of 3 verdicts change" in told
    assert "breaking -> suppressed  func_removed  g" in told
    with Store.open(database, write=False) as store:
        rulings = {key[2] for key in store.verdict_summaries(LINE, str(ENGINE))}
        assert len(rulings) == 2
    assert abistore("history", "--compare-with-strict", "libgeo").code == 64


def test_a_ledger_tells_the_lines_that_lack_the_version_in_every_form(abistore: Call, database: Path) -> None:
    with Store.open(database, write=True) as store:
        for version, exports in (("1.0", "fg"), ("1.1", "fgh")):
            store.ingest(plain_release(*exports), IngestRequest(version))
        store.ingest(plain_release("f", "g", target=ARM), IngestRequest("1.0"))
    told = abistore("verdict", "--all-baselines", "libgeo").out.splitlines()
    assert told[0].endswith("1.1: COMPATIBLE, pass")
    assert told[-2] == f"libgeo ({ARM}, default): 1.1: MISSING: nothing is known to be compatible there"
    assert told[-1] == "no release 1.1: its only release is 1.0"
    (answer,) = abistore("verdict", "--all-baselines", "libgeo@1.1", "--json").json["ledgers"]
    assert [each["line"]["target"] for each in answer["missing"]] == [str(ARM)]
    assert "1.1: MISSING" in abistore("verdict", "--all-baselines", "libgeo@1.1", "--format", "markdown").out
    assert "MISSING" not in abistore("verdict", "--all-baselines", "libgeo@1.1", "--target", str(X86)).out
    assert "MISSING" not in abistore("verdict", "--all-baselines", "libgeo@1.0").out


def test_history_ledger_statement_and_blame_tell_a_type_that_changed_between(abistore: Call, database: Path) -> None:
    steps = (boxed(None), boxed("ab"), boxed("abc", "f"), boxed("abc", "f", "g"))
    stored(str(database), *steps).close()
    said = "1.3 breaks box for programs built against 1.1: 1.2 changed it"
    blamed = abistore("blame", "libgeo").out.splitlines()  # nothing was judged before
    at = next(number for number, line in enumerate(blamed) if line.startswith("since 1.2"))
    assert blamed[at].endswith("of programs built against 1.1")
    assert any("box" in line for line in blamed[at:])
    assert said in abistore("history", "libgeo").out
    ledger = abistore("verdict", "--all-baselines", "libgeo").out
    assert ledger.splitlines()[0].endswith("1.3: BREAKING, fail")
    assert said in ledger
    assert abistore("verdict", "--statement", "libgeo").out.startswith("FAIL: 1.3 breaks 1.1 in ")
    assert abistore("blame", "libgeo").out.splitlines() == blamed
