"""Reads the layout facet of libraries that tests build from source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Kind, Name
from abistore.model.shapes import (
    AnyShape,
    Enum,
    Foreign,
    Function,
    Named,
    Pointer,
    Primitive,
    Record,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Snapshot
from tests.build import build_library

C = ("gcc", "clang")
CPP = ("g++", "clang++")

INT = Primitive("int", 4)
CHAR = Primitive("char", 1)
DOUBLE = Primitive("double", 8)
VOID = Primitive("void", 0)


class Layout:
    """The layout facet of one library, with look-ups that fail where a name has not exactly one shape."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def shape(self, kind: Kind, spelling: str) -> AnyShape:
        (shape,) = self.snapshot.variants("layout", Name(kind, spelling))
        return shape

    def variants(self, kind: Kind, spelling: str) -> tuple[AnyShape, ...]:
        return self.snapshot.variants("layout", Name(kind, spelling))

    def function(self, symbol: str) -> Function:
        shape = self.shape("function", symbol)
        assert isinstance(shape, Function)
        return shape

    def variable(self, symbol: str) -> Variable:
        shape = self.shape("variable", symbol)
        assert isinstance(shape, Variable)
        return shape

    def record(self, spelling: str) -> Record:
        shape = self.shape("record", spelling)
        assert isinstance(shape, Record)
        return shape

    def enum(self, spelling: str) -> Enum:
        shape = self.shape("enum", spelling)
        assert isinstance(shape, Enum)
        return shape

    def foreign(self, spelling: str) -> Foreign:
        shape = self.shape("record", spelling)
        assert isinstance(shape, Foreign)
        return shape


def layout(
    source: str, compiler: str, *, flags: Sequence[str] = (), files: Mapping[str, str] | None = None, soname: str = ""
) -> Layout:
    """The layout of a library that ``compiler`` builds from ``source`` with debug information."""
    language = "c++" if "++" in compiler else "c"
    path = build_library(
        source,
        language=language,
        compiler=compiler,
        flags=("-g", "-O1", "-w", *flags),
        files=files,
        soname=soname or "libcase.so.1",
    )
    return Layout(read_snapshot(path, ExtractOptions()))


def record(spelling: str) -> Named:
    return Named(Name("record", spelling))


def alias(spelling: str) -> Named:
    return Named(Name("alias", spelling))


def enum(spelling: str) -> Named:
    return Named(Name("enum", spelling))


def pointer(target: TypeRef) -> Pointer:
    return Pointer(target)
