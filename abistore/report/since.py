"""Since when breaks exist: by which build, commit and release; as values and as text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec

from abistore.model.declarations import Name
from abistore.model.findings import Verdict
from abistore.model.history import LineKey
from abistore.model.words import counted, in_line
from abistore.report.model import ReportedFinding
from abistore.report.wording import shortened

Key = TypeVar("Key", bound=Hashable)


class Commit(msgspec.Struct, frozen=True):
    """Who wrote a commit, when, and its subject; empty where no repository has it. ``url`` is its page."""

    author: str = ""
    date: str = ""
    subject: str = ""
    url: str = ""


class DatedRelease(msgspec.Struct, frozen=True):
    """A release in an answer: its label, its day, and the source revision that was built.

    A ``candidate`` failed its gate and was not released. ``commit`` is what is known of the revision.
    """

    version: str
    date: str
    revision: str | None = None
    candidate: bool = False
    commit: Commit | None = None


class BlamedBreak(msgspec.Struct, frozen=True):
    """A break of the latest release, with the build that introduced it.

    ``introduced`` is the first build, released or not, from which on every later release breaks this place of the
    declaration in this way; ``last_good``, the build before, does not. ``released`` is the first release with the
    break, ``None`` where only builds between releases have it. ``as_now_since``: the values were different at first,
    and are what they are since then. ``not_observed`` are releases between the two whose evidence cannot show it.
    """

    change: ReportedFinding
    introduced: DatedRelease
    last_good: DatedRelease
    released: DatedRelease | None = None
    as_now_since: DatedRelease | None = None
    not_observed: tuple[str, ...] = ()


class RestoredBreak(msgspec.Struct, frozen=True):
    """A break that ``introduced`` brought and ``restored`` took back."""

    change: ReportedFinding
    introduced: DatedRelease
    restored: DatedRelease


class ShortLivedBreak(msgspec.Struct, frozen=True):
    """A break of programs built against ``first`` to ``last``, and not of those built against the base.

    An export was added after the base and removed, or a declaration was different for a while. ``introduced`` removed
    or changed it.
    """

    change: ReportedFinding
    first: DatedRelease
    last: DatedRelease
    introduced: DatedRelease


class EarlierBreak(msgspec.Struct, frozen=True):
    """A release under an earlier SONAME of the line that broke its ``previous`` release without a new SONAME."""

    release: DatedRelease
    previous: str
    soname: str
    verdict: Verdict


class Blame(msgspec.Struct, frozen=True):
    """What a release of a line, by default the latest, breaks of ``base``, and since when.

    The oldest ``breaks`` come first. ``restored`` are breaks that were introduced and taken back since then: exports
    that were removed for a while, and with ``all_restored`` all others. ``reverted`` counts declarations that are as
    in ``base``, and were different between. ``short_lived`` are breaks of programs built against a release between.
    ``unjudged`` counts the steps between that were not judged. ``earlier`` are breaks under earlier SONAMEs.
    """

    line: LineKey
    base: DatedRelease
    latest: DatedRelease
    soname: str | None
    verdict: Verdict
    breaks: tuple[BlamedBreak, ...]
    restored: tuple[RestoredBreak, ...] = ()
    all_restored: bool = False
    reverted: int = 0
    short_lived: tuple[ShortLivedBreak, ...] = ()
    unjudged: int = 0
    earlier: tuple[EarlierBreak, ...] = ()


class FirstBroken(msgspec.Struct, frozen=True):
    """Since when something is broken for programs built against ``base``, in one line.

    ``first_broken`` is the first build that breaks it, released or not, and ``None`` where none does; ``last_good`` is
    the build before it, or the latest release. Both were judged. ``released`` is the first release that breaks it.
    ``changes`` are the breaks. ``not_observed`` are releases between the two whose evidence cannot show it. ``judged``
    builds were looked at, of ``releases`` after ``base``.
    """

    line: LineKey
    name: Name
    base: DatedRelease
    last_good: DatedRelease
    first_broken: DatedRelease | None
    released: DatedRelease | None = None
    changes: tuple[ReportedFinding, ...] = ()
    not_observed: tuple[str, ...] = ()
    judged: int = 0
    releases: int = 0


def blame_text(found: Blame) -> str:
    """The breaks of one line, by the builds that introduced them."""
    return "\n".join(_blame(found))


def first_broken_text(found: FirstBroken) -> str:
    """The first build of one line that breaks a name, and the last good one."""
    return "\n".join(_first_broken(found))


def release_text(release: DatedRelease) -> str:
    """A build on one line: ``1.2.0  2026-11-28  revision 053ca7b``."""
    parts = [release.version, release.date]
    if release.candidate:
        parts.append("candidate, not released")
    if release.revision:
        parts.append(f"revision {release.revision}")
    return "  ".join(parts)


def built_text(built: DatedRelease, version: str) -> Iterator[str]:
    """The first build with what the release ``version`` shows, and its commit, as lines."""
    if built.version != version:
        yield f"first seen in {release_text(built)}"
    elif built.revision:
        yield f"revision {built.revision}"
    yield from _commit(built)


def _blame(found: Blame) -> Iterator[str]:
    soname = f" ({found.soname})" if found.soname else ""
    yield f"{found.line}: {found.latest.version} against {found.base.version}{soname}: {found.verdict.name}"
    if not found.breaks:
        yield f"nothing that programs built against {found.base.version} use is broken"
    for (introduced, released, last_good), breaks in _grouped(
        ((each.introduced, each.released, each.last_good), each) for each in found.breaks
    ):
        yield f"since {release_text(introduced)}, {counted(len(breaks), 'break')}"
        yield from (f"  {line}" for line in _origin(introduced, released, last_good))
        for each in breaks:
            yield f"  {_change(each.change)}"
            if each.as_now_since is not None:
                yield f"    with today's values since {release_text(each.as_now_since)}"
            yield from _unseen(each.last_good, each.not_observed)
    yield from _short_lived(found)
    yield from _restored(found)
    yield from _earlier(found)


def _origin(introduced: DatedRelease, released: DatedRelease | None, last_good: DatedRelease) -> Iterator[str]:
    """The commit, and where it is not that of a release, the release that has it and the last build that does not."""
    yield from _commit(introduced)
    if released == introduced:
        return
    yield f"first released in {release_text(released)}" if released else "not in a release yet"
    yield f"last good build {release_text(last_good)}"


def _commit(release: DatedRelease) -> Iterator[str]:
    commit = release.commit
    if commit is None:
        return
    if commit.author:
        yield f"commit by {in_line(commit.author)}, {commit.date}: {in_line(commit.subject)}"
    if commit.url:
        yield in_line(commit.url)


def _short_lived(found: Blame) -> Iterator[str]:
    """Breaks of programs that were not built against the base."""
    runs = _grouped(((each.introduced, each.first, each.last), each.change) for each in found.short_lived)
    for (introduced, first, last), changes in runs:
        built = first.version if first == last else f"{first.version} to {last.version}"
        yield f"since {release_text(introduced)}, {counted(len(changes), 'break')} of programs built against {built}"
        yield from (f"  {line}" for line in _commit(introduced))
        yield from (f"  {_change(change)}" for change in changes)
    if found.unjudged:
        yield f"{counted(found.unjudged, 'step')} between not judged; --restored judges all of them"


def _restored(found: Blame) -> Iterator[str]:
    for each in found.restored:
        broken = f"broken since {release_text(each.introduced)}"
        yield f"restored in {release_text(each.restored)}: {_change(each.change)}, {broken}"
    if found.reverted and not found.all_restored:
        some = f"{counted(found.reverted, 'declaration')} differed between and {'is' if found.reverted == 1 else 'are'}"
        yield f"{some} as in {found.base.version} again; --restored judges whether that broke anything"


def _earlier(found: Blame) -> Iterator[str]:
    for each in found.earlier:
        kept = f"broke {each.previous} without a new SONAME ({each.soname})"
        details = f"details: `abistore blame {found.line.library}@{each.release.version}`"
        yield f"earlier: {each.release.version}  {each.release.date}  {kept}: {each.verdict.name}; {details}"


def _first_broken(found: FirstBroken) -> Iterator[str]:
    yield f"{found.line}: {shortened(found.name.spelling)}, for programs built against {found.base.version}"
    if found.first_broken is None:
        yield f"  never broken; last good  {release_text(found.last_good)}"
    else:
        yield f"  first broken  {release_text(found.first_broken)}"
        yield from (f"                {line}" for line in _commit(found.first_broken))
        if found.released is None:
            yield "  released      not yet"
        elif found.released != found.first_broken:
            yield f"  released      {release_text(found.released)}"
        yield f"  last good     {release_text(found.last_good)}"
        yield from (f"    {_change(each)}" for each in found.changes)
        yield from _unseen(found.last_good, found.not_observed)
    yield f"  judged {found.judged} of {counted(found.releases, 'build')}"


def _unseen(last_good: DatedRelease, versions: Sequence[str]) -> Iterator[str]:
    if versions:
        yield f"    not observed after {last_good.version}: {', '.join(versions)}"


def _change(change: ReportedFinding) -> str:
    values = [value for value in change.shown if value not in {None, change.display}]
    told = f": {' -> '.join(shortened(value or '') or '' for value in values)}" if values else ""
    part = f" ({change.part})" if change.part else ""
    return f"{change.impact}  {change.kind}  {shortened(change.display)}{part}{told}  [{change.id[:12]}]"


Item = TypeVar("Item")


def _grouped(pairs: Iterable[tuple[Key, Item]]) -> Iterable[tuple[Key, Sequence[Item]]]:
    groups: dict[Key, list[Item]] = {}
    for key, each in pairs:
        groups.setdefault(key, []).append(each)
    return groups.items()
