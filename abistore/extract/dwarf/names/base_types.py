"""The usual spellings of built-in types that compilers record under other names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.names.spellings import CPP
from abistore.model.cpp_names.builtins import BUILTIN_WORDS, INTEGERS

if TYPE_CHECKING:
    from abistore.extract.dwarf.bytes.forms import Attributes
    from abistore.extract.dwarf.entries.units import Unit

COMPLEX_PARTS: Final = {8: "float", 16: "double"}
ENDIANITIES: Final = {1: "big-endian", 2: "little-endian"}
KNOWN: Final = BUILTIN_WORDS | INTEGERS.keys() | {"half"}
BY_ENCODING: Final = {
    (0x02, 1): "bool",
    (0x04, 4): "float",
    (0x04, 8): "double",
    (0x05, 2): "short",
    (0x05, 4): "int",
    (0x05, 8): "long",
    (0x06, 1): "char",
    (0x07, 2): "unsigned short",
    (0x07, 4): "unsigned int",
    (0x07, 8): "unsigned long",
    (0x08, 1): "unsigned char",
}
"""The usual built-in type of an encoding and a size in bytes (DWARF 5, 7.8)."""


def spelling_of_base(unit: Unit, attributes: Attributes) -> str:
    """The spelling of a DW_TAG_base_type.

    In C++, g++ gives some built-in types the name of a typedef that a template declares for them, mostly ``type``.
    """
    spelling: str = attributes.get(dw.AT_NAME, "unnamed base type")
    size = attributes.get(dw.AT_BYTE_SIZE, 0)
    if spelling == "complex":  # clang, for all of them
        spelling = f"_Complex {COMPLEX_PARTS.get(size, 'long double')}"
    elif spelling not in KNOWN and spelling.isidentifier() and spelling[0] != "_" and _by_gcc_from_cpp(unit):
        spelling = BY_ENCODING.get((attributes.get(dw.AT_ENCODING, 0), size), spelling)
    if dw.AT_ENDIANITY in attributes:
        spelling = f"{spelling} {ENDIANITIES.get(attributes[dw.AT_ENDIANITY], 'foreign-endian')}"
    return spelling


def _by_gcc_from_cpp(unit: Unit) -> bool:
    return unit.language in CPP and (unit.producer or "").startswith("GNU")
