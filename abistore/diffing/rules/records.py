"""Records: their bases, sizes, alignments and members."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, TypeAlias

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.headers import tell
from abistore.diffing.kinds.equivalent_declarations import (
    is_deleted_already,
    is_private,
    library_writes,
    parts_without,
    tails,
)
from abistore.diffing.kinds.records import are_recorded, grows_safely, missed
from abistore.diffing.members import inherited_fields, other_bases
from abistore.diffing.parts import DescribedClass
from abistore.diffing.side import SideFacts
from abistore.diffing.types.sameness import flat_fields, plain
from abistore.diffing.types.vtables import DEEPEST, VirtualTables, is_destructor
from abistore.model.declarations import Added, Changed, Declared, Name
from abistore.model.findings import Impact
from abistore.model.names.qualified import class_behind, last_component
from abistore.model.names.spelling import spell
from abistore.model.names.symbols import TYPEINFO
from abistore.model.reach import DECLARING
from abistore.model.shapes import WIDTH, Base, Function, Record, TypeRef, VirtualMethod
from abistore.model.snapshot import PACKING
from abistore.model.words import counted

Subobject: TypeAlias = tuple[TypeRef, int | None]
"""A base class and where it lies in the whole object, in bits; ``None`` for a virtual base."""

MOST_SUBOBJECTS = 10_000
"""More base classes than any compiled class has. In a damaged file their number may double with each level."""


def listed(record: Record) -> str:
    """The bases of ``record`` as a class declares them."""
    return ", ".join(f"{each.access} {'virtual ' * each.virtual}{spell(each.type)}" for each in record.bases) or "none"


def _subobjects(record: Record, tables: VirtualTables, start: int = 0, depth: int = 0) -> Iterator[Subobject]:
    """All base classes in an object, direct and indirect. Those within a virtual base have no fixed place."""
    for base in record.bases:
        type, _ = tables.side.bare(base.type)
        offset = None if base.offset is None else start + base.offset
        yield type, offset
        found = tables.record(base)
        if found is not None and depth < DEEPEST and offset is not None:
            yield from _subobjects(found[1], tables, offset, depth + 1)


def _places(record: Record, tables: VirtualTables) -> frozenset[Subobject] | None:
    """Where the base classes of an object lie; ``None`` where it has more of them than any program could hold."""
    found = tuple(islice(_subobjects(record, tables), MOST_SUBOBJECTS + 1))
    return frozenset(found) if len(found) <= MOST_SUBOBJECTS else None


def _takes_no_room(base: Subobject, record: Record, tables: VirtualTables) -> bool:
    """Whether ``base`` of ``record`` is empty: as it is described, or since a member lies in its only byte.

    Types of the standard library, such as ``std::iterator``, are known by their size alone.
    """
    type, offset = base
    if _is_empty(type, tables):
        return True
    shared = any(field.offset == offset for field in record.fields)
    return shared and tables.record(Base(type, 0)) is None and tables.side.layouts.size(type) == 1


def _is_empty(type: TypeRef, tables: VirtualTables) -> bool:
    """Whether a base of ``type`` takes no room: neither it nor a base of it has data members or a vtable."""
    seen: set[TypeRef] = set()
    pending = [type]
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        found = tables.record(Base(each, 0))
        if found is None or found[1].size != 1 or found[1].fields or tables.is_polymorphic(found[1]):
            return False
        pending += [base.type for base in found[1].bases]
    return True


def _is_in_class(base: Subobject, record: Changed[Record], context: Context) -> bool:
    """Whether the new class itself has each field of a former ``base`` where it lay; the base had no vtable."""
    former = Base(*base)
    found = context.old.tables.record(former)
    if found is None or context.old.tables.is_polymorphic(found[1]):
        return False
    own = {(plain(each).name, plain(each).offset) for each in flat_fields(record.new)}
    brought = (plain(each) for each in inherited_fields([former], context.old.tables))
    return all((each.name, each.offset) in own for each in brought)


def _kept(record: Changed[Record], context: Context) -> str:
    """What a change of the bases leaves as it was: ``bases``, ``subobjects`` or ``layout``; empty for nothing."""
    gone, come = other_bases(record.old, record.new, context)
    if not gone and not come:
        return "bases"
    old, new = context.old.tables, context.new.tables
    same_form = record.old.size == record.new.size and old.is_polymorphic(record.old) == new.is_polymorphic(record.new)
    before, after = _places(record.old, old), _places(record.new, new)
    if before is None or after is None or not same_form:
        return ""
    if any(offset is None for _, offset in before ^ after):
        return ""
    if before <= after:
        return "subobjects"
    if come:
        return ""
    found = all(_takes_no_room(each, record.old, old) or _is_in_class(each, record, context) for each in before - after)
    return "layout" if found else ""


def _is_looked_for(record: Changed[Record], context: Context) -> bool:
    """Whether code of programs may ask at run time for a base that is gone.

    Handlers of exceptions and ``dynamic_cast`` follow the class's type information to its public bases. Of a class
    without virtual functions there is none unless somebody throws, catches or identifies it.
    """
    gone, _ = other_bases(record.old, record.new, context)
    sides = context.old, context.new
    return any(base.access == "public" for base in gone) and all(
        _has_typeinfo(record.subject.name, side) for side in sides
    )


def _has_typeinfo(name: Name, side: SideFacts) -> bool:
    symbols = (each for each in side.exports.names if each.startswith(TYPEINFO))
    return any(class_behind(each) == name.spelling for each in symbols)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def type_base_changed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """The base classes of a class changed.

    A base adds members, a vtable and a subobject. Members of the class, and of consumers' derived classes, move. A
    conversion to a removed base gives the address of something else. An exception handler for that base no longer
    catches the class, even if the base was empty.

    Fix: keep the bases; hold the new class as a member behind a pointer, or derive a new class from both.
    """
    kept = _kept(record, context)
    if not kept or (kept == "layout" and _is_looked_for(record, context)):
        yield Note("the base classes changed", listed(record.old), listed(record.new))


@rule(Impact.RISK, variant="empty_added", evidence="layout", element="types", action="changed")
def type_base_changed_empty_added(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A base class without new data was added, or put between a class and its bases.

    All subobjects and members that consumers know keep their offsets, and the size is the same. The base is empty, or
    members of the class moved into it in place. A consumer's class that derives from the new base as well has it twice:
    conversions to it may become ambiguous.

    Fix: nothing, if consumers do not use the new base on their own.
    """
    if _kept(record, context) == "subobjects":
        yield Note("a base class was added", listed(record.old), listed(record.new))


@rule(Impact.API_BREAK, variant="empty_removed", evidence="layout", element="types", action="changed")
def type_base_changed_empty_removed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A base class was removed that is empty, or whose members moved to the class, and that run-time code does not use.

    Existing binaries find all members at their offsets. Sources that convert to the base, or use its declarations, stop
    compiling. The base is not public, or the library exports no type information for the class. Thrown classes, and
    classes with virtual functions, have type information.

    Fix: keep the empty base.
    """
    if _kept(record, context) == "layout" and not _is_looked_for(record, context):
        yield Note("an empty base was removed", listed(record.old), listed(record.new))


def _order(record: Changed[Record]) -> tuple[list[TypeRef], list[TypeRef]]:
    old, new = [base.type for base in record.old.bases], [base.type for base in record.new.bases]
    return [type for type in old if type in new], [type for type in new if type in old]


def _moved(record: Changed[Record]) -> bool:
    """Whether a base that both sides have moved. The offset of a virtual base is not known: it counts as moved."""
    new = {base.type: base.offset for base in record.new.bases}
    shared = [base for base in record.old.bases if base.type in new]
    return any(base.offset is None or base.offset != new[base.type] for base in shared)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def base_class_position_changed(record: Changed[Record]) -> Iterator[Note]:
    """The base classes were reordered.

    Their subobjects and vtables change places: a consumer that converts to one base gets the address of another.

    Fix: keep the order of bases.
    """
    old, new = _order(record)
    if old != new and _moved(record):
        yield Note("the base classes were reordered", listed(record.old), listed(record.new))


@rule(Impact.COMPATIBLE, variant="unmoved", evidence="layout", element="types", action="changed")
def base_class_position_changed_unmoved(record: Changed[Record]) -> Iterator[Note]:
    """The base classes were reordered, but kept their offsets.

    At most one of them has data. Only the order in which they are constructed differs.

    Fix: nothing.
    """
    old, new = _order(record)
    if old != new and not _moved(record):
        yield Note("the base classes were reordered", listed(record.old), listed(record.new))


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def base_class_virtual_changed(base: Changed[Base]) -> Iterator[Note]:
    """A base class became virtual, or stopped being virtual.

    Programs find a virtual base through the vtable, and any other base at a fixed offset. Constructors of further
    derived classes are called differently.

    Fix: keep the inheritance as it is.
    """
    if base.old.virtual != base.new.virtual:
        yield Note("the inheritance of the base changed", _sort(base.old), _sort(base.new))


def _sort(base: Base) -> str:
    return "virtual" if base.virtual else "non-virtual"


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", effect="place")
def base_class_offset_changed(base: Changed[Base]) -> Iterator[Note]:
    """A base class moved to another offset in the object.

    Programs that convert to the base, or use an inherited member, access the wrong memory.

    Fix: keep the size of everything that precedes the base.
    """
    old, new = base.old.offset, base.new.offset
    if old is not None and new is not None and old != new:
        yield Note("the offset of the base changed", f"byte {old // 8}", f"byte {new // 8}")


@rule(Impact.API_BREAK, variant="access_narrowed", evidence="layout", element="types", action="changed")
def type_base_changed_access_narrowed(base: Changed[Base]) -> Iterator[Note]:
    """The access to a base class was narrowed, e.g. from public to protected.

    Existing binaries work as before. Sources that convert to the base, or call what they inherit from it, stop
    compiling.

    Fix: keep the inheritance public.
    """
    if WIDTH[base.new.access] < WIDTH[base.old.access]:
        yield Note("the access was narrowed", base.old.access, base.new.access)


@rule(Impact.COMPATIBLE, variant="access_widened", evidence="layout", element="types", action="changed")
def type_base_changed_access_widened(base: Changed[Base]) -> Iterator[Note]:
    """The access to a base class was widened, e.g. from private to public.

    Existing binaries and sources work as before.

    Fix: nothing.
    """
    if WIDTH[base.new.access] > WIDTH[base.old.access]:
        yield Note("the access was widened", base.old.access, base.new.access)


@rule(Impact.API_BREAK, variant="template_removed", evidence="source", element="types", action="changed")
def type_base_changed_template_removed(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class template lost an accessible base class.

    Existing binaries contain instances of the old template. Sources that convert an instance to the base, or use what
    it inherited, stop compiling. A base in a namespace such as ``detail`` counts only by its members, which the
    template or another base may have.

    Fix: keep the base.
    """
    if _differ(declared, context) and missed(declared, context):
        yield Note("a base class was removed", _listed(declared.old), _listed(declared.new))


@rule(Impact.RISK, variant="template", evidence="source", element="types", action="changed")
def type_base_changed_template(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """The base classes of a class template changed, and its users keep all members.

    Existing binaries contain instances of the old template. Recompiled code that exchanges instances with them
    disagrees about the layout. A name in an added base may be ambiguous in derived classes.

    Fix: keep the bases if instances pass between separately compiled programs.
    """
    if _differ(declared, context) and not missed(declared, context):
        yield Note("the base classes changed", _listed(declared.old), _listed(declared.new))


def _differ(declared: Changed[Declared], context: Context) -> bool:
    old, new = declared.old, declared.new
    both = all("template" in side.traits for side in (old, new))
    told = bool(old.bases and new.bases) or are_recorded(context)
    return both and told and old.bases != new.bases


def _listed(declared: Declared) -> str:
    bases = (f"{each.access} {'virtual ' * each.virtual}{each.type}" for each in declared.bases)
    return ", ".join(bases) or "none"


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

    Programs reserve the old size on their stacks, in arrays and in objects of their own. The library writes beyond the
    end, or programs step through arrays with the wrong stride.

    Fix: keep the size with reserved fields, or let only the library allocate it and return pointers.
    """
    sizes = _sizes(record)
    if sizes is not None and not grows_safely(record, context):
        yield Note("the size changed", *sizes)


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

    Programs place objects at addresses that are not multiples of the new alignment. Structs that contain one have other
    offsets than in the library.

    Fix: keep the alignment, or raise it with ``alignas`` only on the new member.
    """
    alignments = _alignments(record, context)
    if alignments is not None and not grows_safely(record, context):
        yield Note("the alignment changed", *alignments)


@rule(Impact.RISK, variant="handle", evidence="layout", element="types", action="changed", effect="size")
def type_size_changed_handle(record: Changed[Record], context: Context) -> Iterator[Note]:
    """The size or alignment of a struct changed that the library allocates, or whose callers state its size or version.

    Programs that only hold pointers from the library, or fill a mask of known fields, keep working. The same applies to
    tables of function pointers with a version. Programs that declare, copy or derive from the struct anyway use the old
    size.

    Fix: hide the definition, so that nobody can depend on its size.
    """
    if not grows_safely(record, context):
        return
    sizes, alignments = _sizes(record), _alignments(record, context)
    if sizes is not None:
        yield Note("the size changed", *sizes)
    elif alignments is not None:
        yield Note("the alignment changed", *alignments)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def tail_padding_reuse_changed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A class became plain old data: the library overwrites members of derived classes in its padding.

    Members of a derived class, or after a ``[[no_unique_address]]`` member, may use the padding at the end of the
    class. Plain old data is copied with its padding (Itanium C++ ABI, 2.2). So an assignment in the library overwrites
    the program's members.

    Fix: keep the class non-trivial: a constructor, a base, a member that is not public.
    """
    found = tails(record, context)
    if found == ("open", "closed") and _is_derived(record, context) and library_writes(record.subject.name, context):
        yield Note("members of derived classes may use its tail padding", REUSED[found[0]], REUSED[found[1]])


@rule(Impact.RISK, variant="derived", evidence="layout", element="types", action="changed")
def tail_padding_reuse_changed_derived(record: Changed[Record], context: Context) -> Iterator[Note]:
    """Members of derived classes moved into or out of the padding at the end of a class.

    A class became plain old data, or no longer is (Itanium C++ ABI, 2.2). The library does not write whole objects of
    existing binaries. Code compiled with different headers disagrees about the offsets of derived members, and of
    members next to a ``[[no_unique_address]]`` one.

    Fix: keep the properties that decide it: constructors, bases, the access of members.
    """
    found = tails(record, context)
    if found is None or not _is_derived(record, context):
        return
    if found == ("closed", "open") or not library_writes(record.subject.name, context):
        yield Note("members of derived classes may use its tail padding", REUSED[found[0]], REUSED[found[1]])


REUSED: Final = {"open": "yes", "closed": "no: plain old data"}


def _is_derived(record: Changed[Record], context: Context) -> bool:
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

    Padding between its members was removed or added: programs use the old offsets.

    Fix: keep ``__attribute__((packed))`` and ``#pragma pack`` as they were around public headers.
    """
    if record.within is not None:
        return
    old = context.old.types.layouts.is_packed(record.old)
    new = context.new.types.layouts.is_packed(record.new)
    if old != new:
        yield Note("the packing changed", _packing(old), _packing(new))


def _packing(packed: bool) -> str:
    return "packed" if packed else "not packed"


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def type_kind_changed(record: Changed[Record]) -> Iterator[Note]:
    """A struct became a union, or the reverse.

    Members that were next to each other now share storage, or the reverse: writing one overwrites others.

    Fix: keep the record and add one with a new name.
    """
    if (record.old.sort == "union") != (record.new.sort == "union"):
        yield Note("the kind of record changed", record.old.sort, record.new.sort)


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def source_level_kind_changed(record: Changed[Record]) -> Iterator[Note]:
    """A type is declared with the other keyword, ``struct`` or ``class``.

    Existing binaries see no difference, and sources compile as before: C++ accepts either keyword. Forward declarations
    with the old keyword may give warnings, and errors where warnings are errors. Changed access, and changed names of
    Visual C++, are reported separately.

    Fix: nothing; for Visual C++ DLLs keep the keyword.
    """
    if "union" not in (record.old.sort, record.new.sort) and record.old.sort != record.new.sort:
        yield Note("the keyword changed", record.old.sort, record.new.sort)


# --- C++ ----------------------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, variant="special_member", evidence="layout", element="types", action="changed")
def func_deleted_dwarf_special_member(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A member function is now ``= delete``, or no longer generated by the compiler.

    Existing binaries have their own copy of what the compiler generated, or do not find the function. Sources that
    copy, move or call it stop compiling.

    Fix: deprecate it first.
    """
    for member in sorted(set(record.new.deleted) - set(record.old.deleted)):
        if is_deleted_already(member, record.old) or is_private(member, record.subject.name, context.old):
            continue
        if parts := ", ".join(each.spelling for each in parts_without(member, record.subject.name, context.new)):
            yield Note(f"the compiler no longer generates the member, as it has none of {parts}", member, None)
        else:
            yield Note("a member became deleted", None, f"{member} = delete")


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def special_member_deletion_removed(record: Changed[Record]) -> Iterator[Note]:
    """A member function is no longer ``= delete``.

    Nobody could use it before.

    Fix: nothing.
    """
    for member in sorted(set(record.old.deleted) - set(record.new.deleted)):
        yield Note("a member is no longer deleted", f"{member} = delete", None)


@rule(Impact.RISK, evidence="layout", element="types", action="added")
def polymorphic_type_non_virtual_dtor(record: Added[Record], context: Context) -> Iterator[Note]:
    """A new class has virtual functions and a non-virtual destructor.

    Programs that delete a derived object through a pointer to this class run the wrong destructor, with the wrong size.
    Making the destructor virtual later changes the vtable, which is a break.

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
    if any(isinstance(each, Declared) and "final" in each.traits for each in side.variants("source", name)):
        return True
    destructor = f"{name.spelling}::~{last_component(name.spelling)}"
    tables = (side.snapshot.entries.get(facet, {}) for facet in DECLARING)
    functions = (each for table in tables for shapes in table.values() for each in shapes if isinstance(each, Function))
    return any(
        each.display == destructor and each.method is not None and each.method.access != "public" for each in functions
    )


def _has_vptr(record: Changed[Record] | Changed[DescribedClass], context: Context) -> tuple[bool, bool]:
    old, new = record.old, record.new
    if isinstance(old, Record) and isinstance(new, Record):
        return context.old.tables.is_polymorphic(old), context.new.tables.is_polymorphic(new)
    return getattr(old, "shape", old) is None, getattr(new, "shape", new) is None


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", effect="pointer")
def vptr_introduced(record: Changed[Record] | Changed[DescribedClass], context: Context) -> Iterator[Note]:
    """A class without virtual functions got a vtable pointer.

    Objects are larger and their members moved. Programs create objects whose vtable pointer nobody sets.

    Fix: keep the class free of virtual functions and virtual bases.
    """
    if _has_vptr(record, context) == (False, True):
        yield Note("objects contain a vtable pointer", "no vtable", "vtable")


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", effect="pointer")
def vptr_removed(record: Changed[Record] | Changed[DescribedClass], context: Context) -> Iterator[Note]:
    """A class lost its vtable pointer.

    Objects are smaller and their members moved. Programs call functions through a vtable pointer that is not there.

    Fix: keep at least a virtual destructor.
    """
    if _has_vptr(record, context) == (True, False):
        yield Note("objects no longer contain a vtable pointer", "vtable", "no vtable")
