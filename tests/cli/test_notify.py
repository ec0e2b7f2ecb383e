"""What happened since a cursor: lines of JSON, and a command that is called for each event."""

from __future__ import annotations

import json
import re
import shutil
import stat
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import abistore as python
from tests.cli.conftest import Call, Done

pytestmark = pytest.mark.fast


@pytest.fixture
def told(abistore: Call, old: Path, new: Path) -> Call:
    """The command line over a library whose second release breaks the first, and is kept as a candidate."""
    assert abistore("ingest", old, "--version", "1.0", "--library", "libfoo", "--set-baseline").code == 0
    words = ("--version", "1.1", "--library", "libfoo", "--against", "baseline", "--keep-failed")
    assert abistore("ingest", new, *words).code == 4
    return abistore


def lines(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.out.splitlines()]


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_each_change_is_a_line_with_what_it_is_about_and_a_cursor(told: Call) -> None:
    *events, end = lines(told("notify"))
    by_action = {each["action"]: each for each in events}
    assert by_action["ingest"]["library"] == "libfoo"
    assert by_action["ingest"]["version"] == "1.0"
    assert (by_action["baseline"]["channel"], by_action["baseline"]["version"]) == ("release", "1.0")
    verdict = by_action["verdict"]
    assert (verdict["verdict"], verdict["outcome"]) == ("BREAKING", "fail")
    assert (verdict["against"], verdict["version"]) == ("1.0", "1.1")
    assert end == {"cursor": events[-1]["cursor"]}


def test_a_cursor_shows_what_came_after_it_and_nothing_twice(told: Call) -> None:
    whole = lines(told("notify"))
    half = whole[1]["cursor"]
    assert lines(told("notify", "--since", half)) == whole[2:]
    last = whole[-1]["cursor"]
    assert lines(told("notify", "--since", last)) == [{"cursor": last}]
    assert lines(told("notify", "--since", "now")) == [{"cursor": last}]
    told("db", "baseline", "clear", "libfoo", "--reason", "x")
    assert [each.get("action") for each in lines(told("notify", "--since", last))] == ["baseline", None]


def test_pages_of_events_add_up_to_all(told: Call) -> None:
    whole, cursor, seen = lines(told("notify"))[:-1], "start", []
    while page := told("notify", "--since", cursor, "--limit", "1", "--json").json["events"]:
        seen += page
        cursor = page[-1]["cursor"]
    assert [each["cursor"] for each in seen] == [each["cursor"] for each in whole]


def test_the_outcome_of_a_verdict_is_what_holds_today(told: Call) -> None:
    findings = told("verdict", "libfoo@candidate:1.1", "--against", "baseline", "--json").json["changes"]
    for each in findings:
        told("approve", each["id"], "--library", "libfoo", "--reason", "agreed")
    after = [each for each in lines(told("notify")) if each.get("action") == "verdict"]
    assert [each["outcome"] for each in after] == ["pass"]
    assert [each["finding"] for each in lines(told("notify")) if each.get("action") == "approve"]


def test_a_cursor_of_another_store_is_refused(told: Call, database: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    shutil.copy(database, backup)
    told("db", "baseline", "clear", "libfoo", "--reason", "x")
    cursor = lines(told("notify"))[-1]["cursor"]
    done = told("notify", "--since", cursor, "--db", backup)
    assert done.code == 64
    assert "backup" in done.err
    assert told("notify", "--since", "yesterday").code == 64


def test_a_command_gets_each_event_once_and_in_order(told: Call, tmp_path: Path) -> None:
    whole = [each["cursor"] for each in lines(told("notify"))[:-1]]
    seen, kept = tmp_path / "seen", tmp_path / "cursor"
    command = script(tmp_path / "take.sh", f"cat >> '{seen}'\n")
    assert told("notify", "--exec", command, "--cursor-file", kept).code == 0
    assert [json.loads(each)["cursor"] for each in seen.read_text().splitlines()] == whole
    assert kept.read_text().strip() == whole[-1]
    assert told("notify", "--exec", command, "--cursor-file", kept, "--json").json["delivered"] == 0


def test_events_are_a_comment_an_issue_or_a_mail(told: Call) -> None:
    comment, issue, mail = (told("notify", "--template", each).out for each in ("comment", "issue", "mail"))
    assert "- libfoo 1.1 compared with 1.0: BREAKING, may not ship (2" in comment
    assert "- libfoo 1.0 was stored (2" in comment and "- baseline release of libfoo is now 1.0 (2" in comment
    assert issue.startswith("# libfoo 1.1 compared with 1.0: BREAKING, may not ship\n\nJudged on 2")
    assert issue.count("# ") == 1 and "`abistore history libfoo`" in issue
    subject, kind, blank, *body = mail.splitlines()
    assert subject.startswith("Subject: [ABI] ") and subject.endswith(f"and {len(body) - 1} more")
    assert (kind, blank) == ("Content-Type: text/plain; charset=utf-8", "")
    for name in ("comment", "issue", "mail"):
        assert told("notify", "--since", "now", "--template", name).out.strip() == ""


def test_a_command_gets_texts_and_is_not_called_for_an_empty_one(told: Call, tmp_path: Path) -> None:
    seen, kept = tmp_path / "seen", tmp_path / "cursor"
    command = script(tmp_path / "take.sh", f"cat >> '{seen}'\necho END >> '{seen}'\n")
    done = told("notify", "--exec", command, "--cursor-file", kept, "--template", "issue")
    assert (done.code, seen.read_text().count("END")) == (0, 1)
    assert seen.read_text().startswith("# libfoo 1.1 compared with 1.0: BREAKING")


def test_a_template_of_ones_own_is_a_file_that_cannot_run_code(told: Call, tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text(
        "{% for each in events if each.action == 'verdict' %}{{ each.library }}={{ each.outcome }}{% endfor %}"
    )
    assert told("notify", "--template", own).out == "libfoo=fail\n"
    for wrong in ("{{ events.__class__.__mro__ }}", "{{ nothing }}", "{% for %}"):
        own.write_text(wrong)
        assert told("notify", "--template", own).code == 64
    assert told("notify", "--template", tmp_path / "missing").code == 64


def test_a_hostile_name_starts_no_header_of_a_mail_and_no_markup() -> None:
    hostile = "lib\r\nBcc: all"
    event = python.Event("1-a", datetime(2026, 1, 2), hostile, "ingest", "s", "", hostile, "<b>1</b>")
    lines = python.notice([event], "mail").replace("\r", "\n").splitlines()
    assert [each for each in lines if each.startswith("Bcc")] == []
    assert re.search(r"(?<!\\)<b>", python.notice([event], "comment")) is None


def test_a_command_that_fails_is_called_again_and_stops_all_later_events(told: Call, tmp_path: Path) -> None:
    whole = [each["cursor"] for each in lines(told("notify"))[:-1]]
    seen, kept, fuse = tmp_path / "seen", tmp_path / "cursor", tmp_path / "fuse"
    text = f"read line\n[ -e '{fuse}' ] && [ $(wc -l < '{seen}') -ge 1 ] && exit 9\necho \"$line\" >> '{seen}'\n"
    command = script(tmp_path / "take.sh", text)
    fuse.touch()
    done = told("notify", "--exec", command, "--cursor-file", kept, "--attempts", "2")
    assert done.code == 73
    assert "exit code 9, tried 2 times" in done.err
    assert kept.read_text().strip() == whole[0]
    fuse.unlink()
    assert told("notify", "--exec", command, "--cursor-file", kept).code == 0
    assert [json.loads(each)["cursor"] for each in seen.read_text().splitlines()] == whole


def test_a_call_that_fails_once_is_tried_again(told: Call, tmp_path: Path, database: Path) -> None:
    fuse, seen = tmp_path / "fuse", tmp_path / "seen"
    command = script(tmp_path / "take.sh", f"[ -e '{fuse}' ] && rm '{fuse}' && exit 1\ncat >> '{seen}'\n")
    fuse.touch()
    plan = python.NotifyPlan(str(command), pause=0.0)
    done = python.notify(plan, database=database)
    assert done.delivered == len(seen.read_text().splitlines()) == len(python.events(database=database).events)


def test_a_command_that_does_not_end_is_stopped(told: Call, tmp_path: Path, database: Path) -> None:
    plan = python.NotifyPlan("sleep 30", attempts=1, timeout=0.2)
    with pytest.raises(python.UndeliveredEvent, match=r"no end within 0\.2 seconds"):
        python.notify(plan, database=database)


def test_an_empty_command_is_none(told: Call, tmp_path: Path) -> None:
    assert told("notify", "--exec", "").code == 64
    (tmp_path / "cursor").write_text("nonsense")
    assert told("notify", "--cursor-file", tmp_path / "cursor").code == 64


@pytest.mark.parametrize("kept", ["nowhere/cursor", "folder"])
def test_a_cursor_file_that_cannot_be_written_is_noticed_before_the_first_event(
    told: Call, tmp_path: Path, kept: str
) -> None:
    (tmp_path / "folder").mkdir()
    seen = tmp_path / "seen"
    command = script(tmp_path / "take.sh", f"cat >> {seen}\n")
    for words in (("--exec", command), ()):
        done = told("notify", *words, "--cursor-file", tmp_path / kept)
        assert (done.code, done.out, "cannot be written" in done.err) == (73, "", True)
    assert not seen.exists()
    assert sorted(each.name for each in (tmp_path / "folder").iterdir()) == []
