"""Fields of records and unions, with their qualifiers."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.context import Context, Note, declare, listed, rule
from abistore.diffing.kinds.equivalent_declarations import only_named_otherwise
from abistore.diffing.kinds.records import (
    FieldPlace,
    FieldType,
    field_type,
    grows_safely,
    is_retired,
    is_reused,
    is_whole_member,
    place_of,
    qualifiers,
    record_of,
    replaced_by,
)
from abistore.diffing.parts import FieldGroup
from abistore.diffing.retyping import Retyped, TypedSubject, variants_of
from abistore.diffing.types.mentions import is_opaque_storage, is_reserved
from abistore.diffing.types.sameness import InnerField, flat_fields, plain
from abistore.model.declarations import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.shapes import WIDTH, Field, Record


def spelled(field: Field | InnerField) -> str:
    """``field`` as its record declares it."""
    own = plain(field)
    text = declare(own.type, own.name)
    return text if own.bit_size is None else text + f" : {own.bit_size}"


def _place(field: Field | InnerField) -> str:
    offset = plain(field).offset
    return f"offset {offset // 8}" + (f":{offset % 8}" if offset % 8 or plain(field).bit_size is not None else "")


def _placed(field: Field | InnerField) -> str:
    return spelled(field) + f" at {_place(field)}"


def _in_union(field: Removed[Field] | Changed[Field]) -> bool:
    return field.within is not None and field.within.old.sort == "union"


def _is_hidden(field: Removed[Field] | Removed[Field | InnerField], context: Context) -> bool:
    """Whether a field is private, and no code in the headers is known to use it."""
    own = plain(field.old)
    return own.access == "private" and not context.old.consumers.look_at(field.subject.name, own.name)


# --- came ---------------------------------------------------------------------------------------------------------


@rule(Impact.BREAKING, evidence="layout", element="types", action="added")
def type_field_added(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field was inserted before others, or appended to a struct that callers allocate.

    Programs built with the old header allocate too little, or have another field at that offset. The library reads and
    writes the new field anyway.

    Fix: use reserved storage, or let only the library allocate the struct and append fields to it.
    """
    place = place_of(field, context)
    if place is FieldPlace.BETWEEN or (place is FieldPlace.END and not grows_safely(record_of(field), context)):
        yield Note("a field was added", None, _placed(field.new))


@rule(Impact.RISK, variant="trailing", evidence="layout", element="types", action="added")
def type_field_added_trailing(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field was appended to a struct that the library allocates, or whose callers state its size or version.

    These programs do not notice: those that only hold pointers from the library, and those that fill a size field. The
    same applies to a mask of known fields (``field_mask``) with one bit for each field. It applies to a size passed
    next to the struct, and to a version in a table of function pointers. It also applies to tables that the library
    returns, and to structs used only in unions of unchanged size. Programs that declare, copy or derive from the struct
    anyway have no room for the field.

    Fix: hide the definition from consumers, or document that the struct will grow.
    """
    if place_of(field, context) is FieldPlace.END and grows_safely(record_of(field), context):
        yield Note("a field was appended", None, _placed(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="added")
def type_field_added_compatible(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field was added in padding that the library sets, or in place of a removed field.

    The size and the other fields are the same. The library makes all objects that it reads: it allocates them, or takes
    none from programs. Or headers show that programs can only call exported constructors. In place of a removed field,
    programs keep using that one; the removal is reported separately.

    Fix: nothing.
    """
    gone = ", ".join(name or "a field without a name" for name in replaced_by(field, context))
    if _lies_free(field, context) and (gone or not _is_unset(field, context)):
        place = f"in place of {gone}, which was removed" if gone else "in padding"
        yield Note(f"a field was added {place}", None, _placed(field.new))


@rule(Impact.BREAKING, variant="uninitialized", evidence="layout", element="types", action="added")
def type_field_added_uninitialized(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field was added in padding that constructors in programs leave uninitialised.

    The size and the other fields are the same. Programs built with the old header have a constructor compiled in that
    initialises each member, but not the padding. The library reads garbage as the new field. Example: ``struct Options
    { long level = 1; bool fast = false; };`` gets ``bool safe = false``, and programs pass ``Options`` from their
    stack.

    Fix: construct objects in functions that the library exports, or add the field to a class with a new name.
    """
    if _is_left_unset(field, context) and _is_uninitialized(field, context):
        yield Note("a field was added in padding", None, _placed(field.new))


@rule(Impact.RISK, variant="unset", evidence="layout", element="types", action="added")
def type_field_added_unset(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field or a flexible array was added in the padding of a struct that programs initialise themselves.

    The size and the other fields are the same. Programs built with the old header never set the new field, so the
    library reads garbage. Example: ``struct options { int level; char fast; };`` gets ``char safe``, and programs pass
    options from their stack. Programs with a compiled-in inline constructor do the same; files do not show whether a
    class has one.

    Fix: read the field only if another one, such as a version or a flag, shows that it was set.
    """
    if _is_unbounded(field, context):
        if _is_unset(field, context):
            yield Note("a flexible array was added", None, _placed(field.new))
    elif _is_left_unset(field, context) and not _is_uninitialized(field, context):
        yield Note("a field was added in padding", None, _placed(field.new))


def _is_left_unset(field: Added[Field | InnerField], context: Context) -> bool:
    return _lies_free(field, context) and not replaced_by(field, context) and _is_unset(field, context)


def _is_uninitialized(field: Added[Field | InnerField], context: Context) -> bool:
    from abistore.diffing.kinds.objects import leaves_uninitialized  # few changes put fields in padding

    return context.once(leaves_uninitialized, record_of(field))


def _is_unset(field: Added[Field | InnerField], context: Context) -> bool:
    from abistore.diffing.kinds.objects import programs_make  # few changes put fields in padding

    return programs_make(record_of(field), context)


def _is_unbounded(field: Added[Field | InnerField], context: Context) -> bool:
    return place_of(field, context) is FieldPlace.FLEXIBLE


def _lies_free(field: Added[Field | InnerField], context: Context) -> bool:
    return place_of(field, context) is FieldPlace.FREE and not is_reserved(plain(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def used_reserved_field(
    field: Added[Field | InnerField] | Changed[Field | InnerField], context: Context
) -> Iterator[Note]:
    """Reserved storage is now used.

    The struct keeps its size and its other fields. Programs that cleared it, as documented, pass zero.

    Fix: nothing, if zero means the old behaviour.
    """
    if isinstance(field, Added):
        if place_of(field, context) is FieldPlace.RESERVED and not is_reserved(plain(field.new)):
            yield Note("reserved storage is used", None, _placed(field.new))
    elif (
        is_reserved(plain(field.old))
        and not is_reserved(plain(field.new))
        and field_type(field, context) is not FieldType.UNCONVERTED
    ):
        yield Note("reserved storage is used", spelled(field.old), spelled(field.new))


# --- went ---------------------------------------------------------------------------------------------------------


@rule(Impact.BREAKING, evidence="layout", element="types", action="removed", aliases=("struct_field_removed",))
def type_field_removed(field: Removed[Field], context: Context) -> Iterator[Note]:
    """A field was removed.

    Programs read and write another field, padding, or memory beyond the struct in its place. Header code compiled into
    them does the same with private fields.

    Fix: keep the field, and mark it reserved or deprecated.
    """
    hidden = _is_hidden(field, context)
    if not (is_reserved(field.old) or hidden or _in_union(field) or is_retired(field, context)):
        yield Note("a field was removed", _placed(field.old), None)


@rule(Impact.RISK, variant="to_reserved", evidence="layout", element="types", action="removed")
def type_field_removed_to_reserved(field: Removed[Field], context: Context) -> Iterator[Note]:
    """A field became reserved storage.

    The struct keeps its size and its other fields. Programs that read the field get an unspecified value, and what they
    write has no effect. Example: ``int timeout`` became ``int reserved``.

    Fix: nothing, if no consumer had a reason to use it; else keep it and mark it deprecated.
    """
    hidden = _is_hidden(field, context)
    if not (is_reserved(field.old) or hidden or _in_union(field)) and is_retired(field, context):
        yield Note("the field became reserved storage", _placed(field.old), None)


@rule(Impact.RISK, variant="private", evidence="layout", element="types", action="removed")
def type_field_removed_private(field: Removed[Field | InnerField], context: Context) -> Iterator[Note]:
    """A private field was removed.

    Programs cannot name it. Compiled-in inline functions and friends may use it; according to the headers, none does.

    Fix: nothing, if no inline function used it.
    """
    own = plain(field.old)
    if _is_hidden(field, context) and not is_reserved(own):
        yield Note("a private field was removed", _placed(field.old), None)


@rule(Impact.COMPATIBLE, variant="reserved", evidence="layout", element="types", action="removed")
def type_field_removed_reserved(field: Removed[Field | InnerField], context: Context) -> Iterator[Note]:
    """Reserved storage was removed, and nothing took its place.

    Nobody uses it. A smaller size of the struct is reported separately.

    Fix: keep the storage for future fields.
    """
    if is_reserved(plain(field.old)) and not is_reused(field, context):
        yield Note("reserved storage was removed", _placed(field.old), None)


# --- changed ------------------------------------------------------------------------------------------------------


@rule(
    Impact.BREAKING,
    evidence="layout",
    element="types",
    action="changed",
    effect="place",
    aliases=("struct_field_offset_changed",),
)
def type_field_offset_changed(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """A field moved to another offset.

    Programs use the old offset, where another field or padding is now.

    Fix: keep the order and the types of the fields before it, and append new ones.
    """
    old, new = plain(field.old), plain(field.new)
    if old.offset != new.offset and not (is_reserved(old) and is_reserved(new)):
        yield Note("the offset changed", _place(field.old), _place(field.new))


@rule(
    Impact.BREAKING,
    evidence="layout",
    element="types",
    action="changed",
    aliases=(
        "bit_int_width_changed",
        "struct_field_type_changed",
    ),
)
def type_field_type_changed(field: Changed[Field], context: Context) -> Iterator[Note]:
    """The type of a field changed.

    Consumers read and write it with another size, layout or encoding.

    Fix: keep the field and add one of the new type.
    """
    if field_type(field, context) is FieldType.DIFFERENT and not _in_union(field):
        yield Note("the type changed", spelled(field.old), spelled(field.new))


def _retyped(field: Changed[Field | InnerField], context: Context) -> Retyped | None:
    found = RETYPED.get(field_type(field, context))
    if found in (Retyped.RESPELLED, Retyped.CONVERTIBLE):
        old, new = plain(field.old), plain(field.new)
        if old.bit_size == new.bit_size and only_named_otherwise(old.type, new.type, context):
            return None
    return found


RETYPED = {
    FieldType.RESPELLED: Retyped.RESPELLED,
    FieldType.CONVERTED: Retyped.CONVERTIBLE,
    FieldType.REINTERPRETED: Retyped.REINTERPRETED,
    FieldType.UNCONVERTED: Retyped.INCONVERTIBLE,
}

variants_of(
    TypedSubject(
        "type_field_type_changed",
        "field",
        "The type of a field",
        "types",
        "Changed[Field | InnerField]",
        __name__,
        more={
            Retyped.CONVERTIBLE: (
                "Example: ``long`` became ``long long`` of the same size, or ``unsigned red : 8`` became"
                " ``unsigned char red`` in its place. Programs cannot name private fields."
            ),
            Retyped.INCONVERTIBLE: (
                "Example: ``struct item *next`` became ``void *next``, and ``list.next->size`` does not compile. In"
                " C++, ``void *`` converts to no other pointer, and an integer to no enumeration."
            ),
        },
        aliases={Retyped.REINTERPRETED: ("atomic_qualifier_changed", "char8t_migration")},
    ),
    _retyped,
    lambda field: (spelled(field.old), spelled(field.new)),
)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def field_bitfield_changed(field: Changed[Field | InnerField], context: Context) -> Iterator[Note]:
    """The width of a bit-field changed, or the field became or stopped being a bit-field.

    Programs and the library read and write different bits. A bit-field of whole bytes that became an ordinary member
    with the same bits is only spelled differently.

    Fix: keep the width; take additional bits from reserved ones and name them.
    """
    old, new = plain(field.old), plain(field.new)
    if old.bit_size != new.bit_size and not is_reserved(old) and not is_whole_member(field, context):
        yield Note("the width changed", spelled(field.old), spelled(field.new))


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def anon_field_changed(field: Changed[InnerField] | Removed[InnerField], context: Context) -> Iterator[Note]:
    """A member of an anonymous struct or union was removed, or its type changed.

    Programs read and write it like a member of the enclosing struct, at the old offset and with the old type.

    Fix: keep it; in a union, add another alternative.
    """
    if isinstance(field, Removed):
        own = plain(field.old)
        if own.access != "private" and not is_reserved(own):
            yield Note("an anonymous member was removed", _placed(field.old), None)
    elif field_type(field, context) is FieldType.DIFFERENT:
        yield Note("the type of an anonymous member changed", spelled(field.old), spelled(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def flexible_array_member_changed(
    field: Changed[Field | InnerField] | Added[Field | InnerField], context: Context
) -> Iterator[Note]:
    """The last member became or stopped being a flexible array, or one was added that the library sets.

    The elements that programs know keep their offsets. A different size of the struct is reported separately.

    Fix: nothing.
    """
    if isinstance(field, Added):
        if _is_unbounded(field, context) and not _is_unset(field, context):
            yield Note("a flexible array was added", None, spelled(field.new))
    elif field_type(field, context) is FieldType.FLEXIBLE:
        yield Note("the bound of the last array changed", spelled(field.old), spelled(field.new))


# --- names -------------------------------------------------------------------------------------------------------


def _rename(field: Changed[Field | InnerField]) -> tuple[str, str] | None:
    old, new = plain(field.old), plain(field.new)
    return None if old.name == new.name or is_reserved(old) else (old.name, new.name)


@rule(Impact.API_BREAK, evidence="layout", element="types", action="changed")
def field_renamed(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """A field was renamed.

    It keeps its offset, and existing binaries use it as before. Sources that name it stop compiling.

    Fix: keep the old name in an anonymous union with the new one, for a transition period.
    """
    names = _rename(field)
    if names is not None and plain(field.old).access != "private":
        yield Note("the field was renamed", *names)


@rule(Impact.API_BREAK, variant="grouping", evidence="layout", element="types", action="changed")
def type_field_type_changed_grouping(group: Changed[FieldGroup]) -> Iterator[Note]:
    """Fields were grouped differently in the same storage.

    Single fields became an array, a nested struct became its members, or an anonymous one got a name: ``int x, y``
    became ``int at[2]``. The same values are at the same offsets, and existing binaries use them as before. Sources
    that name the old fields stop compiling.

    Fix: keep the old names in an anonymous union with the new fields, for a transition period.
    """
    yield Note("the fields are declared differently", _list(group.old), _list(group.new))


def _list(group: FieldGroup) -> str:
    return listed(map(spelled, group.fields))


@rule(Impact.COMPATIBLE, variant="private", evidence="layout", element="types", action="changed")
def field_renamed_private(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """A private field was renamed.

    It keeps its offset, and programs cannot name it.

    Fix: nothing.
    """
    names = _rename(field)
    if names is not None and plain(field.old).access == "private":
        yield Note("the private field was renamed", *names)


def _gained(field: Changed[Field | InnerField], qualifier: str, context: Context) -> bool:
    old, new = qualifiers(field, context)
    return qualifier in new and qualifier not in old


def _lost(field: Changed[Field | InnerField], qualifier: str, context: Context) -> bool:
    old, new = qualifiers(field, context)
    return qualifier in old and qualifier not in new


@rule(Impact.API_BREAK, evidence="layout", element="types", action="changed")
def field_became_const(field: Changed[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field became ``const``.

    Existing binaries keep writing to it, although the library expects that nobody does. Sources that write to it stop
    compiling.

    Fix: leave it writable, or return the value from a function.
    """
    if _gained(field, "const", context):
        yield Note("the field became const", spelled(field.old), spelled(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def field_lost_const(field: Changed[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field is no longer ``const``.

    Existing binaries read it as before: compilers do not keep a member's value across calls.

    Fix: nothing.
    """
    if _lost(field, "const", context):
        yield Note("the field is no longer const", spelled(field.old), spelled(field.new))


@rule(Impact.RISK, evidence="layout", element="types", action="changed")
def field_became_volatile(field: Changed[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field became ``volatile``.

    Existing binaries keep old values in registers, and may wait for a change that they never see.

    Fix: give access through functions.
    """
    if _gained(field, "volatile", context):
        yield Note("the field became volatile", spelled(field.old), spelled(field.new))


@rule(Impact.RISK, evidence="layout", element="types", action="changed")
def field_lost_volatile(field: Changed[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field is no longer ``volatile``.

    Existing binaries read it from memory every time, as before. Recompiled sources no longer do.

    Fix: nothing, if nothing else changes the field while programs read it.
    """
    if _lost(field, "volatile", context):
        yield Note("the field is no longer volatile", spelled(field.old), spelled(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def field_became_mutable(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """A field became ``mutable``.

    It may change in constant objects. The layout is the same.

    Fix: nothing, if no constant object lies in read-only memory.
    """
    if plain(field.new).mutable and not plain(field.old).mutable:
        yield Note("the field became mutable", None, "mutable")


@rule(Impact.API_BREAK, evidence="layout", element="types", action="changed")
def field_lost_mutable(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """A field is no longer ``mutable``.

    Existing binaries work as before. Sources that change it in constant objects stop compiling. A private field is
    changed by the library's own headers only.

    Fix: keep it mutable where it is public.
    """
    old = plain(field.old)
    if old.mutable and not plain(field.new).mutable and old.access != "private":
        yield Note("the field is no longer mutable", "mutable", None)


@rule(Impact.API_BREAK, evidence="layout", element="types", action="changed")
def field_access_changed(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """The access to a field was narrowed, e.g. from public to private.

    Existing binaries keep using it. Sources that use it stop compiling.

    Fix: deprecate it before making it private.
    """
    old, new = plain(field.old).access, plain(field.new).access
    if WIDTH[new] < WIDTH[old]:
        yield Note("the access was narrowed", old, new)


@rule(Impact.COMPATIBLE, variant="widened", evidence="layout", element="types", action="changed")
def field_access_changed_widened(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """The access to a field was widened, e.g. from private to public.

    Existing binaries and sources work as before.

    Fix: nothing.
    """
    old, new = plain(field.old).access, plain(field.new).access
    if WIDTH[new] > WIDTH[old]:
        yield Note("the access was widened", old, new)


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="added")
def union_field_added(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """A member was added to a union.

    The other members keep their offsets. A larger size of the union is reported separately.

    Fix: nothing, if the library never stores the new member where older programs read.
    """
    if place_of(field, context) is FieldPlace.ALTERNATIVE:
        yield Note("a member was added", None, spelled(field.new))


@rule(Impact.BREAKING, evidence="layout", element="types", action="removed")
def union_field_removed(field: Removed[Field]) -> Iterator[Note]:
    """A member of a union was removed.

    Programs store it and the library no longer understands it, or the library stores something else where programs read
    it.

    Fix: keep the member, and keep supporting it.
    """
    if field.within is None or field.within.old.sort != "union" or is_reserved(field.old):
        return
    if not is_opaque_storage(field.within.old):
        yield Note("a member was removed", spelled(field.old), None)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def union_field_type_changed(field: Changed[Field], context: Context) -> Iterator[Note]:
    """The type of a union's member changed.

    Programs read and write it with another size, layout or encoding.

    Fix: keep the member and add one of the new type.
    """
    within = field.within
    if within is None or within.old.sort != "union" or is_opaque_storage(within.old):
        return
    if field_type(field, context) is FieldType.DIFFERENT:
        yield Note("the type of the member changed", spelled(field.old), spelled(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def union_field_reordered(record: Changed[Record]) -> Iterator[Note]:
    """The members of a union were reordered.

    They keep their offsets, and existing binaries use them as before. Recompiled sources that initialise the union
    without naming a member initialise another one.

    Fix: keep the first member first.
    """
    old, new = _by_offset(record.old), _by_offset(record.new)
    for offset, names in old.items():
        before = [name for name in names if name in new.get(offset, ())]
        after = [name for name in new.get(offset, ()) if name in names]
        if before != after:
            yield Note("the members were reordered", ", ".join(before), ", ".join(after))


def _by_offset(record: Record) -> dict[int, list[str]]:
    """The names of the fields at each offset, those of anonymous members too, as they are declared."""
    found: dict[int, list[str]] = {}
    for field in map(plain, flat_fields(record)):
        found.setdefault(field.offset, []).append(field.name)
    return found


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def union_storage_changed(field: Changed[Field] | Removed[Field], context: Context) -> Iterator[Note]:
    """A union that only reserves memory for the library's data was declared differently.

    Its name marks the other member as internal, so programs depend only on its size and alignment, which are reported
    separately. Example: ``char opaque[40]`` became ``long opaque[5]``.

    Fix: nothing.
    """
    if field.within is None or not is_opaque_storage(field.within.old) or is_reserved(field.old):
        return
    if isinstance(field, Removed):
        yield Note("the storage is declared differently", spelled(field.old), None)
    elif field_type(field, context) is FieldType.DIFFERENT:
        yield Note("the storage is declared differently", spelled(field.old), spelled(field.new))
