"""The grammar of spelled C and C++ names: tokens in, the normal spelling out."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final, Literal, TypeAlias

import msgspec

from abistore.model.names.symbols import BUILTIN_WORDS, COMPLEX, QUALIFIERS, builtin, cast
from abistore.patterns import pattern

TokenKind: TypeAlias = Literal["word", "number", "character", "string", "operator", "unnamed", "tag", "mark"]


class Token(msgspec.Struct, frozen=True):
    """One token; ``text`` is already normal for ``operator``, ``unnamed`` and ``tag``."""

    kind: TokenKind
    text: str


END: Final = Token("mark", "")

ANONYMOUS_NAMESPACE: Final = "(anonymous namespace)"

# What is looked for up to its end is looked for so far only: names may begin it in many places, and end it nowhere.
_PATTERN: Final = r"""
      (?P<space> \s+ )
    | (?P<namespace> \(anonymous\ namespace\) | \{anonymous\} | <anonymous> | <unnamed> | `anonymous[ -]namespace'
                   | _GLOBAL__N_ [\w$.]* )
    | (?P<closure> \(lambda\ at\ [^\n]{0,4096}?:\d+:\d+\) )
    | (?P<nameless> \( (?:anonymous|unnamed) (?:\ (?:struct|class|union|enum|type))?
                       (?:\ at\ [^\n]{0,4096}?:\d+:\d+)? \)
                  | < (?:anonymous|unnamed)\ (?:struct|class|union|enum|type) > | \{unnamed\} )
    | (?P<numbered> \{unnamed\ type\#(?P<ordinal>\d+)\} | \{unnamed\#(?P<again>\d+)\} | 'unnamed(?P<count>\d*)' )
    | (?P<character> (?:u8|[uUL])? ' (?:\\.|[^'\\]){1,64} ' )
    | (?P<string> (?:u8|[uUL])? " (?:\\.|[^"\\]){0,256} " )
    | (?P<tag> (?:\[(?:abi:|clone)[^][]*\])+ )
    | (?P<number> \d [\w.]* )
    | (?P<word> [^\W\d][\w$]* | \$[\w$]* )
    | (?P<mark> :: | && | \.\.\. | . )
    """

_OPERATOR: Final = r"""
    \s* (?: (?P<symbol> \(\s*\) | \[\s*\] | ->\*? | <=> | <<= | >>= | && | \|\| | \+\+ | -- | [-+*/%^&|=!<>]=
                          | << | >> | [-+*/%^&|~!=<>,] )
              | (?P<memory> (?:new|delete)\b (?:\s*\[\s*\])? | co_await\b )
              | "" \s* (?P<literal> [\w$]+ ) )"""


_UNUSUAL: Final = pattern(r"""['"`{\[$]|operator|_GLOBAL__N_|anonymous|unnamed|lambda""")
"""What stands in every text with other tokens than words, numbers and marks."""
_PLAIN: Final = pattern(r"[^\W\d]\w*|\d[\w.]*|::|&&|\.\.\.|\S")


def tokens(text: str) -> list[Token]:
    """``text`` cut into tokens, without white space."""
    if _UNUSUAL.search(text) is None:
        return [*map(_plain_token, _PLAIN.findall(text))]
    found: list[Token] = []
    pattern, operator = _compiled()
    position = 0
    while position < len(text):
        match = pattern.match(text, position)
        assert match is not None  # the last alternative takes any character
        position = match.end()
        if match["word"] == "operator" and (symbol := operator.match(text, position)):
            spelling, position = _operator(text, symbol)
            found.append(Token("operator", f"operator{spelling}"))
        elif match.lastgroup != "space":
            found.append(_token(match))
    return found


@cache
def _compiled() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The patterns of tokens and of operators: C needs none of both."""
    return re.compile(_PATTERN, re.VERBOSE | re.DOTALL), re.compile(_OPERATOR, re.VERBOSE)


@lru_cache(1 << 10)
def _plain_token(text: str) -> Token:
    if text[0].isdecimal():
        return Token("number", text)
    return Token("word" if text[0].isalnum() or text[0] == "_" else "mark", text)


def _token(match: re.Match[str]) -> Token:
    match match.lastgroup:
        case "word" | "mark" | "number" | "character" | "string" | "tag" as kind:
            return Token(kind, match[0])
        case "namespace":
            return Token("unnamed", ANONYMOUS_NAMESPACE)
        case "closure":
            return Token("unnamed", "{lambda}")
        case "nameless":
            return Token("unnamed", "{unnamed}")
        case "numbered" | "ordinal" | "again" | "count":
            count = match["count"]
            ordinal = match["ordinal"] or match["again"] or (str(int(count) + 2) if count else "1")
            return Token("unnamed", f"{{unnamed#{ordinal}}}")
    raise AssertionError(match.lastgroup)


def _operator(text: str, match: re.Match[str]) -> tuple[str, int]:
    """The normal spelling after ``operator`` and where it ends."""
    if match["literal"]:
        return f'""{match["literal"]}', match.end()
    if match["memory"]:
        words = re.sub(r"\s+", "", match["memory"])
        return f" {words}", match.end()
    symbol = re.sub(r"\s+", "", match["symbol"])
    end = match.end()
    if symbol == "<<" and re.match(r"\s*[^\s<(),>\[]", text[end : end + 80]):
        return (
            "<",
            end - 1,
        )  # `operator<<int>` is operator< with arguments; `operator<<` never has a name right after it
    return symbol, end


# --- literals -----------------------------------------------------------------------------------------------------

_ESCAPES: Final = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "0": 0}


def number(text: str) -> str:
    """An integer literal in decimal and without a suffix; any other number as it is."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlLzZ]*", text, re.ASCII)
    if match is None:
        return text
    digits = match[1]
    if len(digits) > 100:
        return text
    return str(int(digits, 16 if digits[:2] in ("0x", "0X") else 10))


def character(text: str) -> str:
    """A character literal as the number it stands for (a plain ``char`` as 0 to 255); any other quotation as it is."""
    prefix, _, quoted = text.partition("'")
    value = _code(quoted[:-1])
    if value is None:
        return text
    return str(value if prefix in ("u", "U", "L") else value & 0xFF)


def _code(body: str) -> int | None:
    if len(body) == 1:
        return ord(body)
    if not body.startswith("\\"):
        return None
    kind, digits = body[1:2], body[2:]
    if re.fullmatch(r"[0-7]{1,24}", body[1:]):
        return int(body[1:], 8)
    if kind in ("x", "u", "U") and re.fullmatch(r"[0-9a-fA-F]{1,16}", digits):
        return int(digits, 16)
    return None if digits else _ESCAPES.get(kind, ord(kind))


CLOSING: Final = frozenset(["", ",", ")", "]", "}"])


AHEAD: Final = (END,) * 4
"""So far the parser looks beyond the token that it is at."""


class NotAName(Exception):
    """The text does not follow the grammar of names."""


class TokenCursor:
    """Goes over the tokens from left to right."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = [*found, *AHEAD]
        self._position = 0

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[self._position + ahead]

    def _take(self) -> Token:
        token = self._tokens[self._position]
        if token is not END:
            self._position += 1
        return token

    def _accept(self, mark: str) -> bool:
        token = self._tokens[self._position]
        if token.text == mark and token.kind == "mark":
            self._position += 1
            return True
        return False

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            raise NotAName

    def _at_end(self, angle: bool) -> bool:
        token = self._tokens[self._position]
        return token.kind == "mark" and (token.text in CLOSING or (angle and token.text == ">"))


LEADING_WORDS: Final = frozenset(["constexpr", "extern", "for", "from", "inline", "static", "to", "virtual"])
"""Words before a type, as in ``typeinfo for char const*``: a qualifier after one belongs to what follows."""


class BaseWords:
    """The words and qualifiers before a declarator; a run of built-in words is taken as one word.

    The qualifiers, on whichever side of a word they were, go before the first word that no leading word precedes.
    """

    def __init__(self) -> None:
        self._words: list[str] = []
        self._qualifiers: set[str] = set()
        self._run: list[str] = []

    def qualify(self, qualifier: str) -> None:
        """Add a qualifier, wherever it stood."""
        self._qualifiers.add(qualifier)

    def builtin(self, word: str) -> None:
        """Add a word of a built-in type to the run of such words."""
        self._run.append(word)

    def word(self, word: str) -> None:
        """Add any other word, which ends a run."""
        self._close()
        self._words.append(word)

    def _close(self) -> None:
        if self._run:
            self._words.append(builtin(self._run))
            self._run = []

    @property
    def lone_builtin(self) -> bool:
        """Whether all words so far are of one built-in type."""
        return bool(self._run) and not self._words

    def text(self) -> str:
        """The words in order."""
        self._close()
        words = self._words
        if self._qualifiers:
            first = next((len(words) - at for at, word in enumerate(reversed(words)) if word in LEADING_WORDS), 0)
            words = [*words[:first], *sorted(self._qualifiers), *words[first:]]
        return " ".join(words)


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
