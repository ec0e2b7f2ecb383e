"""Whether consumers include the header of constants that no export mentions, told from what else it declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import PurePosixPath

from abistore.compare.consumers.consumers import ReleaseExports
from abistore.model.names import Name
from abistore.model.words.files import include_root, is_own_header, is_source, may_be_private


class ConstantHeaders:
    """The headers of one release of which something tells that consumers include them.

    They are those of the library's own ``include`` folder, where it has one. Elsewhere they declare an export or a type
    that consumers see into, or are called like a source file that defines an export: ``zip.h`` beside ``zip.c``.
    """

    def __init__(self, own: ReleaseExports, files: Mapping[Name, str], can_see: Callable[[Name], bool]) -> None:
        self._own = own
        self._files = files
        self._can_see = can_see

    def can_include(self, file: str) -> bool:
        """Whether consumers include the header ``file``."""
        root = include_root(file)
        if root is not None:
            return not may_be_private(file) and any(each.startswith(root) for each in self._defining)
        return is_own_header(file) and not self._has_folder and (file in self._declaring or self._is_named_alike(file))

    def _is_named_alike(self, file: str) -> bool:
        return PurePosixPath(file).stem in {PurePosixPath(each).stem for each in self._defining if is_source(each)}

    @cached_property
    def _defining(self) -> frozenset[str]:
        """The files that define or declare an export."""
        names = self._own.exports.names.values()
        return frozenset(file for file in (self._files.get(name, "") for name in names) if file)

    @cached_property
    def _has_folder(self) -> bool:
        """Whether an ``include`` folder holds anything that exports need."""
        return any(include_root(file) is not None for file in {*self._defining, *self._declaring})

    @cached_property
    def _declaring(self) -> frozenset[str]:
        """The headers that declare an export, or a type that consumers see into."""
        types = (name for name in self._files if name.kind in ("record", "enum", "alias") and self._can_see(name))
        found = {self._files[name] for name in types} | self._defining
        return frozenset(file for file in found if is_own_header(file))
