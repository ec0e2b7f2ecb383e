"""Policies and suppressions that are no files, too large, or endless: an error at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from abistore.diffing import policy_documents as documents
from abistore.diffing.policy_documents import MOST_BYTES, MOST_ENTRIES
from abistore.errors import PolicyError
from abistore.service.ruling import ruling

ENTRY = "  - symbol: gone\n    reason: accepted\n"


def refusal(path: Path, *, policy: bool) -> str:
    with pytest.raises(PolicyError) as refused:
        ruling(str(path)) if policy else ruling(None, [str(path)])
    return refused.value.message


@pytest.mark.parametrize("option", ["--policy", "--suppress"])
def test_a_pipe_is_refused_and_not_waited_for(option: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    words = [sys.executable, "-m", "abistore", "verdict", "libcase@1.0", option, str(pipe)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 64
    assert f"{pipe}: is not a regular file" in done.stderr


@pytest.mark.parametrize(
    ("place", "policy"),
    [("/dev/zero", True), ("/dev/null", True), ("/", True), ("/dev/zero", False), ("/dev/null", False)],
)
def test_what_is_no_file_is_refused(place: str, policy: bool) -> None:
    assert place in refusal(Path(place), policy=policy)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("many.yaml", f"suppressions:\n{ENTRY * 110_000}", "more than 50,000 values"),
        ("flow.yaml", f"kinds: [{'a,' * 2_000_000}]", "more than 50,000 values"),
        ("keys.yaml", "".join(f"k{number}: 1\n" for number in range(300_000)), "more than 50,000 values"),
        # libyaml may refuse these first, in words of its own
        ("deep.yaml", "[" * (MOST_BYTES - 1), "nest"),
        ("braces.yaml", "{" * (MOST_BYTES - 1), "nest"),
        ("dashes.yaml", "- " * (MOST_BYTES // 2 - 1), "nested too deep"),
        ("questions.yaml", "? " * (MOST_BYTES // 2 - 1), "nested too deep"),
        ("laughs.yaml", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "aliases are not supported"),
        ("two.yaml", "name: a\n---\nname: b\n", "a second document"),
        ("large.yaml", "#" * (MOST_BYTES + 1), "larger than 4 MiB"),
        ("blank.ini", "\n" * (MOST_BYTES - 10) + "x", "no format of suppressions is recognised"),
        ("many.ini", "[suppress_function]\nname = a\n" * 60_000, "more than 50,000 sections"),
        ("skip_symbols.txt", "abc*\n" * 800_000, "more than 50,000 names"),
    ],
)
def test_an_endless_file_is_refused_before_it_is_read_to_its_end(
    name: str, text: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert words in refusal(path, policy=False)
    if path.suffix == ".yaml":
        assert words in refusal(path, policy=True)


def test_no_more_values_are_read_than_a_document_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    met = []
    checked = documents._Reader._check

    def counted(reader: documents._Reader, event: object) -> None:
        met.append(event)
        checked(reader, event)

    monkeypatch.setattr(documents._Reader, "_check", counted)
    with pytest.raises(Exception, match="more than"):
        documents.read("a: [" + "x," * 1_000_000 + "]")
    assert len(met) == documents.MOST_VALUES + 1


def test_a_large_file_within_the_limits_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    count = documents.MOST_VALUES // 5 - 1
    path.write_text(f"suppressions:\n{ENTRY * count}")
    by = ruling(None, [str(path)])
    assert by is not None
    assert len(by.suppressions.entries) == count
    assert count < MOST_ENTRIES
