"""Environments: which libraries and programs run together, and what a release would do there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from abistore.errors import UsageError
from abistore.model.approvals import BrokenBy
from abistore.model.decision import Decision, Outcome
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
        return _label(self.kind, self.name, self.version, self.profile)

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


HurtState: TypeAlias = Literal["breaks", "asks-for-another", "uses-broken"]
"""What becomes of a member: it ``breaks``; the loader does not find what it asks for; it uses a member that breaks."""


class HurtMember(msgspec.Struct, frozen=True, omit_defaults=True):
    """A member of an environment that a release would break, and by what; ``through`` is the broken one that it uses.

    The release itself is one where what it needs of the environment is missing.
    """

    kind: MemberKind
    name: str
    state: HurtState
    version: str = ""
    profile: str = ""
    through: str = ""
    broken_by: tuple[BrokenBy, ...] = ()

    @property
    def label(self) -> str:
        """How reports call it: ``libgeo@1.2``, ``app``."""
        return _label(self.kind, self.name, self.version, self.profile)


class ShippedRelease(msgspec.Struct, frozen=True, omit_defaults=True):
    """A release that ships: ``replaces`` are the versions that it takes the place of.

    ``users`` counts the members that ask the loader for it and are not replaced. ``file`` names a build that is not
    stored.
    """

    library: str
    version: str
    target: str
    profile: str
    replaces: tuple[str, ...] = ()
    users: int = 0
    file: str = ""


class CanShip(msgspec.Struct, frozen=True):
    """Whether releases may ship to an environment, together.

    ``outcome``: ``pass``; ``fail`` where something there would break that does not yet; ``undecided`` where nothing is
    seen to break, and ``unknown`` says why nobody can know. ``broken`` come in the order in which a break spreads.
    ``would_do`` are the other versions of a single release's line that may ship, of which ``untried`` were not asked.
    ``bound`` are the decisions of gates about releases that a rule in the store does not let pass, whoever uses them.
    """

    environment: str
    releases: tuple[ShippedRelease, ...]
    outcome: Outcome
    exit_code: int
    headline: str
    broken: tuple[HurtMember, ...] = ()
    unknown: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    would_do: tuple[str, ...] = ()
    untried: int = 0
    bound: tuple[Decision, ...] = ()


class ChangedMember(msgspec.Struct, frozen=True, omit_defaults=True):
    """A library or program of which two environments have different builds: those of the first, and of the second."""

    kind: MemberKind
    name: str
    target: str
    profile: str
    old: tuple[EnvironmentMember, ...]
    new: tuple[EnvironmentMember, ...]


class EnvironmentDifference(msgspec.Struct, frozen=True):
    """What two environments do not have in common: only in the ``new`` one, only in the ``old`` one, and changed."""

    old: str
    new: str
    added: tuple[EnvironmentMember, ...] = ()
    removed: tuple[EnvironmentMember, ...] = ()
    changed: tuple[ChangedMember, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether both have the same."""
        return not (self.added or self.removed or self.changed)


class DriftedFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file in a folder, or one that is missing there, and what was recorded.

    ``changed``: its content is not the recorded one. ``missing``: nothing there has the recorded content, or its name.
    ``unknown``: a library or program that was not recorded. ``is_now`` names the stored release with this content.
    """

    state: Literal["changed", "missing", "unknown"]
    path: str = ""
    recorded: str = ""
    sha256: str = ""
    expected: str = ""
    is_now: str = ""


class EnvironmentDrift(msgspec.Struct, frozen=True):
    """What lies in a folder beside what was recorded of an environment: ``as_recorded`` counts the members found."""

    environment: str
    folder: str
    as_recorded: int
    files: tuple[DriftedFile, ...] = ()
    not_checked: tuple[str, ...] = ()


def _label(kind: MemberKind, name: str, version: str, profile: str) -> str:
    if kind == "program":
        return name
    return f"{name}@{version}{f' ({profile})' if profile != DEFAULT_PROFILE else ''}"
