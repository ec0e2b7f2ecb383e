"""What one side of a case is made of, and how it is compiled and read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version as version_of_package
from pathlib import Path

from msgspec.structs import replace

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions, Language
from abistore.model.snapshot import Snapshot
from tests.build import build_library, version
from tests.public_headers import Texts, beside, implementing

OF_THE_SYSTEM = frozenset({"gcc", "g++"})
"""The compilers that every machine with a compiler has."""


@dataclass(frozen=True)
class Source:
    """The source of a library: everything that decides the file, but for the versions of compiler and linker.

    ``files`` are laid beside ``text``. The library is linked with those that it ``needs``.
    """

    text: str
    language: str
    compiler: str
    flags: tuple[str, ...]
    soname: str | None
    files: Texts = ()
    name: str = "libcase.so"
    needs: tuple[Source, ...] = ()

    def build(self) -> Path:
        """The library. Raises ``Missing`` where the compiler is not installed."""
        return build_library(
            self.text,
            language=self.language,
            compiler=self.compiler,
            flags=(*self.flags, *(str(each.build()) for each in self.needs)),
            soname=self.soname,
            files=dict(self.files),
            name=self.name,
        )


@dataclass(frozen=True)
class Side:
    """A library and the public headers beside it, or the headers alone, with the options of reading them.

    ``library`` is the name to give to the snapshot; where it is None, the library's own is read.
    """

    source: Source | None
    library: str | None = "libcase"
    layout: bool = True
    public: Texts = ()
    included: Texts = ()
    language: Language = "c++"
    standard: str = ""

    @property
    def key(self) -> str:
        """A digest of everything that decides the snapshot, but for the versions of the programs that make it."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:24]

    @property
    def is_of_the_system(self) -> bool:
        """Whether the compiler of every machine compiles it."""
        return self.source is None or self.source.compiler in OF_THE_SYSTEM

    @property
    def made_by(self) -> str:
        """The versions of the programs here that make the snapshot. Raises ``Missing`` where one is not installed."""
        programs = (self.source.compiler, "ld") if self.source else ("g++",)
        lines = [version(each).partition("\n")[0] for each in programs]
        return "; ".join([*lines, f"libclang {version_of_package('libclang')}"] if self.public else lines)

    def read(self) -> Snapshot:
        """The snapshot, compiled and read anew. Raises ``Missing`` where the compiler is not installed."""
        return _read(self)


@cache
def _read(side: Side) -> Snapshot:
    if side.source is None:
        found = implementing(dict(side.public), side.language, side.standard)
    else:
        options = ExtractOptions(library=side.library, layout=side.layout)
        found = read_snapshot(side.source.build(), options)
        if side.public:
            found = beside(found, dict(side.public), side.language, side.standard, included=dict(side.included))
    return _of_any_build(found)


def _of_any_build(snapshot: Snapshot) -> Snapshot:
    """Without what every build has anew: the next C library or version of this program changes no ABI."""
    provenance = replace(snapshot.provenance, sha256="", size=0, build_id=None, abistore="")
    return replace(snapshot, provenance=provenance)
