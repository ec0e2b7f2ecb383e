"""The symbol tables of an ABIXML corpus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from abistore.extract.elf.noise import is_noise
from abistore.extract.foreign.abixml.document import Element
from abistore.extract.foreign.gathering import Tables
from abistore.model.digest import sort_variants
from abistore.model.names import SELF, Name
from abistore.model.shapes import AnyShape
from abistore.model.tables import Import, Library, Symbol
from abistore.model.words.elf_symbols import Binding, SymbolType, Visibility, elf_symbol

TYPES: Final[dict[str, SymbolType]] = {
    "func-type": "function",
    "object-type": "object",
    "tls-type": "tls",
    "common-type": "common",
    "gnu-ifunc-type": "ifunc",
    "no-type": "notype",
}
BINDINGS: Final[dict[str, Binding]] = {
    "global-binding": "global",
    "weak-binding": "weak",
    "gnu-unique-binding": "unique",
}
VISIBILITIES: Final[dict[str, Visibility]] = {"default-visibility": "default", "protected-visibility": "protected"}
EXPORTED: Final = ("elf-function-symbols", "elf-variable-symbols")
UNDEFINED: Final = ("undefined-elf-function-symbols", "undefined-elf-variable-symbols")
LARGEST: Final = 1 << 62


class ReadSymbols(NamedTuple):
    """The symbol facet; of symbols at one address, which stands for all; and whether the file has imports.

    Symbols of aliases are spelled with their versions.
    """

    tables: Tables
    aliases: dict[str, str]
    tells_imports: bool


def read_symbols(corpus: Element) -> ReadSymbols:
    """What a corpus says of the symbol tables of its file."""
    gathered: dict[Name, list[AnyShape]] = {}
    kinds: dict[str, Name] = {}
    aliases: dict[str, str] = {}
    for element, name, symbol in _exports(corpus):
        gathered.setdefault(name, []).append(symbol)
        kinds.setdefault(name.spelling, name)
        own = _identifier(element, symbol)
        for other in filter(None, element.get("alias").split(",")):
            first, second = _main(aliases, own), _main(aliases, other)
            aliases[own], aliases[other] = first, first
            aliases[second] = first
    undefined = [part for part in corpus.parts if part.tag in UNDEFINED]
    for element in (symbol for part in undefined for symbol in part.children("elf-symbol")):
        shape = Import(element.get("binding") == "weak-binding", element.get("version") or None)
        if element.get("name"):
            gathered.setdefault(Name("import", element.get("name")), []).append(shape)
    soname = corpus.get("soname") or None
    needed = (each.get("name") for part in corpus.children("elf-needed") for each in part.children("dependency"))
    entries = {name: sort_variants(shapes) for name, shapes in gathered.items() if name.spelling}
    entries[SELF] = (Library("shared", soname, tuple(filter(None, needed))),)
    roots = {symbol: _main(aliases, symbol) for symbol in aliases}
    return ReadSymbols(Tables(entries, kinds, soname), roots, bool(undefined))


def _identifier(element: Element, symbol: Symbol) -> str:
    """What other elements call a symbol: ``name@@VERSION``, where it has one."""
    if symbol.version is None:
        return element.get("name")
    return f"{element.get('name')}{'@@' if symbol.default else '@'}{symbol.version}"


def _main(aliases: dict[str, str], symbol: str) -> str:
    """The symbol that stands for all at its address."""
    while (other := aliases.get(symbol, symbol)) != symbol:
        aliases[symbol] = aliases.get(other, other)
        symbol = other
    return symbol


def _exports(corpus: Element) -> Iterator[tuple[Element, Name, Symbol]]:
    for part in corpus.parts:
        if part.tag in EXPORTED:
            for element in part.children("elf-symbol"):
                symbol = _symbol(element)
                if symbol is not None and element.get("name"):
                    code = symbol.type == "function" or part.tag == EXPORTED[0]
                    yield element, Name("function" if code else "variable", element.get("name")), symbol


def _symbol(element: Element) -> Symbol | None:
    """The exported symbol; ``None`` for what no other file can bind to, and for noise."""
    type = TYPES.get(element.get("type"))
    binding, visibility = BINDINGS.get(element.get("binding")), VISIBILITIES.get(element.get("visibility"))
    if type is None or binding is None or visibility is None or element.get("is-defined") == "no":
        return None
    size = min(max(element.number("size") or 0, 0), LARGEST)
    if is_noise(element.get("name"), typed=type != "notype" or size > 0, entry=True):
        return None
    if element.says("is-common"):
        type = "common"
    return replace(
        elf_symbol(type, binding, visibility),
        size=0 if type in ("function", "ifunc") else size,
        version=element.get("version") or None,
        default=not element.get("version") or element.says("is-default-version"),
    )
