"""Source breaks of what only the library is to name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from abistore.compare.context import Context
from abistore.compare.diff.parts import SourceBreak
from abistore.compare.judge.findings import findings_of
from abistore.model.deltas import Changed, Subject
from abistore.model.findings import Finding, Impact


def told_of_own(findings: Iterable[Finding], context: Context) -> Iterator[Finding]:
    """The findings about declarations, in which a source break of what is the library's own is told as such."""
    for finding in findings:
        if finding.impact is Impact.API_BREAK and _is_own(finding, context):
            subject = Subject(finding.name, finding.part)
            old, new = (SourceBreak(finding.description, value) for value in (finding.old_value, finding.new_value))
            for own in findings_of(Changed(subject, old, new), "source", context):
                yield replace(own, gone=finding.gone, location=finding.location)
        else:
            yield finding


def _is_own(finding: Finding, context: Context) -> bool:
    side = context.old if context.old.variants("source", finding.name) else context.new
    return context.old.internals.own(finding.name, side.variants("source", finding.name))
