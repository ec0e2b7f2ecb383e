"""Exported functions and variables of an ABIXML corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from abistore.extract.foreign.abixml.document import Element
from abistore.extract.foreign.abixml.records import ACCESS
from abistore.extract.foreign.abixml.signatures import result, signature
from abistore.extract.foreign.abixml.types import RECORDS, AbixmlTypes, location_of
from abistore.extract.foreign.gathering import qualifiers_of
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.normal import normal_name
from abistore.model.cpp_names.qualified import last_component, outside, parameter_count
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import Name
from abistore.model.shapes import Function, Method, Named, TypeRef, Variable


class _Member(NamedTuple):
    """A declaration with what is around it: the class, and how it is a member of that."""

    element: Element
    owner: Name | None = None
    member: Element | None = None


def read_declarations(types: AbixmlTypes, root: Element, kinds: Mapping[str, Name], aliases: Mapping[str, str]) -> None:
    """Enter what describes the exports: for all symbols that lie at its address."""
    sharing: dict[str, list[str]] = {}
    for symbol, main in aliases.items():
        sharing.setdefault(main, []).append(symbol)
    for found in _members(types, root):
        identifier = found.element.get("elf-symbol-id")
        symbol = identifier.partition("@")[0]
        others = (each.partition("@")[0] for each in sharing.get(aliases.get(identifier, identifier), ()))
        for each in dict.fromkeys((symbol, *others)):
            name = kinds.get(each)
            if name is not None and (
                each == symbol or (name not in types.gathered.entries and _may_stand(each, symbol))
            ):
                _enter(types, name, found)


def _may_stand(alias: str, symbol: str) -> bool:
    """Whether what describes ``symbol`` is true of another symbol at its address: of a variant, or a C alias."""
    if not (is_mangled(alias) and is_mangled(symbol)):
        return True
    return demangle(alias) == demangle(symbol)


def _enter(types: AbixmlTypes, name: Name, found: _Member) -> None:
    element = found.element
    if (name.kind == "function") != (element.tag == "function-decl"):
        return
    shape = _function(types, name, found) if name.kind == "function" else _variable(types, found)
    if shape is not None:
        types.gathered.add(name, shape, location_of(element))


def _members(types: AbixmlTypes, root: Element) -> Iterator[_Member]:
    pending: list[tuple[Element, Element | None]] = [(root, None)]
    while pending:
        element, record = pending.pop()
        for part in reversed(element.parts):
            if part.tag not in ("function-decl", "var-decl"):
                pending.append((part, _record_of(part, record)))
            elif part.get("elf-symbol-id"):
                yield _in_record(types, part, record, element)


def _record_of(part: Element, around: Element | None) -> Element | None:
    """The class whose members stand in ``part``."""
    if part.tag in RECORDS:
        return part
    return around if part.tag.startswith("data-") or part.tag == "member-function" else None


def _in_record(types: AbixmlTypes, element: Element, record: Element | None, around: Element) -> _Member:
    if record is None or around.tag not in ("member-function", "data-member"):
        return _Member(element)
    owner = types.reference(record.get("id")) if record.get("id") else None
    return _Member(element, owner.name if isinstance(owner, Named) else None, around)


def _function(types: AbixmlTypes, name: Name, found: _Member) -> Function | None:
    """The function; ``None`` where the file leaves parameters out that the mangled name has, as of types it lacks."""
    parameters, variadic, this = signature(types, found.element)
    if not _are_all(name.spelling, len(parameters) + variadic):
        return None
    return Function(
        display=_display(found.element),
        result=result(types, found.element),
        parameters=parameters,
        variadic=variadic,
        method=_method(found, this),
    )


def _are_all(symbol: str, count: int) -> bool:
    if not is_mangled(symbol):
        return True
    spelled = demangle(symbol)
    start = _parameters(spelled)
    return start < 0 or parameter_count(spelled[start:]) == count


def _parameters(spelled: str) -> int:
    """Where the list of parameters begins in a demangled function; -1 where there is none."""
    *_, last = (-1, *(begin for token, begin, _ in outside(spelled) if token == "("))
    return last


def _method(found: _Member, this: TypeRef | None) -> Method | None:
    if found.owner is None or found.member is None:
        return None
    member = found.member
    slot = member.number("vtable-offset")
    return Method(
        found.owner,
        ACCESS.get(member.get("access"), "public"),
        static=this is None,
        virtual="virtual" if slot is not None else "no",
        slot=slot if slot is not None and slot >= 0 else None,
        qualifiers=qualifiers_of(this),
    )


def _variable(types: AbixmlTypes, found: _Member) -> Variable:
    display, type = _display(found.element), types.of(found.element)
    if found.owner is None or found.member is None:
        return Variable(display, type)
    return Variable(display, type, found.owner, ACCESS.get(found.member.get("access"), "public"))


def _display(element: Element) -> str:
    spelling = element.spelling
    scope = element.scope
    name = normal_name(element.get("name"))
    return f"{normal_name(scope)}::{name}" if scope and last_component(spelling) else name
