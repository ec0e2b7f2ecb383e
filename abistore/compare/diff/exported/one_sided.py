"""The exports that one side alone has: gone, come, renamed, or never those of programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, assert_never

from abistore.compare.consumers.consumers import Concealment, Consumers, Owner
from abistore.compare.consumers.runtime_names import OWNERS, is_of_runtime
from abistore.compare.diff.exported.reexported import unread_reexports
from abistore.compare.diff.exported.tables import ExportTables
from abistore.compare.diff.parts import (
    Batch,
    ExportList,
    ForeignExports,
    InlineExports,
    Instantiation,
    InstructionSetVariants,
    InternalExports,
    OmittedExports,
    PrivateMemberExports,
    ReexportedExports,
    TakenName,
    ToolkitMove,
    UncallableExports,
    UndeclaredExports,
    UnobtainedExports,
)
from abistore.model.deltas import Added, Changed, Delta, Removed, Subject
from abistore.model.labels.sonames import library_name
from abistore.model.names import SELF, Name
from abistore.model.symbol_versions import bound, symbols_of

COPIES: tuple[tuple[str, Owner, type[ExportList]], ...] = (
    ("foreign exports", "foreign", ForeignExports),
    ("inline exports", "inline", InlineExports),
)


def one_sided(tables: ExportTables) -> Iterator[Delta[Any]]:
    """Deltas of the exports that one side alone has."""
    yield from taken_names(tables)
    gone, come = set(tables.removed), set(tables.added)
    for title, hidden in _gone_unnamed(tables, gone):
        gone -= set(hidden.symbols)
        yield Removed(Subject(SELF, title), hidden)
    for title, variants in _by_instruction_set(tables, gone) if gone else ():
        gone -= set(variants.symbols)
        yield Removed(Subject(SELF, title), variants)
    own = [each for each in sorted(gone) if tables.lost(each) != "foreign"]  # copies of the runtime tell of no renaming
    if (toolkit := _moved_toolkit(tables, own, sorted(come))) is not None:
        yield toolkit
        gone -= {old for old, _ in toolkit.old.pairs}
        come -= {new for _, new in toolkit.old.pairs}
        own = [each for each in own if each in gone]
    for part, batch in _renamed(own, sorted(come)):
        if all(tables.lost(old) == "inline" for old, _ in batch.pairs):
            continue  # programs have their own copies, and ask for none of these names
        yield Changed(Subject(SELF, part), batch, batch)
        gone -= {old for old, _ in batch.pairs}
        come -= {new for _, new in batch.pairs}
    private = tables.context.old.consumers.out_of_reach
    if unused_members := _taken(gone, [each for each in gone if private(tables.old[each])]):
        yield Removed(Subject(SELF, "private members"), PrivateMemberExports(unused_members))
    uncallable = tables.context.old.consumers.cannot_call
    if refused := _taken(gone, [each for each in gone if uncallable(tables.old[each])]):
        yield Removed(Subject(SELF, "functions that cannot be called"), UncallableExports(refused))
    without_object = tables.context.old.consumers.lack_object
    if uncalled := _taken(gone, [each for each in gone if without_object(tables.old[each])]):
        yield Removed(Subject(SELF, "methods without objects"), UnobtainedExports(uncalled))
    for part, owner, shape in COPIES:
        if removed := _taken(gone, [each for each in gone if tables.lost(each) == owner]):
            yield Removed(Subject(SELF, part), shape(removed))
        if added := _taken(come, [each for each in come if tables.gained(each) == owner]):
            yield Added(Subject(SELF, part), shape(added))
    for title, leaked in _come_unnamed(tables, come):
        come -= set(leaked.symbols)
        yield Added(Subject(SELF, title), leaked)
    if (libraries := unread_reexports(tables.context)) and (elsewhere := _taken(gone, gone)):
        yield Removed(Subject(SELF, "exports of re-exported libraries"), ReexportedExports(elsewhere, libraries))
    yield from _single(tables, gone, come)


def _moved_toolkit(tables: ExportTables, gone: Sequence[str], come: Sequence[str]) -> Changed[ToolkitMove] | None:
    """What follows from needed libraries that gave way to other releases of themselves."""
    old, new = tables.context.old.library, tables.context.new.library
    if old is None or new is None or old.needed == new.needed:
        return None
    from abistore.compare.diff.patterns.toolkits import toolkit_move  # few releases need other libraries

    return toolkit_move(tables.context, gone, come)


def _renamed(gone: Sequence[str], come: Sequence[str]) -> Iterable[tuple[str, Batch]]:
    """What turns some of ``gone`` into some of ``come`` in the same way."""
    if not gone or not come:
        return ()
    from abistore.compare.diff.patterns.renamed_exports import find  # few releases lose exports and get others

    return find(gone, come)


def _by_instruction_set(tables: ExportTables, gone: Set[str]) -> Iterator[tuple[str, InstructionSetVariants]]:
    """Variants of one function for several processors that are gone, with a title."""
    from abistore.compare.diff.patterns.instruction_sets import families  # few releases lose exports

    for base, variants in families(gone, tables.old):
        declared = any(tables.context.old.variants("source", tables.old[each]) for each in variants)
        dispatched = base in tables.old and base in tables.new and not declared
        yield f"{base} by instruction set", InstructionSetVariants(variants, dispatched)


def _taken(spellings: set[str], some: Iterable[str]) -> tuple[str, ...]:
    """Some of the ``spellings``, sorted, which are taken out of these."""
    found = tuple(sorted(some))
    spellings.difference_update(found)
    return found


def _gone_unnamed(tables: ExportTables, gone: Iterable[str]) -> Iterator[tuple[str, ExportList]]:
    """Those of ``gone`` that no consumer can name. They say nothing about how those are renamed that consumers can."""
    consumers = tables.context.old.consumers
    for reason, symbols in _concealed(consumers, tables.old, gone, tables.lost).items():
        match reason:
            case "header":
                headers = sorted({consumers.private_header(tables.old[each]) for each in symbols})
                yield "undeclared exports", UndeclaredExports(symbols, tuple(headers))
            case "internal":
                yield "internal exports", InternalExports(symbols)
            case "undeclared":
                yield from _gone_undeclared(consumers, tables.old, symbols)
            case _:
                assert_never(reason)


def _gone_undeclared(
    consumers: Consumers, names: Mapping[str, Name], symbols: Sequence[str]
) -> Iterator[tuple[str, ExportList]]:
    """Those of the ``symbols`` that headers prove private, and those that they only do not declare."""
    proven = tuple(each for each in symbols if consumers.prove_private(names[each]))
    if proven:
        yield "undeclared exports", OmittedExports(proven)
    if others := tuple(each for each in symbols if each not in proven):
        headers = sorted(filter(None, {consumers.private_header(names[each]) for each in others}))
        yield "undeclared exports", UndeclaredExports(others, tuple(headers))


def taken_names(tables: ExportTables) -> Iterator[Delta[TakenName]]:
    """The new exports with which programs find a library's function in place of the C or C++ library's.

    So it is with ELF, where a program looks into all its libraries in their order, and the C library is the last.
    Whether headers declare the function makes no difference.
    """
    new = tables.context.new
    if new.snapshot.target.format != "elf" or new.library is None or new.library.file_kind != "shared":
        return
    if library_name(new.library.name or "") in OWNERS:
        return
    for spelling in tables.added:
        if is_of_runtime(spelling):
            name = tables.new[spelling]
            symbol = bound(symbols_of(new.variants("symbol", name)))
            yield Added(Subject(name), TakenName(spelling, symbol.version))


def _come_unnamed(tables: ExportTables, come: Iterable[str]) -> Iterator[tuple[str, ExportList]]:
    """Those of ``come`` that no consumer can name."""
    found = _concealed(tables.context.new.consumers, tables.new, come, tables.gained)
    if internal := tuple(sorted(found.get("internal", ()) + found.get("header", ()))):
        yield "internal exports", InternalExports(internal)
    if omitted := found.get("undeclared"):
        yield "undeclared exports", OmittedExports(omitted)


def _concealed(
    consumers: Consumers, names: Mapping[str, Name], spellings: Iterable[str], owner: Callable[[str], Owner]
) -> Mapping[Concealment, tuple[str, ...]]:
    """Those of the ``spellings`` that no consumer can name, sorted, by the reason.

    Headers do not declare what belongs to others, nor all that inline functions and templates make.
    """
    found: dict[Concealment, tuple[str, ...]] = {}
    for each in sorted(spellings):
        if not consumers.can_name(names[each]):
            reason = consumers.concealment(names[each])
            if reason in ("header", "internal") or owner(each) in ("own", "instantiation"):
                found[reason] = (*found.get(reason, ()), each)
    return found


def _single(tables: ExportTables, gone: set[str], come: set[str]) -> Iterator[Delta[Any]]:
    context = tables.context
    if gone and come:
        from abistore.compare.diff.patterns.renamed_exports import single  # few releases lose exports and get others

        for old, new, shape in single(context, sorted(gone), sorted(come)):
            gone.discard(old)
            come.discard(new)
            yield Changed(Subject(tables.old[old]), shape(old), shape(new))
    for spelling in sorted(gone):
        name = tables.old[spelling]
        symbol = bound(symbols_of(context.old.variants("symbol", name)))
        instantiation = tables.lost(spelling) == "instantiation"
        yield Removed(Subject(name), Instantiation(symbol) if instantiation else symbol)
    for spelling in sorted(come):
        name = tables.new[spelling]
        yield Added(Subject(name), bound(symbols_of(context.new.variants("symbol", name))))
