"""Conditions of public headers: which macros they ask for, and whether they held."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import msgspec

from abistore.extract.headers import cursors as kinds
from abistore.extract.headers.cursors import Cursor, LibClang, libclang
from abistore.extract.headers.texts import directives
from abistore.extract.headers.tokens import SourceText, digest, spelled
from abistore.model.shapes import AskedCompiler, UntakenBranch
from abistore.model.snapshot import AskedCondition
from abistore.patterns import pattern

Own = Callable[[str], str | None]
"""What a file is called that is the library's; ``None`` for any other."""

APART: Final = re.compile(
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
_LINKAGE: Final = re.compile(
    rb'(?:[\s\\]*(?:extern\s*"C"\s*\{|\}'
    rb'|\#[ \t]*define[ \t]+\w+(?:[ \t]+(?:extern(?:[ \t]*"C")?)?[ \t]*[{}]?)?[ \t]*(?=\n)))*[\s\\]*'
)
"""What makes no other declaration for one language than for the other."""

_DEFINED: Final = re.compile(rb"\s*\#[ \t]*define[ \t]+(?P<name>\w+)(?P<value>(?:[^\n\\]|\\\r?\n|\\.)*)\s*")
_DIRECTIVES: Final = re.compile(rb"^[ \t]*(?:\#|%:)(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
_COMPILER: Final = re.compile(r"__(?:clang|GNUC|GCC|has|llvm|INTEL|COUNTER|cpp_|STDC_VERSION|AVX|SSE|ARM_)\w*")
"""Macros by which headers ask which compiler reads them: its version, its standard, its instruction set."""

_STANDARD: Final = re.compile(r"\b__cplusplus ?[<>=]")
"""How headers of C++ ask for the standard."""

_ABSENT: Final = re.compile(r"#if(?:ndef | ?! ?defined ?\(? ?)(?P<name>\w+)\)?")
"""The beginning of a guard, and of a default: what is not defined yet is defined then."""

_GIVEN: Final = re.compile(r"-D(\w+)(?:=(.*))?", re.DOTALL)


class _Macro(NamedTuple):
    """The last definition of a macro: ``own`` in a header of the library, ``outside`` in no system header either."""

    own: bool
    outside: bool
    value: str
    file: int = 0


class _Directive(NamedTuple):
    """A directive: its line, the text up to the next one, and whether every language reads all branches alike."""

    line: int
    word: str
    text: str
    part: bytes
    idle: bool = False


class _Answer(NamedTuple):
    """A condition, whether it held, and the text that was skipped for it or for an earlier branch."""

    directive: _Directive
    held: bool
    passed: list[bytes]


class Asked(msgspec.Struct, frozen=True):
    """What the headers of a library asked for.

    ``conditions`` ask for macros that they do not define themselves, which are the ``macros``. ``borrowed`` are, by
    header, the macros that it asks for and that other headers of the library define which it does not include.
    ``compilers`` are conditions that show other compilers other declarations, ``untaken`` branches of public headers
    that were not read though programs can have them read.
    """

    conditions: tuple[AskedCondition, ...]
    macros: frozenset[str]
    borrowed: Mapping[str, frozenset[str]]
    compilers: tuple[AskedCompiler, ...]
    untaken: tuple[UntakenBranch, ...]


class _Passed(NamedTuple):
    """The lines of a file at which the preprocessor began to skip text, each with the line at which it ended."""

    ranges: dict[int, int]

    @property
    def ends(self) -> Collection[int]:
        return self.ranges.values()


NOTHING: Final = _Passed({})

_AHEAD: Final = re.compile(
    r"\b(?:struct|class|union)\s+\w+(?=\s*[;*&,)])|\btypedef\s+(?:struct|class|union)\s+\w+[\s*]+\w+\s*;"
)
"""What names a class that it does not define."""


def names_in(text: str) -> set[str]:
    """The words of a header outside of comments and literals, without those of classes that it only declares."""
    return set(_WORD.findall(_AHEAD.sub(" ", without_comments(text))))


def without_comments(text: str) -> str:
    """The text of a header without comments and literals, in as many lines."""
    return APART.sub(_emptied, text.encode(errors="replace")).decode(errors="replace")


def asked(units: Iterable[Any], own: Own, public: Own, arguments: Sequence[str]) -> Asked:
    """The conditions of a library's headers.

    ``units`` were parsed with ``arguments``. Conditions that the preprocessor never reached are left out.
    """
    found: dict[AskedCondition, set[str]] = {}
    macros, borrowed, compilers = set[str](), dict[str, set[str]](), set[AskedCompiler]()
    untaken: dict[str, set[str]] = {}
    for unit in units:
        conditions = _UnitConditions(unit, own, _given(arguments), cpp="-xc++" in arguments)
        compilers |= set(conditions.asked_of_compilers())
        for each, others in conditions.found():
            found.setdefault(msgspec.structs.replace(each, files=()), set()).update(each.files)
            macros |= others
        for file, words in conditions.borrowed():
            borrowed.setdefault(file, set()).update(words)
        for condition, branch in conditions.untaken(public):
            untaken.setdefault(condition, set()).update(branch)
    told = tuple(sorted(msgspec.structs.replace(each, files=tuple(sorted(files))) for each, files in found.items()))
    lent = {file: frozenset(words) for file, words in borrowed.items()}
    branches = tuple(UntakenBranch(text, tuple(sorted(untaken[text]))) for text in sorted(untaken) if untaken[text])
    return Asked(told, frozenset(macros), lent, tuple(sorted(compilers)), branches)


def _given(arguments: Sequence[str]) -> dict[str, str]:
    return {match[1]: match[2] or "1" for each in arguments if (match := _GIVEN.fullmatch(each))}


class _UnitConditions:
    """The conditions of one translation unit."""

    def __init__(self, unit: Any, own: Own, given: Mapping[str, str], *, cpp: bool) -> None:
        self._lib = libclang()
        self._unit = unit.obj
        self._text = SourceText(self._lib, unit.obj)
        self._top = self._lib.top(unit)
        self._own = own
        self._given = given
        self._cpp = cpp
        self._names: dict[int, str | None] = {}
        self._raw = unit
        self._macros: Mapping[str, _Macro] = {}
        self._passed = _passed_over(self._lib, self._unit)
        self._directives = {file: list(_directives(self._text.file(file))) for file in self._files()}
        named = {word for each in self._directives.values() for one in each for word in _words(one.text)}
        self._macros = self._defined(named)
        self._answers = [
            (file, answer)
            for file, each in self._directives.items()
            for answer in _answers(each, self._passed.get(file, NOTHING), self._is_guard)
            if not answer.directive.idle
        ]

    def found(self) -> Iterator[tuple[AskedCondition, set[str]]]:
        """Each condition with the header that it stands in, and the macros that it asks others for."""
        for file, answer in self._answers:
            if others := self._asked_of_others(answer.directive.text):
                yield self._condition(answer, file, others), others

    def asked_of_compilers(self) -> Iterator[AskedCompiler]:
        for file, answer in self._answers:
            text = answer.directive.text
            asks = any(map(_COMPILER.fullmatch, self._reached(text))) or (self._cpp and _STANDARD.search(text))
            if asks and (unread := _declaring(answer.passed)):
                yield AskedCompiler(text, self._name(file) or "", unread)

    def borrowed(self) -> Iterator[tuple[str, set[str]]]:
        """Headers that ask for macros of headers which they do not include, with these macros."""
        includes: dict[int, set[int]] = {}
        for by, _, file in directives(self._raw):
            includes.setdefault(by, set()).add(file)
        closures = {file: _closure(file, includes) for file in {file for file, _ in self._answers}}
        for file, answer in self._answers:
            if self._is_default(answer.directive):
                continue
            reached = self._reached(answer.directive.text)
            own = {name for name in reached if name in self._macros and self._macros[name].own}
            if words := {name for name in own if self._macros[name].file not in closures[file]}:
                yield self._name(file) or "", words

    def untaken(self, public: Own) -> Iterator[tuple[str, Collection[str]]]:
        """The conditions before each skipped text of a public header, with the words of that text."""
        read = [one.text for each in self._directives.values() for one in each]
        defaults = {match["name"] for text in read if (match := _ABSENT.fullmatch(text))}
        for file, passed in self._passed.items():
            if file not in self._directives or public(self._lib.text(self._lib.getFileName(file))) is None:
                continue
            chains = dict(_chains(self._directives[file]))
            lines = APART.sub(_emptied, self._text.file(file)).decode(errors="replace").split("\n")
            for begin, end in passed.ranges.items():
                texts = chains.get(begin, ())
                if any(self._asked_of_others(text) or self._has_default(text, defaults) for text in texts):
                    text = "\n".join(each for each in lines[begin : end - 1] if not each.lstrip().startswith("#"))
                    yield texts[-1], set(_WORD.findall(text))

    def _asked_of_others(self, text: str) -> set[str]:
        """The macros of a condition that the library's headers do not define; none in a guard."""
        if self._is_guard(text):
            return set()
        return {name for name in self._reached(text) if name not in self._macros or not self._macros[name].own}

    def _has_default(self, text: str, defaults: Collection[str]) -> bool:
        """Whether programs may define a macro of a condition first: ``#ifndef FOO_API``, and a value for it."""
        own = (name for name in self._reached(text) if name in defaults and not self._is_guard(text))
        return any(name in self._macros and self._macros[name].value for name in own)

    def _files(self) -> list[int]:
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
        return _Macro(own, not own and not self._lib.Location_isInSystemHeader(location), value, file)

    def _is_guard(self, text: str) -> bool:
        absent = _ABSENT.fullmatch(text)
        macro = self._macros.get(absent["name"]) if absent else None
        return macro is not None and macro.own

    def _is_default(self, directive: _Directive) -> bool:
        absent, defined = _ABSENT.fullmatch(directive.text), _DEFINED.fullmatch(directive.part)
        if absent is None or defined is None or defined["name"].decode() != absent["name"]:
            return False
        macro = self._macros.get(absent["name"])
        return macro is not None and macro.value == spelled(defined["value"])

    def _condition(self, answer: _Answer, file: int, others: set[str]) -> AskedCondition:
        own = sorted(self._reached(answer.directive.text) - others)
        decided = "\n".join(f"{name} {self._macros[name].value}" for name in own)
        outside = [name for name in sorted(others) if name in self._macros and self._macros[name].outside]
        return AskedCondition(
            answer.directive.text,
            answer.held,
            (self._name(file) or "",),
            own=digest(decided.encode(errors="replace")) if own else "",
            outside=tuple(f"{name}={self._macros[name].value}" for name in outside),
        )

    def _reached(self, text: str) -> set[str]:
        """The macros that a condition asks for, directly or through the library's own macros."""
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
    plain = APART.sub(_blanked, text)
    line, place = 1, 0
    found = list(_DIRECTIVE.finditer(plain))
    read: list[_Directive] = []
    for match, after in zip_longest(found, found[1:]):
        line += plain.count(b"\n", place, match.start("word"))
        place = match.start("word")
        word = match["word"].decode()
        said = f"#{word} {spelled(_JOINED.sub(b' ', match['asked']))}".rstrip()
        read.append(_Directive(line, word, said, plain[match.end() : after.start() if after else len(plain)]))
    idle = _idle(read)
    return (one._replace(idle=number in idle) for number, one in enumerate(read))


def _idle(directives: Sequence[_Directive]) -> set[int]:
    """Directives that only ask for the language, with nothing but ``extern "C"`` in their branches."""
    found, chains = set[int](), list[list[int]]()
    for number, one in enumerate(directives):
        if one.word.startswith("if"):
            chains.append([number])
        elif chains and one.word != "endif":
            chains[-1].append(number)
        elif chains:
            chain = [directives[each] for each in chains.pop()]
            parts = all(_LINKAGE.fullmatch(each.part) for each in chain)
            if parts and all(_LANGUAGE.fullmatch(each.text) or each.word == "else" for each in chain):
                found.update(range(number - len(chain), number))
    return found


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
    return b" " + b"\n" * match[0].count(b"\n")


def _blanked(match: re.Match[bytes]) -> bytes:
    """A comment as its line breaks, over which a directive goes on; what is no comment as it is."""
    found = match[0]
    return found if found[:1] != b"/" else b" " + b"\\\n" * found.count(b"\n")


def _declaring(passed: Sequence[bytes]) -> str:
    """A digest of skipped text that declares something; else empty."""
    text = b" ".join(_DIRECTIVES.sub(b" ", each) for each in passed)
    return digest(spelled(text).encode(errors="replace")) if b";" in text else ""


def _closure(file: int, includes: Mapping[int, set[int]]) -> set[int]:
    found, pending = {file}, [file]
    while pending:
        fresh = includes.get(pending.pop(), set()) - found
        found |= fresh
        pending += fresh
    return found


def _answers(directives: Iterable[_Directive], passed: _Passed, is_guard: Callable[[str], bool]) -> Iterator[_Answer]:
    """Each condition, whether it held, and what was skipped for it.

    An include guard held when the file was read first, and skips nothing.
    """
    around: list[tuple[bool, bool, list[bytes]]] = []  # whether it is read, whether a part is, what is passed over
    found: list[_Answer] = []
    reading = True
    for one in directives:
        line, word = one.line, one.word
        if word.startswith("if"):
            held = reading and (line not in passed.ranges or is_guard(one.text))
            around.append((reading, held, [] if reading or not around else around[-1][2]))
            if reading:
                found.append(_Answer(one, held, around[-1][2]))
            reading = held
        elif not around:
            break  # no text of a header that parses
        elif word == "endif":
            reading = around.pop()[0]
        else:
            outer, taken, over = around[-1]
            reading = outer and not taken and (word == "else" or line in passed.ends)
            if outer and not taken and word != "else":
                found.append(_Answer(one, reading, over))
            around[-1] = outer, taken or reading, over
        if not reading and around:
            around[-1][2].append(one.part)
    return iter(found)


_CONDITION = pattern(r"(?m)^[ \t]*(?:#|%:)[ \t]*(?:if|el|define\b.*\bdefined\b)(?:.*\\\r?\n)*.*$")
"""A directive that asks for macros, or gives such a question a name, with the lines that go on with it."""

_IDENTIFIER = pattern(r"[A-Za-z_$][\w$]*")


def unasked(macros: Iterable[str], texts: Iterable[str]) -> Iterator[str]:
    """The ``macros`` (``NAME`` or ``NAME=VALUE``) that select nothing in the ``texts`` of headers.

    One that stands for nothing (``FOO_API=``) only matters where a condition asks for it, others wherever they are
    named. Names that the language reserves are asked for by the headers of the system.
    """
    found = set[str]()
    asked = set[str]()
    for text in texts:
        found.update(_IDENTIFIER.findall(text))
        asked.update(word for line in _CONDITION.findall(text) for word in _IDENTIFIER.findall(line))
    for macro in macros:
        name, equals, value = macro.partition("=")
        name = name.partition("(")[0]
        is_nothing = bool(equals) and not value
        if not name.startswith("_") and name not in (asked if is_nothing else found):
            yield macro


_REFUSED: Final = re.compile(
    r"""^[ \t]*\#[ \t]*(?:ifndef[ \t]+(?P<one>\w+)
    | if[ \t]+(?P<all>!\s*defined[ \t]*\(?[ \t]*\w+[ \t]*\)?(?:[ \t]*&&[ \t]*!\s*defined[ \t]*\(?[ \t]*\w+[ \t]*\)?)*))
    [ \t]*\s+\#[ \t]*error\b""",
    re.MULTILINE | re.VERBOSE,
)
_COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n]*|\\\n", re.DOTALL)
_SETTLED: Final = re.compile(r"^[ \t]*\#[ \t]*(define|undef)[ \t]+(\w+)", re.MULTILINE)


def refusing(texts: Mapping[str, str]) -> tuple[str, ...]:
    """The headers that are an error unless one of the others includes them, sorted.

    They ask for a macro that another header defines, and takes back at its end: programs cannot include them behind it.
    """
    needed = {file: _needed(text) for file, text in texts.items() if "error" in text}
    if not any(needed.values()):
        return ()
    lending = {file: _taken_back(text) for file, text in texts.items() if "undef" in text}
    return tuple(
        sorted(
            file
            for file, names in needed.items()
            if any(other != file and not names.isdisjoint(lent) for other, lent in lending.items())
        )
    )


def _taken_back(text: str) -> set[str]:
    found = _SETTLED.findall(text)
    return {name for word, name in found if word == "define"} & {name for word, name in found if word == "undef"}


def _needed(text: str) -> set[str]:
    """The macros of which a text needs one, or is an error."""
    found = _REFUSED.finditer(_COMMENT.sub(" ", text))
    return {name for each in found for name in _WORD.findall(each["one"] or each["all"]) if name != "defined"}
