"""Types that changed inside, where programs do not see that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from abistore.compare.classify.export_batches import abridged
from abistore.compare.classify.renamed_mentions import with_old_names
from abistore.compare.context import Context
from abistore.compare.diff.parts import (
    DependencyType,
    NamedShape,
    OpaqueType,
    PrivateData,
    PrivateTail,
    PrivateType,
    UnreachedType,
)
from abistore.compare.rule import Note, rule
from abistore.compare.rules.types import facts, title
from abistore.compare.types.vtables import plainly, spelled
from abistore.model.cpp_names.declarators import declare
from abistore.model.cpp_names.spelling import declaration
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.shapes import Alias, AnyShape
from abistore.model.words.counting import counted


@rule(Impact.RISK, evidence="layout", element="types", action="changed")
def type_private_changed(type: Changed[PrivateType] | Changed[PrivateTail], context: Context) -> Iterator[Note]:
    """A type defined in a private header or a source file changed, or its members that public headers do not show.

    Programs do not look inside it: they get pointers to it, or give it room. Types that are met only in members whose
    name forbids to use them, e.g. ``_internal``, count too; so do private nested classes to which programs hold
    pointers at most, and that no code of the public headers uses. Of what the library allocates a header may show the
    first members only (``#ifdef LIB_INTERNAL`` before the others). An inline function of a public header that looks
    inside would have to know it, and so would another library of the same project.

    Fix: nothing, if no public header lets programs look inside.
    """
    yield from _redefined(_which(type.old), type, context)


@rule(Impact.COMPATIBLE, variant="opaque", evidence="layout", element="types", action="changed")
def type_private_changed_opaque(type: Changed[OpaqueType], context: Context) -> Iterator[Note]:
    """A type changed that no public header defines.

    The old release's headers are known, and so is all that they include. They declare the type at most. None of them
    has a definition, and no inline function, template or macro of theirs looks into it: programs hold pointers that the
    library gave them. That the given headers are all public ones is taken for granted.

    Fix: nothing.
    """
    yield from _redefined("a definition changed that no public header has", type, context)


def _which(type: PrivateType | PrivateTail) -> str:
    if isinstance(type, PrivateTail):
        return f"members changed behind the first {type.shown}, which are all that headers show"
    return "a private definition changed"


@rule(Impact.RISK, variant="private", evidence="layout", element="types", action="changed")
def type_field_type_changed_private(type: Changed[PrivateData]) -> Iterator[Note]:
    """Private members of a class changed places, types or widths, within the same bytes.

    Programs have objects of the same size, and cannot name these members. The class has no friends, and no inline
    function of the public headers uses them. They are numbers or pointers, which programs copy as before; or the
    library exports all that makes, copies, assigns and destroys an object, as where a pointer to a hidden class became
    a ``std::unique_ptr``.

    Fix: nothing; programs that read the bytes of an object by themselves have to be told.
    """
    old, new = type.old.shape, type.new.shape
    yield Note("private members changed", _members(old, new), _members(new, old))


@rule(Impact.RISK, variant="dependency", evidence="layout", element="types", action="changed")
def type_private_changed_dependency(type: Changed[DependencyType], context: Context) -> Iterator[Note]:
    """A type of another library changed, which this one was built with.

    The linker finds members of the class in a library that this one needs; or another class of the same header or
    folder (other than ``include``) is such a one, and no export stands there. Where no needed library could have them,
    programs bring the members in both releases, and the header is none that was given. Exported functions take or
    return pointers to it, and no class of this library that programs see embeds it or derives from it. Whether programs
    break is decided by the library that defines the type.

    Fix: compare the releases of the library that defines it, and name the ones that this release works with.
    """
    yield from _redefined("a type of another library changed", type, context)


@rule(Impact.RISK, variant="unreached", evidence="layout", element="types", action="changed")
def type_private_changed_unreached(type: Changed[UnreachedType], context: Context) -> Iterator[Note]:
    """A public class that no export uses changed.

    No exported function takes or returns it or a base of it, not even as ``void *``. Programs have all its code
    compiled in, and the library never meets their objects. Two modules of one program that were built against different
    releases may hand such objects to each other, and disagree.

    Fix: nothing, if such objects do not leave the module that makes them.
    """
    yield from _redefined("the definition changed", type, context)


def _redefined(what: str, type: Changed[Any], context: Context) -> Iterator[Note]:
    """The note of a definition that is another one, beyond the names that its types have."""
    before, after = type.old.shape, with_old_names(type.old.shape, type.new.shape, context)
    if before != after:
        old, new = _outline(type.old), _outline(type.new)
        if old == new:
            old, new = f"{old} with {_members(before, after)}", f"{new} with {_members(after, before)}"
        yield Note(what, old, new)


def _members(shape: AnyShape, other: AnyShape) -> str:
    """The first members of ``shape`` that ``other`` lacks or has differently, else the other facts that differ."""
    own = _lacking(shape, other)
    return abridged(own) or ("none of these" if _lacking(other, shape) else facts(shape, other))


def _lacking(shape: AnyShape, other: AnyShape) -> list[str]:
    """The fields, enumerators and virtual functions of ``shape`` that ``other`` lacks or has differently."""
    fields, methods = getattr(other, "fields", ()), [plainly(each) for each in getattr(other, "virtuals", ())]
    enumerators = getattr(other, "enumerators", ())
    return [
        *(
            f"{declare(each.type, each.name)} at {each.offset // 8}"
            for each in getattr(shape, "fields", ())
            if each not in fields
        ),
        *(f"{each.name} = {each.value}" for each in getattr(shape, "enumerators", ()) if each not in enumerators),
        *(spelled(each) for each in getattr(shape, "virtuals", ()) if plainly(each) not in methods),
    ]


def _outline(type: NamedShape) -> str:
    if isinstance(type.shape, Alias):
        return declaration(type.name, type.shape)
    size = getattr(type.shape, "size", None)
    return title(type.name, type.shape) + ("" if size is None else f" of {counted(size, 'byte')}")
