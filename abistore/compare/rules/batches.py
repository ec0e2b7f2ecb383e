"""Systematic changes of many exports, each one finding with a count and examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.compare.context import Context
from abistore.compare.parts import (
    ForeignExports,
    InlineExports,
    InternalExports,
    NamespaceMove,
    NodeMove,
    Renaming,
    TagChange,
    TagFlip,
    UndeclaredExports,
)
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.demangle import demangle
from abistore.model.findings import Impact
from abistore.model.names import Name

EXAMPLES = 3


def examples(symbols: Sequence[str]) -> str:
    """The first few of ``symbols`` as sources write them."""
    shown = ", ".join(demangle(symbol) for symbol in symbols[:EXAMPLES])
    return shown if len(symbols) <= EXAMPLES else f"{shown}, ..."


def exports_called(symbols: Sequence[str], context: Context, *, new: bool = False) -> tuple[Name, ...]:
    """The functions and variables of these symbols that the old, or the new, side exports."""
    entries = (context.new if new else context.old).entries.get("symbol", {})
    names = (Name(kind, symbol) for symbol in symbols for kind in ("function", "variable"))
    return tuple(name for name in names if name in entries)


def _moved(what: str, pairs: Sequence[tuple[str, str]], context: Context) -> Note:
    """That many exports did ``what``, with their first names before and after."""
    old, new = [old for old, _ in pairs], [new for _, new in pairs]
    return Note(f"{len(pairs)} exports {what}", examples(old), examples(new), affected=exports_called(old, context))


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def symbol_renamed_batch(batch: Changed[Renaming], context: Context) -> Iterator[Note]:
    """Many exports were renamed in the same way.

    A prefix or suffix of the names differs, as in libraries that put their version into every symbol. Built consumers
    ask for the old names and fail to load.

    Fix: bump the SONAME with such a rename, or export the old names as aliases.
    """
    yield _moved("were renamed in the same way", batch.old.pairs, context)


@rule(
    Impact.BREAKING,
    evidence="symbol",
    element="library",
    action="changed",
    aliases=("inline_namespace_version_bumped",),
)
def inline_namespace_moved(batch: Changed[NamespaceMove], context: Context) -> Iterator[Note]:
    """Many exports moved to another inline namespace.

    The namespace is part of every mangled name: sources compile as before, built consumers fail to load.

    Fix: bump the SONAME with the namespace, or keep the old namespace's symbols.
    """
    yield _moved(
        f"moved from namespace {batch.old.before or '(none)'} to {batch.old.after or '(none)'}",
        batch.old.pairs,
        context,
    )


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def glibcxx_dual_abi_flip_detected(batch: Changed[TagFlip], context: Context) -> Iterator[Note]:
    """Library was built with the other ABI of libstdc++.

    ``_GLIBCXX_USE_CXX11_ABI`` decides whether ``std::string`` and ``std::list`` are the ones of C++11; it shows in the
    mangled names of all that mention them. Consumers built with the other setting fail to load.

    Fix: build with the same ``_GLIBCXX_USE_CXX11_ABI`` as before.
    """
    yield _moved("differ in the ABI tag cxx11 only", batch.old.pairs, context)


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def abi_tag_changed(batch: Changed[TagChange], context: Context) -> Iterator[Note]:
    """Many exports got, lost or changed an ABI tag.

    The tag (``__attribute__((abi_tag))``) is part of every mangled name: sources compile as before, built consumers
    ask for the old names and fail to load.

    Fix: bump the SONAME with the tag, or export the old names as aliases.
    """
    yield _moved("differ in an ABI tag only", batch.old.pairs, context)


@rule(
    Impact.BREAKING,
    evidence="symbol",
    element="library",
    action="changed",
    aliases=("versioned_symbol_scheme_detected",),
    effect=True,
)
def symbols_version_moved(batch: Changed[NodeMove], context: Context) -> Iterator[Note]:
    """Many exports moved from one version node to another.

    Built consumers ask for the old version of each of them, which is not there any more, and fail to load.

    Fix: keep the old node with aliases (``.symver``), or bump the SONAME with the node.
    """
    symbols = [old for old, _ in batch.old.pairs]
    yield Note(
        f"{len(symbols)} exports moved to another version node",
        batch.old.before,
        batch.old.after,
        affected=exports_called(symbols, context),
    )


@rule(
    Impact.NOTICE,
    evidence="symbol",
    element="library",
    action="removed",
    aliases=("symbol_leaked_from_dependency_changed",),
)
def symbols_foreign_removed(symbols: Removed[ForeignExports], context: Context) -> Iterator[Note]:
    """Copies of other libraries' inline functions and templates are no longer exported.

    They belong to the standard library or to another header-only library, and are weak: each consumer compiled its own
    copy of what it uses. Which copies a library carries depends on the compiler and its options.

    Fix: nothing; a version script or ``-fvisibility-inlines-hidden`` keeps them out of the export table.
    """
    found = symbols.old.symbols
    yield Note(
        f"foreign weak symbols that are gone: {len(found)}", examples(found), affected=exports_called(found, context)
    )


@rule(Impact.NOTICE, evidence="symbol", element="library", action="added")
def symbols_foreign_added(symbols: Added[ForeignExports], context: Context) -> Iterator[Note]:
    """Copies of other libraries' inline functions and templates are newly exported.

    They belong to the standard library or to another header-only library. Nobody should link to them, but a process
    may now bind its own copies to these.

    Fix: keep them out of the export table with a version script or ``-fvisibility-inlines-hidden``.
    """
    found = symbols.new.symbols
    yield Note(
        f"foreign weak symbols that came: {len(found)}",
        None,
        examples(found),
        affected=exports_called(found, context, new=True),
    )


@rule(Impact.RISK, evidence="symbol", element="library", action="removed")
def symbols_inline_removed(symbols: Removed[InlineExports], context: Context) -> Iterator[Note]:
    """Weak copies of inline functions, templates and implicit class members are no longer exported.

    Consumers compiled their own copy of what they use of them, unless their headers only declared it. Compilers emit
    or drop such copies with every change of optimisation.

    Fix: nothing, unless headers declare them ``extern template`` or without their body; a version script or
    ``-fvisibility-inlines-hidden`` keeps such copies out of the export table.
    """
    found = symbols.old.symbols
    yield Note(f"weak copies that are gone: {len(found)}", examples(found), affected=exports_called(found, context))


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="added")
def symbols_inline_added(symbols: Added[InlineExports], context: Context) -> Iterator[Note]:
    """Weak copies of inline functions, templates and implicit class members are newly exported.

    Built consumers have their own copies of what they use of them.

    Fix: nothing; ``-fvisibility-inlines-hidden`` keeps such copies out of the export table.
    """
    found = symbols.new.symbols
    yield Note(
        f"weak copies that came: {len(found)}", None, examples(found), affected=exports_called(found, context, new=True)
    )


@rule(Impact.RISK, evidence="layout", element="library", action="removed")
def symbols_internal_removed(symbols: Removed[InternalExports], context: Context) -> Iterator[Note]:
    """Members of classes that no header defines are no longer exported.

    Only the library's own source files define these classes, so that no consumer could call their members or derive
    from them. They were exported because nothing hides them.

    Fix: nothing; build with ``-fvisibility=hidden`` to keep such symbols out of the export table.
    """
    found = symbols.old.symbols
    yield Note(
        f"symbols of internal classes that are gone: {len(found)}",
        examples(found),
        affected=exports_called(found, context),
    )


@rule(Impact.RISK, evidence="layout", element="library", action="removed")
def symbols_private_removed(symbols: Removed[UndeclaredExports], context: Context) -> Iterator[Note]:
    """Exports that only headers declare which are not public are gone.

    The debug information tells which header declares each, or defines its class: all lie beside the ``include`` folder
    that holds the public headers, and nothing in that folder needs them. Only a program that includes headers of the
    library's own sources, or declared the function itself, used one; it no longer starts.

    Fix: nothing, where the headers that are named are not installed; build with ``-fvisibility=hidden`` to keep such
    symbols out of the export table.
    """
    found = symbols.old
    headers = ", ".join(found.headers[:EXAMPLES]) + (", ..." if len(found.headers) > EXAMPLES else "")
    yield Note(
        f"exports that no public header declares are gone: {len(found.symbols)}, of {headers}",
        examples(found.symbols),
        affected=exports_called(found.symbols, context),
    )


@rule(
    Impact.COMPATIBLE,
    evidence="layout",
    element="library",
    action="added",
    aliases=("rtti_for_internal_type",),
)
def visibility_leak(symbols: Added[InternalExports], context: Context) -> Iterator[Note]:
    """Members of classes that no header defines are newly exported.

    No consumer can call them. They are exported because nothing hides them, and each looks like a promise to tools and
    to whoever reads the export table.

    Fix: build with ``-fvisibility=hidden`` or a version script that lists what is public.
    """
    found = symbols.new.symbols
    affected = exports_called(found, context, new=True)
    yield Note(f"internal exports that came: {len(found)}", None, examples(found), affected=affected)
