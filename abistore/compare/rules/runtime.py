"""The runtime that a library is built for: the C++ standard library, the width of basic types, the allocator."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.parameter_types import TypeDifference, difference
from abistore.compare.consumers.runtime_names import is_allocator
from abistore.compare.context import Context
from abistore.compare.diff.parts import Parameter, Result, TakenName
from abistore.compare.rule import Note, rule
from abistore.model.cpp_names.declarators import spell
from abistore.model.cpp_names.demangle import demangle
from abistore.model.deltas import Added, Changed
from abistore.model.findings import Impact
from abistore.model.shapes import Alias
from abistore.model.tables import Library

WIDENED = frozenset(
    {
        *("time_t", "__time_t", "suseconds_t", "__suseconds_t"),
        *("off_t", "__off_t", "ino_t", "__ino_t", "rlim_t", "__rlim_t", "blkcnt_t", "__blkcnt_t"),
        *("fsblkcnt_t", "__fsblkcnt_t", "fsfilcnt_t", "__fsfilcnt_t"),
    }
)
"""Aliases of the C library that ``_TIME_BITS`` and ``_FILE_OFFSET_BITS`` widen on 32-bit platforms."""

STANDARD_LIBRARIES = ("libstdc++", "libc++")


def is_time64(alias: Changed[Alias], context: Context) -> bool:
    """Whether a time or file offset type of a 32-bit platform got another width."""
    if context.old.snapshot.target.bits != 32 or alias.subject.name.spelling not in WIDENED:
        return False
    old = context.old.types.layouts.size(alias.old.target)
    new = context.new.types.layouts.size(alias.new.target)
    return old != new


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed")
def time64_abi_changed(alias: Changed[Alias], context: Context) -> Iterator[Note]:
    """Times or file offsets have another width on a 32-bit platform.

    ``_TIME_BITS`` or ``_FILE_OFFSET_BITS`` differs between the builds. Programs built with the other setting pass and
    store values of half or twice the width, and so does every struct that holds one.

    Fix: build with the old settings, or rebuild all consumers and bump the SONAME.
    """
    if is_time64(alias, context):
        yield Note("the width differs", spell(alias.old.target), spell(alias.new.target))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def long_double_abi_changed(value: Changed[Parameter] | Changed[Result], context: Context) -> Iterator[Note]:
    """A function takes or returns ``long double`` in another format.

    The builds differ in ``-mlong-double-64`` or the like. Callers pass the number in other registers, and as other
    bits.

    Fix: build with the platform's own format, or with the one of the old release.
    """
    if difference(value.old.type, value.new.type, context) is TypeDifference.LONG_DOUBLE:
        old = context.old.types.layouts.size(value.old.type)
        new = context.new.types.layouts.size(value.new.type)
        yield Note("long double is of another size (bytes)", str(old), str(new))


@rule(Impact.RISK, evidence="symbol", element="library", action="changed")
def stdlib_implementation_changed(library: Changed[Library]) -> Iterator[Note]:
    """The library uses another implementation of the C++ standard library.

    Strings, containers and streams have another layout there. Where the interface uses them, mangled names or layouts
    differ too, which are findings of their own. Exceptions and allocations that cross over may be misread.

    Fix: build with the standard library that consumers use (``-stdlib=``).
    """
    old, new = _standard_library(library.old), _standard_library(library.new)
    if old and new and old != new:
        yield Note("the standard library is another one", old, new)


def _standard_library(library: Library) -> str | None:
    stems = {each.partition(".so")[0] for each in library.needed}
    return next((each for each in STANDARD_LIBRARIES if each in stems), None)


@rule(Impact.RISK, evidence="symbol", element="library", action="added")
def allocator_replacement_added(taken: Added[TakenName]) -> Iterator[Note]:
    """The library exports functions that replace the process's memory allocator.

    Every program linked to it, and every library loaded after it, allocates with them from now on. Memory from one
    allocator that the other frees corrupts both.

    Fix: hide them with a version script, unless the library is an allocator.
    """
    if is_allocator(taken.new.symbol):
        yield Note("the allocator is replaced", None, demangle(taken.new.symbol))


@rule(Impact.BREAKING, variant="runtime_name", evidence="symbol", element="functions", action="added")
def func_added_runtime_name(taken: Added[TakenName]) -> Iterator[Note]:
    """A new export has the name of a function or variable of the C library.

    A program that is linked with the library finds it there before it comes to the C library, and so do all other
    libraries of the process: ``write(1, ...)`` calls the library's ``write``. It makes no difference whether a header
    declares it.

    Fix: hide it, with a version script or ``-fvisibility=hidden``, or give it another name.
    """
    if not is_allocator(taken.new.symbol) and taken.new.version is None:
        yield Note("it takes the place of the C library's own", None, taken.new.symbol)


@rule(Impact.RISK, variant="runtime_name_versioned", evidence="symbol", element="functions", action="added")
def func_added_runtime_name_versioned(taken: Added[TakenName]) -> Iterator[Note]:
    """A new export has the name of a function or variable of the C library, in a version node of the library.

    With glibc, built programs ask for the C library's version of it, and get that. A program that is linked
    again gets the library's, and so does every program where the C library has no versions (musl).

    Fix: hide it, with a version script or ``-fvisibility=hidden``, or give it another name.
    """
    if not is_allocator(taken.new.symbol) and taken.new.version is not None:
        yield Note("a new link finds it before the C library's own", None, taken.new.symbol)
