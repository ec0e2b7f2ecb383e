"""Conditions of public headers that ask what others than the headers define, and whether they held."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import msgspec

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang, libclang
from abistore.extract.headers.walk.written.tokens import SourceText, digest, spelled
from abistore.model.snapshot import AskedCondition, UntakenBranch

Own = Callable[[str], str | None]
"""What a file is called that is the library's; ``None`` for any other."""

_APART: Final = re.compile(
    rb"""R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"|/\*.*?(?:\*/|\Z)|//(?:[^\n\\]|\\(?:\r?\n|.))*"""
    rb"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""",
    re.DOTALL,
)
"""What holds no directive."""

_DIRECTIVE: Final = re.compile(
    rb"^[ \t]*(?:\#|%:)[ \t]*(?P<word>ifn?def|if|elifn?def|elif|else|endif)\b(?P<asked>(?:[^\n\\]|\\\r?\n|\\.)*)",
    re.MULTILINE,
)
_JOINED: Final = re.compile(rb"\\\r?\n")
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
_NO_MACROS: Final = frozenset({"defined", "true", "false", "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"})
_LANGUAGE: Final = re.compile(r"#(?:if|elif)(?:n?def | ?!? ?defined ?\(? ?)__cplusplus\)?")
_LINKAGE: Final = re.compile(rb'[\s\\]*(?:extern\s*"C"\s*\{|\})?[\s\\]*')
"""What makes no other declaration for one language than for the other."""

_ABSENT: Final = re.compile(r"#if(?:ndef | ?! ?defined ?\(? ?)(?P<name>\w+)\)?")
"""The beginning of a guard, and of a default: what is not defined yet is defined then."""

_GIVEN: Final = re.compile(r"-D(\w+)(?:=(.*))?", re.DOTALL)


class _Macro(NamedTuple):
    """The last definition of a macro: ``own`` in a header of the library, ``outside`` in none of the system either."""

    own: bool
    outside: bool
    value: str


class _Directive(NamedTuple):
    """A directive, its line, and whether it has no part, or one that every language reads alike."""

    line: int
    word: str
    text: str
    idle: bool


class _Passed(NamedTuple):
    """The lines of a file at which the preprocessor began to pass over text, each with the line at which it ended."""

    ranges: dict[int, int]

    @property
    def ends(self) -> Collection[int]:
        """The lines at which it ended."""
        return self.ranges.values()


NOTHING: Final = _Passed({})


def untaken_branches(units: Iterable[Any], public: Own, arguments: Sequence[str]) -> tuple[UntakenBranch, ...]:
    """The words in branches of public headers that were not read, since others than the headers define what they ask.

    ``units`` were parsed with ``arguments``.
    """
    found: dict[str, set[str]] = {}
    given = {match[1]: match[2] or "1" for each in arguments if (match := _GIVEN.fullmatch(each))}
    for unit in units:
        for condition, words in _UnitConditions(unit, public, given).untaken():
            found.setdefault(condition, set()).update(words)
    return tuple(UntakenBranch(text, tuple(sorted(found[text]))) for text in sorted(found) if found[text])


def asked_conditions(units: Iterable[Any], own: Own, arguments: Sequence[str]) -> tuple[AskedCondition, ...]:
    """The conditions of a library's headers that ask for macros which these headers do not define themselves.

    ``units`` were parsed with ``arguments``. A condition that the preprocessor never came to is none.
    """
    found: dict[AskedCondition, set[str]] = {}
    given = {match[1]: match[2] or "1" for each in arguments if (match := _GIVEN.fullmatch(each))}
    for unit in units:
        for each in _UnitConditions(unit, own, given).found():
            found.setdefault(msgspec.structs.replace(each, files=()), set()).update(each.files)
    return tuple(sorted(msgspec.structs.replace(each, files=tuple(sorted(files))) for each, files in found.items()))


class _UnitConditions:
    """What one translation unit asked."""

    def __init__(self, unit: Any, own: Own, given: Mapping[str, str]) -> None:
        self._lib = libclang()
        self._unit = unit.obj
        self._text = SourceText(self._lib, unit.obj)
        self._top = self._lib.top(unit)
        self._own = own
        self._given = given
        self._names: dict[int, str | None] = {}
        self._macros: Mapping[str, _Macro] = {}

    def found(self) -> Iterator[AskedCondition]:
        """Each condition with the header that it stands in."""
        passed = _passed_over(self._lib, self._unit)
        asked = {file: list(_directives(self._text.file(file))) for file in self._files()}
        self._macros = self._defined({word for each in asked.values() for one in each for word in _words(one.text)})
        for file, directives in asked.items():
            for one, held in _answers(directives, passed.get(file, NOTHING), self._is_guard):
                condition = None if one.idle else self._condition(one.text, file, held=held)
                if condition is not None:
                    yield condition

    def untaken(self) -> Iterator[tuple[str, Collection[str]]]:
        """What is asked before each text that was passed over, with the words in that."""
        passed = _passed_over(self._lib, self._unit)
        files = [file for file in self._files() if file in passed]
        asked = {file: list(_directives(self._text.file(file))) for file in files}
        self._macros = self._defined({word for each in asked.values() for one in each for word in _words(one.text)})
        defaults = {match["name"] for each in asked.values() for one in each if (match := _ABSENT.fullmatch(one.text))}
        for file, directives in asked.items():
            chains = dict(_chains(directives))
            lines = _APART.sub(_emptied, self._text.file(file)).decode(errors="replace").split("\n")
            for begin, end in passed[file].ranges.items():
                texts = chains.get(begin, ())
                if any(self._is_for_others(text, file, defaults) for text in texts):
                    text = "\n".join(each for each in lines[begin : end - 1] if not each.lstrip().startswith("#"))
                    yield texts[-1], set(_WORD.findall(text))

    def _is_for_others(self, text: str, file: int, defaults: Collection[str]) -> bool:
        """Whether programs can answer a condition: by a macro that headers do not define, or of which they have a
        default (``#ifndef FOO_API``, and a value for it).
        """
        if self._condition(text, file, held=False) is not None:
            return True
        own = (name for name in self._reached(text) if name in defaults and not self._is_guard(text))
        return any(name in self._macros and self._macros[name].value for name in own)

    def _files(self) -> list[int]:
        """The headers of the library that were read."""
        files = dict.fromkeys(self._lib.getIncludedFile(each) for each in self._top if each.kind == kinds.INCLUSION)
        return [file for file in files if file and self._name(file) is not None]

    def _name(self, file: int) -> str | None:
        if file not in self._names:
            self._names[file] = self._own(self._lib.text(self._lib.getFileName(file)))
        return self._names[file]

    def _defined(self, wanted: Collection[str]) -> dict[str, _Macro]:
        """The macros of these names, and those that definitions in the library's headers name in turn."""
        cursors: dict[str, Cursor] = {self._lib.spelling(each): each for each in self._top if each.kind == kinds.MACRO}
        found: dict[str, _Macro] = {}
        pending = sorted(wanted)
        while pending:
            name = pending.pop()
            if name in cursors and name not in found:
                found[name] = macro = self._macro(cursors[name], name)
                if macro.own:
                    pending += _words(macro.value)
        return found

    def _macro(self, cursor: Cursor, name: str) -> _Macro:
        location = self._lib.getCursorLocation(cursor)
        file, _, _ = self._lib.place(location)
        if file is None:
            return _Macro(False, name in self._given, self._given.get(name, ""))
        own = self._name(file) is not None
        value = spelled(self._text.of(cursor)[len(name.encode()) :])
        return _Macro(own, not own and not self._lib.Location_isInSystemHeader(location), value)

    def _is_guard(self, text: str) -> bool:
        absent = _ABSENT.fullmatch(text)
        macro = self._macros.get(absent["name"]) if absent else None
        return macro is not None and macro.own

    def _condition(self, text: str, file: int, *, held: bool) -> AskedCondition | None:
        """The condition; ``None`` where the library's headers decide it alone."""
        reached = self._reached(text)
        own = sorted(name for name in reached if name in self._macros and self._macros[name].own)
        others = sorted(reached.difference(own))
        if not others or self._is_guard(text):
            return None
        decided = "\n".join(f"{name} {self._macros[name].value}" for name in own)
        outside = [name for name in others if name in self._macros and self._macros[name].outside]
        return AskedCondition(
            text,
            held,
            (self._name(file) or "",),
            own=digest(decided.encode(errors="replace")) if own else "",
            outside=tuple(f"{name}={self._macros[name].value}" for name in outside),
        )

    def _reached(self, text: str) -> set[str]:
        """The macros that a condition asks for, itself and by what the library's headers define."""
        reached: set[str] = set()
        pending = _words(text)
        while pending:
            name = pending.pop()
            if name not in reached:
                reached.add(name)
                macro = self._macros.get(name)
                pending += _words(macro.value) if macro and macro.own else []
        return reached


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word not in _NO_MACROS]


def _passed_over(lib: LibClang, unit: Any) -> dict[int, _Passed]:
    found: dict[int, _Passed] = {}
    ranges = lib.getAllSkippedRanges(unit)
    try:
        for number in range(ranges.contents.count):
            file, begin, _ = lib.place(lib.getRangeStart(ranges.contents.ranges[number]))
            _, end, _ = lib.place(lib.getRangeEnd(ranges.contents.ranges[number]))
            found.setdefault(file or 0, _Passed({})).ranges[begin] = end
    finally:
        lib.disposeSourceRangeList(ranges)
    return found


def _directives(text: bytes) -> Iterator[_Directive]:
    """The conditional directives of a header, each with the lines that go on with it."""
    plain = _APART.sub(_blanked, text)
    line, place = 1, 0
    found = list(_DIRECTIVE.finditer(plain))
    for match, after in zip_longest(found, found[1:]):
        line += plain.count(b"\n", place, match.start("word"))
        place = match.start("word")
        word = match["word"].decode()
        said = f"#{word} {spelled(_JOINED.sub(b' ', match['asked']))}".rstrip()
        part = plain[match.end() : after.start() if after else len(plain)]
        idle = _LANGUAGE.fullmatch(said) is not None and _LINKAGE.fullmatch(part) is not None
        yield _Directive(line, word, said, idle)


def _chains(directives: Iterable[_Directive]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each directive that begins a branch, by its line, with what was asked up to there: ``#if A``, ``#elif B``."""
    around: list[tuple[str, ...]] = []
    for one in directives:
        if one.word.startswith("if"):
            around.append((one.text,))
        elif not around:
            return
        elif one.word == "endif":
            around.pop()
            continue
        elif one.word != "else":
            around[-1] = (*around[-1], one.text)
        yield one.line, around[-1]


def _emptied(match: re.Match[bytes]) -> bytes:
    """A comment or literal as its line breaks."""
    return b" " + b"\n" * match[0].count(b"\n")


def _blanked(match: re.Match[bytes]) -> bytes:
    """A comment as its line breaks, over which a directive goes on; what is no comment as it is."""
    found = match[0]
    return found if found[:1] != b"/" else b" " + b"\\\n" * found.count(b"\n")


def _answers(
    directives: Iterable[_Directive], passed: _Passed, is_guard: Callable[[str], bool]
) -> Iterator[tuple[_Directive, bool]]:
    """Each condition that was asked, and whether it held.

    A guard held when the file was read for the first time, and is no reason to pass over the file.
    """
    around: list[tuple[bool, bool]] = []  # of each: whether it stands in text that is read, and whether a part of it is
    reading = True
    for one in directives:
        line, word = one.line, one.word
        if word.startswith("if"):
            held = reading and (line not in passed.ranges or is_guard(one.text))
            if reading:
                yield one, held
            around.append((reading, held))
            reading = held
        elif not around:
            return  # no text of a header that parses
        elif word == "endif":
            reading, _ = around.pop()
        else:
            outer, taken = around[-1]
            reading = outer and not taken and (word == "else" or line in passed.ends)
            if outer and not taken and word != "else":
                yield one, reading
            around[-1] = outer, taken or reading
