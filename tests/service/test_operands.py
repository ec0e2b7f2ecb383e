"""What counts as a reference, and what as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.service.snapshots import is_reference


@pytest.mark.parametrize(
    "text", ["libfoo@1.2.0", "libfoo@latest", "libfoo@baseline:main", "abcdef", "0123456789abcdef"]
)
def test_a_reference_names_something_stored(text: str) -> None:
    assert is_reference(text)


@pytest.mark.parametrize("text", ["libfoo.so", "./libfoo@1", "a/b@1", "abcde", "abcdeg", "", "x" * 5000, "a\0b"])
def test_everything_else_is_a_file(text: str) -> None:
    assert not is_reference(text)


def test_a_file_of_that_name_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_reference("abcdef")
    (tmp_path / "abcdef").write_text("")
    assert not is_reference("abcdef")
