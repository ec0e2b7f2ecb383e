"""The members of records and enumerations of an ABIXML corpus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from abistore.extract.foreign.abixml.document import MOST_BITS, Element
from abistore.extract.foreign.abixml.signatures import AbixmlTypeSource, result, signature
from abistore.model.cpp_names.normal import normal_name
from abistore.model.shapes import Access, Base, Enum, Enumerator, Field, Record, VirtualMethod

ACCESS: Final[dict[str, Access]] = {"public": "public", "protected": "protected", "private": "private"}


def read_record(types: AbixmlTypeSource, element: Element, sort: Literal["struct", "class", "union"]) -> Record:
    """The shape of a record. Who has virtual methods and no base that has any brings in the vtable pointer."""
    bases = tuple(_bases(types, element))
    virtuals = tuple(sorted(_virtuals(types, element), key=lambda each: (each.slot is None, each.slot)))
    return Record(
        sort=sort,
        size=element.size,
        fields=tuple(_fields(types, element)),
        bases=bases,
        virtuals=virtuals,
    )


def read_enum(types: AbixmlTypeSource, element: Element) -> Enum:
    """The shape of an enumeration. ABIXML gives its size by the underlying type."""
    underlying = next(element.children("underlying-type"), None)
    known = underlying is not None and types.elements.get(underlying.get("type-id"))
    size = known.size if known else 0
    enumerators = (Enumerator(each.get("name"), each.number("value") or 0) for each in element.children("enumerator"))
    return Enum(size, tuple(enumerators))


def _fields(types: AbixmlTypeSource, element: Element) -> Iterator[Field]:
    for member in element.children("data-member"):
        if member.says("static"):
            continue
        offset = member.number("layout-offset-in-bits") or 0
        for variable in member.children("var-decl"):
            yield Field(
                variable.get("name"),
                types.of(variable),
                min(max(offset, 0), MOST_BITS),
                access=ACCESS.get(member.get("access"), "public"),
            )


def _bases(types: AbixmlTypeSource, element: Element) -> Iterator[Base]:
    for base in element.children("base-class"):
        virtual = base.says("is-virtual")
        offset = base.number("layout-offset-in-bits") or 0
        place = None if virtual else min(max(offset, 0), MOST_BITS)
        yield Base(types.of(base), place, virtual, ACCESS.get(base.get("access"), "public"))


def _virtuals(types: AbixmlTypeSource, element: Element) -> Iterator[VirtualMethod]:
    """The virtual methods. The several symbols of a destructor are one method."""
    destroyed = False
    for member in element.children("member-function"):
        if "vtable-offset" not in member.attributes:
            continue
        for function in member.children("function-decl"):
            destructor = member.says("destructor")
            if destructor and destroyed:
                continue
            destroyed = destroyed or destructor
            slot = member.number("vtable-offset")
            yield VirtualMethod(
                normal_name(function.get("name")),
                "" if destructor else function.get("mangled-name"),
                None if destructor or slot is None or slot < 0 else slot,
                result(types, function),
                signature(types, function)[0],
                access=ACCESS.get(member.get("access"), "public"),
            )
