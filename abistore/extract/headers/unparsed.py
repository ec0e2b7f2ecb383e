"""The names that headers which do not parse may declare, as far as their text tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from abistore.extract.headers.conditions import names_in, without_comments
from abistore.extract.headers.given import find_headers
from abistore.extract.headers.texts import MOST_TEXT, ReadTexts
from abistore.extract.reader import HeaderOptions
from abistore.files import exists
from abistore.model.words import ANY

_INCLUDED: Final = re.compile(r"#\s*include(?:_next)?\s*[<\"]([^>\"]+)[>\"]")
_UNSPELLED: Final = re.compile(r"##|\basm\b|__asm|#\s*include(?:_next)?\s+[A-Za-z_]")
"""What pastes names, gives symbols other names, or includes what a macro names."""

_FIRST_WORD: Final = re.compile(r"[^\W_]*")
_DEFINITION: Final = re.compile(r"^[ \t]*#[ \t]*define[ \t]+\w+(?:\((?P<own>[^)]*)\))?(?P<body>.*)", re.MULTILINE)
_DIRECTIVE: Final = re.compile(r"^[ \t]*#.*", re.MULTILINE)
_ARGUMENT: Final = re.compile(r"(?<=[(,])\s*(\w+)\s*(?=[,)])")


def spelled_words(
    texts: Mapping[Path, str], given: Mapping[Path, str], folders: Sequence[Path], system: Sequence[Path] = ()
) -> frozenset[str] | None:
    """The words by which headers with these texts may declare exports; ``given`` are the names of all headers.

    ``None`` where they may declare what they do not spell, or include a header of the library that is not among them.
    Headers are looked for in ``folders``, then in those of the ``system``.
    """
    own = _OwnNames(given.values())
    includes = ((path, name) for path, text in texts.items() for name in _INCLUDED.findall(text))
    for path, name in includes:
        found = next((each for each in (path.parent, *folders, *system) if exists(each / name)), None)
        is_known = found in system or (found is not None and (found / name).resolve() in given)
        if not is_known and (found == path.parent or own.have(name)):
            return None
    return words_in_texts(texts.values())


def words_of_headers(options: HeaderOptions) -> frozenset[str] | None:
    """The words of all headers that ``options`` name. Raises :class:`HeaderError`, :class:`LimitExceeded`."""
    texts, given = ReadTexts(), {each.path: each.name for each in find_headers(options).headers}
    read = {path: texts.beginning_if_readable(path) for path in given}
    return spelled_words(read, given, (*options.include_dirs, *options.named_dirs))


class _OwnNames:
    """Whether an include may mean a header of the library, by the folder or the first word of its name."""

    def __init__(self, names: Iterable[str]) -> None:
        paths = [PurePosixPath(each) for each in names]
        self._folders = {part for path in paths for part in path.parts[:-1]}
        self._words = {_first_word(path.name) for path in paths}

    def have(self, name: str) -> bool:
        folder, slash, _ = name.partition("/")
        return folder in self._folders if slash else _first_word(name) in self._words


def _first_word(name: str) -> str:
    match = _FIRST_WORD.match(name)
    return match[0] if match else ""


def words_in_texts(texts: Iterable[str]) -> frozenset[str] | None:
    """The words of the texts; between two :data:`ANY` those of which macros of other headers may make names.

    ``None`` where the texts may declare names that they do not spell: where they paste names themselves, give functions
    other symbols, or are too long to be read whole.
    """
    found = set[str]()
    for text in texts:
        if _UNSPELLED.search(text) or len(text) >= MOST_TEXT:
            return None
        found |= names_in(text)
        found.update(f"{ANY}{each}{ANY}" for each in _arguments(without_comments(text).replace("\\\n", " ")))
    return frozenset(found)


def _arguments(text: str) -> Iterator[str]:
    """The single words in parentheses: what macros get, and types of parameters, as no macro is known here."""
    yield from _ARGUMENT.findall(_DIRECTIVE.sub("", text))
    for each in _DEFINITION.finditer(text):
        own = set(re.findall(r"\w+", each["own"] or ""))
        yield from (word for word in _ARGUMENT.findall(each["body"]) if word not in own)
