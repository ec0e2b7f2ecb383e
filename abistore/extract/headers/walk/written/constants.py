"""The values of constants, and what enumerators are written as."""

from __future__ import annotations

import re
from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.written.tokens import SourceText, after, spelled

INTEGER, STRING = 1, 4
"""CXEvalResultKind."""

LITERAL: Final = re.compile(r"[-+]?(?:0[xXbB])?[\da-fA-F']+[uUlLzZ]*|'(?:[^'\\]|\\.)*'")


LONGEST: Final = 8
"""How many bytes an integer has at most that libclang tells."""


class Constants:
    """Works out values as the compiler does; one that it cannot tell is as the header writes it."""

    def __init__(self, lib: LibClang, text: SourceText) -> None:
        self._lib = lib
        self._text = text

    def of(self, variable: Cursor) -> str | None:
        """The value that a variable's declaration gives it; ``None`` where it gives none."""
        lib = self._lib
        initializer = lib.Cursor_getVarDeclInitializer(variable)
        if not initializer.d0 or initializer.kind in kinds.NOTHING:
            return None
        return self._evaluated(variable) or self._written(variable)

    def _evaluated(self, variable: Cursor) -> str | None:
        lib = self._lib
        type = lib.getCanonicalType(lib.getCursorType(variable))
        if type.kind not in kinds.SCALARS:
            return None
        result = lib.Cursor_Evaluate(variable)
        if not result:
            return None
        try:
            match lib.EvalResult_getKind(result):
                case 1 if (lib.size(type) or 0) <= LONGEST:
                    unsigned = lib.EvalResult_isUnsignedInt(result)
                    value = lib.EvalResult_getAsUnsigned if unsigned else lib.EvalResult_getAsLongLong
                    return _integer(value(result), type.kind)
                case 2:
                    return repr(lib.EvalResult_getAsDouble(result))
                case _:
                    return None
        finally:
            lib.EvalResult_dispose(result)

    def _written(self, variable: Cursor) -> str | None:
        text = self._text.declarator(variable)
        found = spelled(after(text, "=")) or spelled(text[text.find(b"{") :] if b"{" in text else b"")
        return found or None

    def expression(self, enumerator: Cursor, *, wide: bool) -> str | None:
        """What the value of an enumerator is written as; ``None`` for none, and for a plain number unless ``wide``."""
        text = self._text.of(enumerator)
        if b"=" not in text:
            return None
        found = spelled(after(text, "="))
        return None if not wide and LITERAL.fullmatch(found) else found or None


def _integer(value: int, kind: int) -> str:
    return ("false", "true")[bool(value)] if kind == kinds.BOOL_TYPE else str(value)
