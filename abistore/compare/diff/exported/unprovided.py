"""Imports that none of the libraries has which an ELF file says that it needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.labels.sonames import library_name
from abistore.model.names import Name
from abistore.model.snapshot import Variants
from abistore.model.tables import Import

VERSIONED: Final = frozenset(
    {
        *("libc", "libm", "libpthread", "libdl", "librt", "libresolv", "libutil", "ld-linux", "ld-linux-x86-64"),
        *("ld-linux-aarch64", "ld-linux-armhf", "libstdc++", "libgcc_s", "libgomp", "libatomic", "libquadmath"),
    }
)
"""Libraries of GNU systems that give each symbol a version: the linker writes it down beside an import."""


def come_unprovided(context: Context, names: Collection[Name]) -> frozenset[Name]:
    """The imports of the new release that no library has which it needs, where the old release got along.

    It did not import them, or needed a library that may have them. ``names`` are the imports that differ.
    """
    old, new = context.old, context.new
    if not _needs_versioned_only(new) or _leaves_out_imports(old):
        return frozenset()
    if _needs_versioned_only(old):
        return frozenset(name for name in names if _has_no_version(name, new) and not _has_no_version(name, old))
    return frozenset(name for name in _symbols(new) if name.kind == "import" and _has_no_version(name, new))


def _needs_versioned_only(side: SideFacts) -> bool:
    """Whether a library needs glibc, and no library but those with versions. An import from one of these has one."""
    library = side.library
    if library is None or not all(library_name(each) in VERSIONED for each in library.needed):
        return False
    return any(library_name(each) == "libc" for each, _ in library.on_elf.version_requirements)


def _leaves_out_imports(side: SideFacts) -> bool:
    """Whether a release was stored without its imports: it asks for versions, and names no symbol that has one."""
    library = side.library
    asks = library is not None and bool(library.on_elf.version_requirements)
    return library is None or (asks and not any(name.kind == "import" for name in _symbols(side)))


def _has_no_version(name: Name, side: SideFacts) -> bool:
    shapes = side.variants("symbol", name)
    return any(isinstance(each, Import) and not each.weak and each.version is None for each in shapes)


def _symbols(side: SideFacts) -> Mapping[Name, Variants]:
    return side.snapshot.entries.get("symbol", {})
