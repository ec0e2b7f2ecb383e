"""What headers declare under names that say that it is internal, and what of it public declarations lead to.

``geo::detail::counted`` is nobody's to name, by convention. Its members are everybody's where a public class derives
from it, or a function returns one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, TypeAlias

from abistore.model.declared import Declared
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import AnyShape, Function, Variable
from abistore.model.snapshot import INTERNALS_SHOWN, HeadersRead, Snapshot, Variants
from abistore.model.values.texts import words
from abistore.model.words.telling import is_internal_namespace, names_internals
from abistore.model.words.wildcards import matcher

Path: TypeAlias = tuple[str, ...]
"""A qualified name by its components, up to its first template arguments."""

RESERVED: Final = re.compile("_[_A-Z]")
"""How names begin that C keeps for its implementation; libraries call so what programs should leave alone."""

QUALIFIED: Final = re.compile(r"(?<![\w:])[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")


class Internals:
    """The internal declarations of one release: whole classes, and functions by their names."""

    def __init__(self, snapshot: Snapshot, files: Mapping[Name, str]) -> None:
        self._source: Mapping[Name, Variants] = snapshot.entries.get("source", {})
        self._files = files
        evidence = snapshot.evidence_of("source")
        read = snapshot.provenance.headers
        self._opened = {_path(each) for each in evidence.inline_namespaces or ()}
        told = isinstance(read, HeadersRead) and INTERNALS_SHOWN in read.facts
        self._known = told and evidence.declares_all
        self._is_unread = matcher(read.unread if isinstance(read, HeadersRead) else ())

    def own(self, name: Name, shapes: Variants) -> bool:
        """Whether nobody but the library is to name a declaration, and nothing public leads to it.

        Functions whose bodies could not be read may return what is called as one of the words in these. A function of C
        whose name is reserved (``__geo_open``, C17 7.1.3) is for inline functions and macros with parameters, unless a
        macro without any stands for it: programs call that.
        """
        path = _qualified(name, shapes)
        if _is_reserved(name):
            return name.spelling not in self._written
        if not self._known or not names_internals("::".join(path)):
            return False
        whole = self._whole(path)
        return whole is not None and whole not in self._shown and not any(map(self._is_unread, path))

    @cached_property
    def _types(self) -> frozenset[Path]:
        kinds = ("record", "enum", "alias")
        return frozenset(_path(name.spelling) for name in self._source if name.kind in kinds)

    @cached_property
    def _written(self) -> frozenset[str]:
        """What macros without parameters name: ``__geo_open`` of ``#define geo_open __geo_open``."""
        declared = (shape for shapes in self._source.values() for shape in shapes if isinstance(shape, Declared))
        return frozenset().union(*(words(each.value) for each in declared if each.value and "macro" in each.traits))

    def _whole(self, path: Path) -> Path | None:
        """The outermost class that a name of an internal namespace stands in, else itself; ``None`` for other names."""
        for place, each in enumerate(path[:-1]):
            scope = path[: place + 1]
            if scope in self._types:
                return None
            if is_internal_namespace(each) and scope not in self._opened:
                ends = range(place + 2, len(path))
                return next((path[:end] for end in ends if path[:end] in self._types), path)
        return None

    @cached_property
    def _held(self) -> Mapping[Path, list[Name]]:
        """The declarations of internal namespaces, by the class that they stand in."""
        found: dict[Path, list[Name]] = {}
        for name, shapes in self._source.items():
            whole = self._whole(_qualified(name, shapes))
            if whole is not None:
                found.setdefault(whole, []).append(name)
        return found

    @cached_property
    def _scopes(self) -> Mapping[Path, list[Path]]:
        """What stands in each namespace."""
        found: dict[Path, list[Path]] = {}
        for whole in self._held:
            found.setdefault(whole[:-1], []).append(whole)
        return found

    @cached_property
    def _shown(self) -> frozenset[Path]:
        """What public declarations lead to: by what they mention, and by the arguments of calls.

        A call without a scope finds the functions of each namespace in which a class among its arguments stands.
        """
        inner = {name for names in self._held.values() for name in names}
        pending = [each for name in self._source if name not in inner for each in self._mentioned(name, public=True)]
        pending += self._extended()
        found: set[Path] = set()
        while pending:
            whole = pending.pop()
            if whole in found:
                continue
            found.add(whole)
            pending += (each for name in self._held.get(whole, ()) for each in self._mentioned(name, public=False))
            if whole in self._types:
                pending += (each for each in self._scopes.get(whole[:-1], ()) if self._takes(each, whole))
        return frozenset(found)

    def _takes(self, function: Path, type: Path) -> bool:
        """Whether a call without a scope may find a function of the namespace of a type by an argument of it.

        It mentions the type, or is an operator that takes any. Who calls another one names what is internal.
        """
        if function in self._types:
            return False
        if function not in self._taken:
            self._taken[function] = [set(self._mentioned(name, public=False)) for name in self._held[function]]
        generic = function[-1].startswith("operator")
        return any(type in taken or (generic and not taken) for taken in self._taken[function])

    @cached_property
    def _taken(self) -> dict[Path, list[set[Path]]]:
        return {}

    def _extended(self) -> Iterator[Path]:
        """Templates that other headers specialise than the one that has them: programs may do so too."""
        for whole, names in self._held.items():
            own = [name for name in names if name.kind == "record" and _path(name.spelling) == whole]
            primary = Name("record", "::".join(whole))
            files = {self._files.get(name) for name in own if self._is_declared(name)}
            if primary in own and len(files) > 1:
                yield whole

    def _is_declared(self, name: Name) -> bool:
        return any(isinstance(shape, Declared) for shape in self._source[name])

    def _mentioned(self, name: Name, *, public: bool) -> Iterator[Path]:
        """The internal declarations that one mentions; a ``public`` one is what a given header declares."""
        shapes = self._source[name]
        if public and not self._is_declared(name):
            return
        for shape in shapes:
            for text in _texts(name, shape):
                for match in QUALIFIED.findall(text):
                    whole = self._whole(_path(match))
                    if whole is not None:
                        yield whole
            if isinstance(shape, Declared) and "using" in shape.traits and shape.value:
                yield from self._scopes.get(_path(shape.value), ())


def _is_reserved(name: Name) -> bool:
    return name.kind == "function" and RESERVED.match(name.spelling) is not None and not is_mangled(name.spelling)


def _texts(name: Name, shape: AnyShape) -> Iterator[str]:
    if isinstance(shape, Declared):
        yield from shape.shown
        yield from (base.type for base in shape.bases)
        yield shape.value or ""
    elif not _is_private(shape):
        yield from (each.spelling for each, _ in references(shape, name))


def _is_private(shape: AnyShape) -> bool:
    """Whether a member is private, and no virtual function."""
    if isinstance(shape, Function):
        return shape.method is not None and shape.method.access == "private" and not shape.is_virtual
    return isinstance(shape, Variable) and shape.access == "private"


def _qualified(name: Name, shapes: Variants) -> Path:
    display = next((shape.display for shape in shapes if isinstance(shape, Function | Variable)), name.spelling)
    return _path(display)


def _path(spelling: str) -> Path:
    return tuple(spelling.partition("<")[0].partition("operator ")[0].split("::"))
