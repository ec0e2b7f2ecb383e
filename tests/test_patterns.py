"""Regular expressions that are compiled when they are used."""

from __future__ import annotations

import re

import pytest

from abistore.patterns import pattern


def test_a_pattern_is_compiled_when_it_is_first_used_and_not_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile

    def compile_and_note(text: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(text)
        return compile_now(text, flags)

    monkeypatch.setattr(re, "compile", compile_and_note)
    digits = pattern(r"(?P<first>\d)\d*", re.ASCII)
    assert compiled == []
    found = digits.search("abc123")
    assert found is not None and found["first"] == "1"
    assert digits.sub("-", "a1b22") == "a-b-"
    assert digits.findall("1 23") == ["1", "2"]
    assert digits.groups == 1
    assert compiled == [r"(?P<first>\d)\d*"]


def test_a_pattern_of_bytes_finds_bytes() -> None:
    assert pattern(rb"\d+").findall(b"1 23") == [b"1", b"23"]
