"""Words for people: counts, visible characters, kinds of files, and suggestions for misspelled names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import translate
from functools import lru_cache, partial
from typing import Final
from zlib import crc32

from abistore.patterns import pattern

LONGEST = 20_000
"""The most characters in a line for people. A hostile file may hold names of millions."""

_TAIL = 500

UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls of both sets, but line feed and tab
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"  # directions, widths of none
    "\ud800-\udfff\ufdd0-\ufdef"  # halves of pairs, and what is no character
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
)
"""Invisible characters, for a regular expression's set: they move the cursor, turn a line around, or leave no trace."""

_UNSEEN = pattern(f"[{UNSEEN}]")
_PUNCTUATION = frozenset("…·—→")
"""What reports write themselves; most hold nothing else that is not ASCII."""

_PLAIN = bytes(code for code in range(0x7F) if code >= 0x20 or code in b"\n\t")
_BREAKS = pattern(r"[\n\t]")
_ANYWHERE = pattern(r"##(?=\w*\[)")
_AT_START = pattern(r"(\A|\n)([^\S\n]*):(?=:)")
"""Commands in the logs of CI: ``##[…]`` and ``##vso[…]`` anywhere, ``::…`` at the start of a line."""

_OWN = f"\x1b{os.urandom(8).hex()}"
_OWN_SPELLED = f"\\x1b{_OWN[1:]}"
_OWN_MEANT = {f"{_OWN_SPELLED}[": "\x1b[", f"{_OWN_SPELLED}:": ":"}


def own(text: str) -> str:
    """A colour (``[31m``) or workflow command (``::error``) of abistore, which :func:`visible` leaves in effect.

    It carries a random mark, so that no name in a library can forge one.
    """
    return _OWN + text


def visible(text: str) -> str:
    """Lines of text that are safe to print: invisible characters are spelled (``\\x1b``), and no line is a command."""
    told = _AT_START.sub(r"\1\2\\x3a", _ANYWHERE.sub(r"#\\x23", spelled(text)))
    if _OWN_SPELLED in told:
        for mark, meant in _OWN_MEANT.items():
            told = told.replace(mark, meant)
    return told


def in_line(text: str, most: int = LONGEST) -> str:
    """``text`` as one safe line of at most ``most`` characters: line feeds and tabs are spelled too."""
    return _BREAKS.sub(lambda match: {"\n": "\\n", "\t": "\\t"}[match[0]], visible(bounded(text, most)))


def spelled(text: str) -> str:
    """``text`` with invisible characters as Python spells them: ``\\x1b``, ``\\u202e``."""
    return _UNSEEN.sub(lambda match: _spell(ord(match[0])), text) if _has_unseen(text) else text


def bounded(text: str, most: int = LONGEST) -> str:
    """``text`` with the middle cut out of each line of more than ``most`` characters."""
    if len(text) <= most:
        return text
    return "\n".join(line if len(line) <= most else _cut(line, most) for line in text.split("\n"))


def json_text(text: str) -> str:
    """The same JSON, with invisible characters and possible commands escaped."""
    if _has_unseen(text):
        text = _UNSEEN.sub(lambda match: _escape(match[0]), text)
    return text.replace("##", "#\\u0023")


def json_bytes(data: bytes) -> bytes:
    """The same JSON as :func:`json_text` gives, in UTF-8. In JSON controls are escaped, but for the last of ASCII."""
    plain = data.isascii() and b"\x7f" not in data
    return data if b"##" not in data and (plain or not _unseen_in(data)) else json_text(data.decode()).encode()


def _cut(line: str, most: int) -> str:
    """The checksum tells two names apart that differ in the cut part only."""
    tail = min(_TAIL, most // 4)
    left_out = f"...({len(line) - most:,} more characters, {crc32(line.encode('utf-8', 'surrogatepass')):08x})..."
    return f"{line[: most - tail]}{left_out}{line[len(line) - tail :]}"


def _has_unseen(text: str) -> bool:
    return _unseen_in(text.encode("utf-8", "surrogatepass"))


def _unseen_in(data: bytes) -> bool:
    """Only what is left without plain ASCII is searched: searching all of it takes twenty times as long."""
    rest = data.translate(None, _PLAIN)
    if not rest:
        return False
    signs = set(rest.decode("utf-8", "surrogatepass")) - _PUNCTUATION
    return bool(signs) and _UNSEEN.search("".join(signs)) is not None


def _spell(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # how Python keeps a byte of a file name that is no text (PEP 383)
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape(character: str) -> str:
    return "".join(f"\\u{int.from_bytes(unit, 'big'):04x}" for unit in _units(character))


def _units(character: str) -> list[bytes]:
    data = character.encode("utf-16-be", "surrogatepass")
    return [data[start : start + 2] for start in range(0, len(data), 2)]


def of_all(count: int, every: int, one: str) -> str:
    """A part of some things as the subject of a sentence: "1 of 2 lines is", "2 of 3 lines are"."""
    return f"{count} of {counted(every, one)} {'is' if count == 1 else 'are'}"


def counted(count: int, one: str, many: str = "") -> str:
    """``1 export``, ``2 exports``; ``many`` is the plural if that is not ``one`` with an ``s``."""
    return f"{count} {one}" if count == 1 else f"{count} {many or f'{one}s'}"


def listed(names: Collection[str], most: int = 10) -> str:
    """The first names in order, and how many more there are: ``a, b and 3 more``."""
    more = len(names) - most
    return ", ".join(sorted(names)[:most]) + (f" and {more} more" if more > 0 else "")


SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".m", ".mm")
"""Suffixes of files that nobody includes."""

HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inc", ".ipp", ".tcc")

SYSTEM = pattern(r"/usr/|<")
"""Where files begin that are no part of the library."""

PUBLIC = "include"
"""The folder that projects keep the headers in that they install."""

PRIVATE = frozenset({"private", "priv"})
"""Folders below it that they do not install."""


def file_name(file: str) -> str:
    """What a file is called in its folder."""
    return file.rpartition("/")[2]


def without_machine(file: str) -> str:
    """``file`` as every machine would call it: of an absolute path, the name in its folder."""
    return file_name(file) if file.startswith("/") or file[1:2] == ":" else file


@lru_cache(1 << 12)
def is_source(file: str) -> bool:
    """Whether ``file`` is a source file, which nobody includes."""
    return file.lower().endswith(SOURCES)


@lru_cache(1 << 12)
def is_own_header(file: str) -> bool:
    """Whether ``file`` is a header of the library and not of the system."""
    return file.lower().endswith(HEADERS) and SYSTEM.match(file) is None


@lru_cache(1 << 12)
def include_root(file: str) -> str | None:
    """The folder around the ``include`` folder that ``file`` lies in, with a slash at its end, or empty for the top.

    ``None`` where it lies in none, or is no header of the library.
    """
    folders = file.split("/")[:-1]
    if PUBLIC not in folders or not is_own_header(file):
        return None
    return "".join(f"{folder}/" for folder in folders[: folders.index(PUBLIC)])


@lru_cache(1 << 12)
def may_be_private(file: str) -> bool:
    """Whether the path of ``file`` looks like that of a private header."""
    return is_source(file) or (is_own_header(file) and is_beside(file, "/" if file.startswith("/") else ""))


@lru_cache(1 << 12)
def is_beside(file: str, root: str) -> bool:
    """Whether ``file`` lies below the folder ``root``, and in no ``include`` folder unless in a private one of it."""
    if not file.startswith(root) or file.startswith("/") != root.startswith("/"):
        return False
    folders = file.split("/")[:-1]
    return PUBLIC not in folders or not PRIVATE.isdisjoint(folders[folders.index(PUBLIC) :])


ALIKE = 0.75
"""The least likeness of a suggestion. With ``difflib``'s usual 0.6, any two short names with ``lib`` would do."""

MOST = 3
LOOSELY_ALIKE = 0.6
"""``difflib``'s usual bound, for versions and other words that do not all begin alike."""


def close(word: str, known: Iterable[str], most: int = MOST, alike: float = ALIKE) -> list[str]:
    """The ``known`` words spelled most like ``word``, the best first."""
    from difflib import get_close_matches

    return get_close_matches(word, list(known), most, alike)


def near(word: str, known: Sequence[str], most: int = MOST, alike: float = ALIKE) -> list[str]:
    """The last ``known`` words that begin with ``word``, or else those spelled most like it."""
    begun = [one for one in known if word and one.startswith(word)]
    return begun[-most:] or close(word, known, most, alike)


def near_name(text: str, displays: Iterable[str], most: int = MOST) -> list[str]:
    """The names of declarations that contain ``text``, or else those spelled most like it, parameters aside."""
    known = sorted(set(displays))
    inside = sorted((one for one in known if text.lower() in one.lower()), key=partial(_distance, text))
    if inside:
        return inside[:most]
    bare: dict[str, str] = {}
    for one in known:
        bare.setdefault(one.partition("(")[0], one)
    return [bare[one] for one in close(text.partition("(")[0], bare, most)]


def _distance(text: str, display: str) -> tuple[bool, bool, int, str]:
    """The sort key of a suggestion: ``text`` in another scope, then names that begin with it, then short names."""
    name = display.partition("(")[0].rpartition("::")[2]
    return name != text, not name.startswith(text), len(display), display


def did_you_mean(found: Sequence[str], otherwise: str) -> str:
    """A hint with the suggestions in ``found``; ``otherwise`` if there are none."""
    if not found:
        return otherwise
    *first, last = found
    return f"did you mean {', '.join(first)} or {last}?" if first else f"did you mean {last}?"


ANY: Final = "*"
"""Stands for any characters, or none."""


def matcher(words: Iterable[str]) -> Callable[[str], bool]:
    """Whether a name is one of these, in which :data:`ANY` may stand."""
    known = frozenset(words)
    patterns = [translate(each) for each in sorted(known) if ANY in each]
    pattern = re.compile("|".join(patterns)) if patterns else None
    return lambda name: name in known or (pattern is not None and pattern.match(name) is not None)


FULL_RELRO: Final = "full RELRO"
PARTIAL_RELRO: Final = "partial RELRO"
BIND_NOW: Final = "immediate binding"
STACK_CANARY: Final = "stack canary"
FORTIFY: Final = "FORTIFY"
BRANCHES: Final = frozenset({"IBT", "SHSTK", "BTI", "PAC", "GCS", "ZICFILP", "ZICFISS"})
"""Protections of branches and returns."""

EXECUTABLE_STACK: Final = "executable stack"
TEXT_RELOCATIONS: Final = "text relocations"
WRITABLE_CODE: Final = "a writable executable segment"

CODE_SIGNATURE: Final = "code signature"
HARDENED_RUNTIME: Final = "hardened runtime"
LIBRARY_VALIDATION: Final = "library validation"
NO_HEAP_EXECUTION: Final = "no heap execution"
POSITION_INDEPENDENT: Final = "position-independent"
ON_MACOS: Final = frozenset(
    {CODE_SIGNATURE, HARDENED_RUNTIME, LIBRARY_VALIDATION, NO_HEAP_EXECUTION, POSITION_INDEPENDENT}
)
"""What a Mach-O file and its signature ask the system for."""

ASLR: Final = "ASLR"
HIGH_ENTROPY: Final = "high-entropy ASLR"
DEP: Final = "DEP"
CFG: Final = "CFG"
SAFE_SEH: Final = "SafeSEH"
FORCED_INTEGRITY: Final = "forced integrity"
SHADOW_STACK: Final = "CET shadow stack"
ON_WINDOWS: Final = frozenset({ASLR, HIGH_ENTROPY, DEP, CFG, SAFE_SEH, FORCED_INTEGRITY, SHADOW_STACK})
"""What the headers of a PE file ask Windows for."""

DECORATED: Final = "?"

TABLES: Final = ("??_7", "??_8", "??_R", "??_9", "??_S", "??_B", "??_C", "??_F", "??_G", "??_E", "??_D")
"""Vtables, tables of virtual bases, type information, thunks, guards, literals, and destructors that also free."""

VFTABLE, VBTABLE, RTTI, DESCRIPTOR = "??_7", "??_8", "??_R", "??_R0"
"""Tables of virtual functions and of virtual bases, type information, and of that ``??_R0?AVWidget@ui@@@8``."""

MADE: Final = {"??_7": "vtable for ", "??_8": "vbtable for ", "??_R4": "RTTI locator of "}
"""What compilers make for a class, and the words for it."""

OF_TABLES: Final = tuple(MADE.values())


def is_decorated(symbol: str) -> bool:
    """Whether ``symbol`` is a decorated name of Visual C++."""
    return symbol.startswith(DECORATED)


def is_declared(symbol: str) -> bool:
    """Whether some source declares a decorated ``symbol``: compilers make vtables, type information and thunks."""
    return not symbol.startswith(TABLES) and not symbol.startswith("??__")
