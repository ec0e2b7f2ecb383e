"""What a comparison concludes: impacts, findings, verdicts, and the identity of each finding.

The same change has the same identity in every comparison that finds it. An identity begins with a place: of
``42b2958d22e2`` and 8 more digits, the first 12 name the kind, the declaration and its part, the rest the values before
and after, and those consequences that nothing else determines. ``int y`` and ``int y[100]`` added to one struct have
one place and two identities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from enum import IntEnum
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.model.declarations import FACETS, Facet, Name, blake2b
from abistore.model.kind_names import first_name, name_now
from abistore.model.snapshot import Evidence, Location, encode
from abistore.patterns import pattern


class Impact(IntEnum):
    """How a change acts on a consumer, mildest first.

    ``COMPATIBLE``: built consumers go on working and sources still compile. ``RISK``: they may not, depending on what
    no comparison can see. ``API_BREAK``: built consumers work, some sources stop compiling. ``BREAKING``: some built
    consumers fail. ``NOTICE`` is about the evidence, the toolchain or other libraries' code in the file and not about
    the library's own ABI: it has no weight unless a policy gives it one. ``ADVICE`` is what a release manager should do
    about all findings together; it is no finding and has no weight under any policy.
    """

    ADVICE = -2
    NOTICE = -1
    COMPATIBLE = 0
    RISK = 1
    API_BREAK = 2
    BREAKING = 3

    @property
    def label(self) -> str:
        """The impact as it is written in reports, policies and JSON: ``api_break``."""
        return self.name.lower()


class Verdict(IntEnum):
    """The worst impact of a comparison's findings, or that none has any weight."""

    NO_CHANGE = 0
    COMPATIBLE = 1
    COMPATIBLE_WITH_RISK = 2
    API_BREAK = 3
    BREAKING = 4

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)

    @property
    def exit_code(self) -> int:
        """What a command that gives this verdict returns: 0, 0, 0, 2 or 4."""
        return {Verdict.API_BREAK: 2, Verdict.BREAKING: 4}.get(self, 0)


FailOn: TypeAlias = Literal["breaking", "api_break", "risk", "never"]
"""The mildest impact that makes a command fail."""

VERDICT_OF: dict[Impact, Verdict] = {
    Impact.ADVICE: Verdict.NO_CHANGE,
    Impact.NOTICE: Verdict.NO_CHANGE,
    Impact.COMPATIBLE: Verdict.COMPATIBLE,
    Impact.RISK: Verdict.COMPATIBLE_WITH_RISK,
    Impact.API_BREAK: Verdict.API_BREAK,
    Impact.BREAKING: Verdict.BREAKING,
}

Element: TypeAlias = Literal["functions", "variables", "types", "enums", "library"]
Action: TypeAlias = Literal["added", "removed", "changed"]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change of one kind, with its effect.

    ``kind`` is the rule's full name (``func_removed``, or ``func_removed.dispatched`` of a variant); ``part`` names the
    field, enumerator or parameter of ``name`` that changed, or is empty. ``old_value`` and ``new_value`` are spelled
    for a C or C++ programmer, ``None`` where a side has none; ``in_c`` are both with the keywords that tags have in C
    (``struct point*``), where that differs. These are for people, and no part of the identity.
    ``affected`` are the exported names through which consumers meet the change, sorted. ``consequences`` are findings
    that follow from this one: they have no weight of their own. One that is ``bound`` breaks consumers in a way that no
    other finding determines: the identity of its cause covers it. ``location`` is where the declaration stands in the
    new release, or in the old one where the new one has none; for what was removed, ``gone``, in the old one.
    ``default_impact`` is the kind's own impact where a policy gave another one, with its ``reason``. ``suppressed_by``
    names the suppression that took the finding out of the verdict, ``suppression_reason`` says why (empty where it
    gives no reason), and ``suppression_expires`` is the last day on which it holds.
    """

    kind: str
    name: Name
    part: str
    description: str
    impact: Impact
    facet: Facet
    old_value: str | None = None
    new_value: str | None = None
    location: Location | None = None
    affected: tuple[Name, ...] = ()
    consequences: tuple[Finding, ...] = ()
    default_impact: Impact | None = None
    reason: str = ""
    suppressed_by: str = ""
    gone: bool = False
    suppression_reason: str = ""
    suppression_expires: date | None = None
    bound: bool = False
    in_c: tuple[str | None, str | None] | None = None

    @property
    def shown(self) -> tuple[str | None, str | None]:
        """The old and the new value as people read them."""
        return self.in_c or (self.old_value, self.new_value)


def order(finding: Finding) -> tuple[object, ...]:
    """Worst first, then by name, part and kind, then by everything else: different findings never tie.

    A kind that is called otherwise now stays where it was: what is folded under what depends on this order.
    """
    values = (finding.old_value or "", finding.new_value or "")
    facts = (finding.facet, finding.description, finding.affected, tuple(map(order, finding.consequences)))
    return (-finding.impact, finding.name, finding.part, first_name(finding.kind), *values, *facts)


def with_consequences(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Each finding, and behind it its consequences with theirs."""
    for finding in findings:
        yield finding
        yield from with_consequences(finding.consequences)


def named_now(finding: Finding) -> Finding:
    """``finding`` and its consequences with the present names of their kinds: stored ones may have former names.

    The identity stays: ``type_no_longer_used`` that was stored and ``type_removed.unused`` of today are one finding.
    """
    kind, consequences = name_now(finding.kind), tuple(map(named_now, finding.consequences))
    if kind == finding.kind and consequences == finding.consequences:
        return finding
    return msgspec.structs.replace(finding, kind=kind, consequences=consequences)


class NotChecked(msgspec.Struct, frozen=True):
    """Something that one side could not observe, so that nothing is said about it.

    ``reason`` is a stable code (``no-debug-info``, ``partial-debug-info``, ...); ``names`` are the declarations
    concerned where only some are; ``hint`` tells how to make it checkable.
    """

    facet: Facet
    side: Literal["old", "new", "both"]
    reason: str
    detail: str
    hint: str = ""
    names: tuple[Name, ...] = ()


class Side(msgspec.Struct, frozen=True):
    """One operand of a comparison. ``digest`` identifies the content that was compared.

    ``file`` names the file where no version tells the two operands apart: as much of its path as differs.
    """

    library: str
    version: str | None
    digest: str
    target: str
    soname: str | None
    evidence: tuple[Evidence, ...]
    exports: int
    file: str = ""

    def __str__(self) -> str:
        return f"{self.library} {self.version}" if self.version else f"{self.library} ({self.file or self.digest[:12]})"


class RulingFile(msgspec.Struct, frozen=True):
    """A file of a policy or of suppressions: its base name, and the SHA-256 of its bytes."""

    name: str
    sha256: str


class Comparison(msgspec.Struct, frozen=True):
    """The judged difference of two snapshots. ``findings`` are sorted worst first, then by name.

    ``advice`` follows from the findings as a whole: it is not one of them and has no part in the verdict.

    ``engine`` is the number of the judging (:mod:`abistore.model.findings`), so that a stored verdict can be told
    from one that newer rules would give. ``policy_digest`` and ``suppression_digest`` tell what the policy and the
    suppressions said; empty for a profile, and for none. ``policy_file`` and ``suppression_files`` are what they were
    read from.
    """

    old: Side
    new: Side
    verdict: Verdict
    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    policy: str = "strict_abi"
    engine: str = ""
    notes: tuple[str, ...] = ()
    policy_digest: str = ""
    suppression_digest: str = ""
    advice: tuple[Finding, ...] = ()
    policy_file: RulingFile | None = None
    suppression_files: tuple[RulingFile, ...] = ()

    def count(self, impact: Impact) -> int:
        """How many findings have this impact."""
        return sum(finding.impact is impact for finding in self.findings)


class Churn(msgspec.Struct, frozen=True):
    """How many exports and public declarations were added and removed, and how many that both sides describe differ."""

    added: int
    removed: int
    changed: int


class RulingKey(NamedTuple):
    """What findings were judged by: the policy's name, and what it and the suppressions say where that can differ."""

    policy: str = "strict_abi"
    policy_digest: str = ""
    suppression_digest: str = ""

    @classmethod
    def of(cls, comparison: Comparison) -> RulingKey:
        """What ``comparison`` was judged by."""
        return cls(comparison.policy, comparison.policy_digest, comparison.suppression_digest)


HEADERS_READ_DIFFERENTLY: Final = "headers-read-differently"
"""Why nothing is said of declarations that only one side's headers have: other macros, another language."""

HEADERS_SELECTED_DIFFERENTLY: Final = "headers-selected-differently"
"""The same, where a macro or the platform may also choose another declaration of a name that both sides have."""

HEADERS_NOT_GIVEN: Final = "headers-not-given"
"""The same, where headers were given for one side and not for the other."""

HEADERS_DISAGREE: Final = "headers-disagree"
"""Why types are compared by debug information: the headers of a side define them otherwise."""

NO_LAYOUT: Final = "no-layout"
"""Why template instances are not compared: headers only point to them, and no debug information is there."""

CLASS_PERHAPS_NOT_DESCRIBED: Final = "class-perhaps-not-described"
"""Why nothing is said of a class that is declared as a handle is, and that programs hand in as they do an interface."""

EXPORT_NOT_DESCRIBED: Final = "export-not-described"
"""The reason for what debug information of one side leaves out of an export, though it tells all that it can."""

TYPE_NOT_DESCRIBED: Final = "type-not-described"
"""The reason for types that the debug information of one side only declares, and that of the other one defines."""

NEEDED_NOT_GIVEN: Final = "needed-library-not-given"
"""The reason for removed exports that a library may have which the new release needs, and of which nothing is known."""

LIBRARY_NOT_GIVEN: Final = "library-not-given"
"""The reason for a library that moved to a package which was not given."""

VERSION_NOT_RECORDED: Final = "version-not-recorded"
"""The reason for exports with several versions of which one side describes one, and does not tell which."""

NOT_RECORDED: Final = "facts-not-recorded"
"""Why something was not checked: the input of a side never records it."""

_RANKS = {"missing": 0, "partial": 1, "full": 2}


def evidence_rank(evidence: Evidence) -> int:
    """How much a facet could see: 0 nothing, 1 some, 2 all. Where there is nothing to describe, all is seen."""
    return _RANKS["full" if evidence.reason == "nothing-to-describe" else evidence.state]


def unequal_evidence(old: Iterable[Evidence], new: Iterable[Evidence]) -> tuple[Facet, ...]:
    """The facets that one side saw less of than the other, so that a change there may have gone unseen.

    A stripped build against one with debug information gives ``("layout",)``.
    """
    before, after = _ranks(old), _ranks(new)
    return tuple(facet for facet in FACETS if before.get(facet, 0) != after.get(facet, 0))


def _ranks(evidence: Iterable[Evidence]) -> dict[Facet, int]:
    return {seen.facet: evidence_rank(seen) for seen in evidence}


PLACE_SIZE = 6
IDENTITY_SIZE = 10
"""In bytes; text has two digits for each."""

_BEGINNING = pattern(r"([0-9a-f]+(-[0-9]*)?)?")
_WHOLE = pattern(rf"[0-9a-f]{{{2 * IDENTITY_SIZE}}}(-[0-9]+)?")


RENAMED: Final = {"func_likely_renamed": "func_removed", "var_likely_renamed": "var_removed"}
"""Kinds that say of a removed export what it is likely called now. Programs miss the old name all the same: the
identity is that of its removal, whether or not another comparison finds the new name."""


def place(finding: Finding) -> bytes:
    """What kind of change it is, of what, and of which part: the beginning of its identity.

    A kind that is called otherwise now counts as what it was called first.
    """
    kind = first_name(finding.kind)
    words = "\0".join((RENAMED.get(kind, kind), finding.name.kind, finding.name.spelling, finding.part))
    return blake2b(words.encode(), digest_size=PLACE_SIZE).digest()


def identity(finding: Finding) -> bytes:
    """The place, the values before and after, however they are spaced, and the consequences that are bound to it.

    Nothing else has a part in it: not the report, the order, the impact, the wording, or where the source stands.
    """
    return identity_of(finding, covered(finding))


def identity_of(finding: Finding, covers: Sequence[str]) -> bytes:
    """The identity of a finding that covers consequences of these identities, whatever consequences it has here."""
    now = None if first_name(finding.kind) in RENAMED else finding.new_value
    values = encode((canonical(finding.old_value), canonical(now)))
    more = "".join(f"\0{each}" for each in sorted(covers)).encode()
    return place(finding) + blake2b(values + more, digest_size=IDENTITY_SIZE - PLACE_SIZE).digest()


def covered(finding: Finding) -> tuple[str, ...]:
    """The identities of the consequences that are bound to a finding, in hexadecimal digits, sorted."""
    return tuple(sorted(identity(each).hex() for each in finding.consequences if each.bound))


def parts_of(finding: Finding) -> frozenset[str]:
    """The identities of all that a finding covers, each by itself: its own, and those of what is bound to it."""
    return frozenset((identity_of(finding, ()).hex(), *covered(finding)))


def identified(findings: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    """Each finding with its identity in hexadecimal digits.

    Findings of one comparison with one identity, such as those of several variants, are numbered from the second on.
    """
    seen: dict[str, int] = {}
    for finding in findings:
        name = identity(finding).hex()
        seen[name] = number = seen.get(name, 0) + 1
        yield f"{name}-{number}" if number > 1 else name, finding


def may_begin(text: str) -> bool:
    """Whether an identity can begin with ``text``, as :func:`identified` writes it. Every one begins with nothing."""
    return _BEGINNING.fullmatch(text) is not None


def is_whole(text: str) -> bool:
    """Whether ``text`` is an identity with all of its digits."""
    return _WHOLE.fullmatch(text) is not None


def canonical(value: str | None) -> str | None:
    """A value however it is spaced."""
    return None if value is None else " ".join(value.split())


ENGINE: Final = 164
"""Raised whenever the same two releases may give other findings than before."""

CORPUS: Final = "dfc1358927049c25"
"""The digest of what all cases of the rules find. :mod:`tests.test_engine` fails where they find something else."""
