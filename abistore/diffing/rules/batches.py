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

    A prefix or suffix of the names differs, e.g. ``png_read_v1`` became ``png_read_v2``. Existing binaries need the old
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

    The namespace is part of every mangled name, e.g. ``v1`` in ``lib::v1::open``. Existing binaries do not load.
    Sources that do not write the namespace compile as before.

    Fix: bump the SONAME with the namespace, or keep the old namespace's symbols.
    """
    yield _moved(
        f"moved from namespace {batch.old.before or '(none)'} to {batch.old.after or '(none)'}",
        batch.old.pairs,
        context,
    )


@rule(Impact.COMPATIBLE, variant="unexported", evidence="source", element="library", action="changed")
def inline_namespace_moved_unexported(batch: Changed[DeclaredMove]) -> Iterator[Note]:
    """Declarations moved to another inline namespace, and no exports did.

    Sources that do not write the namespace compile as before. Programs and libraries that exchange such types must be
    built with the same release.

    Fix: nothing.
    """
    yield _moved_declarations(batch.old)


@rule(Impact.API_BREAK, evidence="source", element="library", action="changed")
def namespace_renamed(batch: Changed[DeclaredRenaming]) -> Iterator[Note]:
    """A namespace was renamed.

    Sources that write its name, e.g. ``lib::open``, no longer compile. Other differences of its members are reported
    under the old name.

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

    The tag (``__attribute__((abi_tag))``) is part of every mangled name. Sources compile as before; existing binaries
    ask for the old names and do not load.

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

    Existing binaries need the old version of each export, e.g. ``open@FOO_1``. It no longer exists, and they do not
    load.

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

    They belong to the standard library or to another header-only library, and are weak: each program has its own copy.
    Which copies a library contains depends on the compiler and its options.

    Fix: nothing; a version script or ``-fvisibility-inlines-hidden`` keeps them out of the export table.
    """
    found = symbols.old.symbols
    yield Note(f"removed foreign weak symbols: {len(found)}", examples(found), affected=exports_called(found, context))


@rule(Impact.NOTICE, evidence="symbol", element="library", action="changed")
def symbols_foreign_changed(symbols: Changed[ForeignExports], context: Context) -> Iterator[Note]:
    """Symbols of the statically linked language runtime changed.

    The library was linked with a static runtime (``-static-libstdc++``) of another version. Programs have a runtime of
    their own; if they bind to these symbols, they get those of another version.

    Fix: keep them out of the export table with a version script, or with ``-Wl,--exclude-libs,ALL``.
    """
    found = symbols.old.symbols
    text = examples(found)
    yield Note(f"changed symbols of the runtime: {len(found)}", text, text, affected=exports_called(found, context))


@rule(Impact.NOTICE, variant="foreign", evidence="symbol", element="library", action="added")
def symbols_added_foreign(symbols: Added[ForeignExports], context: Context) -> Iterator[Note]:
    """Copies of other libraries' inline functions and templates are now exported.

    They belong to the standard library or to another header-only library. Nobody should link to them, but a process may
    now bind its own copies to these.

    Fix: keep them out of the export table with a version script or ``-fvisibility-inlines-hidden``.
    """
    yield _come("weak symbols of other libraries now exported", symbols.new.symbols, context)


@rule(Impact.RISK, variant="inline", evidence="symbol", element="library", action="removed")
def symbols_removed_inline(symbols: Removed[InlineExports], context: Context) -> Iterator[Note]:
    """Copies of inline functions, templates and implicit members are no longer exported.

    Programs have their own copy, unless their headers only declared the function. Compilers emit or drop such copies
    with every change of optimisation. This applies to any function that headers define.

    Fix: nothing, unless headers declare them ``extern template`` or without a body; a version script or
    ``-fvisibility-inlines-hidden`` keeps such copies out of the export table.
    """
    yield _gone("inline functions and templates no longer exported (weak symbols)", symbols.old.symbols, context)


@rule(Impact.COMPATIBLE, variant="inline", evidence="symbol", element="library", action="added")
def symbols_added_inline(symbols: Added[InlineExports], context: Context) -> Iterator[Note]:
    """Inline functions, templates and implicit members are now also exported (weak symbols).

    Existing binaries have their own copies.

    Fix: nothing; ``-fvisibility-inlines-hidden`` keeps such copies out of the export table.
    """
    yield _come("inline functions and templates now exported, too (weak symbols)", symbols.new.symbols, context)


@rule(Impact.RISK, variant="internal", evidence="layout", element="library", action="removed")
def symbols_removed_internal(symbols: Removed[InternalExports], context: Context) -> Iterator[Note]:
    """Members of classes defined only in source files are no longer exported.

    No header defines these classes, so no program could call their members or derive from them. They were exported only
    because nothing hid them.

    Fix: nothing; build with ``-fvisibility=hidden`` to keep such symbols out of the export table.
    """
    yield _gone("symbols of internal classes no longer exported", symbols.old.symbols, context)


@rule(Impact.RISK, variant="private", evidence="layout", element="library", action="removed")
def symbols_removed_private(symbols: Removed[UndeclaredExports], context: Context) -> Iterator[Note]:
    """Functions and variables declared only in private headers are no longer exported.

    Debug information shows the header that declares each one or defines its class. None is in the ``include`` folder of
    the public headers, and no public header needs it. Or the version node is named private or internal. Or the name is
    in an included header that was not given, or in a branch for the library itself. Only a program that includes the
    library's internal headers, or declares the function itself, used one. Such a program no longer starts.

    Fix: nothing, if the named headers are not installed; build with ``-fvisibility=hidden`` to keep such symbols out of
    the export table.
    """
    found = symbols.old
    shown = ", ".join(map(without_machine, found.headers[:EXAMPLES]))
    headers = shown + (", ..." if len(found.headers) > EXAMPLES else "")
    where = f", of {headers}" if headers else ""
    yield Note(
        f"exports that no public header declares were removed: {len(found.symbols)}{where}",
        identified_examples(found.symbols),
        affected=exports_called(found.symbols, context),
    )


@rule(Impact.BREAKING, variant="instruction_set", evidence="symbol", element="functions", action="removed")
def func_removed_instruction_set(symbols: Removed[InstructionSetVariants], context: Context) -> Iterator[Note]:
    """Instruction-set variants of a function were removed.

    ``blend_sse41`` and ``blend_avx2`` were removed, and no ``blend`` that chooses among them is exported. A program
    that calls a variant directly does not start.

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
    """Instruction-set variants of a function were removed, and the function itself stays.

    ``blend`` chooses among ``blend_sse41`` and ``blend_avx2`` by the processor, and programs call ``blend``. Only a
    program that calls a variant directly does not start.

    Fix: nothing, if no public header declares the variants.
    """
    if symbols.old.dispatched:
        yield _gone("variants by instruction set no longer exported", symbols.old.symbols, context)


@rule(Impact.RISK, variant="inaccessible", evidence="layout", element="library", action="removed")
def symbols_removed_inaccessible(symbols: Removed[PrivateMemberExports], context: Context) -> Iterator[Note]:
    """Private member functions or private static data are no longer exported.

    Programs cannot name them. They use one only through an inline function or a friend in a header, e.g. ``void add(int
    x) { if (full()) grow(); }`` with a private ``grow``. With known headers, no inline function in them uses one.
    Without headers, the library exports no copy of an inline function with access to them. Copies that compilers
    inlined everywhere are then not visible.

    Fix: nothing, if no inline function in a header uses them; else keep them until the SONAME is bumped.
    """
    yield _gone("private members no longer exported", symbols.old.symbols, context)


@rule(Impact.RISK, variant="uncallable", evidence="symbol", element="library", action="removed")
def symbols_removed_uncallable(symbols: Removed[UncallableExports], context: Context) -> Iterator[Note]:
    """Functions or constructors that no program could call are no longer exported.

    Each passes a class by value that the public headers declare but do not define: ``class View;`` and ``View name()
    const;``. Or it is a protected constructor that takes a pointer or reference to such a class: ``explicit
    Job(JobPrivate &data);``. Nothing in the headers gives programs an object of that class: no result, no variable, no
    accessible member. So no inline function calls one. A derived class that passes a null pointer, or casts another
    pointer to the class, fails.

    Fix: nothing; functions that only the library calls need not be exported.
    """
    yield _gone("functions that no program can call, no longer exported", symbols.old.symbols, context)


@rule(Impact.RISK, variant="reexported", evidence="symbol", element="library", action="removed")
def symbols_removed_reexported(symbols: Removed[ReexportedExports], context: Context) -> Iterator[Note]:
    """Exports were removed from a dylib that now re-exports another library, which may have them.

    Programs find symbols of a re-exported library through this one. The other library was not read: if it lacks the
    symbols, programs that use them do not start.

    Fix: compare the folders or packages that hold both libraries.
    """
    libraries = ", ".join(symbols.old.libraries)
    yield _gone(f"exports that may be in {libraries} were removed", symbols.old.symbols, context)


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

    The old release's headers and everything that they include are known. None of them has the name, and no inline
    function, template or macro uses it. Only programs that declared one themselves, or looked it up (``dlsym``), used
    it. They fail to start, or at the look-up. The given headers are assumed to be all public headers.

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
    are exported only because nothing hides them, and look like public API.

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
    """Members of classes defined only in source files are now exported.

    No program can call them. They are exported only because nothing hides them, and look like public API.

    Fix: build with ``-fvisibility=hidden`` or a version script that lists what is public.
    """
    yield _come("internal members now exported", symbols.new.symbols, context)
