"""The symbol tables in an abi-dumper dump, and its exported functions and variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from abistore.extract.foreign.abicc.perl import Hash, Value, hash_of, number_of, text_of
from abistore.extract.foreign.abicc.types import AbiccTypes, location_of
from abistore.extract.foreign.gathering import Tables, is_data, qualifiers_of
from abistore.model.cpp_names.normal import normal_name
from abistore.model.digest import sort_variants
from abistore.model.mangling.symbols import TYPEINFO, VTABLE, is_mangled
from abistore.model.names import SELF, Name
from abistore.model.shapes import Access, AnyShape, Function, Method, Named, Pointer, Qualified, TypeRef, Variable
from abistore.model.tables import Import, Library, Symbol

POINTED: Final = re.compile(r"\[([^\]\s]+)\]$")
PURE: Final = "__cxa_pure_virtual"
MOST_WORDS: Final = 1 << 12
LARGEST: Final = 1 << 62


def read_tables(dump: Hash, needed: tuple[str, ...], width: int) -> Tables:
    """The symbol facet. ``width`` is the size of a word of a vtable."""
    data = {_symbol_of(each) for each in _described(dump) if "Data" in each}
    vtables = dict(_vtables(dump, width))
    gathered: dict[Name, list[AnyShape]] = {}
    kinds: dict[str, Name] = {}
    for spelled, value in _each(dump, "Symbols"):
        symbol, version, default = _versioned(spelled)
        size = number_of(value) or 0
        variable = size < 0 or symbol in data or is_data(symbol)
        name = kinds.setdefault(symbol, Name("variable" if variable else "function", symbol))
        shape = Symbol(
            "data" if variable else "function",
            size=min(max(-size, 0), LARGEST),
            version=version,
            default=default,
            table=vtables.get(symbol, ()),
        )
        gathered.setdefault(name, []).append(shape)
    for spelled, _ in _each(dump, "UndefinedSymbols"):
        symbol, version, _ = _versioned(spelled)
        gathered.setdefault(Name("import", symbol), []).append(Import(version=version))
    entries = {name: sort_variants(shapes) for name, shapes in gathered.items()}
    entries[SELF] = (Library("shared", None, needed),)
    return Tables(entries, kinds, None)


def lacks_sizes(dump: Hash) -> bool:
    """Whether data is written like code, without its size: as thread-local data is."""
    sized = {_versioned(spelled)[0]: number_of(value) or 0 for spelled, value in _each(dump, "Symbols")}
    return any(sized.get(_symbol_of(each), 0) > 0 for each in _described(dump) if "Data" in each)


def _each(dump: Hash, table: str) -> Iterator[tuple[str, Value]]:
    """The symbols of all objects in the dump."""
    for symbols in hash_of(dump.get(table)).values():
        yield from ((spelled, value) for spelled, value in hash_of(symbols).items() if spelled.partition("@")[0])


def _versioned(spelled: str) -> tuple[str, str | None, bool]:
    symbol, mark, version = spelled.partition("@")
    if not mark or not version.strip("@"):
        return symbol, None, True
    return symbol, version.removeprefix("@"), version.startswith("@")


def _described(dump: Hash) -> Iterator[Hash]:
    return (each for each in hash_of(dump.get("SymbolInfo")).values() if isinstance(each, dict))


def _symbol_of(described: Hash) -> str:
    return text_of(described.get("MnglName")) or text_of(described.get("ShortName"))


def _vtables(dump: Hash, width: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The words of each vtable as symbols. Its class is the one whose type information it points to."""
    for type in hash_of(dump.get("TypeInfo")).values():
        slots = {number_of(place): text_of(text) for place, text in hash_of(hash_of(type).get("VTable")).items()}
        places = [place for place in slots if place is not None and 0 <= place < MOST_WORDS * width]
        words = [_word(slots.get(place, "")) for place in range(0, max(places, default=-width) + width, width)]
        own = next((word for word in words if word.startswith(TYPEINFO)), None)
        if own is not None:
            yield VTABLE + own[len(TYPEINFO) :], tuple("" if word == own else word for word in words)


def _word(text: str) -> str:
    found = POINTED.search(text)
    if found and is_mangled(found[1]):
        return found[1]
    return PURE if text.endswith(PURE) else ""


# --- functions and variables --------------------------------------------------------------------------------------


def read_declarations(types: AbiccTypes, dump: Hash, kinds: Mapping[str, Name]) -> None:
    """Enter the declarations of the exports. One declaration describes a symbol and its aliases."""
    others: list[tuple[str, Hash]] = []
    for described in _described(dump):
        symbol = _symbol_of(described)
        _enter(types, kinds.get(symbol), described)
        if alias := text_of(described.get("Alias")):
            others.append((alias, described))
    for alias, described in others:
        name = kinds.get(alias)
        if name is not None and name not in types.gathered.entries:
            _enter(types, name, described)


def _enter(types: AbiccTypes, name: Name | None, described: Hash) -> None:
    if name is None or (name.kind == "variable") != ("Data" in described):
        return
    shape = _variable(types, described) if name.kind == "variable" else _function(types, described)
    types.gathered.add(name, shape, location_of(described))


def _function(types: AbiccTypes, described: Hash) -> Function:
    owner = _owner(types, described)
    parameters, variadic, this = types.signature(described, member=owner is not None)
    return Function(
        display=_display(described, owner),
        result=types.of(described.get("Return")),
        parameters=parameters,
        variadic=variadic,
        method=_method(described, owner, this) if owner else None,
    )


def _variable(types: AbiccTypes, described: Hash) -> Variable:
    owner = _owner(types, described)
    type, display = types.of(described.get("Return")), _display(described, owner)
    return Variable(display, type) if owner is None else Variable(display, type, owner)


def _owner(types: AbiccTypes, described: Hash) -> Name | None:
    """The class of a member; of some variants of constructors and destructors only ``this`` tells it."""
    found = types.of(described.get("Class")) if "Class" in described else None
    if found is None and ("Destructor" in described or "Constructor" in described):
        found = types.signature(described, member=True)[2]
        while isinstance(found, Qualified | Pointer):
            found = found.target
    return found.name if isinstance(found, Named) and found.name.kind == "record" else None


def _method(described: Hash, owner: Name, this: TypeRef | None) -> Method:
    slot = number_of(described.get("VirtPos"))
    return Method(
        owner,
        _access(described),
        static="Static" in described,
        virtual="pure" if "PureVirt" in described else "virtual" if "Virt" in described else "no",
        slot=slot if slot is not None and 0 <= slot < LARGEST and "Destructor" not in described else None,
        qualifiers=qualifiers_of(this),
    )


def _access(described: Hash) -> Access:
    return "private" if "Private" in described else "protected" if "Protected" in described else "public"


def _display(described: Hash, owner: Name | None) -> str:
    name = ("~" if "Destructor" in described else "") + normal_name(text_of(described.get("ShortName")))
    scope = owner.spelling if owner else normal_name(text_of(described.get("NameSpace")))
    return f"{scope}::{name}" if scope else name
