"""Decorated names of Visual C++ (``?area@geo@@YAHH@Z``), read from left to right.

The grammar is not published; names here follow those that compilers write. Work is bounded by the name's length: what
is mentioned by number is copied from a list of ten, and the whole is cut off at a limit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from abistore.model.shapes import Access
from abistore.model.words import DESCRIPTOR, MADE, is_declared, is_decorated

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

MOST: Final = 1 << 14
"""Letters of the spelled name, beyond which it is not read."""

_MOST_DEPTH: Final = 40


class Unreadable(Exception):
    """A name that is not of the grammar that is known, or that would become too long."""


class Decoration(msgspec.Struct, frozen=True):
    """What the letters of a decorated name tell of a function or variable.

    ``sort`` is ``virtual`` or ``static`` of members that are. ``parameters`` are ``None`` of variables. ``result`` is
    the type of a variable too.
    """

    name: str
    access: Access | None
    sort: str
    convention: str
    result: str
    parameters: str | None
    qualifiers: str

    def __str__(self) -> str:
        words = f"{self.access}:" if self.access else "", self.sort, self.result, self.convention
        head = " ".join(filter(None, (*words, self.name)))
        return head if self.parameters is None else f"{head}({self.parameters}){self.qualifiers}"


class DecoratedName:
    """One decorated name, read from left to right; every method raises :class:`Unreadable` where it cannot go on.

    Types are spelled as elsewhere, or with their ``class_keys``: ``struct P``.
    """

    def __init__(self, symbol: str, start: int = 1, *, class_keys: bool = False) -> None:
        self._text = symbol
        self._class_keys = class_keys
        self._at = start
        self._names: list[str] = []
        self._types: list[str] = []
        self._depth = 0
        self._spent = 0

    def peek(self) -> str:
        """The next letter; empty at the end."""
        return self._text[self._at : self._at + 1]

    def whole(self) -> str:
        """The name with the parameters of a function."""
        name = self.qualified(symbol=True)
        if self.peek() in OF_VARIABLES:
            return name
        found = self._of_function(name)
        return f"{found.name}({found.parameters}){found.qualifiers}"

    def decoration(self) -> Decoration:
        """What stands behind the name."""
        name = self.qualified(symbol=True)
        if self.peek() not in OF_VARIABLES:
            return self._of_function(name)
        letter = self._next()
        access = ACCESSES[int(letter)] if letter in "012" else None
        made = self._type()
        while self.peek() in "EFI" and self.peek():
            self._at += 1
        words = QUALIFIERS.get(self.peek(), "")
        return Decoration(name, access, "static" if access else "", "", _qualified(made, words), None, "")

    def _of_function(self, name: str) -> Decoration:
        letter = self._next()
        access: Access | None = None
        sort = qualifiers = ""
        if "A" <= letter <= "X":
            access = ACCESSES[(ord(letter) - ord("A")) // 8]
            sort = ("", "static", "virtual", "thunk")[(ord(letter) - ord("A")) % 8 // 2]
            qualifiers = "" if sort == "static" else self._this()
        elif letter not in ("Y", "Z"):
            raise Unreadable
        convention = CONVENTIONS.get(self._next(), "")
        result = "" if self._takes("@") else self._result()
        if result and name.endswith("operator ()"):
            name = name.replace("operator ()", f"operator {result}")
        return Decoration(name, access, sort, convention, result, self._parameters(), qualifiers)

    def table(self, words: str) -> str:
        """A table of a class, and the base that it is for where the class has several."""
        owner = self.qualified()
        self._at += 2  # the letters of its storage and its constness
        base = "" if self._takes("@") or not self.peek() else f" in {self.qualified()}"
        return f"{words}{owner}{base}"

    # --- letters --------------------------------------------------------------------------------------------------

    def _next(self) -> str:
        letter = self._text[self._at]
        self._at += 1
        return letter

    def _takes(self, text: str) -> bool:
        if self._text.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _spend(self, text: str) -> str:
        self._spent += len(text)
        if self._spent > MOST:
            raise Unreadable
        return text

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise Unreadable

    # --- names ----------------------------------------------------------------------------------------------------

    def qualified(self, *, symbol: bool = False) -> str:
        """A qualified name, up to the sign that ends it. Constructors are called by their class.

        A function template's own name is not mentioned again by number; that of a class is.
        """
        special = ""
        if symbol and self._takes("?$"):
            parts = [self._template()]
        else:
            special = self._special() if self.peek() == "?" and self._text[self._at + 1 : self._at + 2] != "$" else ""
            parts = [special or self._component()]
        while not self._takes("@"):
            parts.append(self._component())
        if special in ("{constructor}", "{destructor}"):
            if len(parts) < 2:
                raise Unreadable
            own = parts[1].partition("<")[0]
            parts[0] = own if special == "{constructor}" else f"~{own}"
        return self._spend("::".join(reversed(parts)))

    def _special(self) -> str:
        self._at += 1
        for length in (3, 2, 1):
            found = OPERATORS.get(self._text[self._at : self._at + length])
            if found:
                self._at += length
                return found
        letter = self._next()
        if letter == CONSTRUCTOR:
            return "{constructor}"
        if letter == DESTRUCTOR:
            return "{destructor}"
        if letter == CONVERSION:
            return "operator ()"
        raise Unreadable

    def _component(self) -> str:
        letter = self.peek()
        if letter.isdecimal():
            self._at += 1
            return self._spend(self._names[int(letter)])
        if self._takes("?$"):
            return self._remember(self._template())
        if self._takes("?A"):
            self._at = self._text.index("@", self._at) + 1
            return self._remember("(anonymous namespace)")
        if letter in "?@" or not letter:
            raise Unreadable
        end = self._text.find("@", self._at)
        if end < 0:
            raise Unreadable
        name, self._at = self._text[self._at : end], end + 1
        return self._remember(name)

    def _remember(self, name: str) -> str:
        if len(self._names) < 10 and name not in self._names:
            self._names.append(name)
        return self._spend(name)

    def _template(self) -> str:
        """A template and its arguments, in which numbers mean other names than outside."""
        self._deeper()
        kept = self._names, self._types
        self._names, self._types = [], []
        if self._takes("?"):
            self._at -= 1
            name = self._special()
        else:
            name = self._component()
        arguments: list[str] = []
        while not self._takes("@"):
            arguments += self._argument()
        self._names, self._types = kept
        self._depth -= 1
        return f"{name}<{', '.join(arguments)}>"

    def _argument(self) -> list[str]:
        if self._takes("$$V") or self._takes("$$Z") or self._takes("$S"):
            return []
        if self._takes("$0"):
            return [str(self._number())]
        if self._takes("$1?"):
            return [f"&{DecoratedName.whole(self)}"]
        return [self._parameter()]

    def _number(self) -> int:
        sign = -1 if self._takes("?") else 1
        letter = self._next()
        if letter.isdecimal():
            return sign * (int(letter) + 1)
        value = 0
        while letter != "@":
            if not "A" <= letter <= "P":
                raise Unreadable
            value = 16 * value + ord(letter) - ord("A")
            letter = self._next()
        return sign * value

    # --- types ----------------------------------------------------------------------------------------------------

    def _parameters(self) -> str:
        """The types of parameters, up to the sign that ends them; ``...`` where there may be more."""
        if self._takes("X"):
            return ""
        found = []
        while not self._takes("@"):
            if self._takes("Z"):
                found.append("...")
                break
            found.append(self._parameter())
        return self._spend(", ".join(found))

    def _parameter(self) -> str:
        letter = self.peek()
        if letter.isdecimal():
            self._at += 1
            return self._spend(self._types[int(letter)])
        start = self._at
        made = self._type()
        if self._at - start > 1 and len(self._types) < 10:
            self._types.append(made)
        return made

    def _result(self) -> str:
        if self._takes("?"):
            words = QUALIFIERS.get(self._next())
            if words is None:
                raise Unreadable
            return _qualified(self._type(), words)
        return self._type()

    def _type(self) -> str:
        self._deeper()
        made = self._spend(self._type_within())
        self._depth -= 1
        return made

    def _type_within(self) -> str:
        for length in (3, 2, 1):
            word = self._text[self._at : self._at + length]
            if word in POINTERS:
                self._at += length
                return self._pointer(*POINTERS[word])
            if word in BUILTINS:
                self._at += length
                return BUILTINS[word]
        if self._takes("W4"):
            return self.qualified()
        if self.peek() in CLASS_KEYS:
            key = f"{CLASS_KEYS[self._next()]} "
            return f"{key if self._class_keys else ''}{self.qualified()}"
        if self._takes("$$C"):
            words = QUALIFIERS[self._next()] if self.peek() in QUALIFIERS else ""
            return _qualified(self._type(), words)
        if self._takes("$$A6"):
            result, parameters = self._function()
            return f"{result} ({parameters})"
        if self._takes("$$B"):
            return self._type()
        if self._takes("Y"):
            return self._array("")
        raise Unreadable

    def _pointer(self, sign: str, own: str) -> str:
        if self._takes("6"):
            result, parameters = self._function()
            return f"{result} ({sign}{own})({parameters})"
        if self._takes("8"):
            owner = self.qualified()
            words = self._this()
            result, parameters = self._function()
            return f"{result} ({owner}::{sign}{own})({parameters}){words}"
        while self.peek() in "EFI" and self.peek():
            self._at += 1
        letter = self._next()
        if letter in "QRST":
            owner = self.qualified()
            words = QUALIFIERS["ABCD"["QRST".index(letter)]]
            target = _qualified(self._type(), words)
            return f"{target} {owner}::{sign}{own}"
        words = QUALIFIERS.get(letter, "-")
        if words == "-":
            raise Unreadable
        if self._takes("Y"):
            return self._array(f"({sign}{own})", words)
        target = _qualified(self._type(), words)
        return f"{target}{sign}{own}"

    def _array(self, declarator: str, words: str = "") -> str:
        count = self._number()
        if not 0 < count < 32:
            raise Unreadable
        bounds = "".join(f"[{self._number()}]" for _ in range(count))
        if self._takes("$$C"):
            words = QUALIFIERS.get(self._next(), "")
        return f"{f'{self._type()} {words}'.rstrip()} {declarator}{bounds}"

    def _function(self) -> tuple[str, str]:
        """The result and the parameters of a function type; its calling convention is passed over."""
        self._next()
        result = self._result() if not self._takes("@") else ""
        parameters = self._parameters()
        self._takes("Z")
        return result, parameters

    def _this(self) -> str:
        """The qualifiers of the object that a member function is called on, as they are written behind it."""
        reference = ""
        while self.peek() in "EFGHI" and self.peek():
            reference = {"G": "&", "H": "&&"}.get(self._next(), reference)
        words = QUALIFIERS.get(self._next())
        if words is None:
            raise Unreadable
        return "".join(f" {each}" for each in (words, reference) if each)


def _qualified(type: str, words: str) -> str:
    """A type with its qualifiers, which the letters of a pointer tell once more: ``int* const``."""
    return type if not words or type.endswith(f" {words}") else f"{type} {words}"


LONGEST: Final = 1 << 12

Told = TypeVar("Told")


def _told(
    symbol: str, read: Callable[[DecoratedName], Told], start: int = 1, *, class_keys: bool = False
) -> Told | None:
    """What the letters from ``start`` on tell; ``None`` where they cannot be read, or would become too long."""
    try:
        return read(DecoratedName(symbol, start, class_keys=class_keys))
    except (Unreadable, IndexError, ValueError):
        return None


def decoration(symbol: str, *, class_keys: bool = False) -> Decoration | None:
    """What the letters of ``symbol`` tell; ``None`` where they cannot be read, and of what no source declares.

    ``class_keys`` spells ``struct P`` and ``class P`` for types, which have different letters.
    """
    if not is_decorated(symbol) or len(symbol) > LONGEST or not is_declared(symbol):
        return None
    return _told(symbol, DecoratedName.decoration, class_keys=class_keys)


def is_private(symbol: str) -> bool:
    """Whether a class alone may use what ``symbol`` names: derived classes have its virtual functions all the same."""
    found = decoration(symbol)
    return found is not None and found.access == "private" and found.sort != "virtual"


def without_letters(symbol: str, *, qualifiers: bool = False) -> str:
    """What two decorated names of one function or variable have in common, whatever their letters tell.

    With ``qualifiers`` only those of the object may differ: ``const``, ``volatile``, ``&`` and ``&&``.
    """
    found = decoration(symbol, class_keys=qualifiers)
    if found is None:
        return symbol
    if qualifiers:
        return str(replace(found, qualifiers=""))
    return found.name if found.parameters is None else f"{found.name}({found.parameters})"


def without_class_keys(symbol: str) -> str:
    """What two decorated names have in common whose types are a ``struct`` in one and a ``class`` in the other."""
    found = decoration(symbol)
    return symbol if found is None else str(found)


def class_of(symbol: str) -> str:
    """The class that a table is of: ``ui::Widget`` of ``??_7Widget@ui@@6B@``; empty of other names."""
    prefix = next(filter(symbol.startswith, MADE), None)
    return (_told(symbol, DecoratedName.qualified, len(prefix)) or "") if prefix else ""


def described_class(descriptor: str) -> str:
    """The class of a type descriptor: ``ui::Widget`` of ``??_R0?AVWidget@ui@@@8``; empty where it cannot be read."""
    return _told(descriptor, DecoratedName.qualified, len(DESCRIPTOR) + len("?AV")) or ""


def qualified_name(symbol: str) -> str:
    """``geo::area`` of ``?area@geo@@YAHH@Z``; empty where the name cannot be read."""
    if not is_decorated(symbol) or len(symbol) > LONGEST:
        return ""
    return _told(symbol, lambda name: name.qualified(symbol=True)) or ""


def demangled(symbol: str) -> str:
    """``geo::area(int)`` of ``?area@geo@@YAHH@Z``; empty where the name cannot be read, or would become too long."""
    if not is_decorated(symbol) or len(symbol) > LONGEST:
        return ""
    prefix = next(filter(symbol.startswith, MADE), None)
    if prefix:
        return _told(symbol, lambda name: name.table(MADE[prefix]), len(prefix)) or ""
    return _told(symbol, DecoratedName.whole) or ""
