"""Hostile names through every command: terminals, logs of CI and JSON show them, and nothing happens."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from abistore.model.words import UNSEEN
from abistore.report.model import formats
from tests.cli.commands import calls
from tests.cli.conftest import Call, Done
from tests.editing import undigested

pytestmark = pytest.mark.full

NAME = "x\x1b[31m\x1b]0;t\x07\x7f\x9b1m\u202e\u200b\u2028\n::error::owned\n::add-mask::y ##[error]z ##vso[a]b`|<b>"
LABEL = "::error::x`$(id)`<b>|##[error]y"
"""Of a version: printable, without blanks."""

TOLD = ("norm", "gone", "fresh", "point", "x", "y", "libcase.so.1", "libc.so.6", "case.c", "libcase.so", "int")


def hostile(text: str) -> str:
    """A JSON snapshot in which every name has something hostile at its end."""

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: renamed(each) for key, each in value.items()}
        if isinstance(value, list):
            return [renamed(each) for each in value]
        if isinstance(value, str) and (value in TOLD or "GNU C" in value):
            return value + NAME
        return value

    snapshot = renamed(json.loads(text))
    snapshot["provenance"] |= {"build_id": NAME, "debug_files": [NAME], "file": f"{NAME}.so"}
    snapshot["evidence"] = [{**each, "detail": NAME, "hint": NAME} for each in snapshot["evidence"]]
    return json.dumps(snapshot)


@pytest.fixture
def values(abistore: Call, old: Path, new: Path, tmp_path: Path) -> dict[str, str | Path]:
    """Hostile snapshots, stored as two releases, and hostile files of policies."""
    for name, library in (("old", old), ("new", new)):
        text = hostile(undigested(abistore("export", library).out))
        (tmp_path / f"{name}::error::.json").write_text(text)
        assert abistore("import", tmp_path / f"{name}::error::.json", "--version", f"{LABEL}-{name}").code == 0
    quoted = json.dumps(NAME.replace("\x7f", "").replace("\x9b", ""))
    policy, suppressions = tmp_path / "::error::policy.yaml", tmp_path / "::error::suppressions.yaml"
    override = f"{{impact: risk, reason: {quoted}, symbol: {quoted}, label: {quoted}}}"
    policy.write_text(f"name: {quoted}\noverrides: [{override}]\n")
    suppressions.write_text(f"suppressions: [{{symbol: {json.dumps('gone' + NAME)}, reason: {quoted}}}]\n")
    approvals = tmp_path / "::error::approvals.yaml"
    approvals.write_text(f"project: {quoted}\napprovals: [{{library: libcase, finding: {quoted}, reason: {quoted}}}]\n")
    return {
        "mcp file": tmp_path / "::error::tokens",
        "reference": f"libcase@{LABEL}-new",
        "library": "libcase",
        "name": f"norm{NAME}",
        "old": f"libcase@{LABEL}-old",
        "new": f"libcase@{LABEL}-new",
        "operand": f"libcase@{LABEL}-new",
        "paths": tmp_path / "new::error::.json",
        "path": new,
        "apps": new,
        "names": NAME,
        "what": NAME,
        "export what": f"libcase@{LABEL}-new",
        "file": policy,
        "approve file": approvals,
        "findings": NAME,
        "finding": NAME,
        "text": NAME,
        "files": suppressions,
        "folder": tmp_path,
        "--policy": policy,
        "--suppress": suppressions,
        "--reason": NAME.replace("\n", " "),
        "--channel": "::error::main##[x]",
        "destination": tmp_path / "copy.db",
        "site -o": tmp_path / "site::error::",
    }


def assert_shown_only(done: Done, words: list[str]) -> None:
    for text in (done.out, done.err):
        assert not re.search(f"[{UNSEEN}]", text), words
        assert not re.search(r"##\w*\[", text), words
        if "github" not in words:
            assert not re.search(r"^\s*::", text, re.MULTILINE), words
    assert "Traceback" not in done.err
    assert done.code != 70, (words, done.err)


def test_no_command_does_what_a_name_says(abistore: Call, values: dict[str, str | Path]) -> None:
    abistore(
        "db",
        "baseline",
        "set",
        values["reference"],
        "--reason",
        values["--reason"],
        "--channel",
        values["--channel"],
    )
    options = ("--policy", "--suppress", "--reason", "--channel")
    told = 0
    for mode in ([], ["-v"], ["--json"]):
        for words in calls(values, *options):
            done = abistore(*words, *mode)
            assert_shown_only(done, words)
            told += "\\x1b" in done.out or "\\u001b" in done.out
            if mode == ["--json"] and words[0] != "export":
                json.loads(done.out)
    assert told > 10


@pytest.mark.parametrize("format", formats())
def test_no_report_of_a_comparison_does_what_a_name_says(
    format: str, abistore: Call, values: dict[str, str | Path], tmp_path: Path
) -> None:
    words = ["compare", str(values["old"]), str(values["new"]), "--format", format, "--suppress"]
    done = abistore(*words, values["--suppress"])
    assert_shown_only(done, words)
    assert done.code == 4
    written = abistore(*words, values["--suppress"], "-o", tmp_path / "written")
    assert_shown_only(written, words)
    assert (tmp_path / "written").read_text() == done.out


def test_a_file_of_a_hostile_name_is_one_line_of_error(abistore: Call, tmp_path: Path) -> None:
    path = tmp_path / f"{NAME.replace('/', '')}.so"
    for words in (["export", str(path)], ["ingest", str(path), "--version", "1"], ["compare", str(path), str(path)]):
        done = abistore(*words)
        assert_shown_only(done, words)
        assert done.err.count("\n") == 2
        assert "\\x1b[31m" in done.err


def test_a_suggestion_is_one_suppression_whatever_the_names_say(
    abistore: Call, values: dict[str, str | Path], tmp_path: Path
) -> None:
    done = abistore(
        "policy",
        "suppress",
        "suggest",
        values["old"],
        values["new"],
        "-o",
        tmp_path / "suggested.yaml",
        "--json",
    )
    count = done.json["candidates"]
    assert count > 0
    assert abistore("policy", "suppress", "check", tmp_path / "suggested.yaml", "--json").json["suppressions"] == count
