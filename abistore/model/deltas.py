"""Typed differences between two snapshots, free of any judgement."""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar, Union

import msgspec

from abistore.model.names import Name

T = TypeVar("T", covariant=True)


class Subject(msgspec.Struct, frozen=True):
    """What a delta is about: a declaration, or one part of it (a field, an enumerator, a base, a parameter).

    ``part`` is spelled for people and stable between runs: ``x``, ``parameter 2``, ``base geo::Shape``; empty for the
    declaration itself.
    """

    name: Name
    part: str = ""


class Added(msgspec.Struct, Generic[T], frozen=True):
    """Only the new side has it. ``within`` is the delta of the declaration whose part this is."""

    subject: Subject
    new: T
    within: Changed[Any] | None = None


class Removed(msgspec.Struct, Generic[T], frozen=True):
    """Only the old side has it, and the new side could have seen it."""

    subject: Subject
    old: T
    within: Changed[Any] | None = None


class Changed(msgspec.Struct, Generic[T], frozen=True):
    """Both sides have it, and it differs."""

    subject: Subject
    old: T
    new: T
    within: Changed[Any] | None = None


Delta: TypeAlias = Union[Added[T], Removed[T], Changed[T]]
