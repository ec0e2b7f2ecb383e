"""Consumers: programs, and libraries that use other libraries, by what they ask for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from abistore.model.labels.sonames import library_name
from abistore.model.names import Name
from abistore.model.snapshot import Variants

Unseen: TypeAlias = Literal["asks-at-run-time", "no-types", "some-types"]
"""What of a consumer is not known: symbols that it asks for while it runs, and (some) types it was built with."""


class ConsumedSymbol(msgspec.Struct, frozen=True, array_like=True, order=True, gc=False):
    """A symbol that a consumer imports.

    ``version`` is the symbol version it must have, ``library`` the file that is to provide it, each empty for any.
    ``weak``: the consumer starts without it. ``copied`` is the size of the data of which a program has its own copy.
    """

    symbol: str
    version: str = ""
    library: str = ""
    weak: bool = False
    copied: int = 0


class ConsumerDetails(msgspec.Struct, frozen=True):
    """A consumer without what it imports: ``name`` is unique among those of one ``target``.

    ``needed`` are the libraries that it asks the loader for, ``file`` is its base name, and ``package`` what it was
    found in. ``unseen`` says what of it is not checked.
    """

    name: str
    target: str
    file: str
    sha256: str
    needed: tuple[str, ...]
    unseen: tuple[Unseen, ...] = ()
    package: str = ""

    @property
    def key(self) -> ConsumerKey:
        """What identifies the consumer."""
        return self.name, self.target


ConsumerKey: TypeAlias = tuple[str, str]
"""A consumer's name and target."""


class BuiltType(msgspec.Struct, frozen=True):
    """A type that a consumer was built with: its shapes, and the name of the file that declares it."""

    shapes: Variants
    file: str = ""


class Consumer(msgspec.Struct, frozen=True):
    """A consumer: what it is, the symbols that it imports, sorted, and the types that it was built with."""

    details: ConsumerDetails
    imports: tuple[ConsumedSymbol, ...]
    types: Mapping[Name, BuiltType] = {}

    @property
    def symbols(self) -> frozenset[str]:
        """The imported symbols."""
        return frozenset(each.symbol for each in self.imports)


class StoredConsumer(msgspec.Struct, frozen=True):
    """A consumer of the store: how much it imports and was built with, when it was added and by whom."""

    details: ConsumerDetails
    imports: int
    types: int
    added: datetime
    actor: str


def asks_for(details: ConsumerDetails, library: str, sonames: Collection[str] = ()) -> bool:
    """Whether a consumer asks the loader for a library: for one of its ``sonames``, or for what is called so."""
    wanted = {base_name(each) for each in sonames}
    return any(base_name(each) in wanted or library_name(base_name(each)) == library for each in details.needed)


def base_name(needed: str) -> str:
    """``libfoo.1.dylib`` of ``@rpath/libfoo.1.dylib``; Windows does not tell ``FOO.dll`` from ``foo.dll``."""
    name = needed.rpartition("/")[2]
    return name.lower() if name.lower().endswith(".dll") else name
