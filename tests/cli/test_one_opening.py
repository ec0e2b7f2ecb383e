"""A command opens its database once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abistore.store.store import Store
from tests.cli.conftest import Call

pytestmark = pytest.mark.fast


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("list", "libfoo"),
        ("show", "libfoo@1.0"),
        ("show", "libfoo@1.0", "point"),
        ("log", "point"),
        ("history", "libfoo"),
        ("verdict", "libfoo@1.1"),
        ("compare", "libfoo@1.0", "libfoo@1.1"),
        ("compare", "libfoo@1.0", "{new}"),
        ("ingest", "{new}", "--version", "1.1"),
        ("ingest", "{new}", "--library", "libfoo", "--version", "1.2", "--against", "baseline", "--keep-failed"),
        ("export", "libfoo@1.0", "-o", "/dev/null"),
        ("db", "baseline", "list", "libfoo"),
        ("db", "baseline", "set", "libfoo@1.1"),
        ("db", "release", "edit", "libfoo@1.0", "--revision", "abc"),
        ("db", "check"),
        ("db", "stats"),
        ("db", "audit"),
    ],
    ids=" ".join,
)
def test_a_command_opens_its_database_once(
    words: tuple[str, ...], abistore: Call, old: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, *more in ((old, "1.0", "--set-baseline"), (new, "1.1")):
        assert abistore("ingest", path, "--library", "libfoo", "--version", *more).code == 0
    assert abistore("history", "libfoo").code == 0  # verdicts are remembered from here on
    opened = []
    real = Store.open

    def counted(*positional: Any, **named: Any) -> Store:
        opened.append(named)
        return real(*positional, **named)

    monkeypatch.setattr(Store, "open", counted)
    assert abistore(*(word.format(new=new) for word in words)).code in {0, 4}
    assert len(opened) == 1
