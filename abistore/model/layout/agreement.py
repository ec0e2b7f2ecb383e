"""Where the headers and the debug information of one snapshot disagree about a type."""

from __future__ import annotations

from typing import Final

from abistore.model.declared import Declared
from abistore.model.layout.layouts import Layouts
from abistore.model.names import Name
from abistore.model.recorded.unrecorded import unrecorded_by
from abistore.model.shapes import Enum, Record
from abistore.model.snapshot import Snapshot, only_described
from abistore.model.words.counting import counted

STRANGERS: Final = "headers and binary do not belong together"
STRANGERS_HINT: Final = "give the headers and the macros (--define) that the library was built with"


def disagreeing(snapshot: Snapshot) -> frozenset[Name]:
    """The types of which headers and debug information say different things."""
    layout = snapshot.entries.get("layout", {})
    both = (name for name in snapshot.entries.get("source", {}) if name in layout)
    return frozenset(name for name in both if disagreement(snapshot, name))


def strangers(snapshot: Snapshot) -> str:
    """What tells that the headers are another library's, release's or configuration's; empty where nothing does."""
    names = sorted(disagreeing(snapshot))
    if not names:
        return ""
    found = disagreement(snapshot, names[0])
    assert found is not None
    others = f", and {counted(len(names) - 1, 'other type')} too" if len(names) > 1 else ""
    said = f"{names[0].spelling} is {found[0]} in the headers and {found[1]} in the debug information{others}"
    return f"{STRANGERS}: {said}"


def disagreement(snapshot: Snapshot, name: Name) -> tuple[str, str] | None:
    """What the headers say of ``name``, and what debug information says instead; ``None`` where they agree.

    A dummy definition in a header says nothing, and where one of them has several definitions one may fit.
    """
    source = snapshot.variants("source", name)
    if any("dummy" in shape.traits for shape in source if isinstance(shape, Declared)):
        return None
    header, binary = only_described(source), only_described(snapshot.variants("layout", name))
    match header, binary:
        case Record(), Record() if header.size != binary.size:
            return f"{header.size} bytes", f"{binary.size} bytes"
        case Record(), Record():
            return _fields(header, binary) or _alignments(header, binary, snapshot)
        case Enum(), Enum():
            values = {each.name: each.value for each in binary.enumerators}
            differing = [each for each in header.enumerators if values.get(each.name, each.value) != each.value]
            return next(((f"{e.name} = {e.value}", f"{e.name} = {values[e.name]}") for e in differing), None)
        case _:
            return None


def _alignments(header: Record, binary: Record, snapshot: Snapshot) -> tuple[str, str] | None:
    """The alignments, where the header asks for more than debug information, which records what is asked for, shows."""
    if not header.alignment or binary.alignment:
        return None
    if "Record.alignment" in unrecorded_by(snapshot.evidence_of("layout")):
        return None
    layouts = Layouts(snapshot)
    if not layouts.knows_alignment(binary) or header.alignment <= layouts.record_alignment(binary):
        return None
    said = [f"aligned to {counted(each, 'byte')}" for each in (header.alignment, layouts.record_alignment(binary))]
    return said[0], said[1]


def _fields(header: Record, binary: Record) -> tuple[str, str] | None:
    offsets = {field.name: field.offset for field in binary.fields if field.name}
    for field in header.fields:
        other = offsets.get(field.name, field.offset)
        if other != field.offset:
            return f"{field.name} at offset {field.offset // 8}", f"{field.name} at offset {other // 8}"
    return None
