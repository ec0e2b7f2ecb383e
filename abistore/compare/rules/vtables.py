"""What happens to virtual methods: consumers call them by slot, and write classes that fill the slots."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abistore.compare.access import WIDTH
from abistore.compare.context import Context
from abistore.compare.equivalence import Sameness
from abistore.compare.meaningless import is_described
from abistore.compare.naming import only_named_otherwise
from abistore.compare.parts import Described
from abistore.compare.rule import Note, rule
from abistore.compare.vtables import Tables, is_destructor, plainly, same_method, spelled
from abistore.model.deltas import Added, Changed, Delta, Removed
from abistore.model.findings import Impact
from abistore.model.names import Name
from abistore.model.shapes import Record, VirtualMethod

_KEPT = r"(?:_?(?:slot|virtual|vtbl|vtable|method|function|func|for_future\w*))?_?"
PLACEHOLDER = (
    rf"(?i)_*(?:vt_?|virtual_?)?(?:(?:reserved|unused|not_?used|placeholder){_KEPT}\d*"
    rf"|(?:spare|dummy|pad|padding|future){_KEPT}\d+)_*"
)
"""How virtual methods are called that only keep a slot free: ``reserved1``, ``_unused_slot_2``."""


def _owner(delta: Delta[VirtualMethod]) -> tuple[Name, Record, Record]:
    assert delta.within is not None
    return delta.subject.name, delta.within.old, delta.within.new


def _fills_inherited(method: VirtualMethod, record: Record, tables: Tables) -> bool:
    """Whether ``method`` stands in a slot that the class has from its primary base."""
    return method.slot is not None and method.slot in tables.inherited(record)


def _stays(method: VirtualMethod, record: Record, tables: Tables) -> bool:
    """Whether the other side's table has ``method`` in the same slot, declared by whatever class."""
    found = tables.slots(record).get(method.slot) if method.slot is not None else None
    return found is not None and same_method(found, method)


def _moves_others(method: VirtualMethod, old: Record, context: Context) -> bool:
    """Whether a slot from ``method``'s on was taken before."""
    table = context.old_tables.slots(old)
    return method.slot is not None and bool(table) and method.slot <= max(table)


# --- methods that came --------------------------------------------------------------------------------------------


def _arrival(method: Added[VirtualMethod], context: Context) -> str:
    """How a method came into the class's table: one of the kinds below."""
    name, old, new = _owner(method)
    if _stays(method.new, old, context.old_tables) or _fills_inherited(method.new, new, context.new_tables):
        return "override"
    if method.new.pure:
        return "pure"
    if context.old_tables.has_plain(name, method.new):
        return "became virtual"
    if _moves_others(method.new, old, context):
        return "inserted"
    closed = context.old_tables.is_polymorphic(old) and not context.old_tables.may_be_derived_from(name)
    return "appended, closed" if closed else "appended"


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def func_virtual_added(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """Member function became virtual.

    The vtable has a slot more, and a class without one gets a vtable pointer. Consumers that derive from the class have
    vtables without the slot, which the library calls; those that call the function directly miss what overrides it.

    Fix: keep the function as it is, and add a virtual one to a new class.
    """
    if _arrival(method, context) == "became virtual":
        yield Note("the function is virtual", plainly(method.new), spelled(method.new))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="added")
def func_pure_virtual_added(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """Class got a pure virtual method.

    Classes of consumers that derive from it do not implement it: the library calls what is not in their vtables.
    Sources of such classes stop compiling where they create objects.

    Fix: give it an implementation and put it into a new interface that derives from this one.
    """
    if _arrival(method, context) == "pure":
        yield Note("derived classes must implement another method", None, spelled(method.new))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="added")
def virtual_method_inner_added(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """Class got a virtual method before others.

    The slots behind it moved: consumers that call these methods call the wrong ones.

    Fix: declare new virtual methods last, or in a new class.
    """
    if _arrival(method, context) == "inserted":
        yield Note("a virtual method stands before others", None, spelled(method.new))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="added")
def virtual_method_trailing_added(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """Class that consumers may derive from got a virtual method behind the others.

    Calls of the old methods still work. The vtables that consumers compiled for classes that derive from it end before
    the new slot, or have one of their own methods there, and the library calls it.

    Fix: put the method into a new class that derives from this one, or use a reserved slot.
    """
    if _arrival(method, context) == "appended":
        yield Note("a virtual method stands behind the others", None, spelled(method.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="functions", action="added")
def virtual_method_closed_added(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """Class whose constructors are all private got a virtual method behind the others.

    Consumers cannot derive from the class, and the slots that they call stay where they are.

    Fix: nothing.
    """
    if _arrival(method, context) == "appended, closed":
        yield Note("a virtual method stands behind the others", None, spelled(method.new))


@rule(Impact.RISK, evidence="layout", element="functions", action="added")
def virtual_method_override_added(method: Added[VirtualMethod], context: Context) -> Iterator[Note]:
    """Class overrides a virtual method that it inherited before.

    The table is of the same form. Consumers that call the base's method directly, as they do on objects whose class
    they know, and classes of consumers that derive from this one go on using the inherited one.

    Fix: nothing, where calling the base's method is still right.
    """
    if _arrival(method, context) == "override":
        yield Note("an inherited method is overridden", None, spelled(method.new))


# --- methods that went --------------------------------------------------------------------------------------------


def _departure(method: Removed[VirtualMethod], context: Context) -> str:
    name, old, new = _owner(method)
    if _stays(method.old, new, context.new_tables) or _fills_inherited(method.old, old, context.old_tables):
        return "override"
    return "became plain" if context.new_tables.has_plain(name, method.old) else "gone"


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def func_virtual_removed(method: Removed[VirtualMethod], context: Context) -> Iterator[Note]:
    """Member function is no longer virtual.

    Its slot is gone and those behind it moved: consumers call the wrong methods or run past the table. What consumers
    override is not called any more.

    Fix: keep it virtual.
    """
    if _departure(method, context) == "became plain":
        yield Note("the function is not virtual any more", spelled(method.old), plainly(method.old))


@rule(Impact.BREAKING, evidence="layout", element="functions", action="removed")
def virtual_method_removed(method: Removed[VirtualMethod], context: Context) -> Iterator[Note]:
    """Class lost a virtual method.

    Its slot is gone and those behind it moved: consumers call the wrong methods or run past the table.

    Fix: keep the method, with a body that does nothing if need be.
    """
    if _departure(method, context) == "gone":
        yield Note("the virtual method is gone", spelled(method.old), None)


@rule(Impact.RISK, evidence="layout", element="functions", action="removed")
def virtual_method_override_removed(method: Removed[VirtualMethod], context: Context) -> Iterator[Note]:
    """Class inherits a virtual method that it declared itself before.

    The table is of the same form. Consumers that call the class's own method directly need its symbol, which may be
    gone, and skip what the base does.

    Fix: keep the override, with a call of the base's method for a body.
    """
    if _departure(method, context) == "override":
        yield Note("the method is declared by a base only", spelled(method.old), None)


# --- methods that stay --------------------------------------------------------------------------------------------


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", effect=True)
def type_vtable_changed(method: Changed[VirtualMethod]) -> Iterator[Note]:
    """Virtual method moved to another slot.

    Consumers call what stands in the old slot, and put their overrides there.

    Fix: keep the order of virtual methods, and add new ones last.
    """
    old, new = method.old.slot, method.new.slot
    if old is not None and new is not None and old != new:
        yield Note("the method is in another slot", f"slot {old}", f"slot {new}")


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def func_virtual_became_pure(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """Virtual method lost its implementation.

    Objects that consumers create of the class, or of a class that does not override the method, end the program when it
    is called.

    Fix: keep the implementation.
    """
    if method.new.pure and not method.old.pure and context.old_tables.records_pure:
        yield Note("the method is pure virtual", spelled(method.old), spelled(method.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="functions", action="changed")
def virtual_method_pure_removed(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """Pure virtual method got an implementation.

    Every class of a consumer that has objects implements it already.

    Fix: nothing.
    """
    if method.old.pure and not method.new.pure and context.new_tables.records_pure:
        yield Note("the method has an implementation", spelled(method.old), spelled(method.new))


def _sameness(old: VirtualMethod, new: VirtualMethod, context: Context) -> Sameness:
    if len(old.parameters) != len(new.parameters):
        return Sameness.DIFFERENT
    pairs = zip((old.result, *old.parameters), (new.result, *new.parameters), strict=True)
    return max(context.passed(*pair) for pair in pairs)


def _are_destructors(method: Changed[VirtualMethod]) -> bool:
    return is_destructor(method.old) and is_destructor(method.new)


def _speaks_for_itself(method: Changed[VirtualMethod], context: Context) -> bool:
    """Whether it is one method on both sides, and no function's finding tells of its types."""
    one = method.old.display == method.new.display
    return one and not is_destructor(method.new) and not is_described(method.new, context)


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def virtual_method_signature_changed(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """Virtual method takes or returns something else in the same slot.

    Consumers call the slot with the old arguments, and their overrides are called with the new ones.

    Fix: keep the method, and add one with another name behind the others or in a new class.
    """
    old, new = method.old, method.new
    if _speaks_for_itself(method, context) and _sameness(old, new, context) >= Sameness.REINTERPRETED:
        yield Note("the slot is called in another way", spelled(old), spelled(new))


@rule(Impact.COMPATIBLE, evidence="layout", element="functions", action="changed")
def virtual_method_respelled(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """Virtual method takes and returns the same representations under other type names.

    Calls through the slot work as before. Sources that override the method may stop doing so when they are compiled
    again.

    Fix: nothing; consumers that write ``override`` are told by their compiler.
    """
    old, new = method.old, method.new
    types = zip((old.result, *old.parameters), (new.result, *new.parameters), strict=False)
    differs = old.symbol != new.symbol or not all(only_named_otherwise(*pair, context) for pair in types)
    same = _sameness(old, new, context)
    if differs and _speaks_for_itself(method, context) and same < Sameness.REINTERPRETED:
        texts = spelled(old), spelled(new)
        if texts[0] == texts[1]:
            texts = old.symbol, new.symbol
        yield Note("the method's types are spelled in another way", *texts)


@rule(Impact.BREAKING, evidence="layout", element="functions", action="changed")
def virtual_method_slot_changed(method: Changed[VirtualMethod]) -> Iterator[Note]:
    """Slot of a virtual method belongs to another one.

    Consumers that call the old method call the new one instead, and their overrides of the old one are taken for it.

    Fix: keep the method in its slot, and add the new one last or in a new class.
    """
    if _other_method(method) and not re.fullmatch(PLACEHOLDER, method.old.display):
        yield Note("another method has the slot", spelled(method.old), spelled(method.new))


@rule(Impact.COMPATIBLE, evidence="layout", element="functions", action="changed")
def virtual_method_reserved_renamed(method: Changed[VirtualMethod]) -> Iterator[Note]:
    """Slot that was kept free got a method.

    Nobody calls or overrides a placeholder; all other slots stay.

    Fix: nothing.
    """
    if _other_method(method) and re.fullmatch(PLACEHOLDER, method.old.display):
        yield Note("a reserved slot is used", spelled(method.old), spelled(method.new))


def _other_method(method: Changed[VirtualMethod]) -> bool:
    return method.old.display != method.new.display and not _are_destructors(method)


@rule(Impact.API_BREAK, evidence="layout", element="functions", action="changed")
def virtual_method_access_narrowed(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """Virtual method that has no symbol can be called from fewer places.

    Built consumers go on calling its slot; sources that did stop compiling.

    Fix: deprecate it before you make it private.
    """
    if WIDTH[method.new.access] < WIDTH[method.old.access] and not is_described(method.new, context):
        yield Note("the access is narrower", method.old.access, method.new.access)


@rule(Impact.COMPATIBLE, evidence="layout", element="functions", action="changed")
def virtual_method_access_widened(method: Changed[VirtualMethod], context: Context) -> Iterator[Note]:
    """Virtual method that has no symbol can be called from more places.

    Built consumers and sources work as before.

    Fix: nothing.
    """
    if WIDTH[method.new.access] > WIDTH[method.old.access] and not is_described(method.new, context):
        yield Note("the access is wider", method.old.access, method.new.access)


# --- the table as a whole -----------------------------------------------------------------------------------------


def _has_vptr(record: Changed[Record] | Changed[Described], context: Context) -> tuple[bool, bool]:
    """Whether objects hold a vtable pointer, on both sides."""
    old, new = record.old, record.new
    if isinstance(old, Record) and isinstance(new, Record):
        return context.old_tables.is_polymorphic(old), context.new_tables.is_polymorphic(new)
    return getattr(old, "shape", old) is None, getattr(new, "shape", new) is None


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", effect=True)
def vptr_introduced(record: Changed[Record] | Changed[Described], context: Context) -> Iterator[Note]:
    """Class without virtual methods got a vtable pointer.

    Objects are larger and their members lie elsewhere; consumers create objects whose pointer nobody sets.

    Fix: keep the class free of virtual methods and virtual bases.
    """
    if _has_vptr(record, context) == (False, True):
        yield Note("objects hold a vtable pointer", "no vtable", "vtable")


@rule(Impact.BREAKING, evidence="layout", element="types", action="changed", effect=True)
def vptr_removed(record: Changed[Record] | Changed[Described], context: Context) -> Iterator[Note]:
    """Class lost its vtable pointer.

    Objects are smaller and their members lie elsewhere; consumers call methods through a table that is not there.

    Fix: keep at least a virtual destructor.
    """
    if _has_vptr(record, context) == (True, False):
        yield Note("objects hold no vtable pointer", "vtable", "no vtable")
