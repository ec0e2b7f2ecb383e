"""Which of a package's headers are a library's own: wheels carry those of other projects too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from abistore.model.mangling.decorated import is_decorated
from abistore.model.mangling.microsoft import qualified_name
from abistore.model.mangling.symbols import c_name, is_of_standard_library, mangled_scope
from abistore.model.snapshot import Snapshot
from abistore.model.tables import Symbol

MOST_WHOLE = 200
"""A package of no more headers is read whole: one that nothing includes may have constants of the library."""

_WORD = re.compile(r"[^\W\d]\w*")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_BEFORE = re.compile(r"[^\w]|_|$")
_MOST_TEXT = 1 << 20
_DEEPEST = 8
"""How many folders of a header's path an ``#include`` is taken to name."""


def words_of(snapshot: Snapshot) -> frozenset[str]:
    """What a header must mention that declares an export: its C name, or its outermost namespace or class.

    Weak exports are of inline functions, which may be another project's; they count where there are no others.
    """
    own, weak = set[str](), set[str]()
    for name, shapes in snapshot.entries.get("symbol", {}).items():
        if name.kind in ("function", "variable") and not is_of_standard_library(name.spelling):
            is_weak = all(isinstance(each, Symbol) and each.weak for each in shapes)
            (weak if is_weak else own).add(_word(name.spelling))
    return frozenset((own or weak) - {""})


def _word(symbol: str) -> str:
    if is_decorated(symbol):
        return qualified_name(symbol).partition("::")[0].partition("<")[0]
    return mangled_scope(symbol)[0] or c_name(symbol)


class HeaderProjects:
    """The headers below one ``include`` folder, by project: a folder in it, or headers that begin with one word."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, list[Path]] = {}
        self._names: dict[str, list[str]] = {}
        for each in sorted(root.iterdir()):
            project = each.name if each.is_dir() else f"{_BEFORE.split(each.name, maxsplit=1)[0]}*"
            self._files.setdefault(project, []).extend(sorted(_files_below(each)))
            self._names.setdefault(project, []).append(each.name)
        self.count = sum(map(len, self._files.values()))
        self._words: dict[str, frozenset[str]] = {}
        self._included: dict[str, frozenset[str]] = {}
        self._places: dict[str, set[str]] = {}

    def of(self, words: frozenset[str] | None) -> tuple[str, ...]:
        """Where ``words`` are mentioned, and what is included there: folders and headers. Without words, all."""
        found = set(self._files) if words is None else set(self._mentioning(words))
        pending = list(found) if words is not None else []
        while pending:
            new = self._included[pending.pop()] - found
            found |= new
            pending += new
        return tuple(sorted(name for each in found for name in self._names[each]))

    def _mentioning(self, words: frozenset[str]) -> Iterator[str]:
        """For each word the project that mentions it; of several, the one that mentions the most words."""
        self._read()
        left = set(words)
        for project in sorted(self._files, key=lambda each: (-len(words & self._words[each]), each)):
            if left & self._words[project]:
                left -= self._words[project]
                yield project

    def _read(self) -> None:
        """Read every header once, for all libraries."""
        if self._words:
            return
        for project, files in self._files.items():
            for file in files:
                for end in _ends(file.relative_to(self.root)):
                    self._places.setdefault(end, set()).add(project)
        for project, files in self._files.items():
            words, included = set[str](), set[str]()
            for file in files:
                text = _text(file)
                words.update(_WORD.findall(text))
                included.update(self._projects_of(file, set(_INCLUDE.findall(text))))
            self._words[project], self._included[project] = frozenset(words), frozenset(included)

    def _projects_of(self, file: Path, names: set[str]) -> Iterator[str]:
        """The projects that a header may include by ``names``; one that is beside it is meant first."""
        for name in names:
            if not (file.parent / name).is_file():
                yield from self._places.get(name, ())


def _files_below(path: Path) -> Iterator[Path]:
    return (each for each in path.rglob("*") if each.is_file()) if path.is_dir() else iter((path,))


def _ends(path: Path) -> Iterator[str]:
    parts: Sequence[str] = path.parts[-_DEEPEST:]
    return ("/".join(parts[start:]) for start in range(len(parts)))


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MOST_TEXT).decode(errors="replace")
