"""Base classes of class templates, by their spellings: which sources miss that had them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.declarators import spell
from abistore.model.cpp_names.qualified import last_component, plain_template, scope
from abistore.model.declared import Declared, WrittenBase
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.shapes import WIDTH, Function, Record, Variable
from abistore.model.snapshot import TEMPLATE_BASES, HeadersRead
from abistore.model.words.telling import is_internal_namespace

DEEPEST = 100
"""More levels of bases than any class has."""


def are_recorded(context: Context) -> bool:
    """Whether the headers of both sides were asked for the bases of templates."""
    reads = (side.snapshot.provenance.headers for side in (context.old, context.new))
    return all(isinstance(read, HeadersRead) and TEMPLATE_BASES in read.facts for read in reads)


def missed(declared: Changed[Declared], context: Context) -> list[WrittenBase]:
    """The bases that sources had and have no more.

    One is still there that a base of now derives from, or that has further arguments behind those of before. Of one in
    a namespace that says that it is internal, nobody names more than the members, which another base may have.
    """
    name, old, new = declared.subject.name, declared.old.bases, declared.new.bases
    gone = [each for each in old if each.access != "private" and not any(_stands_for(other, each) for other in new)]
    if not gone:
        return []
    around = _ancestors(name, context.new)
    named = [each for each in gone if not (_outranks(around.get(each.type), each) or _is_internal(each, context.old))]
    return named or [each for each in gone if _is_internal(each, context.old) and _loses(name, each, context)]


def _stands_for(new: WrittenBase, old: WrittenBase) -> bool:
    further = old.type.endswith(">") and new.type.startswith(f"{old.type[:-1]}, ")
    return (new.type == old.type or further) and WIDTH[new.access] >= WIDTH[old.access]


def _outranks(access: int | None, base: WrittenBase) -> bool:
    return access is not None and access >= WIDTH[base.access]


def _is_internal(base: WrittenBase, side: SideFacts) -> bool:
    """Whether a base stands in an internal namespace; a class may be called like one."""
    parts = scope(_class(base.type)).split("::")
    places = (place for place, each in enumerate(parts) if is_internal_namespace(each))
    return any(not side.variants("source", Name("record", "::".join(parts[: place + 1]))) for place in places)


def _class(spelled: str) -> str:
    """The name of a class, or of its template."""
    plain = plain_template(spelled)
    return plain[0] if plain is not None else spelled


def _loses(name: Name, base: WrittenBase, context: Context) -> bool:
    """Whether a class misses a member that it had from a base, or a base of that which has members nobody knows."""
    old = {base.type: WIDTH[base.access], **_above(base.type, WIDTH[base.access], context.old)}
    new = _ancestors(name, context.new)
    before, after = (context.once(_members, side) for side in (context.old, context.new))
    had = {each for type in old for each in before.get(_class(type), ())}
    has = {each for type in (name.spelling, *new) for each in after.get(_class(type), ())}
    unknown = {type for type in old if not context.old.variants("source", Name("record", _class(type)))}
    return not (had <= has and unknown <= new.keys())


def _ancestors(name: Name, side: SideFacts) -> Mapping[str, int]:
    """All bases of a class as they are spelled, with the access that its users have to them."""
    return _above(name.spelling, WIDTH["public"], side)


def _above(spelled: str, access: int, side: SideFacts) -> dict[str, int]:
    found: dict[str, int] = {}
    pending = [(spelled, access, 0)]
    while pending:
        each, reached, depth = pending.pop()
        for type, own in _bases(each, side) if depth < DEEPEST else ():
            width = min(own, reached)
            if width and width > found.get(type, 0):
                found[type] = width
                pending.append((type, width, depth + 1))
    return found


def _bases(spelled: str, side: SideFacts) -> Iterator[tuple[str, int]]:
    for each in dict.fromkeys((spelled, _class(spelled))):
        for shape in side.variants("source", Name("record", each)):
            if isinstance(shape, Declared):
                yield from ((base.type, WIDTH[base.access]) for base in shape.bases)
            elif isinstance(shape, Record):
                yield from ((spell(base.type), WIDTH[base.access]) for base in shape.bases)


def _members(side: SideFacts, _context: Context) -> Mapping[str, set[str]]:
    """What sources can name of each class by its own declarations: functions, data, and types."""
    found: dict[str, set[str]] = {}
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        for shape in shapes:
            if isinstance(shape, Record):
                fields = (field.name for field in shape.fields if field.access != "private")
                found.setdefault(name.spelling, set()).update(fields)
            for owner, member in _named(name, shape):
                found.setdefault(owner, set()).add(member)
    return found


def _named(name: Name, shape: object) -> Iterator[tuple[str, str]]:
    if isinstance(shape, Function) and shape.method is not None:
        structor = last_component(shape.display).lstrip("~") == last_component(_class(shape.method.owner.spelling))
        if shape.method.access != "private" and not structor:
            yield shape.method.owner.spelling, last_component(shape.display)
    elif isinstance(shape, Variable) and shape.owner is not None and shape.access != "private":
        yield shape.owner.spelling, last_component(shape.display)
    elif isinstance(shape, Declared) and name.kind not in ("function", "variable"):
        yield scope(name.spelling), last_component(name.spelling)
