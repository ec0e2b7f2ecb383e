"""Types, private ones too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from msgspec import Struct

from abistore.diffing.context import Context, Note, declaration, declare, listed, rule, spell
from abistore.diffing.evidence_gaps import comparable
from abistore.diffing.kinds.enumerators import live_on
from abistore.diffing.kinds.equivalent_declarations import abridged, with_old_names
from abistore.diffing.kinds.objects import is_only_private
from abistore.diffing.kinds.parameter_types import languages, replaces
from abistore.diffing.parts import (
    DefinitionKind,
    DependencyType,
    NamedShape,
    OpaqueType,
    PrivateData,
    PrivateTail,
    PrivateType,
    TagName,
    Unexplained,
    UnreachedType,
)
from abistore.diffing.types.sameness import Sameness
from abistore.diffing.types.vtables import plainly, spelled
from abistore.model.declarations import Added, Changed, Declared, Name, Removed
from abistore.model.findings import Impact
from abistore.model.shapes import Alias, AnyShape, Enum, Foreign, Inline, Named, Node, Opaque, Record, TypeRef
from abistore.model.words import counted


def _keyword(shape: AnyShape) -> str:
    match shape:
        case Record() | Opaque() | Foreign():
            return shape.sort
        case Enum():
            return "enum class" if shape.scoped else "enum"
        case _:
            return "typedef"


def title(name: Name, shape: AnyShape) -> str:
    """A declaration by its keyword and name: ``struct point``."""
    return f"{_keyword(shape)} {name.spelling}"


def _gone_from_headers(name: Name, context: Context) -> bool:
    before, after = (side.snapshot.entries.get("source", {}) for side in (context.old, context.new))
    return comparable(context, "source") and name in before and name not in after


def _declared(definition: DefinitionKind) -> str:
    return f"{title(definition.name, definition.shape)} (declared only)"


# --- come and go --------------------------------------------------------------------------------------------------


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="added")
def type_added(type: Added[Record | Enum | Opaque]) -> Iterator[Note]:
    """The exports use a type that they did not use before.

    Existing binaries do not know it.

    Fix: nothing.
    """
    yield Note("the type was added", None, title(type.subject.name, type.new))


@rule(Impact.COMPATIBLE, variant="unused", evidence="layout", element="types", action="removed")
def type_removed_unused(type: Removed[Record | Enum | Opaque], context: Context) -> Iterator[Note]:
    """No export uses a type any longer.

    Each function, variable and field that used it is reported separately. Debug information does not show whether
    headers still define the type; if headers show that they do not, that is reported.

    Fix: nothing beyond what those findings ask for.
    """
    if not _gone_from_headers(type.subject.name, context):
        yield Note("no export uses the type any longer", title(type.subject.name, type.old), None)


@rule(Impact.API_BREAK, evidence="source", element="types", action="removed")
def type_removed(type: Removed[Record | Enum | Opaque], context: Context) -> Iterator[Note]:
    """A type is no longer declared in a public header.

    Existing binaries know its layout and keep working. Sources that name it stop compiling.

    Fix: keep the definition, or an alias for the type that replaces it.
    """
    if not is_only_private(type.subject.name, context.old):
        yield Note("the headers no longer declare the type", title(type.subject.name, type.old), None)


@rule(Impact.RISK, variant="incomplete", evidence="source", element="types", action="removed")
def type_removed_incomplete(type: Removed[Record | Enum | Opaque | Alias], context: Context) -> Iterator[Note]:
    """An undefined type that only private members mention is no longer declared, or its name is not.

    ``class Widget { class Private *d; };``: programs have no object of it, and cannot get a pointer to one. The change
    of the member is reported separately.

    Fix: nothing.
    """
    if is_only_private(type.subject.name, context.old):
        yield Note("the headers no longer declare the type", title(type.subject.name, type.old), None)


# --- hidden and shown ---------------------------------------------------------------------------------------------


def _became_opaque(definition: Changed[DefinitionKind]) -> bool:
    hidden = isinstance(definition.new.shape, Opaque)
    return hidden and isinstance(definition.old.shape, Record | Enum)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def type_became_opaque(definition: Changed[DefinitionKind], context: Context) -> Iterator[Note]:
    """The definition of a type that callers allocate was hidden.

    The type is only declared now. Programs have the old definition compiled in: the objects that they allocate may not
    match the library's.

    Fix: keep the definition in the header, and add a new opaque type with functions that allocate it.
    """
    name = definition.subject.name
    if not _became_opaque(definition) or context.old.consumers.library_allocates(name):
        return
    if not _library_keeps(name, context):
        yield Note("the definition was hidden", title(name, definition.old.shape), _declared(definition.new))


def _library_keeps(name: Name, context: Context) -> bool:
    """Whether objects of built programs are safe: debug information compares them, or no export takes them."""
    if not context.affected(name):
        return True
    sides = (side.variants("layout", name) for side in (context.old, context.new))
    return all(any(isinstance(shape, Record | Enum) for shape in variants) for variants in sides)


@rule(Impact.API_BREAK, variant="forward_declared", evidence="source", element="types", action="removed")
def type_became_opaque_forward_declared(definition: Changed[DefinitionKind], context: Context) -> Iterator[Note]:
    """The headers no longer define a type that callers allocate and the library still uses.

    Existing binaries have the old definition compiled in. Debug information shows whether their objects still match,
    which is reported separately; or no export takes such objects. Sources that hold one or access its members stop
    compiling.

    Fix: keep the definition in the header, or add functions that allocate the type and access its members.
    """
    name = definition.subject.name
    if not _became_opaque(definition) or context.old.consumers.library_allocates(name):
        return
    if _library_keeps(name, context):
        yield Note("the headers now hide the definition", title(name, definition.old.shape), _declared(definition.new))


@rule(Impact.RISK, variant="handle", evidence="layout", element="types", action="changed")
def type_became_opaque_handle(definition: Changed[DefinitionKind], context: Context) -> Iterator[Note]:
    """The definition of a type that the library allocates was hidden.

    The type is only declared now. Programs that only pass pointers keep working. Programs that access its members use
    the old layout.

    Fix: offer accessor functions before you hide the definition.
    """
    name = definition.subject.name
    if _became_opaque(definition) and context.old.consumers.library_allocates(name):
        yield Note("the definition was hidden", title(name, definition.old.shape), _declared(definition.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed", aliases=("opaque_invariant_broken",))
def type_definition_added(definition: Changed[DefinitionKind]) -> Iterator[Note]:
    """A type that was only declared has a definition now.

    Existing binaries contain only pointers, and do not depend on the layout.

    Fix: nothing; but from now on the layout is part of the interface if a public header contains it.
    """
    if isinstance(definition.old.shape, Opaque) and isinstance(definition.new.shape, Record | Enum):
        new = title(definition.new.name, definition.new.shape)
        yield Note("the definition became visible", _declared(definition.old), new)


def _definitions(old: DefinitionKind, new: DefinitionKind) -> tuple[str, str]:
    return declaration(old.name, old.shape), declaration(new.name, new.shape)


# --- another name, another thing ----------------------------------------------------------------------------------


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def tag_type_renamed(tag: Changed[TagName]) -> Iterator[Note]:
    """A type was renamed.

    Existing C binaries contain no type names. C++ has them in mangled names of functions, which are reported
    separately. Sources that name the type stop compiling, unless the header keeps the old name as a typedef or a macro.

    Fix: keep the old name as a typedef.
    """
    yield Note("the type was renamed", title(tag.subject.name, tag.old.shape), title(tag.new.name, tag.new.shape))


@rule(Impact.API_BREAK, variant="undeclared", evidence="layout", element="types", action="changed")
def tag_type_renamed_undeclared(tag: Changed[TagName], context: Context) -> Iterator[Note]:
    """A type was renamed, and public headers do not declare the old name.

    Existing binaries behave as with any renamed type. Sources that name the type stop compiling. In C, a typedef of the
    old name does not help sources that write ``struct item``.

    Fix: keep the old name: ``#define item piece`` helps all sources, and a typedef those in C++.
    """
    old, new = tag.subject.name, tag.new.name
    if _gone_from_headers(old, context) and not _is_kept(old, context):
        yield Note("the headers do not declare the old name", title(old, tag.old.shape), title(new, tag.new.shape))


def _is_kept(old: Name, context: Context) -> bool:
    """Whether headers have a macro of the old name, or a typedef where no source has to write ``struct``."""
    after = context.new.snapshot.entries["source"]
    if Name("variable", old.spelling) in after:
        return True
    return "c" not in languages(old, context) and Name("alias", old.spelling) in after


def _redefinition(definition: Changed[DefinitionKind], context: Context) -> Sameness | None:
    """How alike the two definitions of one name are; ``None`` where one of them is only hidden."""
    old, new = definition.old, definition.new
    match old.shape, new.shape:
        case (Opaque(), Record() | Enum()) | (Record() | Enum(), Opaque()):
            return None
        case (Foreign() | Opaque(), Foreign() | Opaque()):
            return Sameness.SPELLING
        case (Foreign(), Record() | Enum()) | (Record() | Enum(), Foreign()):
            before, after = context.old.types.layouts, context.new.types.layouts
            sizes = before.size(Named(old.name)), after.size(Named(new.name))
            return Sameness.REPRESENTATION if None in sizes or sizes[0] == sizes[1] else Sameness.DIFFERENT
        case _, Declared():
            brought = _brought_in(definition, context)
            return None if brought is None else context.stored(Named(old.name), Named(brought))
        case Enum(), Alias() if live_on(old.name, old.shape, context):
            found = context.stored(Named(old.name), Named(new.name))
            return Sameness.REPRESENTATION if found is Sameness.REINTERPRETED else found
        case _:
            return context.stored(Named(old.name), Named(new.name))


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", aliases=("handle_type_changed",))
def type_definition_changed(definition: Changed[DefinitionKind], context: Context) -> Iterator[Note]:
    """A type was replaced by another kind of type with a different representation.

    For example, a struct became an enumeration or an integer. The library misreads what programs pass and store under
    this name.

    Fix: give the new type a new name.
    """
    found = _redefinition(definition, context)
    if found is not None and found > Sameness.REPRESENTATION:
        yield Note("the name refers to something else", *_definitions(definition.old, definition.new))


@rule(Impact.COMPATIBLE, variant="respelled", evidence="layout", element="types", action="changed")
def type_definition_changed_respelled(definition: Changed[DefinitionKind], context: Context) -> Iterator[Note]:
    """A type was replaced by another kind of type with the same representation.

    A struct became a typedef of one with the same members. Or an enumeration became an integer, or another library's
    enumeration with the same values. Existing binaries pass and store the same bits. C does not accept a ``const``
    object as a ``case``.

    Fix: nothing.
    """
    found = _redefinition(definition, context)
    if found is not None and found <= Sameness.REPRESENTATION and _replaces(definition, context):
        yield Note("the name is declared differently", *_definitions(definition.old, definition.new))


@rule(Impact.API_BREAK, variant="inconvertible", evidence="layout", element="types", action="changed")
def type_definition_changed_inconvertible(definition: Changed[DefinitionKind], context: Context) -> Iterator[Note]:
    """A type was replaced by another kind of type with the same bits, but different use in sources.

    Existing binaries pass and store the same bits. In sources, assignments do not convert, or members do not exist. An
    integer became an enumeration, which C++ does not convert it to; or ``struct { float red, green, blue; }`` became a
    ``std::array<float, 3>``.

    Fix: give the new type a new name.
    """
    found = _redefinition(definition, context)
    if found is not None and found <= Sameness.REPRESENTATION and not _replaces(definition, context):
        yield Note("sources cannot use the type as before", *_definitions(definition.old, definition.new))


def _replaces(definition: Changed[DefinitionKind], context: Context) -> bool:
    return replaces(definition.old.name, _brought_in(definition, context) or definition.new.name, context)


def _brought_in(definition: Changed[DefinitionKind], context: Context) -> Name | None:
    """The type that a using-declaration of the new release names, where headers or debug information have it."""
    shape = definition.new.shape
    target = shape.value if isinstance(shape, Declared) and "using" in shape.traits else None
    names = (Name(kind, target.removeprefix("::")) for kind in ("record", "enum", "alias")) if target else ()
    return next((each for each in names if context.new.types.has(each)), None)


@rule(Impact.API_BREAK, variant="opaque", evidence="layout", element="types", action="changed")
def source_level_kind_changed_opaque(opaque: Changed[Opaque]) -> Iterator[Note]:
    """A type that is only declared has another keyword, e.g. ``union`` for ``struct``.

    Existing binaries contain pointers, which are the same. C sources that name it with the old keyword stop compiling.

    Fix: keep the keyword.
    """
    if opaque.old.sort != opaque.new.sort:
        yield Note("the keyword changed", opaque.old.sort, opaque.new.sort)


# --- the last resort ------------------------------------------------------------------------------------------------


@rule(Impact.RISK, evidence="layout", element="types", action="changed")
def declaration_changed(declared: Changed[Unexplained]) -> Iterator[Note]:
    """A declaration changed in a way that no rule describes.

    The two sides are not equal, and no kind of change explains the effect on programs.

    Fix: compare the two declarations, and report the missing rule to abistore's authors.
    """
    name = declared.subject.name
    old, new = declared.old.shape, declared.new.shape
    texts: tuple[str, str] = declaration(name, old), declaration(name, new)
    if texts[0] == texts[1]:
        texts = facts(old, new), facts(new, old)
    yield Note("the declarations changed", *texts)


def facts(shape: AnyShape, other: AnyShape) -> str:
    """The facts in which ``shape`` differs from ``other``, for declarations that are spelled alike."""
    names = [name for name in shape.__struct_fields__ if getattr(shape, name) != getattr(other, name, None)]
    if names == ["alignment"] and getattr(shape, "alignment", None) is None:
        return "its natural alignment"
    return ", ".join(f"{name}: {_spelled(getattr(shape, name))}" for name in names)


def _spelled(fact: object) -> str:
    match fact:
        case tuple():
            return f"({', '.join(map(_spelled, fact))})"
        case Inline(shape=shape):
            return _spelled(shape)
        case Node():
            return spell(cast("TypeRef", fact))
        case Struct():
            return " ".join(_spelled(getattr(fact, name)) for name in fact.__struct_fields__)
        case None:
            return "not told"
        case _:
            return str(fact)


@rule(Impact.RISK, evidence="layout", element="types", action="changed")
def type_private_changed(type: Changed[PrivateType] | Changed[PrivateTail], context: Context) -> Iterator[Note]:
    """An internal type changed: it is defined in a private header or source file, or public headers hide the members.

    Programs do not access its members: they only hold pointers to it, or provide memory. Types used only in members
    marked as internal by name, e.g. ``_internal``, count too. So do private nested classes that programs hold only by
    pointer, and that no public inline code uses. For types that the library allocates, a header may show only the first
    members (``#ifdef LIB_INTERNAL`` before the others). Inline functions in public headers and other libraries of the
    project may still access it.

    Fix: nothing, if no public header lets programs access its members.
    """
    yield from _redefined(_which(type.old), type, context)


@rule(Impact.COMPATIBLE, variant="opaque", evidence="layout", element="types", action="changed")
def type_private_changed_opaque(type: Changed[OpaqueType], context: Context) -> Iterator[Note]:
    """A type that no public header defines changed.

    The old release's headers and everything that they include are known. They only declare the type. No inline
    function, template or macro in them accesses its members: programs hold pointers that the library gave them. The
    given headers are assumed to be all public headers.

    Fix: nothing.
    """
    yield from _redefined("a definition outside the public headers changed", type, context)


def _which(type: PrivateType | PrivateTail) -> str:
    if isinstance(type, PrivateTail):
        return f"members changed behind the first {type.shown}, which are all that headers show"
    return "an internal type changed, which no public header defines"


@rule(Impact.RISK, variant="private", evidence="layout", element="types", action="changed")
def type_field_type_changed_private(type: Changed[PrivateData]) -> Iterator[Note]:
    """Private members of a class changed offsets, types or widths within the same bytes.

    The size is the same, and programs cannot name these members. The class has no friends, and no inline function in
    the public headers uses them. They are numbers or pointers, which programs copy as before. Or the library exports
    everything that creates, copies, assigns and destroys an object, e.g. after a pointer became a ``std::unique_ptr``.

    Fix: nothing; inform programs that read the raw bytes of an object.
    """
    old, new = type.old.shape, type.new.shape
    yield Note("private members changed", _members(old, new), _members(new, old))


@rule(Impact.RISK, variant="dependency", evidence="layout", element="types", action="changed")
def type_private_changed_dependency(type: Changed[DependencyType], context: Context) -> Iterator[Note]:
    """A type of another library changed, which this one was built with.

    A needed library exports members of the class, or of another class in the same header or folder (other than
    ``include``). If no needed library could have them, programs define the members in both releases, in a header that
    was not given. Exported functions take or return pointers to it. No class of this library that programs see embeds
    it or derives from it. Whether programs break depends on the library that defines the type.

    Fix: compare the releases of that library, and document which ones this release works with.
    """
    yield from _redefined("a type of another library changed", type, context)


@rule(Impact.RISK, variant="unreached", evidence="layout", element="types", action="changed")
def type_private_changed_unreached(type: Changed[UnreachedType], context: Context) -> Iterator[Note]:
    """A public class that no export uses changed.

    No exported function takes or returns it or a base of it, not even as ``void *``. Programs have all its code
    compiled in, and the library never gets their objects. Two modules of one program that were built against different
    releases may exchange such objects, and disagree.

    Fix: nothing, if such objects do not leave the module that makes them.
    """
    yield from _redefined("the definition changed", type, context)


def _redefined(what: str, type: Changed[Any], context: Context) -> Iterator[Note]:
    """The note of a definition that is another one, beyond the names that its types have."""
    before, after = type.old.shape, with_old_names(type.old.shape, type.new.shape, context)
    if before != after:
        old, new = _outline(type.old), _outline(type.new)
        if old == new:
            old, new = _detailed(old, _members(before, after)), _detailed(new, _members(after, before))
        yield Note(what, old, new)


def _detailed(outline: str, members: str | None) -> str:
    return outline if members is None else listed((outline, members), " with ")


def _members(shape: AnyShape, other: AnyShape) -> str | None:
    """The first members of ``shape`` that ``other`` lacks or has differently, else the other facts that differ.

    ``None`` where only ``other`` has such members.
    """
    own = _lacking(shape, other)
    return abridged(own) or (None if _lacking(other, shape) else facts(shape, other))


def _lacking(shape: AnyShape, other: AnyShape) -> list[str]:
    """The fields, enumerators and virtual functions of ``shape`` that ``other`` lacks or has differently."""
    fields, methods = getattr(other, "fields", ()), [plainly(each) for each in getattr(other, "virtuals", ())]
    enumerators = getattr(other, "enumerators", ())
    return [
        *(
            declare(each.type, each.name) + f" at {each.offset // 8}"
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
