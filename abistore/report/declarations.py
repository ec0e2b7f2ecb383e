"""The declarations that a comparison's findings are about, before and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from abistore.model.cpp_names.declarators import declare, spell
from abistore.model.cpp_names.spelling import spelled_out
from abistore.model.findings import Comparison, Finding
from abistore.model.layout.layouts import Layouts
from abistore.model.names import Name
from abistore.model.shapes import Field, Record
from abistore.model.snapshot import Snapshot, Variants
from abistore.report.model import ComparedDeclaration, Member, RecordLayout, every

EMPTY = 8
"""The size in bits of an object of an empty class."""

DRAWN = 2_000
"""Records with more members are not drawn."""


def declared(comparison: Comparison, old: Snapshot, new: Snapshot) -> tuple[ComparedDeclaration, ...]:
    """The declarations with findings, sorted. One whose text repeats its findings is left out."""
    return _declared(every(comparison.findings), old, new)


def declaration_of(finding: Finding, old: Snapshot, new: Snapshot) -> ComparedDeclaration | None:
    """The declaration of one finding; ``None`` if it says no more than the finding."""
    return next(iter(_declared((finding,), old, new)), None)


def _declared(findings: Iterable[Finding], old: Snapshot, new: Snapshot) -> tuple[ComparedDeclaration, ...]:
    before, after = _Side(old), _Side(new)
    said: dict[Name, set[tuple[str | None, str | None]]] = {}
    for finding in findings:
        if finding.name.kind not in {"library", "import"}:
            said.setdefault(finding.name, set()).add((finding.old_value, finding.new_value))
    made = (
        ComparedDeclaration(
            name.spelling, name.kind, before.text(name), after.text(name), before.layout(name), after.layout(name)
        )
        for name in sorted(said)
    )
    return tuple(
        each
        for each, values in zip(made, (said[name] for name in sorted(said)), strict=True)
        if each.before != each.after and not _repeats(_bare(each.before), _bare(each.after), values)
    )


def _bare(text: str | None) -> str | None:
    return text.removesuffix(";") if text is not None else None


def _repeats(before: str | None, after: str | None, said: Iterable[tuple[str | None, str | None]]) -> bool:
    """Whether a finding says all that two texts do: both in full, or the values of one ``constant macro N``."""
    return any((before, after) == pair or _are_values_of(pair, before, after) for pair in said)


def _are_values_of(values: tuple[str | None, str | None], before: str | None, after: str | None) -> bool:
    heads = {_head(text, value) for text, value in zip((before, after), values, strict=True)} - {""}
    return len(heads) == 1 and None not in heads


def _head(text: str | None, value: str | None) -> str | None:
    """What stands before ``value`` in a constant's text; empty where neither is there, ``None`` where they differ."""
    if text is None or value is None:
        return "" if text is value else None
    head = text.removesuffix(value)
    return head if head != text and head.endswith(" = ") else None


class _Side:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._layouts = Layouts(snapshot)

    def _variants(self, name: Name) -> Variants:
        return self._snapshot.variants("layout", name) or self._snapshot.variants("source", name)

    def text(self, name: Name) -> str | None:
        """What ``name`` declares, all its variants one below the other."""
        shapes = self._variants(name)
        return "\n".join(spelled_out(name, shapes, self._snapshot, self._layouts)) if shapes else None

    def layout(self, name: Name) -> RecordLayout | None:
        """The members of the record ``name``; of its first variant where it has several."""
        shape = next(iter(self._variants(name)), None)
        if not isinstance(shape, Record) or len(shape.fields) > DRAWN:
            return None
        members = sorted(self._members(shape), key=lambda member: (member.offset, member.role, member.name))
        return RecordLayout(shape.size, tuple(members))

    def _members(self, record: Record) -> Iterator[Member]:
        if record.has_vptr:
            yield Member("", "vtable pointer", 0, self._snapshot.target.bits, "vptr")
        yield from self._bases(record)
        yield from map(self._field, record.fields)
        for hole in self._layouts.holes(record):
            yield Member("", "padding" if hole.tail else "hole", hole.offset, hole.length, "padding")

    def _bases(self, record: Record) -> Iterator[Member]:
        """Bases that are not virtual, as far as they have the room to themselves.

        An empty one lies where something else does, and what is derived may lie in a base's padding.
        """
        placed = [(base, base.offset, 8 * (self._layouts.size(base.type) or 0)) for base in record.bases]
        starts = {field.offset for field in record.fields} | ({0} if record.has_vptr else set())
        taken = starts | {offset for _, offset, length in placed if offset is not None and length > EMPTY}
        for base, offset, length in placed:
            if offset is None:
                continue
            end = min((start for start in starts if offset < start < offset + length), default=offset + length)
            room = 0 if length == EMPTY and offset in taken else end - offset
            yield Member(spell(base.type), f"base {spell(base.type)}", offset, room, "base")

    def _field(self, field: Field) -> Member:
        text = declare(field.type, field.name)
        if field.bit_size is not None:
            return Member(field.name, f"{text} : {field.bit_size}", field.offset, field.bit_size, "field")
        return Member(field.name, text, field.offset, 8 * (self._layouts.size(field.type) or 0), "field")
