"""Data members of structs and classes, and of anonymous structs and unions within them."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.field_places import FieldPlace, place_of, record_of, replaced_by
from abistore.compare.classify.field_types import FieldType, field_type, is_retired, is_reused, is_whole_member
from abistore.compare.classify.record_growth import grows_safely
from abistore.compare.classify.renamed_mentions import only_named_otherwise
from abistore.compare.context import Context
from abistore.compare.diff.parts import FieldGroup
from abistore.compare.retyping import Retyped, TypedSubject, variants_of
from abistore.compare.rule import Note, rule
from abistore.compare.types.fields import InnerField, plain
from abistore.compare.types.reserved_fields import is_reserved
from abistore.model.cpp_names.declarators import declare
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.shapes import Field


def spelled(field: Field | InnerField) -> str:
    """``field`` as its record declares it."""
    own = plain(field)
    text = declare(own.type, own.name)
    return text if own.bit_size is None else f"{text} : {own.bit_size}"


def _place(field: Field | InnerField) -> str:
    offset = plain(field).offset
    return f"offset {offset // 8}" + (f":{offset % 8}" if offset % 8 or plain(field).bit_size is not None else "")


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

    Programs built with the old header allocate too little, or keep another field in that place. The library reads and
    writes the field there all the same.

    Fix: put it into reserved storage, or let only the library allocate the struct and append fields to it.
    """
    place = place_of(field, context)
    if place is FieldPlace.BETWEEN or (place is FieldPlace.END and not grows_safely(record_of(field), context)):
        yield Note("a field was added", None, f"{spelled(field.new)} at {_place(field.new)}")


@rule(Impact.RISK, variant="trailing", evidence="layout", element="types", action="added")
def type_field_added_trailing(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field was appended to a struct that the library allocates, or of which callers tell what theirs holds.

    Programs that hold pointers from the library, or fill in a field with its size, do not notice. Nor do those that set
    bits of a mask for the fields that they know (``field_mask``), where each new field has a new bit that is called
    after it; that pass the size beside the struct, or the version in a table of function pointers; that read a table
    which the library hands out; and that have the struct in unions alone which are as large as before. Programs that
    declare, copy or derive from the struct all the same have no room for the field.

    Fix: hide the definition from consumers, or say in its documentation that it will grow.
    """
    if place_of(field, context) is FieldPlace.END and grows_safely(record_of(field), context):
        yield Note("a field was appended", None, f"{spelled(field.new)} at {_place(field.new)}")


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="added")
def type_field_added_compatible(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field was added in padding that the library sets, or in place of a removed field.

    The size and the other fields are as before. The library makes all objects that it reads: it allocates them, takes
    none from programs, or headers tell that programs can do no more than call constructors that it exports. Where a
    field was removed, programs go on using that one; the removal is a finding of its own.

    Fix: nothing.
    """
    gone = ", ".join(name or "a field without a name" for name in replaced_by(field, context))
    if _lies_free(field, context) and (gone or not _is_unset(field, context)):
        place = f"in place of {gone}, which was removed" if gone else "in padding"
        yield Note(f"a field was added {place}", None, f"{spelled(field.new)} at {_place(field.new)}")


@rule(Impact.BREAKING, variant="uninitialized", evidence="layout", element="types", action="added")
def type_field_added_uninitialized(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field was added in padding that constructors of programs leave as it was.

    The size and the other fields are as before. Programs built with the old header have a constructor compiled in that
    gives each member its first value, and the padding none: the library takes for the new field whatever lay there.
    Example: ``struct Options { long level = 1; bool fast = false; };`` gets ``bool safe = false``, and programs hand
    over ``Options`` that lie on their stack.

    Fix: construct objects by functions that the library exports, or give the field to a class with a new name.
    """
    if _is_left_unset(field, context) and _is_uninitialized(field, context):
        yield Note("a field was added in padding", None, f"{spelled(field.new)} at {_place(field.new)}")


@rule(Impact.RISK, variant="unset", evidence="layout", element="types", action="added")
def type_field_added_unset(field: Added[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field was added in the padding of a struct that programs set up themselves, or an array without a bound.

    The size and the other fields are as before. Programs built with the old header never set what came, so that the
    library reads whatever lay there. Example: ``struct options { int level; char fast; };`` gets ``char safe``, and
    programs hand over options that lay on their stack. So do those that have an inline constructor compiled in; files
    do not tell that a class has none.

    Fix: read the field only where another, such as a version or a flag, says that it was set.
    """
    if _is_unbounded(field, context):
        if _is_unset(field, context):
            yield Note("a flexible array was added", None, f"{spelled(field.new)} at {_place(field.new)}")
    elif _is_left_unset(field, context) and not _is_uninitialized(field, context):
        yield Note("a field was added in padding", None, f"{spelled(field.new)} at {_place(field.new)}")


def _is_left_unset(field: Added[Field | InnerField], context: Context) -> bool:
    return _lies_free(field, context) and not replaced_by(field, context) and _is_unset(field, context)


def _is_uninitialized(field: Added[Field | InnerField], context: Context) -> bool:
    from abistore.compare.classify.making.uninitialized import leaves_uninitialized  # few changes put fields in padding

    return context.once(leaves_uninitialized, record_of(field))


def _is_unset(field: Added[Field | InnerField], context: Context) -> bool:
    from abistore.compare.classify.making.programs import programs_make  # few changes put fields in padding

    return programs_make(record_of(field), context)


def _is_unbounded(field: Added[Field | InnerField], context: Context) -> bool:
    return place_of(field, context) is FieldPlace.FLEXIBLE


def _lies_free(field: Added[Field | InnerField], context: Context) -> bool:
    return place_of(field, context) is FieldPlace.FREE and not is_reserved(plain(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def used_reserved_field(
    field: Added[Field | InnerField] | Changed[Field | InnerField], context: Context
) -> Iterator[Note]:
    """Reserved storage was put to use.

    The struct keeps its size and its other fields. Programs that cleared it, as they were asked to, pass zero.

    Fix: nothing, if zero means what happened before.
    """
    if isinstance(field, Added):
        if place_of(field, context) is FieldPlace.RESERVED and not is_reserved(plain(field.new)):
            yield Note("reserved storage is used", None, f"{spelled(field.new)} at {_place(field.new)}")
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

    Programs read and write what now is another field, padding, or memory behind the struct. So does code of the header
    that was compiled into them, of a private field too.

    Fix: keep the field, and mark it reserved or deprecated.
    """
    hidden = _is_hidden(field, context)
    if not (is_reserved(field.old) or hidden or _in_union(field) or is_retired(field, context)):
        yield Note("a field was removed", f"{spelled(field.old)} at {_place(field.old)}", None)


@rule(Impact.RISK, variant="to_reserved", evidence="layout", element="types", action="removed")
def type_field_removed_to_reserved(field: Removed[Field], context: Context) -> Iterator[Note]:
    """A field became reserved storage.

    The struct keeps its size and its other fields. Programs that read the field find what the library leaves there, and
    what they write has no effect. Example: ``int timeout`` became ``int reserved``.

    Fix: nothing, if no consumer had a reason to use it; else keep it and mark it deprecated.
    """
    hidden = _is_hidden(field, context)
    if not (is_reserved(field.old) or hidden or _in_union(field)) and is_retired(field, context):
        yield Note("the field became reserved storage", f"{spelled(field.old)} at {_place(field.old)}", None)


@rule(Impact.RISK, variant="private", evidence="layout", element="types", action="removed")
def type_field_removed_private(field: Removed[Field | InnerField], context: Context) -> Iterator[Note]:
    """A private field was removed.

    Programs cannot name it. Inline functions and friends that were compiled into them may use it; none that the headers
    show does.

    Fix: nothing, where no inline function used it.
    """
    own = plain(field.old)
    if _is_hidden(field, context) and not is_reserved(own):
        yield Note("a private field was removed", f"{spelled(field.old)} at {_place(field.old)}", None)


@rule(Impact.COMPATIBLE, variant="reserved", evidence="layout", element="types", action="removed")
def type_field_removed_reserved(field: Removed[Field | InnerField], context: Context) -> Iterator[Note]:
    """Reserved storage was removed, and nothing took its place.

    Nobody uses it. Where the struct became smaller, that is a finding of its own.

    Fix: keep the storage for fields to come.
    """
    if is_reserved(plain(field.old)) and not is_reused(field, context):
        yield Note("reserved storage was removed", f"{spelled(field.old)} at {_place(field.old)}", None)


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

    Programs read and write it where it was, which now is another field or padding.

    Fix: keep the order and the types of the fields before it, and append new ones.
    """
    old, new = plain(field.old), plain(field.new)
    if old.offset != new.offset and not (is_reserved(old) and is_reserved(new)):
        yield Note("the field lies elsewhere", _place(field.old), _place(field.new))


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
        yield Note("the field is of another type", spelled(field.old), spelled(field.new))


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
                " ``unsigned char red`` in its place. Nobody outside of the class names a private field."
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
    """The width of a bit-field changed, or the field became, or stopped being, a bit-field.

    Programs read and write other bits than the library. A bit-field of whole bytes that became an ordinary member of
    the same bits is only spelled differently.

    Fix: keep the width; take further bits from reserved ones and give them a name of their own.
    """
    old, new = plain(field.old), plain(field.new)
    if old.bit_size != new.bit_size and not is_reserved(old) and not is_whole_member(field, context):
        yield Note("the field has another width", spelled(field.old), spelled(field.new))


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def anon_field_changed(field: Changed[InnerField] | Removed[InnerField], context: Context) -> Iterator[Note]:
    """A member of an anonymous struct or union was removed, or its type changed.

    Programs use it like a member of the struct around it: they read and write it as it was.

    Fix: keep it; in a union, add a further alternative.
    """
    if isinstance(field, Removed):
        own = plain(field.old)
        if own.access != "private" and not is_reserved(own):
            yield Note("an anonymous member was removed", f"{spelled(field.old)} at {_place(field.old)}", None)
    elif field_type(field, context) is FieldType.DIFFERENT:
        yield Note("an anonymous member is of another type", spelled(field.old), spelled(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def flexible_array_member_changed(
    field: Changed[Field | InnerField] | Added[Field | InnerField], context: Context
) -> Iterator[Note]:
    """The last member became, or stopped being, an array without a bound; or one was added that the library sets.

    The elements that programs know lie where they lay. Where the size of the struct differs, that is a finding of its
    own.

    Fix: nothing.
    """
    if isinstance(field, Added):
        if _is_unbounded(field, context) and not _is_unset(field, context):
            yield Note("a flexible array was added", None, spelled(field.new))
    elif field_type(field, context) is FieldType.FLEXIBLE:
        yield Note("the last array's bound differs", spelled(field.old), spelled(field.new))


# --- names -------------------------------------------------------------------------------------------------------


def _rename(field: Changed[Field | InnerField]) -> tuple[str, str] | None:
    old, new = plain(field.old), plain(field.new)
    return None if old.name == new.name or is_reserved(old) else (old.name, new.name)


@rule(Impact.API_BREAK, evidence="layout", element="types", action="changed")
def field_renamed(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """A field was renamed.

    It keeps its offset, and built programs use it as before. Sources that name it stop compiling.

    Fix: keep the old name in an anonymous union with the new one, for a while.
    """
    names = _rename(field)
    if names is not None and plain(field.old).access != "private":
        yield Note("the field has another name", *names)


@rule(Impact.API_BREAK, variant="grouping", evidence="layout", element="types", action="changed")
def type_field_type_changed_grouping(group: Changed[FieldGroup]) -> Iterator[Note]:
    """Fields were grouped differently in the same storage.

    Single fields became an array, a nested struct became its members, or an anonymous one got a name: ``int x, y``
    became ``int at[2]``. The same values lie at the same offsets, and built programs use them as before. Sources that
    name the old fields stop compiling.

    Fix: keep the old names in an anonymous union with the new fields, for a while.
    """
    yield Note("the fields are declared differently", _list(group.old), _list(group.new))


def _list(group: FieldGroup) -> str:
    return ", ".join(spelled(field) for field in group.fields)


@rule(Impact.COMPATIBLE, variant="private", evidence="layout", element="types", action="changed")
def field_renamed_private(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """A private field was renamed.

    It keeps its offset, and programs cannot name it.

    Fix: nothing.
    """
    names = _rename(field)
    if names is not None and plain(field.old).access == "private":
        yield Note("the private field has another name", *names)
