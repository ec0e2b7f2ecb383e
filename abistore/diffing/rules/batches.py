"""Many exports changed by one pattern, and families of exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.equivalent_declarations import EXAMPLES, examples, exports_called, identified_examples
from abistore.diffing.parts import (
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
    ReexportedExports,
    Renaming,
    TagChange,
    TagFlip,
    UncallableExports,
    UndeclaredExports,
)
from abistore.model.declarations import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.hints import is_private_node
from abistore.model.words import counted, without_machine


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


@rule(Impact.COMPATIBLE, variant="unexported", evidence="source", element="library", action="changed")
def inline_namespace_moved_unexported(batch: Changed[DeclaredMove]) -> Iterator[Note]:
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
    variant="many",
    evidence="symbol",
    element="library",
    action="changed",
    aliases=("versioned_symbol_scheme_detected",),
    effect="other",
)
def symbol_moved_version_node_many(batch: Changed[NodeMove], context: Context) -> Iterator[Note]:
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


def _gone(what: str, symbols: Sequence[str], context: Context) -> Note:
    return Note(f"{what}: {len(symbols)}", identified_examples(symbols), affected=exports_called(symbols, context))


def _come(what: str, symbols: Sequence[str], context: Context) -> Note:
    affected = exports_called(symbols, context, new=True)
    return Note(f"{what}: {len(symbols)}", None, examples(symbols), affected=affected)


@rule(
    Impact.NOTICE,
    variant="foreign",
    evidence="symbol",
    element="library",
    action="removed",
    aliases=("symbol_leaked_from_dependency_changed",),
)
def symbols_removed_foreign(symbols: Removed[ForeignExports], context: Context) -> Iterator[Note]:
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


@rule(Impact.NOTICE, variant="foreign", evidence="symbol", element="library", action="added")
def symbols_added_foreign(symbols: Added[ForeignExports], context: Context) -> Iterator[Note]:
    """Copies of other libraries' inline functions and templates are exported now.

    They belong to the standard library or to another header-only library. Nobody should link to them, but a process may
    now bind its own copies to these.

    Fix: keep them out of the export table with a version script or ``-fvisibility-inlines-hidden``.
    """
    yield _come("weak symbols of other libraries now exported", symbols.new.symbols, context)


@rule(Impact.RISK, variant="inline", evidence="symbol", element="library", action="removed")
def symbols_removed_inline(symbols: Removed[InlineExports], context: Context) -> Iterator[Note]:
    """Copies of inline functions, templates and implicit members are no longer exported.

    Programs compiled their own copy of what they use, unless their headers only declared it. Compilers emit or drop
    such copies with every change of optimisation. So it is with any function that the headers define.

    Fix: nothing, unless headers declare them ``extern template`` or without their body; a version script or
    ``-fvisibility-inlines-hidden`` keeps such copies out of the export table.
    """
    yield _gone("inline functions and templates no longer exported (weak symbols)", symbols.old.symbols, context)


@rule(Impact.COMPATIBLE, variant="inline", evidence="symbol", element="library", action="added")
def symbols_added_inline(symbols: Added[InlineExports], context: Context) -> Iterator[Note]:
    """Weak copies of inline functions, templates and implicit members are exported now.

    Built programs have their own copies of what they use.

    Fix: nothing; ``-fvisibility-inlines-hidden`` keeps such copies out of the export table.
    """
    yield _come("inline functions and templates now exported, too (weak symbols)", symbols.new.symbols, context)


@rule(Impact.RISK, variant="internal", evidence="layout", element="library", action="removed")
def symbols_removed_internal(symbols: Removed[InternalExports], context: Context) -> Iterator[Note]:
    """Members of classes defined only in source files are no longer exported.

    No header defines these classes, so that no program could call their members or derive from them. They were exported
    because nothing hid them.

    Fix: nothing; build with ``-fvisibility=hidden`` to keep such symbols out of the export table.
    """
    yield _gone("symbols of internal classes no longer exported", symbols.old.symbols, context)


@rule(Impact.RISK, variant="private", evidence="layout", element="library", action="removed")
def symbols_removed_private(symbols: Removed[UndeclaredExports], context: Context) -> Iterator[Note]:
    """Functions and variables declared only in private headers are no longer exported.

    Debug information tells which header declares each, or defines its class: none lies in the ``include`` folder of the
    public ones, and no public header needs it. Or the version node is called private or internal, or the name stands in
    an included header that was not given, or in a branch for the library itself. Only a program that includes headers
    of the library's sources, or declares the function itself, used one. Such a program no longer starts.

    Fix: nothing, where the named headers are not installed; build with ``-fvisibility=hidden`` to keep such symbols out
    of the export table.
    """
    found = symbols.old
    shown = ", ".join(map(without_machine, found.headers[:EXAMPLES]))
    headers = shown + (", ..." if len(found.headers) > EXAMPLES else "")
    where = f", of {headers}" if headers else ""
    yield Note(
        f"exports that no public header declares are gone: {len(found.symbols)}{where}",
        identified_examples(found.symbols),
        affected=exports_called(found.symbols, context),
    )


@rule(Impact.BREAKING, variant="instruction_set", evidence="symbol", element="functions", action="removed")
def func_removed_instruction_set(symbols: Removed[InstructionSetVariants], context: Context) -> Iterator[Note]:
    """Variants of one function for several instruction sets were removed.

    ``blend_sse41`` and ``blend_avx2`` are gone, and no ``blend`` that chooses among them is exported. A program that
    chose by itself does not start.

    Fix: keep the variants, as wrappers if need be, or bump the SONAME.
    """
    if not symbols.old.dispatched:
        yield _gone("variants by instruction set no longer exported", symbols.old.symbols, context)


@rule(
    Impact.RISK,
    variant="dispatched",
    evidence="symbol",
    element="functions",
    action="removed",
    aliases=("cpu_dispatch_isa_dropped",),
)
def func_removed_dispatched(symbols: Removed[InstructionSetVariants], context: Context) -> Iterator[Note]:
    """Variants of one function for several instruction sets were removed, and the function stays.

    ``blend`` chooses among ``blend_sse41`` and ``blend_avx2`` by the processor at hand, and programs call ``blend``.
    Only a program that chose by itself does not start.

    Fix: nothing, where no public header declares the variants.
    """
    if symbols.old.dispatched:
        yield _gone("variants by instruction set no longer exported", symbols.old.symbols, context)


@rule(Impact.RISK, variant="inaccessible", evidence="layout", element="library", action="removed")
def symbols_removed_inaccessible(symbols: Removed[PrivateMemberExports], context: Context) -> Iterator[Note]:
    """Private member functions or private static data are no longer exported.

    Programs cannot name them. They use one only through an inline function or a friend that a header defines:
    ``void add(int x) { if (full()) grow(); }`` calls a private ``grow``. Where the public headers are known, no inline
    function in them uses one. Otherwise the library exports no copy of an inline function that has access to these;
    copies that compilers inlined everywhere are not seen without the headers.

    Fix: nothing, if no inline function in a header uses them; else keep them until the SONAME is bumped.
    """
    yield _gone("private members no longer exported", symbols.old.symbols, context)


@rule(Impact.RISK, variant="uncallable", evidence="symbol", element="library", action="removed")
def symbols_removed_uncallable(symbols: Removed[UncallableExports], context: Context) -> Iterator[Note]:
    """Functions that no program could call are no longer exported.

    Each passes by value a class of the library that the public headers declare and do not define, as ``class View;``
    and ``View name() const;``. Compilers refuse each call, so no program calls one, and no inline function does.

    Fix: nothing; what only the library calls need not be exported.
    """
    yield _gone("functions that no program can call, no longer exported", symbols.old.symbols, context)


@rule(Impact.RISK, variant="reexported", evidence="symbol", element="library", action="removed")
def symbols_removed_reexported(symbols: Removed[ReexportedExports], context: Context) -> Iterator[Note]:
    """Exports were removed from a dylib that re-exports a further library, which may have them.

    Programs ask this library for them and find what it re-exports, too. The further library was not read: if it does
    not have them, programs that use one do not start.

    Fix: compare the folders or packages that hold both libraries.
    """
    libraries = ", ".join(symbols.old.libraries)
    yield _gone(f"exports that may be in {libraries} are gone", symbols.old.symbols, context)


@rule(
    Impact.COMPATIBLE,
    variant="undeclared",
    evidence="symbol",
    element="library",
    action="removed",
    aliases=("exported_not_public",),
)
def symbols_removed_undeclared(symbols: Removed[OmittedExports], context: Context) -> Iterator[Note]:
    """Exports that no public header declared were removed.

    The old release's headers are known, and so is all that they include. None of them has the name, and no inline
    function, template or macro of theirs uses one. Only programs that declared one themselves, or looked it up by name
    (``dlsym``), used it. They fail to start, or at the look-up. That the given headers are all public ones is taken for
    granted.

    Fix: nothing, unless such consumers are known; hide what no header declares.
    """
    yield _gone("functions and variables of private headers no longer exported", symbols.old.symbols, context)


@rule(
    Impact.COMPATIBLE,
    variant="undeclared",
    evidence="symbol",
    element="library",
    action="added",
    aliases=("undocumented_export_ratio_increased",),
)
def symbols_added_undeclared(symbols: Added[OmittedExports], context: Context) -> Iterator[Note]:
    """Exports that no public header declares were added.

    The new release's headers are known, and no program that includes them can use these functions and variables. They
    are exported because nothing hides them, and look like a promise to everybody who reads the export table.

    Fix: declare them in a public header, or hide them (``-fvisibility=hidden``, a version script).
    """
    yield _come("functions and variables of private headers now exported", symbols.new.symbols, context)


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
    yield _come("internal members now exported", symbols.new.symbols, context)
