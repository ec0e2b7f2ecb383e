"""Headers of the C++ library that libclang parsed once, for units that go on from there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from abistore.extract.headers import clang
from abistore.extract.headers.standard.kept import KeptFiles, kept_files
from abistore.extract.headers.standard.record import StandardRecord, State, searched, state
from abistore.extract.headers.umbrella import Invocation
from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import libclang
from abistore.model.blake2 import blake2b

PREFIX: Final = "/abistore/standard.hpp"
"""What the text that includes them is called. It is on no disk."""

FORMAT: Final = "1"

USES: Final = 2
"""How often headers are parsed with all others before they are kept, which takes longer than to parse them once: both
sides of one comparison on a machine that forgets everything need not pay for that."""

ASKED: Final = re.compile(rb"""\b__has_include(?:_next)?[ \t]*\([ \t]*[<"]([^>"\n]+)""")
"""A file of which a header wants to know whether it is there."""

DEFINED: Final = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
COMMENTS: Final = re.compile(rb"""//[^\n]*|/\*.*?\*/|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""", re.DOTALL)
"""Comments, or literals, which may hold what looks like one."""

WORDS: Final = bytes(each if (chr(each).isalnum() and each < 128) or each in b"_$" else 32 for each in range(256))
"""Turns what stands between words into spaces."""


SEARCHED: Final = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH")
"""The environment's folders, which compilers search as well."""


class Precompiled(NamedTuple):
    """A file for ``-include-pch``, and what is recorded of it."""

    path: Path
    record: StandardRecord
    kept: KeptFiles
    consumers: str

    def refuse(self) -> None:
        """Remember that for these headers they make a difference."""
        with suppress(OSError):  # next time that is found out again
            self.kept.mark(self.consumers)


class StandardText(NamedTuple):
    """Headers by their names, and how they are parsed. ``memory`` are files that are read from there.

    ``system`` are the folders below which all must lie, ``canonical`` takes the links out of a path. ``consumers`` is a
    digest of the headers that include them.
    """

    names: Sequence[str]
    arguments: Sequence[str]
    memory: Mapping[str, str]
    system: Sequence[Path]
    canonical: Callable[[str], str]
    consumers: str


def may_be_precompiled(invocation: Invocation) -> bool:
    """Whether headers of the C++ library are included, and all is known by which they are found."""
    plain = not (invocation.options.clang_args or invocation.edited or any(map(os.environ.get, SEARCHED)))
    return plain and bool(invocation.standard.names)


def precompiled(text: StandardText) -> Precompiled | None:
    """The headers as they are kept, or made where they were asked for before; ``None`` where there are none."""
    kept = kept_files()
    if kept is None:
        return None
    key = _key(text)
    consumers = f"{key}-{text.consumers}"
    if kept.is_marked(consumers):
        return None
    with suppress(OSError):  # a full disk: the headers are parsed with all others
        found = _known(kept, key) or (_made(kept, key, text) if kept.count(key) >= USES else None)
        return None if found is None else Precompiled(*found, kept, consumers)
    return None


def _key(text: StandardText) -> str:
    """What all that decides what the headers mean comes to, but for the files themselves."""
    parts = [
        FORMAT,
        clang.full_version(),
        repr(list(text.arguments)),
        repr(list(text.names)),
        repr(sorted(text.memory.items())),
    ]
    return blake2b("\0".join(parts).encode(errors="surrogateescape"), digest_size=16).hexdigest()


def _known(kept: KeptFiles, key: str) -> tuple[Path, StandardRecord] | None:
    data = kept.record(key)
    if data is None:
        return None
    try:
        record = msgspec.json.decode(data, type=StandardRecord)
    except msgspec.MsgspecError:
        return None
    path = kept.file(key, record.digest) if record.is_current() else None
    return None if path is None else (path, record)


def _made(kept: KeptFiles, key: str, text: StandardText) -> tuple[Path, StandardRecord] | None:
    """Parse them and keep that."""
    source = "".join(f"#include <{name}>\n" for name in text.names)
    unit = clang.parsed(PREFIX, source, text.arguments, text.memory, prefix=True)
    if unit is None or any(clang.errors(unit)):
        return None
    includes = list(_includes(unit, text.canonical))
    paths = {each.file for each in includes}
    if not all(any(Path(path).is_relative_to(folder) for folder in text.system) for path in paths):
        return None
    states = {path: state(path) for path in sorted(paths)}
    parsed = {text.canonical(name): held for name, held in clang.included_texts(unit) if name not in text.memory}
    if any(Path(path).read_bytes() != held for path, held in parsed.items()):
        return None  # what was changed since it was parsed would pass for it from now on
    new = kept.begin()
    unit.save(str(new))
    digest, path = kept.keep(key, new)
    record = _recorded((digest, path), includes, text, states)
    kept.note(key, msgspec.json.encode(record))
    return path, record


class _Include(NamedTuple):
    by: str
    name: str
    file: str


def _includes(unit: clang.TranslationUnit, canonical: Callable[[str], str]) -> Iterator[_Include]:
    """Each inclusion, also of what was included before."""
    lib = libclang()
    paths: dict[int | None, str] = {}

    def path(file: int | None) -> str:
        if file not in paths:
            paths[file] = canonical(lib.text(lib.getFileName(file))) if file is not None else ""
        return paths[file]

    for each in lib.top(unit):
        if each.kind == kinds.INCLUSION and (file := lib.getIncludedFile(each)):
            by, _, _ = lib.place(lib.getCursorLocation(each))
            yield _Include(path(by), lib.spelling(each), path(file))


def _recorded(
    kept: tuple[str, Path], includes: Sequence[_Include], text: StandardText, states: Mapping[str, State]
) -> StandardRecord:
    digest, path = kept
    texts = {file: Path(file).read_bytes() for file in sorted({each.file for each in includes})}
    words = sorted({word.decode() for data in texts.values() for word in words_of(COMMENTS.sub(rb" \1", data))})
    usual = frozenset(_defined(words, text, ()))
    defined = {file: set(DEFINED.findall(data.decode(errors="replace"))) for file, data in texts.items()}
    macros = [name for name in _defined(words, text, ("-include-pch", str(path))) if name not in usual]
    asked = {name.decode(errors="surrogateescape"): () for data in texts.values() for name in ASKED.findall(data)}
    names = asked | _grouped((each.name, each.file) for each in includes)
    return StandardRecord(
        digest=digest,
        headers=tuple(dict.fromkeys(each.file for each in includes if each.by == PREFIX)),
        files=states,
        folders=searched(names, map(str, text.system)),
        includes=_grouped((each.by, each.file) for each in includes),
        names=names,
        words=frozenset(words),
        usual=usual,
        macros={name: tuple(file for file in texts if name in defined[file]) for name in macros},
    )


def words_of(text: bytes) -> set[bytes]:
    """The words of a file, those in its comments too."""
    return set(text.translate(WORDS).split())


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for key, value in pairs:
        found.setdefault(key, {})[value] = None
    return {key: tuple(values) for key, values in found.items()}


def _defined(names: Sequence[str], text: StandardText, more: Sequence[str]) -> Iterator[str]:
    """Which of ``names`` are macros, as the compiler itself tells."""
    asked = "".join(f"#ifdef {name}\nint abistore_{name};\n#endif\n" for name in names if not name[0].isdigit())
    unit = clang.parsed("/abistore/defined.cpp", asked, [*text.arguments, *more], text.memory)
    lib = libclang()
    for each in lib.top(unit) if unit is not None else ():
        if each.kind == kinds.VARIABLE:
            yield lib.spelling(each).removeprefix("abistore_")
