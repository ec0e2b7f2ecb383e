"""What macros stand for that name others: expanded as the preprocessor does, and worked out where it is a constant."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.written.numbers.sizes import measured
from abistore.extract.headers.walk.written.tokens import SourceText, spelled, tokens
from abistore.model.declared import Meaning
from abistore.model.values.texts import constant

MOST: Final = 400
"""How many tokens are handled for one macro. Those that stand for a value have few; some double at each step."""

WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")


class Definition(NamedTuple):
    """A macro: its parameters, ``None`` without a list of them, what it stands for, and whether it is the library's.

    The last parameter of a ``variadic`` one takes all further arguments.
    """

    parameters: tuple[str, ...] | None
    body: tuple[str, ...]
    own: bool
    variadic: bool = False


class Expansion(NamedTuple):
    """What a text becomes, and whether macros of others had a part in it."""

    tokens: tuple[str, ...]
    borrowed: bool


class TooLong(Exception):
    """A text becomes too long to be followed."""


class Expansions:
    """Expands texts by all macros of a translation unit as they are defined at its end."""

    def __init__(
        self, lib: LibClang, text: SourceText, top: Iterable[Cursor], is_own: Callable[[Cursor], bool]
    ) -> None:
        self._lib, self._text, self._top, self._is_own = lib, text, top, is_own
        self._read: dict[str, Definition | None] = {}

    def of(self, name: str, value: str) -> Expansion | None:
        """What the macro ``name`` becomes of which ``value`` is the text; ``None`` where it is not followed."""
        try:
            return _Expanding(self.definition).expanded(tokens(value.encode()), name)
        except TooLong:
            return None

    def written(self, name: str, kept: Container[str]) -> tuple[str, ...]:
        """The tokens of a macro in which all others are expanded but those ``kept``; it is given zeros.

        Nothing where it is not followed.
        """
        macro = self.definition(name)
        if macro is None:
            return ()
        body = ["0" if token in (macro.parameters or ()) else token for token in macro.body]
        expanding = _Expanding(lambda word: None if word in kept else self.definition(word))
        try:
            return expanding.expanded(body, name).tokens
        except TooLong:
            return ()

    def spelled(self, cursor: Cursor) -> str:
        """The name of a macro."""
        return self._lib.spelling(cursor)

    @cached_property
    def _defined(self) -> Mapping[str, Cursor]:
        spelling = self._lib.spelling
        return {spelling(each): each for each in self._top if each.kind == kinds.MACRO}

    def definition(self, name: str) -> Definition | None:
        """The last definition of a macro; ``None`` where there is none that can be read."""
        if name not in self._read:
            cursor = self._defined.get(name)
            self._read[name] = None if cursor is None else self._written(cursor)
        return self._read[name]

    def _written(self, cursor: Cursor) -> Definition | None:
        name, *rest = tokens(self._text.of(cursor)) or [""]
        if not name:
            return None
        if not self._lib.Cursor_isMacroFunctionLike(cursor):
            return Definition(None, tuple(rest), self._is_own(cursor))
        end = rest.index(")") if ")" in rest else 0
        named = [each for each in rest[1:end] if each not in (",", "...")]
        variadic = rest[end - 1] == "..."
        if variadic and rest[end - 2] in ("(", ","):
            named.append("__VA_ARGS__")
        return Definition(tuple(named), tuple(rest[end + 1 :]), self._is_own(cursor), variadic)


def meaning(expansion: Expansion, constants: Mapping[str, str], pointer: int) -> Meaning | None:
    """The value of an expanded text, in which enumerators and other ``constants`` have theirs.

    ``pointer`` is the size of a pointer in bytes, on which those of other types depend.
    """
    known = (constants.get(each, each) for each in _qualified(measured(expansion.tokens, pointer)))
    value = constant(" ".join(known))
    return None if value is None else Meaning(value, expansion.borrowed)


def _qualified(found: Iterable[str]) -> Iterator[str]:
    """Tokens, with the parts of a qualified name joined."""
    pending = ""
    for token in found:
        if token == "::" or pending.endswith("::"):
            pending += token
            continue
        if pending:
            yield pending
        pending = token
    if pending:
        yield pending


class _Expanding:
    """One expansion, and what it has cost so far."""

    def __init__(self, definition: Callable[[str], Definition | None]) -> None:
        self._definition = definition
        self._handled = 0
        self._borrowed = False

    def expanded(self, found: Sequence[str], name: str) -> Expansion:
        return Expansion(tuple(self._of(found, frozenset({name}))), self._borrowed)

    def _of(self, found: Sequence[str], hidden: frozenset[str]) -> list[str]:
        """``found`` without macros but the ``hidden`` ones, which are being expanded."""
        if len(found) > MOST:
            raise TooLong
        result: list[str] = []
        place = 0
        while place < len(found):
            token = found[place]
            place += 1
            self._handled += 1
            if self._handled > MOST:
                raise TooLong
            macro = self._definition(token) if WORD.fullmatch(token) and token not in hidden else None
            if macro is None:
                result.append(token)
                continue
            body: Sequence[str] = macro.body
            if macro.parameters is not None:
                arguments, end = _arguments(found, place)
                if arguments is not None and macro.variadic:
                    arguments = _gathered(arguments, len(macro.parameters) - 1)
                if arguments is None or len(arguments) != len(macro.parameters):
                    result.append(token)
                    continue
                place = end
                body = self._filled(macro, arguments, hidden)
            self._borrowed |= not macro.own
            result += self._of(body, hidden | {token})
        return result

    def _filled(self, macro: Definition, arguments: Sequence[list[str]], hidden: frozenset[str]) -> list[str]:
        """The body of a macro with its arguments."""
        if len(macro.body) > MOST:
            raise TooLong
        given = dict(zip(macro.parameters or (), arguments, strict=True))
        result: list[str] = []
        body = macro.body
        for place, token in enumerate(body):
            before, after = body[place - 1] if place else "", body[place + 1] if place + 1 < len(body) else ""
            raw = given.get(token)
            if before == "#" and raw is not None:
                result[-1:] = [f'"{spelled(" ".join(raw).encode())}"']
            elif before == "##" and result[:-1]:
                pasted = [token] if raw is None else raw
                if result[-2] == ",":  # an extension of GNU: a comma before all further arguments, if there are any
                    result[-2:] = [",", *pasted] if pasted else []
                    continue
                result[-2:] = [result[-2] + "".join(pasted[:1]), *pasted[1:]]
            elif raw is None:
                result.append(token)
            else:
                result += raw if after == "##" else self._of(raw, hidden)
        return result


def _gathered(arguments: list[list[str]], fixed: int) -> list[list[str]]:
    """Arguments of which all behind the ``fixed`` ones are one, with their commas."""
    rest = [token for each in arguments[fixed:] for token in (",", *each)]
    return [*arguments[:fixed], rest[1:]]


def _arguments(found: Sequence[str], place: int) -> tuple[list[list[str]] | None, int]:
    """The arguments that begin at ``place``, and where they end; ``None`` where there are none."""
    if place >= len(found) or found[place] != "(":
        return None, place
    depth, arguments = 0, list[list[str]]([[]])
    for end in range(place, len(found)):
        token = found[end]
        depth += (token == "(") - (token == ")")
        if not depth:
            return ([] if arguments == [[]] else arguments), end + 1
        if token == "," and depth == 1:
            arguments.append([])
        elif end > place:
            arguments[-1].append(token)
    return None, place
