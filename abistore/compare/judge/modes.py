"""What headers show programs that are built in another mode: ``NDEBUG``, the other language, a header by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from abistore.compare.context import Context
from abistore.compare.diff.parts import InMode
from abistore.compare.judge.findings import explained
from abistore.compare.judge.judged import DeclarationJudge, Judged
from abistore.compare.side import SideFacts
from abistore.model.deltas import Changed, Subject
from abistore.model.findings import Finding, Impact
from abistore.model.header_modes import HeadersMode
from abistore.model.names import SELF, Name
from abistore.model.snapshot import MODES, HeadersRead, Snapshot, Variants

LANGUAGES: Final = frozenset({"C", "C++"})
"""The modes that are the other language."""


def judge_modes(context: Context) -> Judged:
    """What programs meet that are built in one mode, beside what all programs meet.

    Nothing where a side's headers were not read mode by mode, nor where scopes moved: modes have the names of their own
    release.
    """
    old, new = (side.snapshot.provenance.headers for side in (context.old, context.new))
    if not isinstance(old, HeadersRead) or not isinstance(new, HeadersRead) or not (old.modes or new.modes):
        return Judged()
    if MODES not in old.facts or MODES not in new.facts or context.moves:
        return Judged()
    before, after = ({each.name: each for each in read.modes} for read in (old, new))
    first: dict[tuple[object, ...], Changed[InMode]] = {}
    for mode in sorted(before.keys() | after.keys()):
        for delta in _deltas(context, before.get(mode, HeadersMode(mode)), after.get(mode, HeadersMode(mode))):
            first.setdefault((delta.subject.name, delta.new.said, delta.old.value, delta.new.value), delta)
    return Judged(source=tuple(each for delta in first.values() for each in explained(delta, "source", context)))


def _deltas(context: Context, old: HeadersMode, new: HeadersMode) -> Iterator[Changed[InMode]]:
    """What differs in one mode; nothing where programs could not be built in it before.

    Headers that do not parse in any mode, for want of a file, tell nothing by not parsing in this one.
    """
    if old.failure:
        return
    if new.failure:
        if context.new.snapshot.evidence_of("source").declares_all and _was_read(context, old):
            was = InMode(new.name, Impact.API_BREAK, "the headers do not parse", None)
            yield Changed(Subject(SELF, new.name), was, replace(was, value=new.failure))
        return
    sides = _Side(context.old, old, new), _Side(context.new, new, old)
    names = [name for name in sides[0].names if sides[0].of(name) and sides[0].of(name) != sides[1].of(name)]
    if not names:
        return
    shown = DeclarationJudge(
        Context(
            *(SideFacts(each.snapshot()) for each in sides),
            differing={"symbol": frozenset(), "layout": frozenset(), "source": frozenset(names)},
        )
    )
    everywhere = DeclarationJudge(context)
    for name in names:
        known = {_fact(each) for each in everywhere.judge(name, ()).findings}
        found = [each for each in shown.judge(name, ()).findings if _fact(each) not in known and _weighs(each)]
        if found:
            worst = max(found, key=lambda each: each.impact)
            was = InMode(new.name, worst.impact, worst.description, worst.old_value, worst.part, worst.affected)
            yield Changed(Subject(name, new.name), was, replace(was, value=worst.new_value))


class _Side:
    """One release as programs of one mode see it. What both modes do not tell differently is as for all programs."""

    def __init__(self, side: SideFacts, mode: HeadersMode, other: HeadersMode) -> None:
        self._snapshot = _spoken(side.snapshot, mode.name)
        self._main: Mapping[Name, Variants] = side.snapshot.entries.get("source", {})
        self._mode = {each.name: each.shapes for each in mode.entries}
        self.names = sorted({each.name for one in (mode, other) for each in one.entries})

    def of(self, name: Name) -> Variants:
        """The shapes of a name, none where it is not declared."""
        return self._mode[name] if name in self._mode else self._main.get(name, ())

    def snapshot(self) -> Snapshot:
        """The release with what headers alone tell of these names: debug information is that of another mode."""
        source = {**self._main, **self._mode}
        told = frozenset(self.names)
        layout = self._snapshot.entries.get("layout")
        kept = {} if layout is None else {"layout": {name: layout[name] for name in layout if name not in told}}
        shown = {"source": {name: shapes for name, shapes in source.items() if shapes}}
        return replace(self._snapshot, entries={**self._snapshot.entries, **kept, **shown})


def _spoken(snapshot: Snapshot, mode: str) -> Snapshot:
    """The release to sources of one language, where the mode is one: what converts in C++ may not in C."""
    read = snapshot.provenance.headers
    if mode not in LANGUAGES or not isinstance(read, HeadersRead):
        return snapshot
    return replace(
        snapshot,
        provenance=replace(snapshot.provenance, headers=replace(read, language=mode.lower(), serves=(mode.lower(),))),
    )


def _was_read(context: Context, mode: HeadersMode) -> bool:
    """Whether it is known that the old headers parse in a mode; in the other language only if they ask for it."""
    read = context.old.snapshot.provenance.headers
    if mode.name not in LANGUAGES or not isinstance(read, HeadersRead):
        return True
    return bool(mode.entries) or any("__cplusplus" in each.text for each in read.conditions)


def _fact(finding: Finding) -> tuple[object, ...]:
    return finding.kind, finding.part, finding.old_value, finding.new_value


def _weighs(finding: Finding) -> bool:
    return finding.impact > Impact.COMPATIBLE and not finding.kind.startswith("evidence_")
