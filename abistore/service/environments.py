"""What stands in environments: recorded, removed, listed, compared, and checked against a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import InputError, SnapshotNotFound, UsageError
from abistore.extract.files import InputFile, InputFolder, open_input
from abistore.extract.packages.libraries import entries, is_binary, is_debug_file
from abistore.extract.packages.streams import UnpackBounds, damage_told
from abistore.extract.reader import ExtractOptions
from abistore.model.approvals import ConsumerDetails
from abistore.model.environments import (
    ChangedMember,
    DriftedFile,
    Environment,
    EnvironmentDifference,
    EnvironmentDrift,
    EnvironmentMember,
    RecordedMembers,
)
from abistore.model.history import Release
from abistore.model.labels import check_not_blank
from abistore.model.versions import check_name
from abistore.service.database import Database, line_target, user, using
from abistore.service.shipping import member_of

if TYPE_CHECKING:
    from abistore.store.store import Store

PIECE = 1 << 20


def env_record(
    environment: str,
    members: Sequence[str],
    *,
    beside: bool = False,
    target: str | None = None,
    profile: str | None = None,
    actor: str = "",
    database: Database = None,
) -> RecordedMembers:
    """Record what an environment has: releases (``libgeo@1.2``) and stored consumers, by names or patterns.

    A library that is recorded again replaces its version, unless it comes ``beside`` it. All are recorded, or none; a
    new environment is created. Raises :class:`SnapshotNotFound`, and :class:`UsageError` where it is not clear which
    version is replaced.
    """
    check_name("environment", environment)
    check_not_blank("a member", tuple(members))
    who = actor or user()
    with using(database, write=True) as store, store.transaction():
        moment = datetime.now(UTC)
        programs = {each.details.name for each in store.consumers()}
        releases = [each for each in members if "@" in each and each not in programs]
        found = [member_of(each, moment, who) for each in _releases(store, releases, target, profile)]
        found += [
            EnvironmentMember("program", each.name, each.target, moment, who, sha256=each.sha256, file=each.file)
            for each in _programs(store, [each for each in members if each not in releases], target)
        ]
        once = list({each.content: each for each in found}.values())
        return store.record_members(environment, once, beside=beside, actor=who)


def _releases(store: Store, references: Iterable[str], target: str | None, profile: str | None) -> Iterator[Release]:
    platform = line_target(store, target)
    for reference in references:
        release = store.resolve(reference, target=platform, profile=profile)
        if release.candidate:
            raise UsageError(f"{release.reference}: it failed its gate, and is not a release", "ingest it as a release")
        yield release


def _programs(store: Store, words: Sequence[str], target: str | None) -> Iterator[ConsumerDetails]:
    """The stored consumers that names and patterns mean. Raises :class:`UsageError` for the name of a library."""
    libraries = {key.library for key in store.lines()} if words else set()
    known = store.consumers() if words else ()
    platform = line_target(store, target)
    for word in words:
        own = [each.details for each in known if platform in {None, each.details.target}]
        found = [each for each in own if each.name == word] or [each for each in own if fnmatchcase(each.name, word)]
        if not found and word in libraries:
            raise UsageError(f"{word}: which release?", f"say {word}@VERSION")
        if not found:
            raise SnapshotNotFound(f"{word}: no such consumer", "see `abistore consumers list`")
        yield from found


def env_remove(
    environment: str,
    members: Sequence[str],
    *,
    target: str | None = None,
    profile: str | None = None,
    actor: str = "",
    database: Database = None,
) -> RecordedMembers:
    """Take members out of an environment: a library, one version of it (``libgeo@1.2``), consumers by name or pattern.

    Raises :class:`SnapshotNotFound` where one is not recorded.
    """
    check_not_blank("a member", tuple(members))
    with using(database, write=True) as store, store.transaction():
        platform = line_target(store, target)
        wanted = (platform, profile)
        present = store.environment(environment).members
        for word in members:
            if not any(_names(word, each, wanted) for each in present):
                recorded = ", ".join(each.label for each in present) or "nothing"
                raise SnapshotNotFound(f"{word}: not recorded in {environment}", f"recorded: {recorded}")

        def is_meant(member: EnvironmentMember) -> bool:
            return any(_names(word, member, wanted) for word in members)

        return store.remove_members(environment, is_meant, datetime.now(UTC), actor or user())


def _names(word: str, member: EnvironmentMember, line: tuple[str | None, str | None]) -> bool:
    """Whether a word names a member on one of the lines that are meant."""
    target, profile = line
    if target not in {None, member.target}:
        return False
    if member.kind == "program":
        return word == member.name or fnmatchcase(member.name, word)
    return profile in {None, member.profile} and word in {member.name, f"{member.name}@{member.version}"}


def env_list(environment: str | None = None, *, database: Database = None) -> tuple[Environment, ...]:
    """All environments, or one, each with what it has and had. Raises :class:`SnapshotNotFound`."""
    check_not_blank("the environment", environment)
    with using(database) as store, store.reading():
        return store.environments() if environment is None else (store.environment(environment),)


def env_diff(old: str, new: str, *, database: Database = None) -> EnvironmentDifference:
    """What two environments do not have in common. Raises :class:`SnapshotNotFound`."""
    with using(database) as store, store.reading():
        before, after = (_slots(store.environment(each).members) for each in (old, new))
    return EnvironmentDifference(
        old,
        new,
        tuple(each for slot, own in after.items() if slot not in before for each in own),
        tuple(each for slot, own in before.items() if slot not in after for each in own),
        tuple(_changed(before, after)),
    )


def _slots(members: Iterable[EnvironmentMember]) -> dict[tuple[str, ...], tuple[EnvironmentMember, ...]]:
    ordered = sorted(members, key=lambda each: each.content)
    return {slot: tuple(own) for slot, own in groupby(ordered, key=lambda each: each.slot)}


def _changed(
    before: Mapping[tuple[str, ...], tuple[EnvironmentMember, ...]],
    after: Mapping[tuple[str, ...], tuple[EnvironmentMember, ...]],
) -> Iterator[ChangedMember]:
    for slot in sorted(before.keys() & after.keys()):
        old, new = before[slot], after[slot]
        if [each.content for each in old] != [each.content for each in new]:
            first = old[0]
            yield ChangedMember(first.kind, first.name, first.target, first.profile, old, new)


class _Lying(msgspec.Struct, frozen=True):
    """A library or program in a folder: its path below it, and the SHA-256 of its bytes."""

    path: str
    sha256: str

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.rpartition("/")[2]


def env_drift(folder: str | Path, environment: str, *, database: Database = None) -> EnvironmentDrift:
    """What of the libraries and programs in a folder differs from what was recorded of an environment.

    Files are compared by SHA-256: links and files of debug information are left out. Raises :class:`InputError`.
    """
    with open_input(Path(folder)) as place:
        if not isinstance(place, InputFolder):
            raise InputError(f"{folder}: not a folder", "name the folder where the environment is installed")
        lying = list(_binaries(place))
    with using(database) as store, store.reading():
        members = store.environment(environment).members
        known = {each.sha256 for each in members}
        drifted = [*_missing(members, lying), *_unrecorded(members, lying, known)]
        files = tuple(_with_release(store, each) for each in drifted)
    present = {each.sha256 for each in lying}
    return EnvironmentDrift(
        environment,
        str(folder),
        sum(each.sha256 in present for each in members if each.sha256),
        files,
        tuple(f"{each.label}: the digest of its file was not recorded" for each in members if not each.sha256),
    )


def _binaries(folder: InputFolder) -> Iterator[_Lying]:
    bounds = UnpackBounds(str(folder.path), folder.size, ExtractOptions().max_bytes)
    with damage_told(str(folder.path)):
        for entry in entries(folder, bounds):
            if entry.keep is not None and is_binary(entry.head) and not is_debug_file(entry.path):
                yield _Lying(entry.path, _sha256(entry.keep))


def _sha256(keep: Callable[[], InputFile]) -> str:
    found = hashlib.sha256()
    with keep() as file:
        for offset in range(0, file.size, PIECE):
            found.update(file.read_at(offset, min(PIECE, file.size - offset)))
    return found.hexdigest()


def _missing(members: Sequence[EnvironmentMember], lying: Sequence[_Lying]) -> Iterator[DriftedFile]:
    """The members whose content is nowhere: changed where a file has the name of theirs, missing else."""
    present = {each.sha256 for each in lying}
    recorded = {each.sha256 for each in members}
    for member in members:
        if not member.sha256 or member.sha256 in present:
            continue
        others = [each for each in lying if each.name in _file_names(member) and each.sha256 not in recorded]
        for each in others:
            yield DriftedFile("changed", each.path, member.label, each.sha256, member.sha256)
        if not others:
            yield DriftedFile("missing", member.file, member.label, "", member.sha256)


def _file_names(member: EnvironmentMember) -> frozenset[str]:
    return frozenset({member.file, member.soname.rpartition("/")[2]} - {""})


def _unrecorded(
    members: Sequence[EnvironmentMember], lying: Sequence[_Lying], known: set[str]
) -> Iterator[DriftedFile]:
    """The files with a content that was not recorded, but those that lie where a member should."""
    present = {each.sha256 for each in lying}
    names = {name for each in members if each.sha256 not in present for name in _file_names(each)}
    for each in lying:
        if each.sha256 not in known and each.name not in names:
            yield DriftedFile("unknown", each.path, "", each.sha256)


def _with_release(store: Store, file: DriftedFile) -> DriftedFile:
    """A file with the stored release that has its content, if one has."""
    found = store.of_file(file.sha256)
    return msgspec.structs.replace(file, is_now=found[-1].reference) if found else file
