"""The grammar of spelled C and C++ names: tokens in, the normal spelling out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from abistore.model.cpp_names.base_words import BaseWords
from abistore.model.cpp_names.builtins import BUILTIN_WORDS, COMPLEX, QUALIFIERS, cast
from abistore.model.cpp_names.cursor import NotAName, TokenCursor
from abistore.model.cpp_names.tokens import END, Token, character, number

MAX_DEPTH: Final = 60
"""Names nested deeper are not parsed: no compiler writes them, and recursion stays safe."""

ELABORATIONS: Final = frozenset(["class", "enum", "struct", "typename", "union"])

OPERATOR_WORDS: Final = frozenset(["alignof", "decltype", "noexcept", "sizeof"])


NAMING: Final = frozenset(["word", "operator", "unnamed"])
"""The kinds of tokens that begin a name whatever follows."""

ValueOf: TypeAlias = Callable[[str], str | None]


class Parser(TokenCursor):
    """Recursive descent over the tokens of a name; each method returns the normal text of what it has consumed."""

    def __init__(self, found: list[Token], value_of: ValueOf | None) -> None:
        super().__init__(found)
        self._depth = 0
        self._within = 0
        self._value_of = value_of
        self._names: dict[int, tuple[str, int]] = {}
        self._items: dict[tuple[int, bool], tuple[str, int]] = {}

    def whole(self) -> str:
        """The normal spelling of all tokens; raises :class:`NotAName` where they are no name."""
        text = self._item(angle=False)
        if self._peek() is not END:
            raise NotAName
        return text

    # one type, value or declaration

    def _item(self, *, angle: bool) -> str:
        """One thing between commas; ``angle`` tells that ``>`` ends it. Nothing is parsed twice."""
        start = self._position
        if known := self._items.get((start, angle)):
            text, self._position = known
            return text
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise NotAName
        while self._peek().text == "::" and self._starts_name(1):
            self._take()
        found = self._value(angle)
        if found is None:
            found = self._declarator(self._base().text(), angle)
        self._depth -= 1
        self._items[start, angle] = found, self._position
        return found

    def _list(self, closing: str) -> str:
        """Items up to ``closing``, which is consumed."""
        items: list[str] = []
        while not self._accept(closing):
            if items:
                self._expect(",")
            items.append(self._item(angle=closing == ">"))
        return ", ".join(items)

    def _parameters(self) -> str:
        inner = self._list(")")
        return "()" if inner == "void" else f"({inner})"

    def _arguments(self) -> str:
        """Template arguments after ``<``."""
        items: list[str] = []
        while not self._accept(">"):
            if items:
                self._expect(",")
            item = self._item(angle=True)
            items.append((self._value_of and self._value_of(item)) or item)
        return f"<{', '.join(items)}>"

    # values

    def _value(self, angle: bool) -> str | None:
        """A literal, address, cast, brace list or parenthesised value that starts here, if one does."""
        start = self._position
        token = self._take()
        text: str | None = None
        if token.kind == "number":
            text = number(token.text)
        elif token.kind == "character" and not token.text.startswith(("'lambda", "'unnamed")):
            text = character(token.text)
        elif token.kind == "string":
            text = token.text
        elif token.kind == "word" and token.text == "nullptr":
            text = "0"
        elif token.kind == "mark":
            text = self._marked_value(token.text, angle)
        if text is not None and self._at_end(angle):
            return text
        self._position = start
        return None

    def _marked_value(self, mark: str, angle: bool) -> str | None:
        if mark == "-" and self._peek().kind == "number":
            return f"-{number(self._take().text)}"
        if mark == "&" and angle:
            return self._address()
        if mark == "(" and self._peek().text != ")":
            return self._parenthesised(angle)
        if mark == "{" and self._peek().text != "lambda":
            return f"{{{self._list('}')}}}"
        return None

    def _address(self) -> str | None:
        """The entity whose address is meant, by its name alone."""
        if self._accept("("):
            text = self._name()
            if self._accept("("):
                self._list(")")
            while self._peek().text in QUALIFIERS or self._peek().text in ("&", "&&"):
                self._take()
            self._expect(")")
            return text
        return self._name() if self._starts_name() else None

    def _parenthesised(self, angle: bool) -> str | None:
        """``(& x)``, ``(5)``, or a cast."""
        address = self._peek().text == "&"
        inner = self._item(angle=address)
        if not self._accept(")"):
            return None
        if self._at_end(angle):
            simple = address or re.fullmatch(r"-?\d+|\(.*\)-?\d+", inner)
            return inner if simple else None
        value = self._item(angle=angle)
        return cast(inner, value)

    # types and declarations

    def _base(self) -> BaseWords:
        base = BaseWords()
        while True:
            if self._peek().kind == "word" and self._specified(base):
                continue
            if not self._starts_name():
                return base
            start, name = self._position, self._name()
            if self._peek().text == "::" and self._peek(1).text == "*":
                self._position = start  # a member pointer belongs to the declarator
                return base
            base.word(name)

    def _specified(self, base: BaseWords) -> bool:
        """Whether a word that is no name stands here, which is taken into ``base``."""
        word = self._peek().text
        if word == "_Atomic" and self._peek(1).text == "(":
            self._position += 2
            inner = self._item(angle=False)
            self._expect(")")
            if inner.endswith(("*", "&", ")", "]")):
                base.word(f"{inner} _Atomic")
            else:
                base.word(inner)
                base.qualify("_Atomic")
        elif word in QUALIFIERS:
            base.qualify(QUALIFIERS[self._take().text])
        elif word in ELABORATIONS and self._starts_name(1):
            self._take()
        elif self._at_builtin(base):
            base.builtin(self._builtin_word())
        else:
            return False
        return True

    def _at_builtin(self, base: BaseWords) -> bool:
        token, following = self._peek(), self._peek(1).text
        if following in ("::", "<"):
            return False
        if token.text in COMPLEX:
            return token.text != "complex" or base.lone_builtin or following in ("float", "double", "long")
        return token.text in BUILTIN_WORDS

    def _builtin_word(self) -> str:
        word = self._take().text
        if word in ("_BitInt", "__vector") and self._accept("("):
            return f"{word}({self._list(')')})"
        return "_Complex" if word in COMPLEX else word

    def _member_pointer(self) -> bool:
        """Whether a name that ends in ``::*`` starts here: it belongs to the declarator."""
        start = self._position
        self._name()
        found = self._peek().text == "::" and self._peek(1).text == "*"
        self._position = start
        return found

    def _declarator(self, text: str, angle: bool) -> str:
        while not self._at_end(angle):
            token = self._peek()
            if self._starts_name():
                text = self._declared(text)
                continue
            self._take()
            if token.kind == "mark" and token.text == "(":
                if self._starts_group():
                    text += ("(" if text[-1:] in "*&" else " (") + self._item(angle=False) + ")"
                    self._expect(")")
                else:
                    text += self._parameters()
            elif token.kind == "mark" and token.text == "[":
                text += f"[{self._list(']')}]"
            elif token.kind == "mark" and token.text == "{":
                text = f"{{{self._list('}')}}}"
            else:
                text += self._loose(token, text)
        return text

    def _loose(self, token: Token, text: str) -> str:
        """A mark or literal without a meaning of its own, kept apart from a word before it."""
        spelled = number(token.text) if token.kind == "number" else token.text
        return f" {spelled}" if text and (text[-1].isalnum() or text[-1] in "_$") and spelled[:1].isalnum() else spelled

    def _declared(self, text: str) -> str:
        """A qualifier, specifier, member pointer or name that follows a declarator's beginning."""
        found: set[str] = set()
        while self._peek().kind == "word" and self._peek().text in QUALIFIERS:
            found.add(QUALIFIERS[self._take().text])
        if found:
            return " ".join([text, *sorted(found)]) if text else " ".join(sorted(found))
        if self._member_pointer():
            name = self._name()
            self._position += 2
            return f"{text} {name}::*" if text else f"{name}::*"
        scoped = self._peek().text == "::"
        name = self._name()
        if scoped and text.endswith((")", "const", "volatile", "&")):
            return f"{text}::{name}"
        return f"{text} {name}" if text else name

    def _starts_group(self) -> bool:
        """Whether what follows ``(`` is a nested declarator and not a parameter list."""
        token = self._peek()
        if token.kind == "mark" and token.text in ("*", "&", "&&", "("):
            return True
        return self._starts_name() and self._member_pointer()

    # names

    def _starts_name(self, ahead: int = 0) -> bool:
        token = self._peek(ahead)
        if token.kind in NAMING:
            return True
        if token.kind == "character":
            return token.text.startswith("'lambda")
        if token.kind != "mark":
            return False
        following = self._peek(ahead + 1)
        if token.text == "::":
            return self._starts_name(ahead + 1) if following.text != "::" else False
        return (token.text in ("{", "<") and following.text == "lambda") or (
            token.text == "~" and following.kind in ("word", "mark", "character")
        )

    def _name(self) -> str:
        """A qualified name; a leading ``::`` is dropped, one before ``*`` is left alone."""
        start = self._position
        if known := self._names.get(start):
            text, self._position = known
            return text
        self._within += 1
        if self._within > MAX_DEPTH:  # conversions to the types of conversions
            raise NotAName
        self._accept("::")
        text = self._component()
        while self._peek().text == "::" and self._starts_name(1):
            self._take()
            text += f"::{self._component()}"
        self._within -= 1
        self._names[start] = text, self._position
        return text

    def _component(self) -> str:
        token = self._take()
        if token.kind == "mark" and token.text == "~":
            if self._peek().text == "~":
                raise NotAName
            return f"~{self._component()}"
        if token.kind == "mark" or token.kind == "character":
            return self._lambda(token)
        if token.kind == "word" and token.text == "operator":
            text = f"operator {self._conversion()}".rstrip()
        elif token.kind == "word" and token.text in OPERATOR_WORDS and self._accept("("):
            null = self._peek().text == "nullptr"
            text = f"{token.text}({self._list(')')})"
            text = "std::nullptr_t" if null and text == "decltype(0)" else text
        elif token.kind in ("word", "operator", "unnamed"):
            text = token.text
        else:
            raise NotAName
        if token.text == "auto" and self._peek().text == ":" and self._peek(1).kind == "number":
            self._position += 2
        return self._tagged(text)

    def _tagged(self, text: str) -> str:
        """``text`` with the ABI tags and template arguments that follow it."""
        while True:
            if self._peek().kind == "tag":
                tag = self._take().text
                text += f" {tag}" if tag.startswith("[clone") else tag
            elif self._accept("<"):
                text += (" " if text.endswith("<") else "") + self._arguments()
            else:
                return text

    def _conversion(self) -> str:
        """The type that a conversion operator gives."""
        text = self._base().text()
        while self._peek().text in ("*", "&", "&&") or self._peek().text in QUALIFIERS or self._at_member_pointer():
            if self._starts_name():
                text = self._declared(text)
            else:
                text += self._take().text
        return text

    def _at_member_pointer(self) -> bool:
        return self._starts_name() and self._member_pointer()

    def _lambda(self, token: Token) -> str:
        """``{lambda(int)#1}``, ``<lambda(int)>`` or ``'lambda0'(int)``; an ordinal only where one is told."""
        if token.kind == "character":
            count = token.text[len("'lambda") : -1]
            if count and not count.isdecimal():
                raise NotAName
            self._expect("(")
            return f"{{lambda{self._parameters()}#{int(count) + 2 if count else 1}}}"
        if token.text not in ("{", "<") or self._take().text != "lambda":
            raise NotAName
        text = self._parameters() if self._accept("(") else ""
        if token.text == "{" and self._accept("#"):
            text += f"#{self._take().text}"
        self._expect("}" if token.text == "{" else ">")
        return f"{{lambda{text}}}"
