"""Which C++ classes are a library's own, as the namespaces and classes tell of which it exports functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from abistore.compare.consumers.export_table import is_weak
from abistore.model.mangling.symbols import plain_path
from abistore.model.names import Name
from abistore.model.snapshot import Variants

Path: TypeAlias = tuple[str, ...]
"""A qualified name by its components: ``("geo", "detail")``."""


class OwnTypes:
    """The classes that the library defines, whoever declares them.

    So it is where the library exports a member of the class that no program emits, or something beside it in the same
    namespace, of which it needs nothing from other libraries: several libraries may share a namespace.
    """

    def __init__(self, symbols: Mapping[Name, Variants]) -> None:
        self._symbols = symbols

    def has(self, qualified: str) -> bool:
        """Whether the class ``qualified``, which is spelled without template arguments, is one of these."""
        path = tuple(qualified.split("::"))
        if path in self._scopes:
            return True
        if path[:-1] in self._scopes and path[:-1] not in self._shared:
            return True
        return path not in self._shared and self._is_called_after_another(path)

    def _is_called_after_another(self, path: Path) -> bool:
        """Whether a class of the library's own beside this one has a name that this one goes on with a further word.

        ``JobPrivate`` beside ``Job`` is what the library keeps for each.
        """
        *around, own = path
        words = [place for place, letter in enumerate(own) if place and (letter.isupper() or letter == "_")]
        return any((*around, own[:place]) in self._classes for place in words)

    @cached_property
    def _classes(self) -> frozenset[Path]:
        """The classes of which the library exports constructors or destructors that no program emits."""
        paths = (
            plain_path(name.spelling)
            for name, shapes in self._symbols.items()
            if name.kind == "function" and not is_weak(shapes)
        )
        return frozenset(path[:-1] for path in paths if len(path) > 1 and path[-1].lstrip("~") == path[-2])

    @cached_property
    def _scopes(self) -> frozenset[Path]:
        """What the strong functions stand in; instances of templates may be of others."""
        found: set[Path] = set()
        for name, shapes in self._symbols.items():
            if name.kind == "function" and not is_weak(shapes):
                found.update(_scopes(name.spelling))
        return frozenset(found)

    @cached_property
    def _shared(self) -> frozenset[Path]:
        """The scopes of what the library has to find in others, and what is around these."""
        imports = (plain_path(name.spelling) for name in self._symbols if name.kind == "import")
        return frozenset(path[:length] for path in imports for length in range(1, len(path) + 1))


def _scopes(symbol: str) -> Iterator[Path]:
    """What a function stands in; around a class too, which constructors and destructors tell from a namespace."""
    path = plain_path(symbol)
    if len(path) < 2 or "".join(f"{len(each)}{each}" for each in path) + "I" in symbol:
        return
    yield path[:-1]
    if len(path) > 2 and path[-1].lstrip("~") == path[-2]:
        yield path[:-2]
