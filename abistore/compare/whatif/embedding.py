"""Records that embed one whose size changes: laid out anew, where their fields simply follow each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from abistore.model.declared import Declared
from abistore.model.layout.layouts import Layouts
from abistore.model.names import Facet, Name
from abistore.model.references import embedded
from abistore.model.shapes import Field, Record
from abistore.model.snapshot import Snapshot, Variants


def with_embedding(before: Snapshot, after: Snapshot, changed: Iterable[Name]) -> Snapshot:
    """``after`` with the records laid out anew that embed ``changed`` types.

    A record of which the layout cannot be told from its fields, as one with base classes, stays as it is.
    """
    settled, pending = set(changed), list(changed)
    users = _users(before)
    while pending:
        for name in users.get(pending.pop(), ()):
            if name not in settled:
                settled.add(name)
                entries = _relaid(before, after, name)
                if entries:
                    after = replace(after, entries={**after.entries, **entries})
                if entries or name.kind == "alias":  # an alias has no layout of its own, and changes with its target
                    pending.append(name)
    return after


def _users(snapshot: Snapshot) -> Mapping[Name, list[Name]]:
    """The types that embed each type, directly or by an alias."""
    found: dict[Name, list[Name]] = {}
    for facet in _facets(snapshot):
        for name, variants in snapshot.entries[facet].items():
            if name.kind in ("record", "alias"):
                for each in {one for shape in variants for one in embedded(shape)}:
                    found.setdefault(each, []).append(name)
    return found


def _facets(snapshot: Snapshot) -> Iterator[Facet]:
    return (facet for facet in snapshot.entries if facet != "symbol")


def _relaid(before: Snapshot, after: Snapshot, name: Name) -> Mapping[Facet, Mapping[Name, Variants]]:
    """The facets of ``after`` in which ``name`` is laid out anew; none where its layout stays."""
    old, new = Layouts(before), Layouts(after)
    found: dict[Facet, Mapping[Name, Variants]] = {}
    for facet in _facets(after):
        variants = after.entries[facet].get(name, ())
        anew = tuple(_laid_out(shape, old, new) if isinstance(shape, Record) else shape for shape in variants)
        if anew != variants:
            found[facet] = {**after.entries[facet], name: anew}
    return found


def _laid_out(record: Record, old: Layouts, new: Layouts) -> Record:
    """The record with its fields one behind the other, if that is how the compiler laid them out before."""
    return found if _in_order(record, old) == record and (found := _in_order(record, new)) is not None else record


def _in_order(record: Record, layouts: Layouts) -> Record | None:
    """The record with each field at the next multiple of its alignment; ``None`` where that is not known to be so."""
    if record.bases or record.has_vptr or record.alignment:
        return None
    end, size, most, fields = 0, 0, 1, list[Field]()
    for field in record.fields:
        length, alignment = layouts.size(field.type), layouts.alignment(field.type)
        if length is None or not alignment or field.bit_size is not None:
            return None
        offset = 0 if record.sort == "union" else -(-end // alignment) * alignment
        fields.append(replace(field, offset=8 * offset))
        end, most = offset + length, max(most, alignment)
        size = max(size, end)
    return replace(record, fields=tuple(fields), size=-(-size // most) * most or record.size)


def embedding_left(before: Snapshot, after: Snapshot, changed: Iterable[Name]) -> tuple[Name, ...]:
    """The records that embed a type of another size and whose own layout could not be worked out, sorted."""
    old, new = Layouts(before), Layouts(after)
    found = set[Name]()
    users = _users(before)
    for name in changed:
        for user in users.get(name, ()):
            shapes: Variants = after.variants("source", user) or after.variants("layout", user)
            for shape in shapes:
                if isinstance(shape, Record) and not isinstance(shape, Declared) and _is_stale(shape, old, new):
                    found.add(user)
    return tuple(sorted(found))


def _is_stale(record: Record, old: Layouts, new: Layouts) -> bool:
    """Whether a member of ``record`` has another size now, and the record still has the layout of before."""
    grown = any(old.size(field.type) != new.size(field.type) for field in record.fields)
    return grown and _in_order(record, new) != record
