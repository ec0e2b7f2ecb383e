"""Each call leaves one line on standard error, in which no folder is told."""

from __future__ import annotations

import json

import pytest

from abistore.mcp.sessions import Audit, AuditedCall
from tests.mcp.conftest import Agent

pytestmark = pytest.mark.fast

INPUTS = {"old_input": "/home/me/build/libfoo_v1.so", "new_input": "/b/libfoo_v2.so", "headers": ["/a/b/c.h"]}


def test_the_line_names_tool_inputs_time_and_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    Audit("text").write(AuditedCall("abi_compare", dict(list(INPUTS.items())[:2]), 3.4123, "ok", "BREAKING"))
    assert capsys.readouterr().err == (
        "INFO: abistore.mcp: tool=abi_compare old=libfoo_v1.so new=libfoo_v2.so duration=3.412s status=ok "
        "verdict=BREAKING\n"
    )


def test_the_json_line_has_who_asked_and_how_much_was_sent(capsys: pytest.CaptureFixture[str]) -> None:
    record = AuditedCall(
        "abi_compare", {**INPUTS, "note": "secret"}, 1.0, "timeout", client="probe", request="7", bytes_out=9
    )
    Audit("json").write(record)
    assert json.loads(capsys.readouterr().err) == {
        "tool": "abi_compare",
        "inputs": {"old": "libfoo_v1.so", "new": "libfoo_v2.so", "headers": ["c.h"]},
        "duration_s": 1.0,
        "status": "timeout",
        "verdict": None,
        "client": "probe",
        "request_id": "7",
        "bytes_out": 9,
        "subject": None,
    }


def test_no_argument_begins_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    Audit("text").write(
        AuditedCall("abi_list", {"library": "a\nINFO: abistore.mcp: tool=forged\x1b[31m"}, 0.0, "error")
    )
    written = capsys.readouterr().err
    assert written.count("\n") == 1
    assert "\x1b" not in written


def test_paths_of_any_system_and_patches_are_shortened(capsys: pytest.CaptureFixture[str]) -> None:
    given = {"old_input": "C:\\Windows\\a.json", "header_patch": "--- a/x.h\n+++ b/x.h\n"}
    Audit("text").write(AuditedCall("abi_whatif", given, 0.0, "ok"))
    written = capsys.readouterr().err
    assert 'old=a.json header_patch="(20 characters)"' in written
    assert "Windows" not in written and "x.h" not in written


def test_every_call_is_told(agent: Agent, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    agent.set(log_format="json")("abi_list", library="libgeo")
    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert (told["tool"], told["inputs"]["library"], told["status"]) == ("abi_list", "libgeo", "ok")
    assert told["client"] == "mcp"
    assert told["request_id"]
    assert told["bytes_out"] > 100
