"""Which language consumers of the headers write, and which standard of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from abistore.extract.headers.options import HeaderOptions, Language

CPP_SUFFIXES = (".hh", ".hpp", ".hxx", ".h++", ".H", ".hp", ".cuh")
STANDARDS: dict[Language, tuple[str, ...]] = {
    "c++": ("gnu++17", "gnu++20", "gnu++23", "gnu++14"),
    "c": ("gnu17", "gnu23"),
}
"""What is tried, in this order, while headers do not parse. The first are what GCC 11 and clang 16 and later take."""

_TOKENS = re.compile(
    r"""//[^\n]* | /\*(?:.*?\*/|.*) | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    | ^[ \t]*\#[ \t]*(?P<directive>if|ifdef|ifndef|elif|else|endif)\b(?P<condition>(?:\\\n|[^\n])*)
    | ^[ \t]*\#(?:\\\n|[^\n])*
    | \b(?P<word>namespace\s+[A-Za-z_{] | class\s+[A-Za-z_] | template\s*< | (?:public|protected|private)\s*:
        | (?:virtual|explicit|constexpr|typename|friend)\s | operator\s*[^\w\s] | using\s+[A-Za-z_]\w*\s*[=;:])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_MENTIONS = re.compile(r"\b__cplusplus\b")
_UNLESS = re.compile(r"!\s*(?:defined\s*\(?\s*)?__cplusplus\b")


class Reading(msgspec.Struct, frozen=True):
    """One way to read headers."""

    language: Language
    standard: str


def is_newer(reading: Reading, than: Reading) -> bool:
    """Whether a reading is of a later standard of the same language."""
    return reading.language == than.language and _year(reading) > _year(than)


def newest(readings: Sequence[Reading], than: Reading) -> Reading:
    """The latest standard after that of a reading, or else the first of the others.

    What it does not mend, no standard between the two does.
    """
    newer = [each for each in readings if is_newer(each, than)]
    return max(newer, key=_year) if newer else readings[0]


def _year(reading: Reading) -> int:
    """The year of a standard: 2017 of ``gnu++17``."""
    digits = re.sub(r"\D", "", reading.standard.replace("2x", "23").replace("2a", "20").replace("2b", "23"))
    return (int(digits or 0) - 89) % 100


def is_cpp(name: str, text: str) -> bool:
    """Whether only a C++ compiler can read a header: by its name, or by words outside of ``#ifdef __cplusplus``."""
    return Path(name).suffix in CPP_SUFFIXES or any(_cpp_words(text))


def readings(
    options: HeaderOptions, usual: Mapping[Language, str], headers: Iterable[tuple[str, str]], *, cpp_exports: bool
) -> Sequence[Reading]:
    """How to read headers (names and texts), the best guess first, the others for when that fails.

    ``usual`` are the standards that the library itself is compiled with, where that is known.

    C++ where a C compiler could not read them, or where the library exports C++ symbols: a declaration that a C
    compiler could read too then has a mangled name. Otherwise the headers are read as C, as their C consumers do.
    """
    language, standard = options.language, options.standard
    if language is None and standard is not None:
        language = "c++" if "++" in standard else "c"
    if language is not None:
        return [Reading(language, each) for each in ([standard] if standard else _standards(language, usual))]
    only_cpp = any(is_cpp(name, text) for name, text in headers)
    order: tuple[Language, Language] = ("c++", "c") if only_cpp or cpp_exports else ("c", "c++")
    first, second = ([Reading(each, standard) for standard in _standards(each, usual)] for each in order)
    return first if only_cpp else [*first, second[0]]


def _standards(language: Language, usual: Mapping[Language, str]) -> Sequence[str]:
    known = [usual[language]] if language in usual else []
    return list(dict.fromkeys((*known, *STANDARDS[language])))


def _cpp_words(text: str) -> Iterator[str]:
    """The words of C++ that stand where a C compiler reads them: not behind a condition with ``__cplusplus``."""
    guards: list[bool | None] = []
    for token in _TOKENS.finditer(text):
        directive = token["directive"]
        if directive is None:
            if token["word"] and True not in guards:
                yield token["word"]
        elif directive.startswith("if"):
            guards.append(_asks_for_cpp(directive, token["condition"]))
        elif guards:
            _go_on(guards, directive, token["condition"])


def _asks_for_cpp(directive: str, condition: str) -> bool | None:
    """Whether a condition holds in C++ alone (true) or in C alone (false); ``None`` where it says nothing of it."""
    if not _MENTIONS.search(condition):
        return None
    return directive != "ifndef" and not _UNLESS.search(condition)


def _go_on(guards: list[bool | None], directive: str, condition: str) -> None:
    """Enter the next branch of the innermost condition, or leave it."""
    before = guards.pop()
    if directive == "else":
        guards.append(None if before is None else not before)
    elif directive == "elif":
        guards.append(_asks_for_cpp(directive, condition))
