"""Changes of many exports by one pattern: one finding for all, with their number and examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.compare.classify.export_batches import EXAMPLES, examples, exports_called, identified_examples
from abistore.compare.context import Context
from abistore.compare.diff.parts import (
    Batch,
    DeclaredMove,
    DeclaredRenaming,
    ForeignExports,
    InlineExports,
    InstructionSetVariants,
    InternalExports,
    NamespaceMove,
    NodeMove,
    OmittedExports,
    PrivateMemberExports,
    Renaming,
    TagChange,
    TagFlip,
    UndeclaredExports,
    UnobtainedExports,
)
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.labels.version_nodes import is_private_node
from abistore.model.words.counting import counted


def _moved(what: str, pairs: Sequence[tuple[str, str]], context: Context) -> Note:
    """That many exports did ``what``, with their first names before and after."""
    old, new = [old for old, _ in pairs], [new for _, new in pairs]
    return Note(
        f"{len(pairs)} exports {what}", identified_examples(old), examples(new), affected=exports_called(old, context)
    )


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def symbol_renamed_batch(batch: Changed[Renaming], context: Context) -> Iterator[Note]:
    """Many exports were renamed by one pattern.

    A prefix or suffix of the names differs, e.g. ``png_read_v1`` became ``png_read_v2``. Built programs ask for the old
    names and do not load.

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
    """Many exports moved to another inline namespace, or to one with another version in its name.

    The namespace is part of every mangled name, e.g. ``v1`` in ``lib::v1::open``. Built programs do not load. Sources
    that do not write the namespace compile as before.

    Fix: bump the SONAME with the namespace, or keep the old namespace's symbols.
    """
    yield _moved(
        f"moved from namespace {batch.old.before or '(none)'} to {batch.old.after or '(none)'}",
        batch.old.pairs,
        context,
    )


@rule(Impact.COMPATIBLE, evidence="source", element="library", action="changed")
def namespace_version_changed(batch: Changed[DeclaredMove]) -> Iterator[Note]:
    """Declarations moved to another inline namespace, and no export did.

    Sources that do not write the namespace compile as before. Programs and libraries that pass such types to each other
    must be built with the same release.

    Fix: nothing.
    """
    yield _moved_declarations(batch.old)


@rule(Impact.API_BREAK, evidence="source", element="library", action="changed")
def namespace_renamed(batch: Changed[DeclaredRenaming]) -> Iterator[Note]:
    """A namespace was renamed.

    Sources that write its name, as in ``lib::open``, no longer compile. What else differs in its members is told of
    each, under the old name.

    Fix: keep the old name as an alias: ``namespace old = renamed;``
    """
    yield _moved_declarations(batch.old)


def _moved_declarations(batch: Batch) -> Note:
    old, new = ([pair[side] for pair in batch.pairs] for side in (0, 1))
    what = f"from namespace {batch.before or '(none)'} to {batch.after or '(none)'}"
    return Note(f"{counted(len(old), 'declaration')} moved {what}", identified_examples(old), examples(new))


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def glibcxx_dual_abi_flip_detected(batch: Changed[TagFlip], context: Context) -> Iterator[Note]:
    """The library was built with the other string ABI of libstdc++.

    ``_GLIBCXX_USE_CXX11_ABI`` selects the old or the C++11 ``std::string`` and ``std::list``. The choice shows in the
    mangled name of every function that mentions them. Programs built with the other setting do not load.

    Fix: build with the same ``_GLIBCXX_USE_CXX11_ABI`` as before.
    """
    yield _moved("differ in the ABI tag cxx11 only", batch.old.pairs, context)


@rule(Impact.BREAKING, evidence="symbol", element="library", action="changed")
def abi_tag_changed(batch: Changed[TagChange], context: Context) -> Iterator[Note]:
    """The ABI tag of many exports was added, removed or changed.

    The tag (``__attribute__((abi_tag))``) is part of every mangled name. Sources compile as before; built programs ask
    for the old names and do not load.

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

    Built programs ask for the old version of each export, e.g. ``open@FOO_1``. It does not exist any more, and they do
    not load.

    Fix: keep the old node with aliases (``.symver``), or bump the SONAME with the node.
    """
    if is_private_node(batch.old.before):
        return
    symbols = [old for old, _ in batch.old.pairs]
    yield Note(
        f"{len(symbols)} exports moved to another version node",
        f"{batch.old.before}: {identified_examples(symbols)}",
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

    They belong to the standard library or to another header-only library, and are weak: each program compiled its own
    copy of what it uses. Which copies a library carries depends on the compiler and its options.

    Fix: nothing; a version script or ``-fvisibility-inlines-hidden`` keeps them out of the export table.
    """
    found = symbols.old.symbols
    yield Note(
        f"foreign weak symbols that are gone: {len(found)}", examples(found), affected=exports_called(found, context)
    )


@rule(Impact.NOTICE, evidence="symbol", element="library", action="changed")
def symbols_foreign_changed(symbols: Changed[ForeignExports], context: Context) -> Iterator[Note]:
    """Symbols of the language runtime that is linked into the library changed.

    The library was linked with a static runtime (``-static-libstdc++``) of another version. Programs have a runtime of
    their own; where they bind to these symbols all the same, they get those of another version.

    Fix: keep them out of the export table with a version script, or with ``-Wl,--exclude-libs,ALL``.
    """
    found = symbols.old.symbols
    text = examples(found)
    yield Note(f"symbols of the runtime that differ: {len(found)}", text, text, affected=exports_called(found, context))


@rule(Impact.NOTICE, evidence="symbol", element="library", action="added")
def symbols_foreign_added(symbols: Added[ForeignExports], context: Context) -> Iterator[Note]:
    """Copies of other libraries' inline functions and templates are exported now.

    They belong to the standard library or to another header-only library. Nobody should link to them, but a process may
    now bind its own copies to these.

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
    """Copies of inline functions, templates and implicit members are no longer exported.

    Programs compiled their own copy of what they use, unless their headers only declared it. Compilers emit or drop
    such copies with every change of optimisation. So it is with any function that the headers define.

    Fix: nothing, unless headers declare them ``extern template`` or without their body; a version script or
    ``-fvisibility-inlines-hidden`` keeps such copies out of the export table.
    """
    found = symbols.old.symbols
    yield Note(
        f"copies that are gone: {len(found)}", identified_examples(found), affected=exports_called(found, context)
    )


@rule(Impact.COMPATIBLE, evidence="symbol", element="library", action="added")
def symbols_inline_added(symbols: Added[InlineExports], context: Context) -> Iterator[Note]:
    """Weak copies of inline functions, templates and implicit members are exported now.

    Built programs have their own copies of what they use.

    Fix: nothing; ``-fvisibility-inlines-hidden`` keeps such copies out of the export table.
    """
    found = symbols.new.symbols
    yield Note(
        f"weak copies that came: {len(found)}", None, examples(found), affected=exports_called(found, context, new=True)
    )


@rule(Impact.RISK, evidence="layout", element="library", action="removed")
def symbols_internal_removed(symbols: Removed[InternalExports], context: Context) -> Iterator[Note]:
    """Members of classes defined only in source files are no longer exported.

    No header defines these classes, so that no program could call their members or derive from them. They were exported
    because nothing hid them.

    Fix: nothing; build with ``-fvisibility=hidden`` to keep such symbols out of the export table.
    """
    found = symbols.old.symbols
    yield Note(
        f"symbols of internal classes that are gone: {len(found)}",
        identified_examples(found),
        affected=exports_called(found, context),
    )


@rule(Impact.RISK, evidence="layout", element="library", action="removed")
def symbols_private_removed(symbols: Removed[UndeclaredExports], context: Context) -> Iterator[Note]:
    """Functions and variables declared only in private headers are no longer exported.

    The debug information tells which header declares each of them, or defines its class. All these headers lie outside
    the ``include`` folder of the public ones, and no public header needs them. Or the exports stand in a version node
    that is called private or internal. Only a program that includes headers of the library's own sources, or declared
    the function itself, used one. Such a program no longer starts.

    Fix: nothing, where the named headers are not installed; build with ``-fvisibility=hidden`` to keep such symbols out
    of the export table.
    """
    found = symbols.old
    headers = ", ".join(found.headers[:EXAMPLES]) + (", ..." if len(found.headers) > EXAMPLES else "")
    yield Note(
        f"exports that no public header declares are gone: {len(found.symbols)}, of {headers}",
        identified_examples(found.symbols),
        affected=exports_called(found.symbols, context),
    )


@rule(Impact.BREAKING, evidence="symbol", element="functions", action="removed")
def symbols_instruction_set_removed(symbols: Removed[InstructionSetVariants], context: Context) -> Iterator[Note]:
    """Variants of one function for several instruction sets were removed.

    ``blend_sse41`` and ``blend_avx2`` are gone, and no ``blend`` that chooses among them is exported. A program that
    chose by itself does not start.

    Fix: keep the variants, as wrappers if need be, or bump the SONAME.
    """
    found = symbols.old.symbols
    if not symbols.old.dispatched:
        affected = exports_called(found, context)
        what = f"variants by instruction set that are gone: {len(found)}"
        yield Note(what, identified_examples(found), affected=affected)


@rule(Impact.RISK, evidence="symbol", element="functions", action="removed", aliases=("cpu_dispatch_isa_dropped",))
def symbols_dispatched_removed(symbols: Removed[InstructionSetVariants], context: Context) -> Iterator[Note]:
    """Variants of one function for several instruction sets were removed, and the function stays.

    ``blend`` chooses among ``blend_sse41`` and ``blend_avx2`` by the processor at hand, and programs call ``blend``.
    Only a program that chose by itself does not start.

    Fix: nothing, where no public header declares the variants.
    """
    found = symbols.old.symbols
    if symbols.old.dispatched:
        affected = exports_called(found, context)
        yield Note(
            f"variants by instruction set that are gone: {len(found)}", identified_examples(found), affected=affected
        )


@rule(Impact.RISK, evidence="layout", element="library", action="removed")
def symbols_inaccessible_removed(symbols: Removed[PrivateMemberExports], context: Context) -> Iterator[Note]:
    """Private member functions or private static data are no longer exported.

    Programs cannot name them. They use one only through an inline function or a friend that a header defines:
    ``void add(int x) { if (full()) grow(); }`` calls a private ``grow``. Where the public headers are known, no inline
    function in them uses one. Otherwise the library exports no copy of an inline function that has access to these;
    copies that compilers inlined everywhere are not seen without the headers.

    Fix: nothing, if no inline function in a header uses them; else keep them until the SONAME is bumped.
    """
    found = symbols.old.symbols
    yield Note(
        f"private members that are gone: {len(found)}",
        identified_examples(found),
        affected=exports_called(found, context),
    )


@rule(Impact.RISK, evidence="symbol", element="library", action="removed")
def symbols_unobtainable_removed(symbols: Removed[UnobtainedExports], context: Context) -> Iterator[Note]:
    """Methods of classes are no longer exported of which programs could come by no object.

    All headers of the old release are known. Each constructor of the class takes what a program cannot have, such as a
    reference to a class that only a source file of the library defines, or is private. Nothing that programs have
    returns such an object, holds one where they can use it, or hands one to them. So no program calls these methods,
    and no inline function does. One that casts some other pointer to the class fails.

    Fix: nothing; a class that programs cannot use need not be in a public header.
    """
    found = symbols.old.symbols
    yield Note(
        f"methods that no program can call are gone: {len(found)}",
        identified_examples(found),
        affected=exports_called(found, context),
    )


@rule(Impact.RISK, evidence="symbol", element="library", action="removed", aliases=("exported_not_public",))
def symbol_undeclared_removed(symbols: Removed[OmittedExports], context: Context) -> Iterator[Note]:
    """Exports that no public header declared were removed.

    The old release's headers are known. They do not mention these functions and variables, and no inline function of
    theirs uses one. Only programs that declared one themselves, or looked it up by name (``dlsym``), used it. They fail
    to start, or at the look-up.

    Fix: nothing, unless such consumers are known; hide what no header declares.
    """
    found = symbols.old.symbols
    what = f"exports that no public header declared are gone: {len(found)}"
    yield Note(what, identified_examples(found), affected=exports_called(found, context))


@rule(
    Impact.COMPATIBLE,
    evidence="symbol",
    element="library",
    action="added",
    aliases=("undocumented_export_ratio_increased",),
)
def symbol_undeclared_added(symbols: Added[OmittedExports], context: Context) -> Iterator[Note]:
    """Exports that no public header declares were added.

    The new release's headers are known, and no program that includes them can use these functions and variables. They
    are exported because nothing hides them, and look like a promise to everybody who reads the export table.

    Fix: declare them in a public header, or hide them (``-fvisibility=hidden``, a version script).
    """
    found = symbols.new.symbols
    affected = exports_called(found, context, new=True)
    yield Note(f"exports that no public header declares: {len(found)}", None, examples(found), affected=affected)


@rule(
    Impact.COMPATIBLE,
    evidence="layout",
    element="library",
    action="added",
    aliases=("rtti_for_internal_type",),
)
def visibility_leak(symbols: Added[InternalExports], context: Context) -> Iterator[Note]:
    """Members of classes defined only in source files are exported now.

    No program can call them. They are exported because nothing hides them, and look like a promise to everybody who
    reads the export table.

    Fix: build with ``-fvisibility=hidden`` or a version script that lists what is public.
    """
    found = symbols.new.symbols
    affected = exports_called(found, context, new=True)
    yield Note(f"internal members that are exported now: {len(found)}", None, examples(found), affected=affected)
