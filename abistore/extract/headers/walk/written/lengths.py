"""How long the arrays are that functions ask for: ``void digest(char out[16])`` takes a pointer, and says so."""

from __future__ import annotations

from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang

LETTERS: Final = frozenset({4, 13, 15})
"""``char`` and ``wchar_t`` (CXTypeKind)."""


def length(lib: LibClang, parameter: Cursor) -> int:
    """The elements that a parameter asks for, as it is written or by an alias; 0 where it is written as no array.

    So it is for text that is only read: it ends by a mark, and what is written is the most that it may have.
    """
    type = lib.getCanonicalType(lib.getCursorType(parameter))
    if type.kind != kinds.CONSTANT_ARRAY:
        return 0
    is_text = lib.getArrayElementType(type).kind in LETTERS and lib.isConstQualifiedType(type)
    return 0 if is_text else lib.bound(type) or 0
