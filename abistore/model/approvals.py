"""Approvals of breaks, deprecations, and stored programs that breaks concern."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.model.declarations import Kind, Name
from abistore.model.findings import Finding, Impact, identity_of
from abistore.model.history import DEFAULT_PROFILE, LineKey
from abistore.model.labels import AUTO, library_name
from abistore.model.snapshot import Variants, hide_secrets
from abistore.model.versions import EVERY_PROFILE, reading, series

FOREVER: Final = "forever"
EVERY_TARGET: Final = "all"
"""How people name all targets of a library."""

_FILE: Final = "file "
_OF: Final = " of project "


def origin_of(file: str, project: str) -> str:
    """Where an approval of a reviewed file comes from: ``file approvals.yaml of project libfoo``."""
    return f"{_FILE}{file}{_OF}{project}"


class ApprovedFacts(msgspec.Struct, frozen=True):
    """What was approved: the kind of change, the declaration and its part, and the values before and after.

    ``covers`` are the identities of the consequences that the finding's own covers, sorted; ``None`` where it was
    approved before identities covered any.
    """

    kind: str
    subject: Kind
    symbol: str
    part: str = ""
    old_value: str | None = None
    new_value: str | None = None
    covers: tuple[str, ...] | None = None

    @property
    def values(self) -> str:
        """The values in one line: ``int x -> long x``."""
        return values(self.old_value, self.new_value)


def called_by_facts(facts: ApprovedFacts, covers: Sequence[str]) -> str:
    """The identity of the finding that says this and covers these, in hexadecimal digits."""
    name, said = Name(facts.subject, facts.symbol), (facts.old_value, facts.new_value)
    return identity_of(Finding(facts.kind, name, facts.part, "", Impact.NOTICE, "symbol", *said), covers).hex()


def values(old: str | None, new: str | None) -> str:
    """Two values in one line, whatever their spacing; one that a side lacks is left out."""
    return " -> ".join(" ".join(each.split()) for each in (old, new) if each is not None)


class Approval(msgspec.Struct, frozen=True):
    """A break of a library that somebody accepted. No verdict depends on it; a gate lets it through.

    ``identity`` is the finding's, and ``facts`` are what it said, ``None`` where no stored comparison had it. ``scope``
    is ``forever``, ``release:VERSION`` or ``branch:CHANNEL``; ``until`` is empty, ``date:``, ``version:`` or
    ``soname:``, each with the last that it holds for. ``approver`` decided, ``actor`` wrote it down. ``origin`` says
    where it came from if nobody typed it here, as :func:`origin_of` does. ``withdrawn`` takes back what was approved.

    ``target`` is the one that it holds on, empty for all; ``profile`` the build profile, or :data:`EVERY_PROFILE`. What
    was approved before profiles were kept is of the default one. ``stood_at`` is the version that the line ended with
    when it was given: it is void where the finding happened after that and was undone. Empty where nobody knows.
    """

    library: str
    identity: str
    facts: ApprovedFacts | None
    scope: str
    until: str
    reason: str
    ticket: str
    approver: str
    actor: str
    approved: datetime
    origin: str = ""
    withdrawn: bool = False
    target: str = ""
    stood_at: str = ""
    profile: str = DEFAULT_PROFILE

    def __post_init__(self) -> None:
        """A reason or ticket may quote a URL with a password."""
        hide_secrets(self, "reason")
        hide_secrets(self, "ticket")

    @property
    def about(self) -> tuple[str, str, str, str, str]:
        """What it is about: one finding may be approved for several scopes, targets and profiles."""
        return self.library, self.identity, self.scope, self.target, self.profile

    @property
    def project(self) -> str:
        """The project whose reviewed file says it; empty for what people approved by hand."""
        file, of, project = self.origin.rpartition(_OF)
        return project if of and file.startswith(_FILE) else ""

    @property
    def key(self) -> tuple[str, ...]:
        """What the last word is asked for: a project's file and people by hand do not replace what others said."""
        return (*self.about, self.project)

    @property
    def said(self) -> tuple[str, ...]:
        """What it says, wherever it comes from."""
        told = (self.until, self.reason, self.ticket, self.approver, self.stood_at)
        return (*self.about, *told, "withdrawn" * self.withdrawn)

    @property
    def terms(self) -> tuple[str, ...]:
        """What it says, without who wrote it down and when."""
        return (*self.said, self.origin)


def in_force(said: Iterable[Approval]) -> tuple[Approval, ...]:
    """What holds of all that was said, oldest first; sorted, without what was withdrawn.

    A word by hand is the last about a finding, whoever spoke before. A file's stands beside it, and takes its place
    where both say the same.
    """
    last: dict[tuple[str, ...], dict[str, Approval]] = {}
    for one in said:
        spoken = last.setdefault(one.about, {})
        if not one.project:
            spoken.clear()
        elif "" in spoken and spoken[""].said == one.said:
            del spoken[""]
        spoken[one.project] = one
    found = (one for spoken in last.values() for one in spoken.values() if not one.withdrawn)
    return tuple(sorted(found, key=lambda one: one.key))


def never_undone(_approval: Approval) -> bool:
    """What was approved stayed so, as far as anybody knows."""
    return False


def nothing_more(_approval: Approval) -> frozenset[str]:
    """An approval is for what its identity says."""
    return frozenset()


class GatePlace(NamedTuple):
    """Where a gate stands: on which day, and before which release. What is ``None`` is not known.

    ``undone`` tells whether what somebody approved happened since, and was taken back before this release. ``seen``
    are the identities of all that was reported with a finding when somebody approved it, where its own did not cover
    that yet.
    """

    today: date
    version: str | None = None
    soname: str | None = None
    channel: str | None = None
    scheme: str = AUTO
    target: str | None = None
    profile: str | None = None
    undone: Callable[[Approval], bool] = never_undone
    seen: Callable[[Approval], frozenset[str]] = nothing_more


ApprovalState: TypeAlias = Literal["holds", "expired", "elsewhere"]


def state_at(approval: Approval, at: GatePlace) -> ApprovalState:
    """Whether an approval holds at a gate. What is not known does not hold: a release without a version, say."""
    if not _covers(approval, at):
        return "elsewhere"
    word, _, last = approval.until.partition(":")
    if word == "date":
        return "holds" if at.today <= date.fromisoformat(last) else "expired"
    if word == "version":
        return "holds" if at.version is not None and no_later(at.version, last, at.scheme) else "expired"
    if word == "soname":
        return "holds" if at.soname == last else "expired"
    return "holds"


def _covers(approval: Approval, at: GatePlace) -> bool:
    if approval.target not in {"", at.target} or approval.profile not in {EVERY_PROFILE, at.profile}:
        return False
    scope = approval.scope
    word, _, named = scope.partition(":")
    return scope == FOREVER or (bool(named) and named == {"release": at.version, "branch": at.channel}.get(word))


def no_later(version: str, last: str, scheme: str) -> bool:
    """Whether a version comes no later than the last one. Labels that the scheme cannot order do not."""
    one, other = reading(version, scheme), reading(last, scheme)
    if one is None or other is None or series(version, scheme) != series(last, scheme):
        return False
    return one <= other


def in_words(approval: Approval) -> str:
    """By whom, where and until when: ``by ana for release 2.0 on elf-i386-32-little until 2026-12-31 (LIB-7)``."""
    until = approval.until.partition(":")[2]
    scope = "" if approval.scope == FOREVER else f" for {approval.scope.replace(':', ' ', 1)}"
    target = f" on {approval.target}" if approval.target else ""
    if approval.profile != DEFAULT_PROFILE:
        target += f" in profile {approval.profile}" if approval.profile != EVERY_PROFILE else " in all profiles"
    ticket = f" ({approval.ticket})" if approval.ticket else ""
    return f"by {approval.approver}{scope}{target}{f' until {until}' if until else ''}{ticket}"


DeprecationState: TypeAlias = Literal["deprecated", "removable", "removed", "too-early", "undeprecated"]
"""What became of a declaration.

``deprecated``: it stands, and may not go yet or nothing says when. ``removable``: it stands, and may go. ``removed``:
it went, after it was deprecated long enough or where nothing says how long. ``too-early``: it went before.
``undeprecated``: it went and no release had called it deprecated.
"""


class Deprecation(msgspec.Struct, frozen=True):
    """A declaration that a release deprecates, or that was removed.

    ``since`` is the first release whose headers call it deprecated, empty where none did; with ``first_stored`` no
    older headers are stored. ``removed`` is the release that lacks it, ``removable`` what a removal waits for.
    """

    name: Name
    display: str
    state: DeprecationState
    since: str = ""
    since_day: str = ""
    first_stored: bool = False
    removed: str = ""
    removable: str = ""


class LineDeprecations(msgspec.Struct, frozen=True):
    """The deprecations of a line. ``unread`` are releases whose headers were not read: they say nothing of these."""

    line: LineKey
    latest: str
    window: str
    items: tuple[Deprecation, ...]
    unread: tuple[str, ...] = ()


class EarlyRemoval(msgspec.Struct, frozen=True):
    """A declaration that a release removes before its window opens. ``since`` is empty where it was not deprecated."""

    display: str
    since: str = ""
    removable: str = ""


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


BreakSort: TypeAlias = Literal["symbol", "version", "size", "type", "change"]


class BrokenBy(msgspec.Struct, frozen=True, order=True):
    """What breaks a consumer: a symbol or a version of it that is missing, data of another size than its copy, a type
    that it was built with otherwise, or a change since the release before that it meets.

    ``kind`` is that of the finding, where it is one; ``detail`` says more.
    """

    sort: BreakSort
    symbol: str
    kind: str = ""
    detail: str = ""


def asks_for(details: ConsumerDetails, library: str, sonames: Collection[str] = ()) -> bool:
    """Whether a consumer asks the loader for a library: for one of its ``sonames``, or for what is called so."""
    wanted = {base_name(each) for each in sonames}
    return any(base_name(each) in wanted or library_name(base_name(each)) == library for each in details.needed)


def base_name(needed: str) -> str:
    """``libfoo.1.dylib`` of ``@rpath/libfoo.1.dylib``; Windows does not tell ``FOO.dll`` from ``foo.dll``."""
    name = needed.rpartition("/")[2]
    return name.lower() if name.lower().endswith(".dll") else name
