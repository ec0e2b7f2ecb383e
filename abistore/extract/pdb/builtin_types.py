"""Built-in types, which have numbers and no records (LLVM, "The PDB TPI and IPI Streams": simple types)."""

from __future__ import annotations

from typing import Final

from abistore.model.cpp_names.normal import primitive
from abistore.model.shapes import VOID, Pointer, Special, TypeRef

NOTHING: Final = 0
"""No type: the result of a constructor, or the ``...`` of a list of parameters."""

_SPELLINGS: Final = {
    **{0x10: ("signed char", 1), 0x20: ("unsigned char", 1), 0x70: ("char", 1), 0x71: ("wchar_t", 2)},
    **{0x7A: ("char16_t", 2), 0x7B: ("char32_t", 4), 0x7C: ("char8_t", 1), 0x68: ("signed char", 1)},
    **{0x69: ("unsigned char", 1), 0x11: ("short", 2), 0x21: ("unsigned short", 2), 0x72: ("short", 2)},
    **{0x73: ("unsigned short", 2), 0x12: ("long", 4), 0x22: ("unsigned long", 4), 0x74: ("int", 4)},
    **{0x75: ("unsigned int", 4), 0x13: ("long long", 8), 0x23: ("unsigned long long", 8), 0x76: ("long long", 8)},
    **{0x77: ("unsigned long long", 8), 0x14: ("__int128", 16), 0x24: ("unsigned __int128", 16)},
    **{0x78: ("__int128", 16), 0x79: ("unsigned __int128", 16), 0x46: ("_Float16", 2), 0x40: ("float", 4)},
    **{0x41: ("double", 8), 0x42: ("long double", 10), 0x43: ("__float128", 16), 0x30: ("bool", 1)},
    **{0x31: ("short", 2), 0x32: ("int", 4), 0x33: ("long long", 8), 0x08: ("long", 4)},
    **{0x50: ("_Complex float", 8), 0x51: ("_Complex double", 16)},
}
"""0x08 is ``HRESULT``; 0x31 to 0x33 are truth values of other widths, as in Visual Basic."""

_NULL_POINTER: Final = 0x103


def builtin(index: int) -> TypeRef:
    """The type of a number below the first record: a plain one, or a pointer to one."""
    if index == _NULL_POINTER:
        return primitive("std::nullptr_t", 8)
    kind, mode = index & 0xFF, index >> 8 & 7
    if kind == 0x03:
        plain: TypeRef = VOID
    elif kind in _SPELLINGS:
        plain = primitive(*_SPELLINGS[kind])
    else:
        plain = Special(f"built-in type {kind:#x}")
    return Pointer(plain) if mode else plain


def size_of(index: int, word: int) -> int:
    """The size of a built-in type in bytes; a pointer has ``word`` of them."""
    return word if index >> 8 & 7 else _SPELLINGS.get(index & 0xFF, ("", 0))[1]
