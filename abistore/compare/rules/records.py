"""Structs, classes and unions as a whole: size, alignment, packing, vtable pointers, deleted members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from abistore.compare.classify.implicit_members import is_private, parts_without
from abistore.compare.classify.meaningless import is_deleted_already
from abistore.compare.classify.record_growth import grows_safely
from abistore.compare.classify.tail_padding import library_writes, tails
from abistore.compare.context import Context
from abistore.compare.diff.headers.former import tell
from abistore.compare.diff.parts import DescribedClass
from abistore.compare.rule import Note, rule
from abistore.compare.side import SideFacts
from abistore.compare.types.vtables import is_destructor
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Declared
from abistore.model.deltas import Added, Changed
from abistore.model.findings import Impact
from abistore.model.names import Name
from abistore.model.reach.graph import DECLARING
from abistore.model.shapes import Function, Record, VirtualMethod
from abistore.model.snapshot import PACKING
from abistore.model.words.counting import counted


def _sizes(record: Changed[Record]) -> tuple[str, str] | None:
    """Both sizes, where they differ. An anonymous member's size shows in the record around it."""
    if record.within is not None or record.old.size == record.new.size:
        return None
    return counted(record.old.size, "byte"), counted(record.new.size, "byte")


def _alignments(record: Changed[Record], context: Context) -> tuple[str, str] | None:
    layouts = context.old.types.layouts, context.new.types.layouts
    old, new = layouts[0].record_alignment(record.old), layouts[1].record_alignment(record.new)
    if record.within is not None or old == new:
        return None
    if record.old.packed != record.new.packed and not tell(context, PACKING):
        return None
    known = layouts[0].knows_alignment(record.old) and layouts[1].knows_alignment(record.new)
    asked = record.old.alignment != record.new.alignment
    return (counted(old, "byte"), counted(new, "byte")) if known or asked else None


@rule(
    Impact.BREAKING,
    evidence="layout",
    element="types",
    action="changed",
    effect="size",
    aliases=("struct_size_changed",),
)
def type_size_changed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """The size of a struct or class that callers allocate changed.

    Programs reserve the old size on their stacks, in arrays and in objects of their own. The library writes behind the
    end, or programs step through arrays with the wrong stride.

    Fix: keep the size with reserved fields, or let only the library allocate it and hand out pointers.
    """
    sizes = _sizes(record)
    if sizes is not None and not grows_safely(record, context):
        yield Note("the size differs", *sizes)


@rule(
    Impact.BREAKING,
    evidence="layout",
    element="types",
    action="changed",
    effect="alignment",
    aliases=("struct_alignment_changed",),
)
def type_alignment_changed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """The alignment of a struct or class that callers allocate changed.

    Programs put objects at addresses that are not multiples of the new alignment. Structs that hold one have other
    offsets than in the library.

    Fix: keep the alignment, with ``alignas`` where a new member asks for more.
    """
    alignments = _alignments(record, context)
    if alignments is not None and not grows_safely(record, context):
        yield Note("the alignment differs", *alignments)


@rule(Impact.RISK, variant="handle", evidence="layout", element="types", action="changed", effect="size")
def type_size_changed_handle(record: Changed[Record], context: Context) -> Iterator[Note]:
    """The size or alignment of a struct changed that the library allocates, or of which callers tell what theirs holds.

    Programs that hold pointers from the library, or fill in a field with its size or a mask, go on working. So do those
    whose table of function pointers says its version, or who pass its size beside it: the library must read no more.
    Programs that declare, copy or derive from the struct all the same use the old size.

    Fix: hide the definition, so that nobody can depend on its size.
    """
    if not grows_safely(record, context):
        return
    sizes, alignments = _sizes(record), _alignments(record, context)
    if sizes is not None:
        yield Note("the size differs", *sizes)
    elif alignments is not None:
        yield Note("the alignment differs", *alignments)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def tail_padding_reuse_changed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A class became plain old data: the library copies padding in which derived classes of programs have members.

    The members of a class that derives from it, or that has it as a ``[[no_unique_address]]`` member, lie in the
    padding at its end. Nothing lies there in plain old data, so that all its bytes are copied (Itanium C++ ABI, 2.2):
    where the library assigns to such an object, it overwrites the program's members.

    Fix: keep what made the class more than plain old data: a constructor, a base, a member that is not public.
    """
    found = tails(record, context)
    if found == ("open", "closed") and _is_derived(record, context) and library_writes(record.subject.name, context):
        yield Note("what derives from it may lie in its tail padding", REUSED[found[0]], REUSED[found[1]])


@rule(Impact.RISK, variant="derived", evidence="layout", element="types", action="changed")
def tail_padding_reuse_changed_derived(record: Changed[Record], context: Context) -> Iterator[Note]:
    """Members of derived classes lie in the padding at the end of a class, or no longer.

    A class became plain old data or is it no longer (Itanium C++ ABI, 2.2), and the library does not write objects of
    built programs whole. Code that was compiled with one header disagrees with code that was compiled with the other on
    where the members of derived classes are, and of those that hold it as a ``[[no_unique_address]]`` member.

    Fix: keep what made the class plain old data or not: constructors, bases, the access of members.
    """
    found = tails(record, context)
    if found is None or not _is_derived(record, context):
        return
    if found == ("closed", "open") or not library_writes(record.subject.name, context):
        yield Note("what derives from it may lie in its tail padding", REUSED[found[0]], REUSED[found[1]])


REUSED: Final = {"open": "yes", "closed": "no: plain old data"}


def _is_derived(record: Changed[Record], context: Context) -> bool:
    """Whether programs can have classes that derive from a record or hold it."""
    name = record.subject.name
    return context.concerns(name) and context.old.tables.may_be_derived_from(name)


@rule(
    Impact.BREAKING,
    evidence="layout",
    element="types",
    action="changed",
)
def struct_packing_changed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A struct became packed, or is no longer packed.

    Its members lie without padding, or with it: programs read and write them at the old offsets.

    Fix: keep ``__attribute__((packed))`` and ``#pragma pack`` as they were around public headers.
    """
    if record.within is not None:
        return
    old = context.old.types.layouts.is_packed(record.old)
    new = context.new.types.layouts.is_packed(record.new)
    if old != new:
        yield Note("the packing differs", _packing(old), _packing(new))


def _packing(packed: bool) -> str:
    return "packed" if packed else "not packed"


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def type_kind_changed(record: Changed[Record]) -> Iterator[Note]:
    """A struct became a union, or the reverse.

    Members that lay beside each other now share storage, or the reverse: writing one overwrites others.

    Fix: keep the record and add one with a new name.
    """
    if (record.old.sort == "union") != (record.new.sort == "union"):
        yield Note("the record is of another kind", record.old.sort, record.new.sort)


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def source_level_kind_changed(record: Changed[Record]) -> Iterator[Note]:
    """A type is declared with the other keyword, ``struct`` or ``class``.

    Built programs see no difference, and sources compile as before: C++ takes either keyword for the type. Those that
    declare it ahead with the old one may get warnings, and errors where warnings are errors. Where access changed with
    the keyword, that is a finding of its own. So are names that Visual C++ made of the keyword.

    Fix: nothing; for DLLs of Visual C++ keep the keyword.
    """
    if "union" not in (record.old.sort, record.new.sort) and record.old.sort != record.new.sort:
        yield Note("the keyword differs", record.old.sort, record.new.sort)


# --- C++ ----------------------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, variant="special_member", evidence="layout", element="types", action="changed")
def func_deleted_dwarf_special_member(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A member function is now ``= delete``, or no longer made by the compiler.

    Built programs have their own copy of what the compiler generated, or do not find the function. Sources that copy,
    move or call what is deleted stop compiling.

    Fix: deprecate it first.
    """
    for member in sorted(set(record.new.deleted) - set(record.old.deleted)):
        if is_deleted_already(member, record.old) or is_private(member, record.subject.name, context.old):
            continue
        if parts := ", ".join(each.spelling for each in parts_without(member, record.subject.name, context.new)):
            yield Note(f"the compiler no longer makes the member, as it has none of {parts}", member, None)
        else:
            yield Note("a member is deleted", None, f"{member} = delete")


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def special_member_deletion_removed(record: Changed[Record]) -> Iterator[Note]:
    """A member function is no longer ``= delete``.

    Nobody could use it before.

    Fix: nothing.
    """
    for member in sorted(set(record.old.deleted) - set(record.new.deleted)):
        yield Note("a member is not deleted any more", f"{member} = delete", None)


@rule(Impact.RISK, evidence="layout", element="types", action="added")
def polymorphic_type_non_virtual_dtor(record: Added[Record], context: Context) -> Iterator[Note]:
    """A new class has virtual functions, and its destructor is not virtual.

    Programs that delete an object of a derived class through a pointer to this one run the wrong destructor, with the
    wrong size. To make the destructor virtual later changes the vtable, which breaks.

    Fix: make the destructor virtual before the release, or protected, or the class ``final``.
    """
    name = record.subject.name
    virtual = bool(record.new.virtuals) and not any(map(is_destructor, _virtuals(record.new, context)))
    if virtual and _bases_are_known(record.new, context.new) and not _nobody_deletes(name, context.new):
        yield Note("the destructor is not virtual", None, name.spelling)


def _virtuals(record: Record, context: Context) -> Iterator[VirtualMethod]:
    yield from record.virtuals
    yield from context.new.tables.slots(record).values()


def _bases_are_known(record: Record, side: SideFacts) -> bool:
    """Whether every base is described. One of the standard library may have a virtual destructor."""
    waiting, seen = [*record.bases], set[Name]()  # a damaged class may be its own base
    while waiting:
        found = side.tables.record(waiting.pop())
        if found is None:
            return False
        name, shape = found
        waiting += shape.bases if name not in seen else ()
        seen.add(name)
    return True


def _nobody_deletes(name: Name, side: SideFacts) -> bool:
    """Whether headers say that nobody derives from the class, or deletes it from outside."""
    if any(isinstance(each, Declared) and "final" in each.traits for each in side.variants("source", name)):
        return True
    destructor = f"{name.spelling}::~{last_component(name.spelling)}"
    tables = (side.snapshot.entries.get(facet, {}) for facet in DECLARING)
    functions = (each for table in tables for shapes in table.values() for each in shapes if isinstance(each, Function))
    return any(
        each.display == destructor and each.method is not None and each.method.access != "public" for each in functions
    )


def _has_vptr(record: Changed[Record] | Changed[DescribedClass], context: Context) -> tuple[bool, bool]:
    """Whether objects hold a vtable pointer, on both sides."""
    old, new = record.old, record.new
    if isinstance(old, Record) and isinstance(new, Record):
        return context.old.tables.is_polymorphic(old), context.new.tables.is_polymorphic(new)
    return getattr(old, "shape", old) is None, getattr(new, "shape", new) is None


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", effect="pointer")
def vptr_introduced(record: Changed[Record] | Changed[DescribedClass], context: Context) -> Iterator[Note]:
    """A class without virtual functions got a vtable pointer.

    Objects are larger and their members lie elsewhere. Programs create objects whose pointer nobody sets.

    Fix: keep the class free of virtual functions and virtual bases.
    """
    if _has_vptr(record, context) == (False, True):
        yield Note("objects hold a vtable pointer", "no vtable", "vtable")


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", effect="pointer")
def vptr_removed(record: Changed[Record] | Changed[DescribedClass], context: Context) -> Iterator[Note]:
    """A class lost its vtable pointer.

    Objects are smaller and their members lie elsewhere. Programs call functions through a vtable that is not there.

    Fix: keep at least a virtual destructor.
    """
    if _has_vptr(record, context) == (True, False):
        yield Note("objects hold no vtable pointer", "vtable", "no vtable")
