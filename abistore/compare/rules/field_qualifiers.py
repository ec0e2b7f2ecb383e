"""Qualifiers and access of data members."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.field_types import qualifiers
from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.compare.rules.fields import spelled
from abistore.compare.types.fields import InnerField, plain
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.shapes import WIDTH, Field


def _gained(field: Changed[Field | InnerField], qualifier: str, context: Context) -> bool:
    old, new = qualifiers(field, context)
    return qualifier in new and qualifier not in old


def _lost(field: Changed[Field | InnerField], qualifier: str, context: Context) -> bool:
    old, new = qualifiers(field, context)
    return qualifier in old and qualifier not in new


@rule(Impact.API_BREAK, evidence="layout", element="types", action="changed")
def field_became_const(field: Changed[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field became ``const``.

    Built programs go on writing to it, although the library expects that nobody does. Sources that write to it stop
    compiling.

    Fix: leave it writable, or give the value through a function.
    """
    if _gained(field, "const", context):
        yield Note("the field is constant", spelled(field.old), spelled(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def field_lost_const(field: Changed[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field is no longer ``const``.

    Built programs read it as before: compilers do not keep a member's value across calls.

    Fix: nothing.
    """
    if _lost(field, "const", context):
        yield Note("the field is not constant any more", spelled(field.old), spelled(field.new))


@rule(Impact.RISK, evidence="layout", element="types", action="changed")
def field_became_volatile(field: Changed[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field became ``volatile``: it changes by other means than the program.

    Built programs keep old values in registers, and may wait for a change that they never see.

    Fix: give access through functions.
    """
    if _gained(field, "volatile", context):
        yield Note("the field is volatile", spelled(field.old), spelled(field.new))


@rule(Impact.RISK, evidence="layout", element="types", action="changed")
def field_lost_volatile(field: Changed[Field | InnerField], context: Context) -> Iterator[Note]:
    """A field is no longer ``volatile``.

    Built programs read it from memory every time, as before. Sources no longer do so when they are compiled again.

    Fix: nothing, where nothing else changes the field while consumers look at it.
    """
    if _lost(field, "volatile", context):
        yield Note("the field is not volatile any more", spelled(field.old), spelled(field.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="types", action="changed")
def field_became_mutable(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """A field became ``mutable``.

    It may change in constant objects. The layout is the same.

    Fix: nothing, where no constant object lies in read-only memory.
    """
    if plain(field.new).mutable and not plain(field.old).mutable:
        yield Note("the field is mutable", None, "mutable")


@rule(Impact.API_BREAK, evidence="layout", element="types", action="changed")
def field_lost_mutable(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """A field is no longer ``mutable``.

    Built programs work as before. Sources that change it in constant objects stop compiling.

    Fix: keep it mutable where it is public.
    """
    if plain(field.old).mutable and not plain(field.new).mutable:
        yield Note("the field is not mutable any more", "mutable", None)


@rule(Impact.API_BREAK, evidence="layout", element="types", action="changed")
def field_access_changed(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """The access to a field was narrowed, e.g. from public to private.

    Built programs go on using it. Sources that use it stop compiling.

    Fix: deprecate it before you make it private.
    """
    old, new = plain(field.old).access, plain(field.new).access
    if WIDTH[new] < WIDTH[old]:
        yield Note("the access is narrower", old, new)


@rule(Impact.COMPATIBLE, variant="widened", evidence="layout", element="types", action="changed")
def field_access_changed_widened(field: Changed[Field | InnerField]) -> Iterator[Note]:
    """The access to a field was widened, e.g. from private to public.

    Built consumers and sources work as before.

    Fix: nothing.
    """
    old, new = plain(field.old).access, plain(field.new).access
    if WIDTH[new] > WIDTH[old]:
        yield Note("the access is wider", old, new)
