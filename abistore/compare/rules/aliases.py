"""Typedefs and ``using`` aliases: programs have the types that they stand for compiled in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abistore.compare.classify.conversion import is_exchangeable
from abistore.compare.classify.renamed_mentions import only_named_otherwise
from abistore.compare.classify.signatures.handed_out import only_handed_out, returns_anew
from abistore.compare.context import Context
from abistore.compare.diff.unseen import read_as_another_language
from abistore.compare.retyping import Retyped, TypedSubject, graded, variants_of
from abistore.compare.rule import Note, rule
from abistore.compare.rules.runtime import is_time64
from abistore.compare.types.sameness import Sameness
from abistore.model.cpp_names.declarators import spell
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.names import Name
from abistore.model.shapes import Alias, Named, Opaque, Pointer, Record, TypeRef
from abistore.patterns import pattern

VERSIONED = pattern(r"(?:^|_)(?:version|ver|v|release|abi)_?\d+(?:_\d+)*\w*$", re.IGNORECASE)
"""Names of aliases that carry the release number: ``png_libpng_version_1_6_40``."""


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
    """A typedef stands for another type.

    Everything declared with it changed too: programs built with the old header pass, store and return the old type.
    A callback that returned nothing and returns a value now is such a change: old callbacks leave undefined what the
    library reads. A library that goes on ignoring the value breaks nobody, which its declarations do not tell.

    Fix: keep the typedef, and add one with a new name.
    """
    name = alias.subject.name
    if is_time64(alias, context) or _sameness(alias, context) is not Sameness.DIFFERENT:
        return
    if _is_unused(name, context):
        return
    anew = returns_anew(alias, context)
    if anew and not only_handed_out(name, context):
        yield Note(
            "what old callbacks leave undefined is read as their result, if the library uses it", *_targets(alias)
        )
    elif not anew:
        yield Note("the typedef stands for another type", *_targets(alias))


@rule(Impact.COMPATIBLE, variant="value_added", evidence="layout", element="types", action="changed")
def typedef_base_changed_value_added(alias: Changed[Alias], context: Context) -> Iterator[Note]:
    """A function that the library hands out returns a value, and returned nothing before.

    The typedef of its pointer is only what functions of the library return, so that programs call it and supply none.
    Built programs ignore the register that holds the value.

    Fix: nothing.
    """
    name = alias.subject.name
    if (
        _sameness(alias, context) is Sameness.DIFFERENT
        and not _is_unused(name, context)
        and returns_anew(alias, context)
        and only_handed_out(name, context)
    ):
        yield Note("the function that is handed out returns a value", *_targets(alias))


@rule(Impact.API_BREAK, variant="unused", evidence="layout", element="types", action="changed")
def typedef_base_changed_unused(alias: Changed[Alias], context: Context) -> Iterator[Note]:
    """A typedef stands for another type, and the library's interface does not use it, or no longer as before.

    What used it was declared anew: built programs meet the same types, or a finding of its own tells what differs. Or
    headers tell that no export leads to it, nor to what holds it, and none takes ``void *``: programs and the library
    each keep to what they were compiled with. Sources that use the typedef get another type, and may not compile.

    Fix: keep the typedef, and add one with a new name.
    """
    if _sameness(alias, context) is not Sameness.DIFFERENT:
        return
    if not context.mentioned_alike(alias.subject.name):
        yield Note("the typedef stands for another type, and its uses changed", *_targets(alias))
    elif _is_unused(alias.subject.name, context):
        yield Note("the typedef stands for another type, which nothing exchanges with the library", *_targets(alias))


def _is_unused(name: Name, context: Context) -> bool:
    """Whether no use of an alias is left as it was through which programs meet the library."""
    if not context.mentioned_alike(name):
        return True
    from abistore.compare.classify.signatures.exchanged_types import never_exchanged  # few typedefs change so far

    return never_exchanged(name, context)


def _retyped(alias: Changed[Alias], context: Context) -> Retyped | None:
    found = graded(_sameness(alias, context), lambda: _is_usable(alias, context))
    if found is None or found is Retyped.REINTERPRETED:
        return found
    if found is Retyped.RESPELLED and only_named_otherwise(alias.old.target, alias.new.target, context):
        return None
    return None if read_as_another_language(context) else found


UNLIKE = "Headers that were read as C and as C++ differ by themselves in how they spell types: no such change is told."

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
            Retyped.REINTERPRETED: "In C++, the mangled names of functions that take it differ too.",
            Retyped.INCONVERTIBLE: (
                "Example: ``typedef void *handle`` became ``typedef struct item *handle``, and C++ converts no"
                " ``void *`` to it."
            ),
        },
    ),
    _retyped,
    _targets,
)


@rule(Impact.API_BREAK, evidence="source", element="types", action="removed", aliases=("public_typedef_removed",))
def typedef_removed(alias: Removed[Alias]) -> Iterator[Note]:
    """A typedef is no longer declared.

    Built programs have the type itself compiled in. Sources that use the name stop compiling.

    Fix: keep the typedef and mark it deprecated.
    """
    if not VERSIONED.search(alias.subject.name.spelling):
        yield Note("the typedef is gone", spell(alias.old.target), None)


@rule(Impact.COMPATIBLE, variant="typedef", evidence="source", element="types", action="added")
def type_added_typedef(alias: Added[Alias]) -> Iterator[Note]:
    """A typedef was added.

    Built programs do not use it.

    Fix: nothing.
    """
    if not VERSIONED.search(alias.subject.name.spelling):
        yield Note("the typedef is new", None, spell(alias.new.target))


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="removed")
def typedef_version_sentinel(alias: Removed[Alias]) -> Iterator[Note]:
    """A typedef whose name carries a release number is no longer declared.

    Such a name changes with every release, e.g. ``png_libpng_version_1_6_40``, so that sources do not compile against
    headers of two releases at once.

    Fix: nothing.
    """
    if VERSIONED.search(alias.subject.name.spelling):
        yield Note("the typedef of a release is gone", spell(alias.old.target), None)
