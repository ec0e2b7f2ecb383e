"""Virtual functions, called by slot, and what compilers emit for a class: vtables, typeinfo, and thunks."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.equivalent_declarations import is_described, only_named_otherwise
from abistore.diffing.surface.export_table import least, sized
from abistore.diffing.types.sameness import Sameness
from abistore.diffing.types.vtables import PURE, VirtualTables, is_destructor, plainly, same_method, spelled
from abistore.model.declarations import Added, Changed, Delta, Name, Removed
from abistore.model.findings import Impact
from abistore.model.hints import matches
from abistore.model.names.qualified import class_behind, demangle, entity, last_component
from abistore.model.names.symbols import CLASS_DATA, THUNKS, TYPEINFO, VTABLES, VTT
from abistore.model.shapes import WIDTH, Opaque, Record, Symbol, VirtualMethod, binding, visibility
from abistore.model.words import DESCRIPTOR, VFTABLE


def _owner(delta: Delta[VirtualMethod]) -> tuple[Name, Record, Record]:
    assert delta.within is not None
    return delta.subject.name, delta.within.old, delta.within.new


def _is_of_shown(delta: Delta[VirtualMethod]) -> bool:
    """Whether the class is only declared: a method of it that comes or goes was, or became, a plain function."""
    return delta.within is not None and isinstance(delta.within.old, Opaque)


def _fills_inherited(method: VirtualMethod, record: Record, tables: VirtualTables) -> bool:
    """Whether ``method`` stands in a slot that the class has from its primary base."""
    return method.slot is not None and method.slot in tables.inherited(record)


def _stays(method: VirtualMethod, record: Record, tables: VirtualTables) -> bool:
    """Whether the other side's vtable has ``method`` in the same slot; any class may declare it there.

    Debug information tells no slot of a destructor that overrides one of a further base: others move where it does.
    """
    if method.slot is None and is_destructor(method):
        return tables.has_virtual_destructor(record)
    found = tables.slots(record).get(method.slot) if method.slot is not None else None
    return found is not None and same_method(found, method)


def _moves_others(method: VirtualMethod, old: Record, context: Context) -> bool:
    """Whether another function had the slot of ``method``, or one behind it, before."""
    table = context.old.tables.slots(old)
    return method.slot is not None and bool(table) and method.slot <= max(table)


# --- methods that came --------------------------------------------------------------------------------------------


def _arrival(method: Added[VirtualMethod], context: Context) -> str:
    """How a virtual function came into the vtable: one of the cases that the rules below are about."""
    if _is_of_shown(method):
        return "became virtual"
    name, old, new = _owner(method)
    if _stays(method.new, old, context.old.tables) or _fills_inherited(method.new, new, context.new.tables):
        return "override"
    if method.new.pure:
        return "pure"
    if context.old.tables.has_plain(name, method.new):
        return "became virtual"
    if _moves_others(method.new, old, context):
        return "inserted"
    from abistore.diffing.kinds.records import grows_closed  # few tables get slots

    closed = context.old.tables.is_polymorphic(old) and not context.old.tables.may_be_derived_from(name)
    return "appended, closed" if closed or grows_closed(name, context) else "appended"


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def func_virtual_added(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """A member function became virtual.

    The vtable has one more slot. A class without a vtable gets one, with a pointer in each object. Derived classes in
    existing binaries have vtables without the slot that the library calls. Programs that call the function directly
    bypass its overrides.

    Fix: keep the function as it is, and add a virtual one to a new class.
    """
    if _arrival(method, context) == "became virtual":
        yield Note("the function became virtual", plainly(method.new), spelled(method.new))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="added")
def func_pure_virtual_added(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """A pure virtual function was added to a class.

    Derived classes in existing binaries do not implement it: the library calls what is not in their vtables. Sources of
    such classes stop compiling where they create objects.

    Fix: give it an implementation and put it into a new interface that derives from this one.
    """
    if _arrival(method, context) == "pure":
        yield Note("derived classes must implement another function", None, spelled(method.new))


@rule(
    Impact.BREAKING,
    variant="inner",
    evidence="layout",
    element="functions",
    action="added",
    aliases=("virtual_method_added",),
)
def virtual_method_added_inner(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """A virtual function was inserted before others.

    The following slots moved: existing binaries that call those functions call the wrong ones.

    Fix: declare new virtual functions last, or in a new class.
    """
    if _arrival(method, context) == "inserted":
        yield Note("a virtual function was inserted before others", None, spelled(method.new))


@rule(
    Impact.BREAKING,
    variant="trailing",
    evidence="layout",
    element="functions",
    action="added",
    aliases=("virtual_method_added",),
)
def virtual_method_added_trailing(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """A virtual function was appended to a class that programs may derive from.

    Calls of the old functions still work. In existing binaries, the vtables of derived classes end before the new slot,
    or have a function of their own there. The library calls it.

    Fix: put the function into a new derived class, or use a reserved slot.
    """
    if _arrival(method, context) == "appended":
        yield Note("a virtual function was appended", None, spelled(method.new))


@rule(Impact.COMPATIBLE, variant="closed", evidence="layout", element="functions", action="added")
def virtual_method_added_closed(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """A virtual function was appended to a class that programs cannot derive from.

    Its constructors are all private, or it is ``final``. The slots that programs call stay where they are.

    Fix: nothing.
    """
    if _arrival(method, context) == "appended, closed":
        yield Note("a virtual function was appended", None, spelled(method.new))


@rule(Impact.RISK, variant="override", evidence="layout", element="functions", action="added")
def virtual_method_added_override(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """A class overrides a virtual function that it inherited before.

    The vtable has the same slots. Programs that call the base's function directly, as on objects of known class, keep
    using the inherited one. Their derived classes do the same.

    Fix: nothing, if calling the base's function is still right.
    """
    if _arrival(method, context) == "override":
        yield Note("an inherited function is overridden", None, spelled(method.new))


# --- methods that went --------------------------------------------------------------------------------------------


def _departure(method: Removed[VirtualMethod], context: Context) -> str:
    if _is_of_shown(method):
        return "became plain"
    name, old, new = _owner(method)
    if _stays(method.old, new, context.new.tables) or _fills_inherited(method.old, old, context.old.tables):
        return "override"
    return "became plain" if context.new.tables.has_plain(name, method.old) else "gone"


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def func_virtual_removed(method: Removed[VirtualMethod], context: Context) -> Iterator[Note]:
    """A member function is no longer virtual.

    Its slot was removed and the following slots moved: programs call the wrong functions or run past the vtable. The
    library no longer calls overrides in programs.

    Fix: keep it virtual.
    """
    if _departure(method, context) == "became plain":
        yield Note("the function is no longer virtual", spelled(method.old), plainly(method.old))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="removed")
def virtual_method_removed(method: Removed[VirtualMethod], context: Context) -> Iterator[Note]:
    """A virtual function was removed.

    Its slot was removed and the following slots moved: programs call the wrong functions or run past the vtable.

    Fix: keep the function, if need be with an empty body.
    """
    if _departure(method, context) == "gone":
        yield Note("the virtual function was removed", spelled(method.old), None)


@rule(Impact.RISK, variant="override", evidence="layout", element="functions", action="removed")
def virtual_method_removed_override(method: Removed[VirtualMethod], context: Context) -> Iterator[Note]:
    """A class inherits a virtual function that it overrode before.

    The vtable has the same slots. Programs that call the class's own function directly need its symbol, which may be
    missing, and bypass the base's function.

    Fix: keep the override, and let it call the base's function.
    """
    if _departure(method, context) == "override":
        yield Note("only a base declares the function", spelled(method.old), None)


# --- methods that stay --------------------------------------------------------------------------------------------


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", effect="slot")
def type_vtable_changed(method: Changed[VirtualMethod]) -> Iterator[Note]:
    """A virtual function moved to another slot of the vtable.

    Programs call the function that is now in the old slot, and put their overrides there.

    Fix: keep the order of virtual functions, and add new ones last.
    """
    old, new = method.old.slot, method.new.slot
    if old is not None and new is not None and old != new:
        yield Note("the function is in another slot", f"slot {old}", f"slot {new}")


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def func_virtual_became_pure(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """A virtual function became pure.

    It no longer has an implementation. A call ends the program on objects of the class, or of a class that does not
    override the function.

    Fix: keep the implementation.
    """
    if method.new.pure and not method.old.pure and context.old.tables.records_pure:
        yield Note("the function became pure virtual", spelled(method.old), spelled(method.new))


@rule(Impact.COMPATIBLE, variant="implemented", evidence="layout", element="functions", action="changed")
def virtual_method_changed_implemented(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """A pure virtual function got an implementation.

    Every class in a program that has objects implements it already.

    Fix: nothing.
    """
    if method.old.pure and not method.new.pure and context.new.tables.records_pure:
        yield Note("the function got an implementation", spelled(method.old), spelled(method.new))


def _sameness(old: VirtualMethod, new: VirtualMethod, context: Context) -> Sameness:
    if len(old.parameters) != len(new.parameters):
        return Sameness.DIFFERENT
    pairs = zip((old.result, *old.parameters), (new.result, *new.parameters), strict=True)
    return max(context.passed(*pair) for pair in pairs)


def _are_destructors(method: Changed[VirtualMethod]) -> bool:
    return is_destructor(method.old) and is_destructor(method.new)


def _speaks_for_itself(method: Changed[VirtualMethod], context: Context) -> bool:
    """Whether it is the same function on both sides, and no finding about its symbol tells of its types."""
    one = method.old.display == method.new.display
    return one and not is_destructor(method.new) and not is_described(method.new, context)


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def virtual_method_changed(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """The parameters or the result of a virtual function changed in the same slot.

    Programs call the slot with the old arguments, and their overrides are called with the new ones.

    Fix: keep the function, and add one with another name at the end or in a new class.
    """
    old, new = method.old, method.new
    if _speaks_for_itself(method, context) and _sameness(old, new, context) >= Sameness.REINTERPRETED:
        yield Note("the types of the function in the slot changed", spelled(old), spelled(new))


@rule(Impact.COMPATIBLE, variant="respelled", evidence="layout", element="functions", action="changed")
def virtual_method_changed_respelled(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """The types of a virtual function are the same under other names.

    Calls through the slot and functions that override it work as before.

    Fix: nothing.
    """
    old, new = method.old, method.new
    types = zip((old.result, *old.parameters), (new.result, *new.parameters), strict=False)
    differs = old.symbol != new.symbol or not all(only_named_otherwise(*pair, context) for pair in types)
    same = _sameness(old, new, context)
    if differs and _speaks_for_itself(method, context) and same <= Sameness.SPELLING:
        yield Note("the function's types are spelled differently", *_texts(method))


@rule(Impact.API_BREAK, variant="inconvertible", evidence="layout", element="functions", action="changed")
def virtual_method_changed_inconvertible(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """The types of a virtual function changed to others with the same bits, so overrides must change.

    Calls through the slot work as before. An override must have the same types. The function of a recompiled source no
    longer overrides it, or does not compile where it says ``override``.

    Fix: keep the types, and add a function with another name at the end.
    """
    same = _sameness(method.old, method.new, context)
    other = Sameness.SPELLING < same < Sameness.REINTERPRETED
    if other and _speaks_for_itself(method, context):
        yield Note("sources override another function", *_texts(method))


def _texts(method: Changed[VirtualMethod]) -> tuple[str, str]:
    old, new = spelled(method.old), spelled(method.new)
    return (old, new) if old != new else (method.old.symbol, method.new.symbol)


@rule(Impact.BREAKING, variant="slot", evidence="layout", element="functions", action="changed")
def virtual_method_changed_slot(method: Changed[VirtualMethod]) -> Iterator[Note]:
    """The slot of a virtual function was given to another function.

    Programs that call the old function call the new one, and the library calls their overrides of the old one instead
    of the new one.

    Fix: keep the function in its slot, and add the new one last or in a new class.
    """
    if _other_method(method) and not matches("reserved_slot", method.old.display):
        yield Note("another function is in the slot", spelled(method.old), spelled(method.new))


@rule(Impact.COMPATIBLE, variant="reserved", evidence="layout", element="functions", action="changed")
def virtual_method_changed_reserved(method: Changed[VirtualMethod]) -> Iterator[Note]:
    """A reserved vtable slot is now used.

    Nobody calls or overrides a placeholder, e.g. ``virtual void reserved1()``. All other slots stay.

    Fix: nothing.
    """
    if _other_method(method) and matches("reserved_slot", method.old.display):
        yield Note("a reserved slot is now used", spelled(method.old), spelled(method.new))


def _other_method(method: Changed[VirtualMethod]) -> bool:
    return method.old.display != method.new.display and not _are_destructors(method)


@rule(Impact.API_BREAK, variant="virtual_narrowed", evidence="layout", element="functions", action="changed")
def method_access_changed_virtual_narrowed(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """The access to a virtual function without a symbol was narrowed, e.g. to private.

    Existing binaries keep calling its slot. Sources that call it stop compiling.

    Fix: deprecate it before making it private.
    """
    if WIDTH[method.new.access] < WIDTH[method.old.access] and not is_described(method.new, context):
        yield Note("the access was narrowed", method.old.access, method.new.access)


@rule(Impact.COMPATIBLE, variant="virtual_widened", evidence="layout", element="functions", action="changed")
def method_access_changed_virtual_widened(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """The access to a virtual function without a symbol was widened, e.g. to public.

    Existing binaries and sources work as before.

    Fix: nothing.
    """
    if WIDTH[method.new.access] > WIDTH[method.old.access] and not is_described(method.new, context):
        yield Note("the access was widened", method.old.access, method.new.access)


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
