"""A stored release with edited headers: what a build of them would declare and export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from abistore.compare.whatif.embedding import with_embedding
from abistore.errors import InputError
from abistore.model.declared import Declared
from abistore.model.layout.layouts import Layouts
from abistore.model.mangling.symbols import CLASS_DATA
from abistore.model.names import TYPES, Facet, Name
from abistore.model.shapes import AnyShape, Function, Record, Variable
from abistore.model.snapshot import Snapshot, Variants
from abistore.model.tables import Symbol

Declarations = Mapping[Name, Variants]
"""What headers declare: the entries of the ``source`` facet."""

NO_SYMBOL: Final = frozenset({"concept", "constant", "inline", "macro", "template", "using"})
"""What a declaration says of itself that no symbol stands for."""


class HeaderEdit(msgspec.Struct, frozen=True):
    """What the headers declared before an edit, and what they declare after it.

    Without the headers an edit is not ``whole``: it tells of the declarations that it changes, and of no others.
    """

    before: Declarations
    after: Declarations
    whole: bool = True

    @property
    def names(self) -> tuple[Name, ...]:
        """The declarations that the edit changes, sorted."""
        both = self.before.keys() | self.after.keys()
        return tuple(sorted(name for name in both if self.before.get(name) != self.after.get(name)))


def as_declared(stored: Snapshot, edit: HeaderEdit) -> Snapshot:
    """The stored release with its own evidence of headers; where it has none, with that of the headers before the edit.

    Raises :class:`InputError` where neither shows what the release declares.
    """
    if stored.evidence_of("source").state != "missing":
        return stored
    if not edit.whole:
        if "layout" in stored.entries:
            return stored
        message = f"{stored.label}: was stored without debug information and without headers"
        raise InputError(message, "give its headers with --header")
    known = stored.entries.get("layout", {})
    before = {name: _as_built(known.get(name, ()), variants) for name, variants in edit.before.items()}
    return with_entries(stored, {"source": before}, headers=True)


def _as_built(layout: Variants, declared: Variants) -> Variants:
    """A declaration of the headers as the release was built: what debug information shows is sure to be of it."""
    return (*(shape for shape in declared if isinstance(shape, Declared)), *layout) if layout else declared


def edited(declared: Snapshot, edit: HeaderEdit) -> Snapshot:
    """What the release would be if it was built from the edited headers.

    A declaration that the edit leaves alone stays as it is stored. A function that became inline is exported no more:
    compilers emit it only where the library's own sources need it. Symbols are added for what is declared anew.
    """
    changes = {name: edit.after.get(name) for name in edit.names}
    return with_declarations(declared, changes, edit.before)


def with_declarations(declared: Snapshot, changes: Mapping[Name, Variants | None], before: Declarations) -> Snapshot:
    """The release with other declarations; ``None`` takes one away. ``before`` are those that headers had."""
    symbols = dict(declared.entries.get("symbol", {}))
    for name, variants in changes.items():
        _export(symbols, name, before.get(name, ()), variants or ())
    entries: dict[Facet, Mapping[Name, Variants]] = {"symbol": symbols}
    if "source" in declared.entries:
        entries["source"] = _with(declared.entries["source"], changes)
    if "layout" in declared.entries:
        described = {name: _main(each) for name, each in changes.items() if _is_described(declared, name, symbols)}
        entries["layout"] = _with(declared.entries["layout"], described)
    found = with_embedding(declared, with_entries(declared, entries), changes)
    return with_entries(found, {"symbol": _sized(declared, found, changes)})


def with_entries(
    snapshot: Snapshot, entries: Mapping[Facet, Mapping[Name, Variants]], headers: bool = False
) -> Snapshot:
    """The snapshot with other entries in some facets; with ``headers`` it counts as read with them."""
    evidence = snapshot.evidence
    if headers:
        seen = replace(snapshot.evidence_of("source"), state="full", reason="", detail="", hint="", source="headers")
        evidence = (*(each for each in evidence if each.facet != "source"), seen)
    return replace(snapshot, entries={**snapshot.entries, **entries}, evidence=evidence)


def _with(entries: Mapping[Name, Variants], changes: Mapping[Name, Variants | None]) -> dict[Name, Variants]:
    found = {name: variants for name, variants in entries.items() if name not in changes}
    found.update((name, variants) for name, variants in changes.items() if variants)
    return found


def _main(variants: Variants | None) -> Variants | None:
    return tuple(shape for shape in variants if not isinstance(shape, Declared)) if variants else None


def _is_described(declared: Snapshot, name: Name, symbols: Mapping[Name, Variants]) -> bool:
    """Whether debug information would describe ``name``: types, and what is exported."""
    return name.kind in TYPES or name in symbols or name in declared.entries["layout"]


# --- symbols ------------------------------------------------------------------------------------------------------


def _export(symbols: dict[Name, Variants], name: Name, before: Variants, after: Variants) -> None:
    """Export what a declaration stands for after an edit, and nothing that it stood for only before."""
    if name.kind == "record":
        if _is_polymorphic(before) and not _is_polymorphic(after):
            for each in list(_class_data(symbols, name)):
                del symbols[each]
        return
    if name.kind not in ("function", "variable"):
        return
    was, will = _has_symbol(before), _has_symbol(after)
    if was and not will:
        symbols.pop(name, None)
    elif will and not was and name not in symbols:
        symbols[name] = (Symbol("function" if name.kind == "function" else "data"),)


def _has_symbol(variants: Variants) -> bool:
    """Whether a library has a symbol for what is declared so."""
    traits = {trait for shape in variants if isinstance(shape, Declared) for trait in shape.traits}
    if not variants or traits & NO_SYMBOL:
        return False
    return not any(_is_only_declared(shape) for shape in variants)


def _is_only_declared(shape: AnyShape) -> bool:
    if not isinstance(shape, Function) or shape.method is None:
        return False
    return shape.method.deleted or shape.method.virtual == "pure"


def _is_polymorphic(variants: Variants) -> bool:
    return any(isinstance(shape, Record) and (shape.virtuals or shape.has_vptr) for shape in variants)


def _class_data(symbols: Mapping[Name, Variants], record: Name) -> Iterator[Name]:
    """The vtable and the type information of a class."""
    from abistore.model.cpp_names.emitted import class_behind

    for name in symbols:
        if name.spelling.startswith(CLASS_DATA) and class_behind(name.spelling) == record.spelling:
            yield name


def _sized(before: Snapshot, after: Snapshot, changes: Mapping[Name, Variants | None]) -> dict[Name, Variants]:
    """The symbols after an edit, with the sizes that data objects of changed types have."""
    found = dict(after.entries["symbol"])
    if not any(name.kind in ("record", "alias", "variable") for name in changes):
        return found
    was, will = Layouts(before), Layouts(after)
    for name, variants in after.entries["symbol"].items():
        if name.kind == "variable":
            sizes = _size(was, before, name), _size(will, after, name)
            found[name] = tuple(_resized(shape, *sizes) for shape in variants)
    return found


def _size(layouts: Layouts, snapshot: Snapshot, name: Name) -> int | None:
    described = snapshot.variants("source", name) or snapshot.variants("layout", name)
    return next((layouts.size(shape.type) for shape in described if isinstance(shape, Variable)), None)


def _resized(symbol: AnyShape, before: int | None, after: int | None) -> AnyShape:
    """The symbol with the size ``after``, where its own is that of its type ``before``, or none yet."""
    known = isinstance(symbol, Symbol) and symbol.size in (before, 0) and after is not None
    return replace(symbol, size=after) if known else symbol
