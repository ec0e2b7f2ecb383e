"""Symbols that the compiler emits for a class: vtables, typeinfo, and thunks, which adjust ``this``."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.surface.export_table import least, sized
from abistore.diffing.types.vtables import PURE
from abistore.model.declarations import Added, Changed, Name, Removed
from abistore.model.findings import Impact
from abistore.model.names.qualified import class_behind, demangle, entity, last_component
from abistore.model.names.symbols import CLASS_DATA, THUNKS, TYPEINFO, VTABLES, VTT
from abistore.model.shapes import Record, Symbol, binding, visibility
from abistore.model.words import DESCRIPTOR, VFTABLE


def _title(name: Name) -> str:
    return demangle(name.spelling)


def _bound(symbol: Symbol) -> tuple[str, str]:
    return binding(symbol), visibility(symbol)


@rule(Impact.BREAKING, evidence="symbol", element="types", action="removed", aliases=("type_visibility_changed",))
def type_symbols_removed(symbol: Removed[Symbol]) -> Iterator[Note]:
    """The vtable or typeinfo of a class is no longer exported.

    Programs that derive from the class, construct it inline, throw or catch it, or use ``dynamic_cast`` need these
    symbols. They do not emit them themselves, because the class has a key function in the library. They do not load.

    Fix: keep the class's first non-inline virtual function in the library and its visibility default; do not build a
    library whose classes consumers derive from with ``-fno-rtti``.
    """
    name = symbol.subject.name
    if name.spelling.startswith(CLASS_DATA):
        yield Note("the vtable or typeinfo is no longer exported", _title(name))


@rule(Impact.COMPATIBLE, evidence="symbol", element="types", action="added")
def type_symbols_added(symbol: Added[Symbol]) -> Iterator[Note]:
    """The vtable or typeinfo of a class is exported now.

    Existing binaries do not ask for it, or have their own.

    Fix: nothing.
    """
    name = symbol.subject.name
    if name.spelling.startswith(CLASS_DATA):
        yield Note("the vtable or typeinfo is now exported", None, _title(name))


@rule(Impact.BREAKING, evidence="symbol", element="types", action="changed", effect="table")
def vtable_slot_count_changed(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """The number of slots in the vtable of a class changed.

    Derived classes in programs have vtables with the old number of slots. Calls through a missing slot run past the
    end, and moved slots call another function.

    Fix: add virtual functions only at the end of final classes, or in a new derived class.
    """
    name = symbol.subject.name
    if not name.spelling.startswith(VTABLES) or not sized(symbol.old, symbol.new):
        return
    from abistore.diffing.kinds.records import grows_closed  # few tables get slots

    if not grows_closed(Name("record", class_behind(name.spelling)), context):
        yield Note("the number of vtable entries changed", *_slots(symbol, context))


@rule(Impact.BREAKING, evidence="symbol", element="types", action="changed", effect="other")
def vtt_slot_count_changed(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """The number of entries in the table of construction vtables (VTT) of a class changed.

    Its virtual bases changed: constructors of derived classes in programs read vtables from the wrong entries.

    Fix: do not add or remove virtual bases under one SONAME.
    """
    if symbol.subject.name.spelling.startswith(VTT) and sized(symbol.old, symbol.new):
        yield Note("the number of entries in the VTT changed", *_slots(symbol, context))


def _slots(symbol: Changed[Symbol], context: Context) -> tuple[str, str]:
    width = context.old.snapshot.target.bits // 8
    return _between(symbol.old, width), _between(symbol.new, width)


def _between(symbol: Symbol, width: int) -> str:
    """How many words of ``width`` bytes a table has, as far as the file tells."""
    fewest, most = -(-least(symbol) // width), symbol.size // width
    return str(most) if fewest == most else f"{fewest} to {most}"


@rule(Impact.BREAKING, evidence="symbol", element="types", action="changed", effect="other")
def rtti_inheritance_changed(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """The typeinfo of a class describes other base classes.

    ``catch`` and ``dynamic_cast`` in programs follow the new list, while their object layout follows the old one. The
    size of the typeinfo shows the kind and number of bases, and its relocations name them. Non-public bases are never
    found by ``catch``: if only such a base was removed, only the class is reported.

    Fix: keep the list of base classes; put new functionality in a member or in a new class.
    """
    name = symbol.subject.name
    if name.spelling.startswith(VFTABLE):
        before, after = _described_bases(symbol.old), _described_bases(symbol.new)
        if before != after and not _is_described(name, context):
            yield Note("the type information names other bases", ", ".join(before), ", ".join(after))
    if not name.spelling.startswith(TYPEINFO):
        return
    if sized(symbol.old, symbol.new) and not _lost_hidden_bases(name, context):
        yield Note("the size of the typeinfo changed (bytes)", str(symbol.old.size), str(symbol.new.size))
        return
    old, new = _bases(symbol.old), _bases(symbol.new)
    if old != new and len(old) == len(new) and not _is_described(name, context):
        yield Note("the typeinfo names other bases", ", ".join(old), ", ".join(new))


def _lost_hidden_bases(name: Name, context: Context) -> bool:
    """Whether all that a class's list of bases differs in is that some are gone which were not public."""
    subject = Name("record", class_behind(name.spelling))
    old, new = context.old.shape(subject), context.new.shape(subject)
    if not isinstance(old, Record) or not isinstance(new, Record):
        return False
    gone = [base for base in old.bases if base not in new.bases]
    return set(new.bases) <= set(old.bases) and all(base.access != "public" for base in gone)


# --- what the slots hold, by relocations ------------------------------------------------------------------------------


def _refilled(symbol: Changed[Symbol], context: Context) -> Iterator[tuple[str, str]]:
    """The slots of a vtable that hold another known function, where debug information does not tell of it.

    That of GCC describes the class, and not which functions are pure.
    """
    name, old, new = symbol.subject.name, symbol.old, symbol.new
    if not name.spelling.startswith(VTABLES) or sized(old, new):
        return
    described = _is_described(name, context) and all(side.tables.records_slots for side in (context.old, context.new))
    tells_pure = all(side.tables.records_pure for side in (context.old, context.new))
    for before, after in zip(_functions(old), _functions(new), strict=False):
        known = described and (tells_pure or PURE.isdisjoint((before, after)))
        if before and after and before != after and not known and not before.startswith(TYPEINFO):
            yield before, after


def _is_described(name: Name, context: Context) -> bool:
    """Whether debug information of both sides describes the class that ``name`` is a table of."""
    subject = Name("record", class_behind(name.spelling))
    return all(side.variants("layout", subject) for side in (context.old, context.new))


def _is_same_function(old: str, new: str) -> bool:
    """Whether two functions have one name and the same parameters, in whatever classes: one overrides the other."""
    before, after = demangle(old), demangle(new)
    first, second = last_component(entity(before)), last_component(entity(after))
    if first.startswith("~") or second.startswith("~"):
        return first[:1] == second[:1]
    return first == second and before.partition(entity(before))[2] == after.partition(entity(after))[2]


@rule(
    Impact.BREAKING, evidence="symbol", element="types", action="changed", aliases=("secondary_vtable_group_changed",)
)
def vtable_slot_changed(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """A slot of a vtable holds another function.

    Programs that call the old function through an object call the new one. The library calls their overrides of the old
    function in this slot.

    Fix: keep the order of virtual functions, and add new ones last or in a new class.
    """
    for old, new in _refilled(symbol, context):
        if PURE.isdisjoint((old, new)) and not _is_same_function(old, new):
            yield Note("a slot contains another function", demangle(old), demangle(new))


@rule(Impact.BREAKING, variant="pure_added", evidence="symbol", element="types", action="changed")
def vtable_slot_changed_pure_added(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """A virtual function of a vtable became pure.

    It no longer has an implementation. A call ends the program on objects of a class that does not override it.

    Fix: keep the implementation.
    """
    for old, new in _refilled(symbol, context):
        if new in PURE:
            yield Note("the function became pure virtual", demangle(old), "pure virtual")


@rule(Impact.COMPATIBLE, variant="pure_removed", evidence="symbol", element="types", action="changed")
def vtable_slot_changed_pure_removed(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """A pure virtual function of a vtable got an implementation.

    Classes in programs override it.

    Fix: nothing.
    """
    for old, new in _refilled(symbol, context):
        if old in PURE:
            yield Note("the function got an implementation", "pure virtual", demangle(new))


@rule(Impact.RISK, variant="override", evidence="symbol", element="types", action="changed")
def vtable_slot_changed_override(symbol: Changed[Symbol], context: Context) -> Iterator[Note]:
    """A vtable slot contains another class's function: an override was added or removed.

    Calls through objects run the new one. Code that calls its base's function by name still runs the one that it was
    built with.

    Fix: nothing, if both functions do the same for existing binaries.
    """
    for old, new in _refilled(symbol, context):
        if (
            PURE.isdisjoint((old, new))
            and _is_same_function(old, new)
            and entity(demangle(old)) != entity(demangle(new))
        ):
            yield Note("a slot contains another class's function", demangle(old), demangle(new))


def _functions(symbol: Symbol) -> list[str]:
    """The words of a vtable without the bases that stand before them where Visual C++ built it."""
    return [each for each in symbol.table if not each.startswith(DESCRIPTOR)]


def _described_bases(symbol: Symbol) -> tuple[str, ...]:
    """The bases that the type information behind a vtable of Visual C++ names, the near ones before theirs."""
    from abistore.model.names.microsoft import described_class  # ELF files have none

    return tuple(described_class(each) for each in symbol.table if each.startswith(DESCRIPTOR))


def _bases(symbol: Symbol) -> tuple[str, ...]:
    """The classes that type information points to, in order, as far as they are known."""
    return tuple(entity(demangle(each)) for each in symbol.table[2:] if each.startswith(TYPEINFO))


@rule(
    Impact.BREAKING,
    evidence="symbol",
    element="types",
    action="removed",
    aliases=("vtable_thunk_offset_changed",),
    effect="other",
)
def vtable_thunk_set_changed(symbol: Removed[Symbol]) -> Iterator[Note]:
    """A thunk of a virtual function (its entry point for calls through a base) is no longer exported.

    Its name contains the offset of the base in the object, so it changes when a base moves. Vtables of derived classes
    in existing binaries refer to it, and the loader cannot resolve it.

    Fix: keep the order and the size of base classes.
    """
    name = symbol.subject.name
    if name.spelling.startswith(THUNKS):
        yield Note("the thunk was removed", _title(name))


@rule(Impact.COMPATIBLE, variant="added", evidence="symbol", element="types", action="added", effect="other")
def vtable_thunk_set_changed_added(symbol: Added[Symbol]) -> Iterator[Note]:
    """A thunk of a virtual function (its entry point for calls through a base) was added.

    Existing binaries do not use it.

    Fix: nothing; a moved or added base is reported separately.
    """
    name = symbol.subject.name
    if name.spelling.startswith(THUNKS):
        yield Note("the thunk was added", None, _title(name))


@rule(Impact.RISK, evidence="symbol", element="types", action="changed")
def vtable_symbol_identity_changed(symbol: Changed[Symbol]) -> Iterator[Note]:
    """The binding of a class's vtable or typeinfo changed.

    If several libraries contain the same class, the loader now uses another copy, or several. ``dynamic_cast`` and
    ``catch`` compare addresses and may fail across libraries.

    Fix: keep one key function, in one library, with default visibility.
    """
    old, new = symbol.old, symbol.new
    if symbol.subject.name.spelling.startswith(CLASS_DATA) and _bound(old) != _bound(new):
        yield Note("the binding of the vtable or typeinfo changed", " ".join(_bound(old)), " ".join(_bound(new)))
