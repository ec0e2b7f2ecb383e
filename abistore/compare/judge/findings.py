"""Turns deltas into findings by the rules, and findings into a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from abistore.compare.classify.meaningless import is_meaningless
from abistore.compare.context import Context
from abistore.compare.diff.members import children
from abistore.compare.diff.parts import Unexplained
from abistore.compare.rule import rules_for
from abistore.model.deltas import Added, Changed, Delta, Removed
from abistore.model.findings import VERDICT_OF, Finding, Impact, Verdict
from abistore.model.names import SELF, Facet, Name
from abistore.model.snapshot import Location


def explained(delta: Delta[Any], facet: Facet, context: Context) -> Iterator[Finding]:
    """What the rules say about ``delta``; a difference that none of them knows is a finding too."""
    silent = True
    for finding in findings_of(delta, facet, context):
        silent = False
        yield finding
    if silent and isinstance(delta, Changed) and not is_meaningless(delta, context):
        subject, old, new = delta.subject, Unexplained(delta.old), Unexplained(delta.new)
        yield from findings_of(Changed(subject, old, new), facet, context)


def findings_of(delta: Delta[Any], facet: Facet, context: Context) -> Iterator[Finding]:
    """What the rules say about ``delta`` and, where both sides have its declaration, about its parts."""
    shape = delta.old if isinstance(delta, Removed | Changed) else delta.new
    for rule in rules_for(facet, (type(delta), type(shape))):
        for note in rule.notes(delta, context):
            yield Finding(
                kind=rule.kind,
                name=delta.subject.name,
                part=delta.subject.part,
                description=note.description,
                impact=rule.impact,
                facet=rule.evidence,
                old_value=note.old,
                new_value=note.new,
                location=_location(delta, context),
                affected=_affected(delta, note.affected, context),
                gone=isinstance(delta, Removed),
            )
    if isinstance(delta, Changed):
        for child in children(delta, context):
            yield from findings_of(child, facet, context)


def _location(delta: Delta[Any], context: Context) -> Location | None:
    name = delta.subject.name
    if isinstance(delta, Removed):
        return context.old.snapshot.locations.get(name)
    return context.new.snapshot.locations.get(name) or context.old.snapshot.locations.get(name)


def _affected(delta: Delta[Any], stated: tuple[Name, ...], context: Context) -> tuple[Name, ...]:
    if stated:
        return tuple(sorted(stated))
    name = delta.subject.name
    if (isinstance(delta, Added) and delta.within is None) or name == SELF or name.kind == "import":
        return ()
    kept = name.kind == "enum" and not (isinstance(delta, Removed) and delta.within is None)
    return context.affected(name) or (context.taking_numbers if kept else ())


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """The worst impact of ``findings``, or that there are none."""
    worst = worst_of(findings)
    return Verdict.NO_CHANGE if worst is None else VERDICT_OF[worst]


def worst_of(findings: Iterable[Finding]) -> Impact | None:
    """The worst impact of ``findings``; ``None`` without any."""
    return max((finding.impact for finding in findings), default=None)
