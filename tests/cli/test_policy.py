"""Policies and suppressions on the command line: every verb, remembered verdicts, bad input, and candidates."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest
import yaml

from abistore.cli.main import COMMANDS
from abistore.cli.reference import schema
from tests.cli.conftest import Call
from tests.cli.test_start_up import imported, roots

LENIENT = """
name: lenient
categories: {abi_breaking: {impact: risk, reason: everybody rebuilds}}
"""
KNOWN = """
suppressions:
  - {symbol: gone, reason: nobody calls it}
  - {type: point, reason: only we make points}
"""
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def lenient(tmp_path: Path) -> Path:
    path = tmp_path / "lenient.yaml"
    path.write_text(LENIENT)
    return path


@pytest.fixture
def known(tmp_path: Path) -> Path:
    path = tmp_path / "known.yaml"
    path.write_text(KNOWN)
    return path


def test_label_counts_verdict_and_exit_code_agree_under_a_policy(
    abistore: Call, old: Path, new: Path, lenient: Path
) -> None:
    done = abistore("compare", old, new, "--policy", lenient, "--json")
    report = done.json
    assert (done.code, report["exit_code"], report["verdict"]) == (0, 0, "COMPATIBLE_WITH_RISK")
    assert report["policy"] == "lenient"
    moved = [change for change in report["changes"] if change["default_impact"]]
    assert {(each["impact"], each["default_impact"], each["reason"]) for each in moved} == {
        ("risk", "breaking", "everybody rebuilds")
    }
    assert report["summary"]["risk_changes"] == len(moved) == 2
    text = abistore("compare", old, new, "--policy", lenient)
    assert "breaking by default: everybody rebuilds" in text.out
    assert abistore("compare", old, new, "--policy", lenient, "--fail-on", "risk").code == 2


def test_suppressed_findings_are_counted_and_shown_with_their_entry(
    abistore: Call, old: Path, new: Path, known: Path
) -> None:
    done = abistore("compare", old, new, "--suppress", known, "--strict-suppressions", "--json")
    assert (done.code, done.json["verdict"]) == (0, "COMPATIBLE")
    assert done.json["suppressed_count"] == len(done.json["suppressed"]) == 2
    assert {each["suppressed_by"] for each in done.json["suppressed"]} == {"known.yaml, entry 1", "known.yaml, entry 2"}
    text = abistore("compare", old, new, "--suppress", known)
    assert "Suppressed (2)" in text.out
    assert "  by known.yaml, entry 1: nobody calls it\n      func_removed: gone\n" in text.out


def test_several_files_of_several_formats_are_taken_together(
    abistore: Call, old: Path, new: Path, tmp_path: Path
) -> None:
    types = tmp_path / "types.abignore"
    types.write_text("[suppress_type]\nname = point\n")
    symbols = tmp_path / "names"
    symbols.write_text("gone\n")
    done = abistore("compare", old, new, "--suppress", types, "--suppress", f"skip-symbols:{symbols}", "--json")
    assert (done.json["verdict"], done.json["suppressed_count"]) == ("COMPATIBLE", 2)


def test_verdicts_are_remembered_by_policy_and_suppressions(
    stored: Call, lenient: Path, known: Path, tmp_path: Path
) -> None:
    def counted(*words: str | Path) -> tuple[str, int]:
        done = stored("verdict", "libcase@2.0", *words, "--json")
        return done.json["verdict"], stored("db", "stats", "--json").json["stats"]["verdicts"]

    assert counted() == ("BREAKING", 1)
    assert counted("--policy", lenient) == ("COMPATIBLE_WITH_RISK", 2)
    assert counted("--suppress", known) == ("NO_CHANGE", 3)
    assert counted("--policy", lenient, "--suppress", known) == ("NO_CHANGE", 4)
    for words in ((), ("--policy", lenient), ("--suppress", known), ("--policy", "strict_abi")):
        assert counted(*words)[1] == 4
    lenient.write_text(LENIENT.replace("risk", "api_break"))
    assert counted("--policy", lenient) == ("API_BREAK", 5)
    known.write_text(KNOWN.replace("gone", "other"))
    assert counted("--suppress", known) == ("BREAKING", 6)


def test_an_entry_that_expires_is_judged_again_and_not_read_back(stored: Call, tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    today = datetime.now(UTC).date()
    verdicts = []
    for day in (today, today - timedelta(days=1)):
        path.write_text(KNOWN.replace("}", f", expires: {day}}}"))
        done = stored("verdict", "libcase@2.0", "--suppress", path, "--json")
        verdicts.append(done.json["verdict"])
    assert verdicts == ["NO_CHANGE", "BREAKING"]
    assert any("expired on" in note for note in done.json["notes"])


def test_history_is_judged_by_what_is_given(stored: Call, lenient: Path, known: Path) -> None:
    def verdicts(*words: str | Path) -> list[str | None]:
        (line,) = stored("history", "libcase", *words, "--json").json["histories"]
        return [row["verdict"] for row in line["rows"]]

    assert verdicts() == [None, "COMPATIBLE", "BREAKING"]
    assert verdicts("--policy", lenient) == [None, "COMPATIBLE", "COMPATIBLE_WITH_RISK"]
    assert verdicts("--suppress", known) == [None, "COMPATIBLE", "NO_CHANGE"]
    assert verdicts() == [None, "COMPATIBLE", "BREAKING"]


def test_ingest_gates_by_the_policy(abistore: Call, old: Path, new: Path, lenient: Path) -> None:
    abistore("ingest", old, "--version", "1", "--set-baseline")
    assert abistore("ingest", new, "--version", "2", "--against", "baseline").code == 4
    assert abistore("ingest", new, "--version", "2", "--against", "baseline", "--policy", lenient).code == 0


BAD_INPUTS = {
    ("--policy", "strict"): "policy",
    ("--policy", "absent.yaml"): "policy",
    ("--policy", "{p}"): "policy",
    ("--suppress", "{s}"): "policy",
    ("--suppress", "absent.yaml"): "policy",
    ("--suppress", "{x}"): "policy",
    ("--suppress", "{i}"): "policy",
    ("--suppress", "{e}", "--strict-suppressions"): "policy",
    ("--show-only", "breking"): "usage",
    ("--show-only", ""): "usage",
}
FILES = {
    "p": "p.yaml: kinds: {func_remove: {impact: risk, reason: r}}",
    "s": "s.yaml: suppressions: [{symbol_pattern: '('}]",
    "x": "x.txt: gone",
    "i": "i.ini: [suppress_function]\nnam = a",
    "e": "e.yaml: suppressions: [{symbol: gone, reason: r, expires: 2020-01-01}]",
}


@pytest.mark.parametrize("words", BAD_INPUTS)
def test_bad_input_is_an_error_before_anything_is_written(
    abistore: Call, old: Path, tmp_path: Path, database: Path, words: tuple[str, ...]
) -> None:
    for text in FILES.values():
        name, _, content = text.partition(": ")
        (tmp_path / name).write_text(content)
    paths = {key: str(tmp_path / text.partition(": ")[0]) for key, text in FILES.items()}
    given = [word.format(**paths) for word in words]
    done = abistore("ingest", old, "--version", "1", "--against", "prev", *given, "--json")
    assert (done.code, done.error["code"]) == (64, BAD_INPUTS[words])
    assert done.error["message"]
    assert done.error["hint"]
    assert not database.exists()
    assert abistore("compare", old, old, *given).code == 64


def test_show_only_hides_changes_and_nothing_else(abistore: Call, old: Path, new: Path) -> None:
    every = abistore("compare", old, new, "--json").json
    for tokens, kinds in {
        "breaking,functions": {"func_removed"},
        "functions": {"func_removed", "func_added"},
        "types,functions,breaking": {"func_removed", "type_field_added"},
        "added,types": {"type_field_added"},
        "API-Break": set(),
    }.items():
        done = abistore("compare", old, new, "--show-only", tokens, "--json")
        shown = done.json
        assert {change["kind"] for change in shown["changes"]} == kinds, tokens
        assert (done.code, shown["verdict"], shown["summary"]) == (4, every["verdict"], every["summary"])
        hidden = len(every["changes"]) - len(shown["changes"])
        verb = "is" if hidden == 1 else "are"
        assert f"{hidden} of {len(every['changes'])} changes {verb} not shown" in shown["notes"][-1]


def test_candidates_cover_the_breaks_and_wait_for_a_person(
    abistore: Call, old: Path, new: Path, tmp_path: Path
) -> None:
    path = tmp_path / "candidates.yaml"
    assert abistore("policy", "suppress", "suggest", old, new, "-o", path).code == 0
    entries = yaml.safe_load(path.read_text())["suppressions"]
    assert [entry["reason"] for entry in entries] == ["", ""]
    assert abistore("ingest", old, "--version", "1", "--set-baseline").code == 0
    build = (new, "--version", "2", "--suppress", path)
    for words in (("compare", old, new, "--suppress", path), ("gate", *build), ("ingest", *build, "--against", "1")):
        refused = abistore(*words, "--json")
        assert (refused.code, refused.error["code"]) == (64, "policy")
        assert "gives no reason" in refused.error["message"]
    path.write_text(path.read_text().replace('reason: ""', "reason: agreed with all users"))
    reviewed = abistore("compare", old, new, "--suppress", path, "--strict-suppressions", "--json")
    assert (reviewed.code, reviewed.json["verdict"]) == (0, "COMPATIBLE")
    assert "suppressions: []" in abistore("policy", "suppress", "suggest", old, old).out


BROAD = {
    "kinds": "change_kind: [func_removed, type_field_added]",
    "files": 'source_location: "**"',
    "headers": 'source_location: "*.h"',
    "symbols": 'symbol_pattern: ".*"',
    "types": 'type_pattern: "[A-Za-z_:]+.*"',
    "names": 'namespace: "**"',
    "kinds of files": 'change_kind: func_removed\n    source_location: "**/*"',
}


@pytest.mark.parametrize("broad", BROAD)
def test_a_suppression_that_selects_no_declaration_is_not_sound(
    abistore: Call, old: Path, new: Path, tmp_path: Path, broad: str
) -> None:
    path = tmp_path / "known.yaml"
    path.write_text(f"suppressions:\n  - reason: x\n    {BROAD[broad]}\n")
    words = ("compare", old, new, "--suppress", path)
    refused = abistore(*words, "--strict-suppressions")
    assert (refused.code, "selects no declaration" in refused.err) == (64, True)
    assert abistore("policy", "suppress", "check", path, "--strict-suppressions").code == 64
    assert abistore(*words).code in {0, 4}
    path.write_text(f"suppressions:\n  - reason: x\n    {BROAD[broad]}\n    member: z\n")
    assert abistore(*words, "--strict-suppressions").code in {0, 4}


@pytest.mark.parametrize(
    "unsound", ["{symbol: gone, reason: x, expires: 2020-01-01}", "{change_kind: func_removed, reason: x}"]
)
def test_gates_refuse_suppressions_that_have_expired_or_select_no_declaration(
    abistore: Call, old: Path, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unsound: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "known.yaml"
    path.write_text(f"suppressions:\n  - {unsound}\n")
    assert abistore("ingest", old, "--version", "1", "--set-baseline", "--suppress", path).code == 64
    assert abistore("ingest", old, "--version", "1").code == 0
    assert abistore("db", "baseline", "set", "libcase@1").code == 0
    build = (new, "--version", "2", "--suppress", path)
    for gate in ("gate", *build), ("ingest", *build, "--against", "baseline"), ("ingest", *build, "--set-baseline"):
        refused = abistore(*gate, "--dry-run") if gate[0] == "ingest" else abistore(*gate)
        assert (refused.code, "known.yaml, entry 1" in refused.err) == (64, True)
    judged = abistore("compare", old, new, "--suppress", path).code
    assert judged in {0, 4}
    assert abistore("gate", *build, "--no-strict-suppressions").code == judged
    (tmp_path / "abistore.toml").write_text("strict_suppressions = false\n")
    assert abistore("gate", *build).code == judged


@pytest.mark.parametrize(
    "name", ["STRICT_ABI", "strict_\u0430bi", "strict-abi", "strict abi, no suppressions", "str1ct_abi", "SDK vendor"]
)
def test_a_policy_is_not_called_like_a_built_in_one(
    abistore: Call, old: Path, new: Path, lenient: Path, name: str
) -> None:
    lenient.write_text(LENIENT.replace("name: lenient", f'name: "{name}"'))
    done = abistore("compare", old, new, "--policy", lenient)
    assert (done.code, "name" in done.err) == (64, True)


def test_suppressions_are_checked_and_listed(abistore: Call, known: Path, tmp_path: Path) -> None:
    known.write_text(KNOWN + "  - {namespace: 'a::*', expires: 2020-01-01, label: ancient}\n")
    checked = abistore("policy", "suppress", "check", known, "--json")
    assert (checked.code, checked.json["suppressions"], checked.json["expired"]) == (0, 3, 1)
    assert abistore("policy", "suppress", "check", known, "--strict-suppressions").code == 64
    listed = abistore("policy", "suppress", "list", known)
    assert "ancient" in listed.out
    assert "in namespace a::*" in listed.out
    states = [entry["state"] for entry in abistore("policy", "suppress", "list", known, "--json").json["suppressions"]]
    assert states == ["holds", "holds", "expired"]


def test_a_policy_is_shown_and_checked(abistore: Call, lenient: Path) -> None:
    assert "of category abi_breaking" in abistore("policy", "show", lenient).out
    assert "every kind has its own impact" in abistore("policy", "show").out
    assert abistore("policy", "check", lenient, "--json").json["policy"]["overrides"] == 1
    assert abistore("policy", "check", "strikt_abi").code == 64


@pytest.mark.parametrize("name", ["policy", "suppressions"])
def test_the_examples_of_the_documents_are_sound(abistore: Call, name: str, tmp_path: Path) -> None:
    page = (DOCS / "questions" / {"policy": "policies.md", "suppressions": "suppressions.md"}[name]).read_text()
    examples = page.split("```yaml\n")[1:]
    assert examples
    published = json.loads(schema(name))
    for text in examples:
        example = text.partition("```")[0]
        path = tmp_path / "example.yaml"
        path.write_text(example)
        jsonschema.validate(json.loads(json.dumps(yaml.safe_load(example), default=str)), published)
        words = ("policy", "check") if name == "policy" else ("policy", "suppress", "check")
        done = abistore(*words, path)
        assert done.code == 0, done.err


def test_yaml_and_its_checks_are_imported_only_where_a_file_is_given(old: Path, new: Path) -> None:
    for words in (("compare", old, new), ("compare", old, new, "--policy", "plugin_abi"), ("export", old)):
        assert not roots(imported(*words)) & {"yaml", "pydantic"}
    assert "policy" in COMMANDS


def test_a_verdict_and_a_history_tell_by_which_suppressions_they_judged(
    stored: Call, known: Path, tmp_path: Path
) -> None:
    for words in (
        ["verdict", "libcase@2.0"],
        ["verdict", "libcase@2.0", "-o", tmp_path / "a.html"],
        ["history", "libcase"],
    ):
        assert "no suppressions" in stored(*words).out
        assert "suppressions known.yaml (sha256 " in stored(*words, "--suppress", known).out
