"""Enumerations with their enumerators, and typedefs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from abistore.diffing.context import Context, Note, rule, spell
from abistore.diffing.evidence_gaps import read_as_another_language
from abistore.diffing.kinds.enumerators import (
    EnumeratorValues,
    is_constant_now,
    keeps_union,
)
from abistore.diffing.kinds.equivalent_declarations import abridged, only_named_otherwise
from abistore.diffing.kinds.objects import is_only_private
from abistore.diffing.kinds.parameter_types import is_exchangeable
from abistore.diffing.kinds.records import is_default
from abistore.diffing.parts import UnusedEnum
from abistore.diffing.retyping import Retyped, TypedSubject, graded, variants_of
from abistore.diffing.rules.evidence import is_time64
from abistore.diffing.types.sameness import Sameness
from abistore.model.declarations import Added, Changed, Delta, Removed
from abistore.model.findings import Impact
from abistore.model.hints import matches
from abistore.model.shapes import Alias, Enum, Enumerator, Named, Opaque, Pointer, Record, TypeRef
from abistore.model.words import counted


def _values(delta: Delta[Enumerator], context: Context) -> tuple[EnumeratorValues, EnumeratorValues]:
    assert delta.within is not None
    return context.once(_both, delta.within)


def _both(enum: Changed[Enum], _: Context) -> tuple[EnumeratorValues, EnumeratorValues]:
    old, new = (EnumeratorValues(side, enum.subject.name.spelling) for side in (enum.old, enum.new))
    return old, new


# --- enumerators that came ----------------------------------------------------------------------------------------


def _displaces(each: Added[Enumerator], context: Context) -> bool:
    """Whether the new enumerator took the value of another one, whose value changed. Sentinels do not count."""
    old, new = _values(each, context)
    return any(
        new.by_name.get(other.name, other.value) != other.value
        and not (old.is_sentinel(other) and not _is_passed(other, context))
        for other in old.by_value.get(each.new.value, ())
    )


def _is_passed(each: Enumerator, context: Context) -> bool:
    return is_default(each.name, context.old)


@rule(Impact.COMPATIBLE, evidence="layout", element="enums", action="added")
def enum_member_added(each: Added[Enumerator], context: Context) -> Iterator[Note]:
    """An enumerator was added.

    All old enumerators keep their values. Programs do not know the new one; a ``switch`` over all enumerators ignores
    it.

    Fix: nothing; document that enumerators may be added.
    """
    if not _displaces(each, context):
        yield Note("an enumerator was added", None, str(each.new.value))


@rule(Impact.BREAKING, variant="inner", evidence="layout", element="enums", action="added")
def enum_member_added_inner(each: Added[Enumerator], context: Context) -> Iterator[Note]:
    """An enumerator was inserted before others, and the values of those changed.

    Programs have the old numbers compiled in. Each side takes the other's numbers for different enumerators.

    Fix: add new enumerators last, or give all of them explicit values.
    """
    if _displaces(each, context):
        yield Note("the enumerator has the former value of another one", None, str(each.new.value))


# --- enumerators that went ----------------------------------------------------------------------------------------


def _departure(each: Removed[Enumerator], context: Context) -> str:
    old, new = _values(each, context)
    if is_constant_now(each, context):
        return "constant"
    if any(old.by_name.get(other.name) == other.value for other in new.by_value.get(each.old.value, ())):
        return "alias"
    return "sentinel" if old.hint(each.old.name) and old.is_sentinel(each.old) else "gone"


@rule(Impact.BREAKING, evidence="layout", element="enums", action="removed")
def enum_member_removed(each: Removed[Enumerator], context: Context) -> Iterator[Note]:
    """An enumerator was removed.

    Programs keep passing its number. The library rejects it, or treats it as another enumerator. No declaration shows
    whether the library still understands the number. A macro of its name would, but only headers show macros.

    Fix: keep the enumerator and its meaning; mark it deprecated.
    """
    if _departure(each, context) == "gone":
        yield Note("the enumerator was removed", str(each.old.value), None)


@rule(Impact.COMPATIBLE, variant="to_constant", evidence="layout", element="enums", action="changed")
def enum_member_removed_to_constant(
    each: Removed[Enumerator] | Changed[Enumerator], context: Context
) -> Iterator[Note]:
    """An enumerator was replaced by a macro or constant of the same value.

    Existing binaries pass the number, and sources use the name as before: ``#define RED 1``, or ``#define RED CRIMSON``
    for a renamed one. The value may no longer belong to the enumeration. Declarations do not show whether the library
    still accepts it.

    Fix: nothing; keep accepting the value.
    """
    gone = isinstance(each, Removed) or each.old.name != each.new.name
    if gone and is_constant_now(each, context):
        yield Note("the enumerator became a constant outside the enumeration", "enumerator", "constant")


@rule(Impact.API_BREAK, variant="alias", evidence="layout", element="enums", action="removed")
def enum_member_removed_alias(each: Removed[Enumerator], context: Context) -> Iterator[Note]:
    """One of several enumerators with the same value was removed.

    Existing binaries pass the number, which keeps its meaning. Sources that use the name stop compiling.

    Fix: keep the name.
    """
    if _departure(each, context) == "alias":
        yield Note("the enumerator was removed, and another one has its value", str(each.old.value), None)


@rule(Impact.API_BREAK, variant="sentinel", evidence="layout", element="enums", action="removed")
def enum_member_removed_sentinel(each: Removed[Enumerator], context: Context) -> Iterator[Note]:
    """The enumerator that marks the end or the count was removed, e.g. ``COLOR_MAX``.

    No function takes it as a value. Sources that size arrays by it stop compiling.

    Fix: keep the name.
    """
    if _departure(each, context) == "sentinel":
        yield Note("the end marker was removed", str(each.old.value), None)


# --- enumerators that stay ----------------------------------------------------------------------------------------


def _is_sentinel(each: Changed[Enumerator], context: Context) -> bool:
    old, new = _values(each, context)
    return old.is_sentinel(each.old) and new.is_sentinel(each.new) and not _is_passed(each.old, context)


@rule(Impact.BREAKING, evidence="layout", element="enums", action="changed", effect="value")
def enum_member_value_changed(each: Changed[Enumerator], context: Context) -> Iterator[Note]:
    """The value of an enumerator changed.

    Programs have the old number compiled in. Each side takes the other's number for a different enumerator.

    Fix: give it its old value explicitly.
    """
    alike = _is_sentinel(each, context) or _keeps_union(each, context)
    if each.old.value != each.new.value and not alike:
        yield Note("the value changed", str(each.old.value), str(each.new.value))


@rule(Impact.RISK, variant="combination", evidence="layout", element="enums", action="changed")
def enum_member_value_changed_combination(each: Changed[Enumerator], context: Context) -> Iterator[Note]:
    """An enumerator that combines flags combines other ones now, e.g. ``DEFAULT = FAST | SAFE | CHECKED``.

    The headers of both releases write it as a combination, and each old flag keeps its name and number. Existing
    binaries keep passing the old flags, which keep their meaning. Programs that compare a result with the whole
    combination (``==``) may notice.

    Fix: nothing, if the old flags together still do what they did.
    """
    if each.old.value != each.new.value and not _is_sentinel(each, context) and _keeps_union(each, context):
        yield Note("the combined flags changed", str(each.old.value), str(each.new.value))


def _keeps_union(each: Changed[Enumerator], context: Context) -> bool:
    return keeps_union(each, _values(each, context), (context.old, context.new))


@rule(Impact.RISK, evidence="layout", element="enums", action="changed")
def enum_last_member_value_changed(each: Changed[Enumerator], context: Context) -> Iterator[Note]:
    """The value of an end marker, count, first or all-bits enumerator changed.

    It changes with each added enumerator. Programs that size arrays by it have the old size; the library must not write
    more elements into them. A first enumerator is the smallest one by another name (``COLOR_FIRST = COLOR_RED``), whose
    number programs keep.

    Fix: nothing, if no function fills or reads an array of that length.
    """
    if each.old.value != each.new.value and _is_sentinel(each, context):
        yield Note("the value of the sentinel changed", str(each.old.value), str(each.new.value))


@rule(Impact.API_BREAK, evidence="layout", element="enums", action="changed")
def enum_member_renamed(each: Changed[Enumerator], context: Context) -> Iterator[Note]:
    """An enumerator was renamed and keeps its value.

    Existing binaries pass the number, which keeps its meaning. Sources that use the old name stop compiling.

    Fix: keep the old name beside the new one.
    """
    if each.old.name != each.new.name and not is_constant_now(each, context):
        yield Note("the enumerator was renamed", each.old.name, each.new.name)


@rule(Impact.RISK, variant="unused", evidence="layout", element="enums", action="changed")
def enum_member_removed_unused(enum: Changed[UnusedEnum]) -> Iterator[Note]:
    """An enumeration that no export uses lost values, and its header may be private.

    Programs that can include the header have the old numbers compiled in, and pass them as plain integers:
    ``set_level(LOG_DEBUG)``. A header that is not installed concerns only the library.

    Fix: keep the values, or pass the public headers, which show whether this one is among them.
    """
    old, new = enum.old.shape, enum.new.shape
    assert isinstance(old, Enum) and isinstance(new, Enum)
    after = {each.name: each.value for each in new.enumerators}
    lost = [each for each in old.enumerators if after.get(each.name) != each.value]
    yield Note(
        "values of constants differ", _listed(lost), _listed([each for each in lost if each.name in after], after)
    )


def _listed(enumerators: Sequence[Enumerator], values: Mapping[str, int] | None = None) -> str | None:
    """The first of these enumerators, with their own or with other ``values``."""
    texts = [f"{each.name} = {each.value if values is None else values[each.name]}" for each in enumerators]
    return abridged(texts) or None


# --- the enumeration itself ---------------------------------------------------------------------------------------


@rule(Impact.BREAKING, evidence="layout", element="enums", action="changed")
def enum_underlying_size_changed(enum: Changed[Enum], context: Context) -> Iterator[Note]:
    """The size of an enumeration changed.

    Programs pass, store and read it with the old width. Structs that hold it have other offsets.

    Fix: fix the underlying type (``enum name : int``), or keep the values within the old width; build with the same
    ``-fshort-enums``.
    """
    if enum.old.size != enum.new.size:
        yield Note("the size changed", counted(enum.old.size, "byte"), counted(enum.new.size, "byte"))


@rule(Impact.RISK, variant="reinterpreted", evidence="layout", element="enums", action="changed")
def enum_underlying_size_changed_reinterpreted(enum: Changed[Enum], context: Context) -> Iterator[Note]:
    """The underlying type of an enumeration changed its signedness, and kept its size.

    Programs widen and compare values with the old signedness: a negative value becomes a large number.

    Fix: fix the underlying type, or add no negative value.
    """
    same = _underlying(enum, context)
    if same is not None and same >= Sameness.REINTERPRETED and enum.old.size == enum.new.size:
        yield Note("the underlying type changed", *_spelled(enum))


@rule(Impact.COMPATIBLE, variant="respelled", evidence="layout", element="enums", action="changed")
def enum_underlying_size_changed_respelled(enum: Changed[Enum], context: Context) -> Iterator[Note]:
    """The underlying type of an enumeration has another name and the same representation.

    Existing binaries read and write the same bits.

    Fix: nothing.
    """
    same = _underlying(enum, context)
    if same is not None and Sameness.IDENTICAL < same < Sameness.REINTERPRETED:
        yield Note("the underlying type is spelled differently", *_spelled(enum))


def _underlying(enum: Changed[Enum], context: Context) -> Sameness | None:
    """How the underlying types compare; ``None`` where a side does not record it."""
    if enum.old.underlying is None or enum.new.underlying is None:
        return None
    return context.stored(enum.old.underlying, enum.new.underlying)


def _spelled(enum: Changed[Enum]) -> tuple[str, str]:
    assert enum.old.underlying is not None and enum.new.underlying is not None
    return spell(enum.old.underlying), spell(enum.new.underlying)


@rule(Impact.API_BREAK, evidence="layout", element="enums", action="changed")
def enum_became_scoped(enum: Changed[Enum]) -> Iterator[Note]:
    """An enumeration became scoped (``enum class``).

    Existing binaries contain numbers. Sources that use an enumerator without the enumeration's name, or as an integer,
    stop compiling.

    Fix: keep it unscoped, or provide constants with the old names.
    """
    if enum.new.scoped and not enum.old.scoped:
        yield Note("the enumeration became scoped", "enum", "enum class")


@rule(Impact.RISK, evidence="layout", element="enums", action="changed", aliases=("enum_lost_scoped",))
def enum_scope_removed(enum: Changed[Enum]) -> Iterator[Note]:
    """An enumeration is no longer scoped (``enum class``).

    Existing binaries contain numbers. Sources that name its enumerators as ``E::A`` compile as before. The enumerators
    become names of the surrounding scope as well, where they may clash with the program's names. Values convert to
    integers: a call may choose another overload. Programs that forward-declare the enumeration stop compiling.

    Fix: keep it scoped.
    """
    if enum.old.scoped and not enum.new.scoped:
        yield Note("the enumeration is no longer scoped", "enum class", "enum")


def _sameness(alias: Changed[Alias], context: Context) -> Sameness:
    """How the targets compare: as values, or as pointers where programs meet them behind pointers only.

    A pointer to a class that is hidden under a new name leads to the same object, as far as anybody knows.
    """
    found = context.stored(*_met(alias, context))
    return Sameness.REINTERPRETED if found is Sameness.DIFFERENT and _hides_object(alias, context) else found


def _hides_object(alias: Changed[Alias], context: Context) -> bool:
    """Whether a typedef was a pointer to a class that is gone, and is one to a new class without a definition."""
    old, new = context.old.types.bare(alias.old.target)[0], context.new.types.bare(alias.new.target)[0]
    match old, new:
        case Pointer(Named(before), "*"), Pointer(Named(after), "*"):
            pass
        case _:
            return False
    target = context.old.types.bare(Named(before))[0]
    if not isinstance(target, Named) or context.new.types.has(target.name) or context.old.types.has(after):
        return False
    return isinstance(context.old.shape(target.name), Record) and isinstance(context.new.shape(after), Opaque)


def _met(alias: Changed[Alias], context: Context) -> tuple[TypeRef, TypeRef]:
    old, new = alias.old.target, alias.new.target
    return (old, new) if context.old.consumers.hold(alias.subject.name) else (Pointer(old), Pointer(new))


def _is_usable(alias: Changed[Alias], context: Context) -> bool:
    """Whether sources still exchange values with the type that the typedef named before."""
    return is_exchangeable(alias.subject.name, *_met(alias, context), context)


def _targets(alias: Changed[Alias]) -> tuple[str, str]:
    return spell(alias.old.target), spell(alias.new.target)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", aliases=("public_typedef_target_changed",))
def typedef_base_changed(alias: Changed[Alias], context: Context) -> Iterator[Note]:
    """The type of a typedef changed.

    Everything declared with it changed too: programs built with the old header pass, store and return the old type. A
    callback that now returns a value instead of ``void`` counts too: old callbacks leave undefined what the library
    reads. A library that keeps ignoring the value breaks nobody, but declarations do not show that.

    Fix: keep the typedef, and add one with a new name.
    """
    if is_time64(alias, context) or _sameness(alias, context) is not Sameness.DIFFERENT:
        return
    if context.mentioned_alike(alias.subject.name):
        yield Note("the typedef names another type", *_targets(alias))


@rule(Impact.API_BREAK, variant="unused", evidence="layout", element="types", action="changed")
def typedef_base_changed_unused(alias: Changed[Alias], context: Context) -> Iterator[Note]:
    """The type of a typedef changed that the library's interface does not use, or uses less than before.

    Declarations that used it were changed: existing binaries see the same types, or the difference is reported
    separately. Sources that use the typedef get another type, and may not compile.

    Fix: keep the typedef, and add one with a new name.
    """
    if _sameness(alias, context) is not Sameness.DIFFERENT:
        return
    if not context.mentioned_alike(alias.subject.name):
        yield Note("the typedef names another type, and its uses changed", *_targets(alias))


def _retyped(alias: Changed[Alias], context: Context) -> Retyped | None:
    found = graded(_sameness(alias, context), lambda: _is_usable(alias, context))
    if found is None or found is Retyped.REINTERPRETED:
        return found
    if found is Retyped.RESPELLED and only_named_otherwise(alias.old.target, alias.new.target, context):
        return None
    return None if read_as_another_language(context) else found


UNLIKE = "Spelling differences between headers that were read as C and as C++ are not reported."

variants_of(
    TypedSubject(
        "typedef_base_changed",
        "typedef",
        "The type that a typedef stands for",
        "types",
        "Changed[Alias]",
        __name__,
        more={
            Retyped.RESPELLED: UNLIKE,
            Retyped.CONVERTIBLE: f"Example: ``long`` became ``long long`` where both have 8 bytes. {UNLIKE}",
            Retyped.REINTERPRETED: "In C++, the mangled names of functions with such parameters change too.",
            Retyped.INCONVERTIBLE: (
                "Example: ``typedef void *handle`` became ``typedef struct item *handle``, to which C++ converts no"
                " ``void *``."
            ),
        },
    ),
    _retyped,
    _targets,
)


@rule(Impact.API_BREAK, evidence="source", element="types", action="removed", aliases=("public_typedef_removed",))
def typedef_removed(alias: Removed[Alias], context: Context) -> Iterator[Note]:
    """A typedef is no longer declared.

    Existing binaries have the type itself compiled in. Sources that use the name stop compiling.

    Fix: keep the typedef and mark it deprecated.
    """
    name = alias.subject.name
    if not matches("version_typedef", name.spelling) and not is_only_private(name, context.old):
        yield Note("the typedef was removed", spell(alias.old.target), None)


@rule(Impact.COMPATIBLE, variant="typedef", evidence="source", element="types", action="added")
def type_added_typedef(alias: Added[Alias]) -> Iterator[Note]:
    """A typedef was added.

    Existing binaries do not use it.

    Fix: nothing.
    """
    if not matches("version_typedef", alias.subject.name.spelling):
        yield Note("the typedef was added", None, spell(alias.new.target))


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="removed")
def typedef_version_sentinel(alias: Removed[Alias]) -> Iterator[Note]:
    """A typedef with a release number in its name is no longer declared.

    Such a name changes with every release, e.g. ``png_libpng_version_1_6_40``. It keeps sources from mixing headers of
    two releases.

    Fix: nothing.
    """
    if matches("version_typedef", alias.subject.name.spelling):
        yield Note("the typedef with a release number was removed", spell(alias.old.target), None)
