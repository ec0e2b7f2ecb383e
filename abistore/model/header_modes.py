"""What public headers show programs of one mode, or compilers of one kind, alone."""

from __future__ import annotations

import msgspec

from abistore.model.names import Kind, Name
from abistore.model.shapes import AnyShape


class AskedCompiler(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A condition that asks which compiler reads the headers, and a digest of the declarations passed over for it."""

    text: str
    file: str
    unread: str


class ModeEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one name is in a mode, by its kind and spelling; without ``shapes`` it is not declared there."""

    kind: Kind
    spelling: str
    shapes: tuple[AnyShape, ...] = ()

    @property
    def name(self) -> Name:
        """The name."""
        return Name(self.kind, self.spelling)


class HeadersMode(msgspec.Struct, frozen=True, omit_defaults=True):
    """What headers show programs that are built in one mode (``NDEBUG``), where that differs from the reading of all.

    ``entries`` are those that differ, sorted. ``failure`` is the first error where the headers do not parse.
    """

    name: str
    entries: tuple[ModeEntry, ...] = ()
    failure: str = ""


class UntakenBranch(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Text of public headers that was not read: what is asked before it (``#ifdef FOO_EXTENDED``), and names in it.

    These are names of exports and types of the library that headers do not declare where they were read.
    """

    condition: str
    names: tuple[str, ...]
