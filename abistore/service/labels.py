"""What the facts of a release may say: names, notes and other words."""

from __future__ import annotations

from abistore.errors import UsageError

LONGEST_NOTE = 2000


def check_note(what: str, text: str) -> None:
    """Raise :class:`UsageError` for a text that is no line of printable characters."""
    if not text.isprintable() or len(text) > LONGEST_NOTE:
        hint = f"use at most {LONGEST_NOTE:,} printable characters in one line"
        raise UsageError(f"not a {what}: {text[:40]!r}", hint)


def check_label(what: str, text: str | None) -> None:
    """Raise :class:`UsageError` if ``text`` cannot be the ``what`` (library, version, revision, ...) of a release."""
    if text is None:
        return
    from abistore.model.labels.naming import NAMED, check_name  # few commands are given names

    for named in NAMED:
        if what == named:
            check_name(named, text)
            return
    if not text.isprintable() or text != text.strip():
        raise UsageError(f"not a {what}: {text!r}", "use printable characters, without blanks around them")
