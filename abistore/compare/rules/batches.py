"""Changes of many exports by one pattern: one finding for all, with their number and examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.compare.classify.export_batches import examples, exports_called, identified_examples
from abistore.compare.context import Context
from abistore.compare.diff.parts import (
    Batch,
    DeclaredMove,
    DeclaredRenaming,
    NamespaceMove,
    NodeMove,
    Renaming,
    TagChange,
    TagFlip,
)
from abistore.compare.rule import Note, rule
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.words.counting import counted
from abistore.model.words.telling import is_private_node


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
