"""What a text stub says of one library, in whatever version of the format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

Sort = Literal["unknown", "function", "data", "thread_local"]

PLATFORMS = {"macosx": "macos", "zippered": "macos", "iosmac": "maccatalyst", "macCatalyst": "maccatalyst"}
"""Platforms that earlier versions of the format call otherwise."""

_OBJC = {
    "classes": ("_OBJC_CLASS_$_", "_OBJC_METACLASS_$_"),
    "eh-types": ("_OBJC_EHTYPE_$_",),
    "ivars": ("_OBJC_IVAR_$_",),
}


class StubSymbols(msgspec.Struct, frozen=True):
    """Exports that are there for some targets; no ``targets`` are all of the library's."""

    targets: tuple[str, ...]
    names: tuple[str, ...]
    sort: Sort = "unknown"
    weak: bool = False


class StubNames(msgspec.Struct, frozen=True):
    """Libraries or clients that are named for some targets."""

    targets: tuple[str, ...]
    names: tuple[str, ...]


class StubDocument(msgspec.Struct, frozen=True):
    """One library. ``targets`` are ``arm64-macos`` and the like; ``minimum`` the oldest system of each."""

    name: str
    targets: tuple[str, ...]
    current: str | None = None
    compatibility: str = "1.0"
    flags: tuple[str, ...] = ()
    minimum: Mapping[str, str] = {}
    reexports: tuple[StubNames, ...] = ()
    clients: tuple[StubNames, ...] = ()
    symbols: tuple[StubSymbols, ...] = ()


class WrongStub(Exception):
    """The text is no stub. The reader names the file, and makes an error of it that users meet."""


def objc(sort: str, targets: tuple[str, ...], names: Iterable[str], *, underscored: bool = False) -> StubSymbols:
    """The symbols of Objective-C classes, or of their parts. The first versions wrote ``_Name``."""
    plain = [each.removeprefix("_") if underscored else each for each in names]
    return StubSymbols(targets, tuple(prefix + each for each in plain for prefix in _OBJC[sort]), "data")


def table(value: Any, what: str) -> Mapping[str, Any]:
    """A mapping. Raises :class:`WrongStub` for anything else."""
    if not isinstance(value, Mapping):
        raise WrongStub(f"{what} is no table")
    return value


def tables(value: Any, what: str) -> Iterator[Mapping[str, Any]]:
    """A list of mappings; nothing where there is none."""
    for each in items(value, what):
        yield table(each, what)


def items(value: Any, what: str) -> Sequence[Any]:
    """A list; empty where there is none."""
    if value is None or value == "":
        return ()
    if not isinstance(value, list):
        raise WrongStub(f"{what} is no list")
    return value


def words(value: Any, what: str) -> tuple[str, ...]:
    """A list of texts; empty where there is none."""
    found = items(value, what)
    if not all(isinstance(each, str) for each in found):
        raise WrongStub(f"{what} holds something else than names")
    return tuple(found)


def word(value: Any, what: str) -> str:
    """A text."""
    if not isinstance(value, str) or not value:
        raise WrongStub(f"{what} is missing")
    return value


def version(value: Any) -> str:
    """``1.0`` for ``1``, and ``1.2`` for ``1.2.0``: as load commands are spelled."""
    parts = str(value).split(".")
    padded = [*parts, "0"] if len(parts) == 1 else parts
    return ".".join(padded[:-1] if len(padded) == 3 and padded[2] == "0" else padded)


def targets_of(each: Mapping[str, Any]) -> tuple[str, ...]:
    """The targets that a table is for; none where it is for all."""
    return words(each.get("targets"), "targets")


def named(held: Mapping[str, Any], part: str, key: str) -> Iterator[StubNames]:
    """What each table of the list ``part`` names with ``key``, one name or several, and for which targets."""
    for each in tables(held.get(part), part):
        value = each.get(key)
        yield StubNames(targets_of(each), (value,) if isinstance(value, str) and value else words(value, key))
