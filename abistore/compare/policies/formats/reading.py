"""Suppressions from files of any format that is known, and what strict mode refuses in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from abistore.compare.policies.formats import abicc, abigail
from abistore.compare.policies.formats.breadth import selects_declarations
from abistore.compare.policies.formats.documents import SourceFile, is_over, read_source
from abistore.compare.policies.formats.suppression_file import read_suppressions
from abistore.compare.policies.suppression import Suppression, Suppressions
from abistore.errors import PolicyError
from abistore.model.labels.blanks import check_not_blank

YAML = frozenset({".yaml", ".yml"})
SECTION = re.compile(r"\s*\[\s*\w+\s*\]")
"""What the first line of an INI file that says something begins with."""

PREFIXES: dict[str, abicc.Listed] = {"skip-symbols:": "symbols", "skip-types:": "types"}
NAMED = re.compile(r"skip[-_]?(symbols|types)")


def load(words: Sequence[str], *, scheme: str, today: date, strict: bool) -> Suppressions:
    """The suppressions in files; ``scheme`` orders versions. Raises :class:`PolicyError`.

    An entry holds through the day on which it expires. In strict mode an expired entry is an error, and so is one
    without a reason, and one that selects no declaration.
    """
    listed = [_source(word) for word in words]
    entries = [entry for source, form in listed for entry in _entries(source, form, scheme)]
    expired = tuple(entry for entry in entries if is_over(entry.expires, today))
    if strict:
        _insist(entries, expired)
    holding = tuple(entry for entry in entries if not is_over(entry.expires, today))
    return Suppressions(holding, expired, tuple(source.file for source, _ in listed))


def _insist(entries: Sequence[Suppression], expired: Sequence[Suppression]) -> None:
    if expired:
        raise PolicyError(
            f"suppression {expired[0]} expired on {expired[0].expires}{_more(expired)}",
            "repair what it hides, or extend it after a review",
        )
    broad = [entry for entry in entries if not selects_declarations(entry)]
    if broad:
        raise PolicyError(
            f"suppression {broad[0]} selects no declaration{_more(broad)}",
            "name a symbol, a type, a member, a namespace or files: else it takes what nobody has looked at",
        )
    insist_on_reasons(entries)


def insist_on_reasons(entries: Sequence[Suppression]) -> None:
    """Raise :class:`PolicyError` where a suppression says not why: nobody has accepted anything then."""
    unexplained = [entry for entry in entries if not entry.reason]
    if unexplained:
        raise PolicyError(
            f"suppression {unexplained[0]} gives no reason{_more(unexplained)}",
            "have somebody review it, and write the reason",
        )


def _more(entries: Sequence[Suppression]) -> str:
    return f", and {len(entries) - 1} more" if len(entries) > 1 else ""


def _source(word: str) -> tuple[SourceFile, abicc.Listed | None]:
    """The file that a word names, and what its prefix says it lists."""
    check_not_blank("a file of suppressions", word)
    for prefix, listed in PREFIXES.items():
        if word.startswith(prefix):
            check_not_blank(f"the file behind {prefix}", word.removeprefix(prefix))
            return read_source(Path(word.removeprefix(prefix))), listed
    return read_source(Path(word)), None


def _is_ini(text: str) -> bool:
    saying = (line for line in text.splitlines() if line.strip() and line.lstrip()[0] not in "#;")
    return SECTION.match(next(saying, "")) is not None


def _entries(source: SourceFile, listed: abicc.Listed | None, scheme: str) -> Iterator[Suppression]:
    path, text = source.path, source.text
    if listed:
        return abicc.read_skip_list(path, text, listed)
    if path.suffix.lower() in YAML:
        return read_suppressions(source, scheme)
    if _is_ini(text):
        return abigail.read_specifications(path, text)
    if match := NAMED.search(path.name.lower()):
        return abicc.read_skip_list(path, text, "symbols" if match[1] == "symbols" else "types")
    raise PolicyError(
        f"{path}: no format of suppressions is recognised",
        "call YAML files *.yaml, begin INI with a [section], write skip-symbols:FILE or skip-types:FILE for a list",
    )
