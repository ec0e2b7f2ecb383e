"""Virtual functions: programs call them by slot, and write derived classes that fill the slots."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.equivalent_declarations import is_described, only_named_otherwise
from abistore.diffing.types.sameness import Sameness
from abistore.diffing.types.vtables import VirtualTables, is_destructor, plainly, same_method, spelled
from abistore.model.declarations import Added, Changed, Delta, Name, Removed
from abistore.model.findings import Impact
from abistore.model.hints import matches
from abistore.model.shapes import WIDTH, Opaque, Record, VirtualMethod


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
