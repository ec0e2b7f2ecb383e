"""The letters of decorated names of Visual C++, and what they stand for."""

from __future__ import annotations

from typing import Final

from abistore.model.shapes import Access

CONSTRUCTOR, DESTRUCTOR, CONVERSION = "0", "1", "B"


OPERATORS: Final = {
    **{"2": "operator new", "3": "operator delete", "4": "operator=", "5": "operator>>", "6": "operator<<"},
    **{"7": "operator!", "8": "operator==", "9": "operator!=", "A": "operator[]", "C": "operator->", "D": "operator*"},
    **{"E": "operator++", "F": "operator--", "G": "operator-", "H": "operator+", "I": "operator&"},
    **{"J": "operator->*", "K": "operator/", "L": "operator%", "M": "operator<", "N": "operator<="},
    **{"O": "operator>", "P": "operator>=", "Q": "operator,", "R": "operator()", "S": "operator~", "T": "operator^"},
    **{"U": "operator|", "V": "operator&&", "W": "operator||", "X": "operator*=", "Y": "operator+="},
    **{"Z": "operator-=", "_0": "operator/=", "_1": "operator%=", "_2": "operator>>=", "_3": "operator<<="},
    **{"_4": "operator&=", "_5": "operator|=", "_6": "operator^=", "_U": "operator new[]", "_V": "operator delete[]"},
    **{"__L": "operator co_await", "__M": "operator<=>"},
}


BUILTINS: Final = {
    **{"C": "signed char", "D": "char", "E": "unsigned char", "F": "short", "G": "unsigned short", "H": "int"},
    **{"I": "unsigned int", "J": "long", "K": "unsigned long", "M": "float", "N": "double", "O": "long double"},
    **{"X": "void", "_J": "long long", "_K": "unsigned long long", "_N": "bool", "_W": "wchar_t", "_Q": "char8_t"},
    **{"_S": "char16_t", "_U": "char32_t", "_D": "signed char", "_E": "unsigned char", "_F": "short"},
    **{"_G": "unsigned short", "_H": "int", "_I": "unsigned int", "_L": "__int128", "_M": "unsigned __int128"},
    "$$T": "std::nullptr_t",
}


CLASS_KEYS: Final = {"T": "union", "U": "struct", "V": "class"}


POINTERS: Final = {
    **{"P": ("*", ""), "Q": ("*", " const"), "R": ("*", " volatile"), "S": ("*", " const volatile")},
    **{"A": ("&", ""), "B": ("&", ""), "$$Q": ("&&", ""), "$$R": ("&&", "")},
}


QUALIFIERS: Final = {"A": "", "B": "const", "C": "volatile", "D": "const volatile"}


OF_VARIABLES: Final = frozenset("01234")


CONVENTIONS: Final = {
    **{"A": "__cdecl", "C": "__pascal", "E": "__thiscall", "G": "__stdcall", "I": "__fastcall", "M": "__clrcall"},
    **{"Q": "__vectorcall", "S": "__swiftcall"},
}


ACCESSES: Final[tuple[Access, ...]] = ("private", "protected", "public")
