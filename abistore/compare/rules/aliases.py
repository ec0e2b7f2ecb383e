"""What happens to aliases (``typedef``, ``using``): consumers have what they stand for compiled in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.compare.equivalence import Sameness
from abistore.compare.naming import only_named_otherwise
from abistore.compare.rule import Note, rule
from abistore.compare.rules.runtime import is_time64
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.shapes import Alias, Pointer
from abistore.model.spelling import spell

VERSIONED = re.compile(r"(?:^|_)(?:version|ver|v|release|abi)_?\d+(?:_\d+)*\w*$", re.IGNORECASE)
"""How aliases are called that carry the release number: ``png_libpng_version_1_6_40``."""


def _sameness(alias: Changed[Alias], context: Context) -> Sameness:
    """How the targets compare where consumers meet them: as values, or behind pointers only."""
    old, new = alias.old.target, alias.new.target
    if context.by_value(alias.subject.name):
        return context.stored(old, new)
    return context.stored(Pointer(old), Pointer(new))


def _targets(alias: Changed[Alias]) -> tuple[str, str]:
    return spell(alias.old.target), spell(alias.new.target)


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def typedef_base_changed(alias: Changed[Alias], context: Context) -> Iterator[Note]:
    """Alias stands for another type.

    All that uses the alias changed with it: consumers pass, store and call back what the old type was.

    Fix: keep the alias, and introduce one with a new name.
    """
    if is_time64(alias, context):
        return
    if _sameness(alias, context) is Sameness.DIFFERENT and context.mentioned_alike(alias.subject.name):
        yield Note("the alias stands for another type", *_targets(alias))


@rule(Impact.API_BREAK, evidence="layout", element="types", action="changed")
def typedef_unused_changed(alias: Changed[Alias], context: Context) -> Iterator[Note]:
    """Alias stands for another type, and nothing in the library's interface uses it as before.

    What used it was declared anew, so that built consumers meet the same types (or what differs has findings of its
    own). Sources that use the alias mean another type by it and may not compile.

    Fix: keep the alias, and introduce one with a new name.
    """
    if _sameness(alias, context) is Sameness.DIFFERENT and not context.mentioned_alike(alias.subject.name):
        yield Note("the alias stands for another type, and its uses changed", *_targets(alias))


@rule(Impact.RISK, evidence="layout", element="types", action="changed")
def typedef_base_reinterpreted(alias: Changed[Alias], context: Context) -> Iterator[Note]:
    """Alias stands for the same bits with another meaning, such as unsigned for signed.

    Consumers misread the values that only one of the types has. In C++, names of functions that take it differ.

    Fix: keep the type, or never use a value that the old type does not have.
    """
    if _sameness(alias, context) is Sameness.REINTERPRETED:
        yield Note("the alias is interpreted in another way", *_targets(alias))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def typedef_base_respelled(alias: Changed[Alias], context: Context) -> Iterator[Note]:
    """Alias stands for the same representation under another name.

    Built consumers hold and pass the same bits.

    Fix: nothing.
    """
    renamed = only_named_otherwise(alias.old.target, alias.new.target, context)
    if _sameness(alias, context) < Sameness.REINTERPRETED and not renamed:
        yield Note("the alias is spelled in another way", *_targets(alias))


@rule(Impact.API_BREAK, evidence="source", element="types", action="removed")
def typedef_removed(alias: Removed[Alias]) -> Iterator[Note]:
    """Alias is no longer declared.

    Built consumers have the type that it stood for. Sources that use the name stop compiling.

    Fix: keep the alias and mark it deprecated.
    """
    if not VERSIONED.search(alias.subject.name.spelling):
        yield Note("the alias is gone", spell(alias.old.target), None)


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="added")
def typedef_added(alias: Added[Alias]) -> Iterator[Note]:
    """Alias is new.

    Built consumers do not know it.

    Fix: nothing.
    """
    if not VERSIONED.search(alias.subject.name.spelling):
        yield Note("the alias is new", None, spell(alias.new.target))


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="removed")
def typedef_version_sentinel(alias: Removed[Alias]) -> Iterator[Note]:
    """Alias whose name carries a release number is no longer declared.

    Such a name changes with every release, so that sources mixed from two of them do not compile.

    Fix: nothing.
    """
    if VERSIONED.search(alias.subject.name.spelling):
        yield Note("the alias of a release is gone", spell(alias.old.target), None)
