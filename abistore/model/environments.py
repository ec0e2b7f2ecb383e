"""Environments: which libraries and programs run together, and what a release would do there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from abistore.errors import UsageError
from abistore.model.history import DEFAULT_PROFILE, LineKey

MemberKind: TypeAlias = Literal["library", "program"]


class EnvironmentMember(msgspec.Struct, frozen=True, omit_defaults=True):
    """A release of a library, or a stored consumer, that was recorded in an environment.

    ``version``, ``profile``, ``digest`` and ``soname`` (what programs ask the loader for) are those of the release, and
    empty for a program. ``sha256`` is the digest of the file, and ``file`` its name. ``until`` says when it was
    replaced or removed, and ``ended_by`` by whom.
    """

    kind: MemberKind
    name: str
    target: str
    recorded: datetime
    actor: str = ""
    profile: str = ""
    version: str = ""
    digest: str = ""
    soname: str = ""
    sha256: str = ""
    file: str = ""
    until: datetime | None = None
    ended_by: str = ""

    @property
    def label(self) -> str:
        """How reports call it: ``libgeo@1.2``, ``libgeo@1.2 (debug)``, ``app``."""
        if self.kind == "program":
            return self.name
        return f"{self.name}@{self.version}{f' ({self.profile})' if self.profile != DEFAULT_PROFILE else ''}"

    @property
    def slot(self) -> tuple[str, ...]:
        """What one member of an environment replaces another of: the line of a library, or the consumer."""
        return self.kind, self.name, self.target, self.profile

    @property
    def content(self) -> tuple[str, ...]:
        """What makes it the same build of the same release."""
        return *self.slot, self.version, self.digest, self.sha256

    @property
    def line(self) -> LineKey:
        """The line of a library."""
        return LineKey(self.name, self.target, self.profile)


class Environment(msgspec.Struct, frozen=True):
    """What was recorded of an environment: ``members`` are there, ``earlier`` ones were replaced or removed."""

    name: str
    created: datetime
    actor: str
    members: tuple[EnvironmentMember, ...] = ()
    earlier: tuple[EnvironmentMember, ...] = ()


class RecordedMembers(msgspec.Struct, frozen=True):
    """What a record, or a removal, changed in an environment: ``known`` members were there before."""

    environment: str
    recorded: tuple[EnvironmentMember, ...] = ()
    replaced: tuple[EnvironmentMember, ...] = ()
    removed: tuple[EnvironmentMember, ...] = ()
    known: tuple[EnvironmentMember, ...] = ()


def replaced_by(
    members: Sequence[EnvironmentMember], new: EnvironmentMember, *, beside: bool = False
) -> tuple[EnvironmentMember, ...]:
    """The members that are replaced where ``new`` is recorded: none with ``beside``.

    A release replaces those that programs load by the same name; if there is none, the only other one. Raises
    :class:`UsageError` where several have other names.
    """
    same = [each for each in members if each.slot == new.slot]
    others = tuple(each for each in same if each.content != new.content)
    alike = [each for each in same if each.soname == new.soname]
    if beside or not others:
        return ()
    if alike:
        return tuple(each for each in others if each.soname == new.soname)
    if len({each.soname for each in others}) > 1:
        named = ", ".join(f"{each.version} ({each.soname})" for each in others)
        raise UsageError(
            f"{new.label}: which one does it replace? recorded are {named}",
            "pass --beside to keep them, and remove one with `abistore env remove`",
        )
    return others
