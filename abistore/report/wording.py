"""The phrases that formats share: names, values, differing lines, and whether a release is allowed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.model.decision import Bump, OldAndNew
from abistore.model.declarations import UNNAMED_ENUM, Facet
from abistore.model.findings import Verdict
from abistore.model.labels import name_word, to_bump
from abistore.model.names.qualified import demangle, entity, without_arguments
from abistore.model.names.spelling import COMMENT_COLUMN
from abistore.model.snapshot import Evidence, PackageRead, Provenance, evidence_of
from abistore.model.words import counted, listed
from abistore.report.model import (
    ComparedDeclaration,
    Report,
    ReportedApproval,
    ReportedFinding,
    ReportedNotChecked,
    Summary,
    verdict_of,
)

if TYPE_CHECKING:
    from abistore.model.approvals import EarlyRemoval

Sign: TypeAlias = Literal["-", "+", "!", " ", "…"]
Line: TypeAlias = tuple[Sign, str]
COMMENT = " // "
"""Begins the place (offset, slot, size) of what stands before it."""

CONTEXT = 1
MOST = 4_000_000
"""Matching takes lines times lines; above this, the whole text counts as replaced."""


def difference(declared: ComparedDeclaration) -> list[Line]:
    """The lines that differ, those around them, and ``…`` for what was left out between.

    A line that differs in its place only is one with ``!``, which tells both places.
    """
    return list(_shortened(_lines((declared.before or "").splitlines(), (declared.after or "").splitlines())))


def _lines(old: list[str], new: list[str]) -> list[Line]:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    lines: list[Line] = [(" ", line) for line in old[:start]]
    lines += _matched(before, after) if len(before) * len(after) <= MOST else _replaced(before, after)
    lines += [(" ", line) for line in old[len(old) - end :]]
    return lines


def _common(old: list[str], new: list[str]) -> int:
    count = 0
    for first, second in zip(old, new, strict=False):
        if first != second:
            break
        count += 1
    return count


def _matched(old: list[str], new: list[str]) -> Iterator[Line]:
    from difflib import SequenceMatcher  # few reports draw declarations

    for tag, first, last, low, high in SequenceMatcher(None, _keys(old), _keys(new), autojunk=False).get_opcodes():
        if tag == "equal":
            yield from map(_placed, old[first:last], new[low:high])
        else:
            yield from _replaced(old[first:last], new[low:high])


def _keys(lines: list[str]) -> list[tuple[str, int]]:
    """Keys to match lines by: the text without its offset. Padding and ``public:`` go with the line after them.

    Equal ones are numbered, because matching many equal lines takes cubic time.
    """
    texts = [line.partition(COMMENT)[0].rstrip() for line in lines]
    for number in reversed(range(len(texts) - 1)):
        if texts[number].endswith(("*/", ":")):
            texts[number] += texts[number + 1]
    seen: Counter[str] = Counter()
    keys = []
    for text in texts:
        seen[text] += 1
        keys.append((text, seen[text]))
    return keys


def _placed(old: str, new: str) -> Line:
    if old == new:
        return " ", old
    code, _, place = new.partition(COMMENT)
    if not place:
        return " ", new
    return "!", f"{code}{COMMENT}{old.partition(COMMENT)[2] or 'no place'} -> {place or 'no place'}"


def _replaced(old: list[str], new: list[str]) -> Iterator[Line]:
    yield from (("-", line) for line in old)
    yield from (("+", line) for line in new)


def _shortened(lines: list[Line]) -> Iterator[Line]:
    """Unchanged lines that are far from any change are left out; the first names the declaration and stays."""
    changed = [number for number, (sign, _) in enumerate(lines) if sign != " "]
    kept = {0} | {
        near for number in changed for near in range(number - CONTEXT, number + CONTEXT + 1) if 0 <= near < len(lines)
    }
    numbers = sorted(number for number in kept if number < len(lines))
    for before, number in pairwise([-1, *numbers]):
        if number > before + 1:
            yield "…", ""
        yield lines[number]
    if numbers and numbers[-1] < len(lines) - 1:
        yield "…", ""


class NamedPackage(Protocol):
    """A package with the names that people know it by."""

    @property
    def name(self) -> str:
        """That of the package itself."""

    @property
    def source(self) -> str:
        """That of the source package."""

    @property
    def suite(self) -> str:
        """The part of the distribution."""


def package_of(provenance: Provenance) -> PackageRead | None:
    """The package of a distribution; what the snapshot of a former version does not tell of it is empty."""
    package = provenance.package
    return package if isinstance(package, PackageRead) and package.name else None


def package_words(package: PackageRead) -> str:
    """``libfoo1 1.0-1 amd64, source foo, of bookworm``."""
    source = package.source if package.source != package.name else ""
    told = (f"source {source}" if source else "", f"of {package.suite}" if package.suite else "")
    name = " ".join(filter(None, (package.name, package.version, package.architecture)))
    return ", ".join(filter(None, (name, *told)))


def short_package(package: NamedPackage) -> str:
    """``foo/libfoo1 bookworm``: what a column has."""
    source = f"{package.source}/" if package.source not in {"", package.name} else ""
    return f"{source}{package.name}{f' {package.suite}' if package.suite else ''}"


STRINGS = tuple(
    f"std::{inline}basic_string<char, std::char_traits<char>, std::allocator<char>>" for inline in ("__cxx11::", "")
)

SORTS = ("class", "enum", "enum class", "struct", "union")
MOST_SYMBOLS = 4
"""The most symbols that one constructor or destructor has (Itanium C++ ABI, section 5.1.4.3)."""


def shortened(text: str | None) -> str | None:
    """``text`` with ``std::string`` in place of the template that it is an alias of."""
    if text is not None and "basic_string<char, " in text:
        for spelled in STRINGS:
            text = text.replace(spelled, "std::string")
        return "\n".join(map(_aligned, text.split("\n")))
    return text


def lengthened(text: str) -> tuple[str, ...]:
    """``text`` and the spellings from which :func:`shortened` may have made it."""
    return tuple(dict.fromkeys((text, *(re.sub(r"\bstd::string\b", spelled, text) for spelled in STRINGS))))


def _aligned(line: str) -> str:
    """A member's line, its comment moved back to the column of the other comments."""
    code, mark, comment = line.partition(COMMENT)
    if not (mark and line.startswith(" ")):
        return line
    return f"{code.rstrip().ljust(COMMENT_COLUMN - 1)}{COMMENT}{comment}"


def named(symbol: str) -> str:
    """A symbol as a programmer calls it."""
    return shortened(demangle(symbol)) or ""


def subject(finding: ReportedFinding) -> str:
    """What changed, as a programmer calls it."""
    name = shortened(finding.display) or ""
    before, unnamed, first = name.partition(UNNAMED_ENUM)
    if unnamed and first == f"{finding.part})":
        return f"{before}{finding.part}"  # a constant, or the first value of an enumeration without a name
    return f"{name}: {finding.part}" if finding.part else name


def values(finding: ReportedFinding) -> tuple[str, ...]:
    """The old and the new value; one if both are equal, none if the finding says them already.

    For a declaration that was added or removed, only what its name does not say: ``enum class``. For several exports
    at once nothing, as the affected exports list them.
    """
    old, new = finding.shown
    known = {None, finding.symbol, finding.display}
    if not {old, new} - known:
        return ()
    if None in (old, new):
        value = old or new or ""
        if finding.part.endswith(f" {value}") or _lists_affected(finding, value):
            return ()
        if value in {f"{sort} {finding.display}" for sort in SORTS}:
            return (value.removesuffix(f" {finding.display}"),)
    both = (old,) if old == new else (old, new)
    return tuple(value if value is not None else "(none)" for value in map(shortened, both))


def value_lines(finding: ReportedFinding) -> list[str]:
    """The values in one line; of declarations with several lines, the lines that differ."""
    both = values(finding)
    if not any("\n" in value for value in both):
        return [" -> ".join(both)] if both else []
    return differing(ComparedDeclaration(finding.symbol, finding.subject, *finding.shown))


def differing(declared: ComparedDeclaration) -> list[str]:
    """The lines of a declaration that differ, each behind ``+``, ``-`` or ``!``, with one line of context."""
    return [f"{sign} {shortened(text)}".rstrip() for sign, text in difference(declared)]


def _lists_affected(finding: ReportedFinding, value: str) -> bool:
    return not finding.symbol and bool(finding.affected) and value.startswith(demangle(finding.affected[0]))


def by_itself(symbol: str, display: str, affected: tuple[str, ...]) -> bool:
    """Whether a change affects only the changed export, which may have several symbols."""
    if affected in {(), (symbol,)}:
        return True
    return len(affected) <= MOST_SYMBOLS and {demangle(each) for each in affected} == {display}


SAME_EXPORTS = "affects the same exports"
"""Of a finding behind another one about the same declaration, which names them."""


def affects(finding: ReportedFinding) -> str:
    """How many exports a finding affects; empty if only the changed one."""
    alone = by_itself(finding.symbol, finding.display, finding.affected)
    return "" if alone else f"affects {counted(finding.affected_count, 'export')}"


def distinct(symbols: Sequence[str], most: int | None, width: int | None = None) -> tuple[dict[str, int], int]:
    """The first names of ``symbols``, demangled, each with its number of symbols; and how many symbols are left out.

    A constructor is exported as two symbols, a destructor as three: each is one name. So are instances of a template
    whose names are the same in ``width`` columns.
    """
    told: Counter[str] = Counter()
    for symbol in symbols:
        name = abbreviated(named(symbol), width)
        if name not in told and len(told) == most:
            break
        told[name] += 1
    return told, len(symbols) - told.total()


def abbreviated(name: str, width: int | None) -> str:
    """``name`` in ``width`` columns: without its outermost template arguments, then without its end."""
    if width is None or len(name) <= width:
        return name
    short = without_arguments(name)
    return short if len(short) <= width else f"{short[: width - 3].rstrip('<.,:(&* ')}..."


def several(count: int) -> str:
    """What follows a name that ``count`` symbols share; empty for one."""
    return f" ({count} symbols)" if count > 1 else ""


def names(symbols: Sequence[str], most: int | None, width: int | None = None, mark: Callable[[str], str] = str) -> str:
    """The first of ``symbols`` as a programmer calls them, each marked, and how many more there are."""
    told, more = distinct(symbols, most, width)
    texts = (mark(name) + several(count) for name, count in told.items())
    return ", ".join(texts) + (f" and {more} more" if more else "")


def location_of(finding: ReportedFinding) -> str:
    """Where the declaration stands: its file, and the line where that is known; empty where nothing is."""
    where = place(finding)
    return "" if where is None else where[0] if where[1] <= 0 else f"{where[0]}:{where[1]}"


def place(finding: ReportedFinding) -> tuple[str, int] | None:
    """The file and line of the declaration; the line is 0 if only the file is known."""
    if finding.source_location is None:
        return None
    file, _, line = finding.source_location.rpartition(":")
    return file, int(line)


Concern: TypeAlias = Literal["name", "affected", "value", "part", "consequence"]


def concern(finding: ReportedFinding, text: str) -> Concern | None:
    """In what way a finding concerns what has ``text`` in its name: it is about that, affects it, or mentions it."""
    if text in finding.symbol or text in finding.display:
        return "name"
    if any(text in each or text in named(each) for each in finding.affected):
        return "affected"
    if any(text in each for each in (finding.old_value, finding.new_value, *finding.shown) if each):
        return "value"
    if text in finding.part:
        return "part"
    return "consequence" if any(concern(each, text) for each in finding.consequences) else None


def overridden(finding: ReportedFinding) -> str:
    """How a policy changed the impact, and why; empty if it did not."""
    return f"{finding.default_impact} by default: {finding.reason}" if finding.default_impact else ""


def told(finding: ReportedFinding) -> list[str]:
    """A finding in lines of plain text, for formats that show it as one text."""
    lines = [text for text in (finding.description, *value_lines(finding), overridden(finding)) if text]
    if affects(finding):
        lines.append(f"{affects(finding)}: {names(finding.affected, 5)}")
    return [*lines, *said_of(finding), *(f"causes {text}" for text in consequences(finding))]


def consequences(finding: ReportedFinding) -> tuple[str, ...]:
    """The consequences of a finding, each once and in one line, without the finding itself for another symbol."""
    instances = [each for each in finding.consequences if _other_instance(each, finding)]
    told = dict.fromkeys(consequence(each) for each in finding.consequences if each not in instances)
    told.pop(consequence(finding), None)
    others = ", ".join(dict.fromkeys(shortened(each.display) or "" for each in instances))
    return (*((f"the same in other instances of the template: {others}",) if others else ()), *told)


def _other_instance(found: ReportedFinding, finding: ReportedFinding) -> bool:
    """Whether the same is found about another instance of the template."""
    alike = (found.kind, found.part) == (finding.kind, finding.part) and found.display != finding.display
    return alike and "<" in found.display and _template(found.display) == _template(finding.display)


def _template(display: str) -> str:
    return without_arguments(entity(display))


def consequence(finding: ReportedFinding) -> str:
    """A finding in one line."""
    said = " -> ".join(" ".join(value.split()) for value in values(finding))
    return f"{finding.kind}: {subject(finding)} {said}".rstrip()


def unchecked(item: ReportedNotChecked) -> str:
    """What was not checked and why, in one line."""
    side = "both sides" if item.side == "both" else f"the {item.side} side"
    return f"{item.facet} of {side}: {item.detail or item.reason}"


def notices(summary: Summary) -> int:
    """How many findings are notices, which have no part in the verdict."""
    return summary.total_changes - (summary.breaking + summary.api_breaks + summary.risk_changes + summary.compatible)


def numbers(summary: Summary) -> str:
    """How many findings have each impact, worst first; empty if there are none."""
    found = (
        (summary.breaking, "breaking", "breaking"),
        (summary.api_breaks, "source break", ""),
        (summary.risk_changes, "risk", ""),
        (summary.compatible, "compatible", "compatible"),
        (notices(summary), "notice", ""),
    )
    return ", ".join(counted(*each) for each in found if each[0])


def counts(report: Report) -> str:
    """How many findings have each impact, how many are suppressed, and the exit code."""
    return f"{found_counts(report)}; exit code {report.exit_code}"


def found_counts(report: Report) -> str:
    """How many findings have each impact, and how many are suppressed."""
    suppressed = f"{report.suppressed_count} suppressed" if report.suppressed_count else ""
    said = ", ".join(filter(None, (numbers(report.summary), suppressed))) or "no changes"
    gaps = f"; {len(report.not_checked)} not checked" if report.not_checked else ""
    return f"{said}{gaps}"


def approval(said: ReportedApproval) -> str:
    """Who approved, for what and until when, and why: ``by ana until 2026-12-31 (LIB-7): nobody calls it``."""
    word, _, last = said.until.partition(":")
    until = {"date": f" until {last}", "version": f" up to {last}", "soname": f" while the SONAME is {last}"}
    scope = "" if said.scope == "forever" else f" for {said.scope.replace(':', ' ', 1)}"
    ticket = f" ({said.ticket})" if said.ticket else ""
    origin = f" [from {said.origin}]" if said.origin else ""
    return f"by {said.approver}{scope}{until.get(word, '')}{ticket}: {said.reason}{origin}"


def said_of(finding: ReportedFinding) -> tuple[str, ...]:
    """What is known of a finding beside the libraries: since when, whom it hurts, its approval, its review."""
    review = finding.review
    told = (
        f"since {finding.since}" if finding.since else "",
        f"affects {listed(finding.consumers)}" if finding.consumers else "",
        f"approved {approval(finding.approved)}" if finding.approved else "",
        finding.unapproved,
        f"review: {review.state} by {review.actor}{f': {review.note}' if review.note else ''}" if review else "",
    )
    return tuple(filter(None, told))


DECLARING: tuple[Facet, ...] = ("layout", "source")

REMOVED = {"func_removed": "function", "var_removed": "variable"}
"""Kinds that are told by what they remove."""

PLACE = "place"
NAMED = 3
"""So many users are named."""


class ChangeFacts(msgspec.Struct, frozen=True):
    """What a sentence says of two releases: their labels, their SONAMEs, and what broke.

    ``breaks`` counts the findings that make the verdict; ``removed`` says what they remove if that is all they do.
    ``users`` are the known programs that use the library, ``early`` what goes before its window opens. ``checked``: the
    declarations of both were compared, and all of them.
    """

    labels: OldAndNew
    sonames: OldAndNew
    verdict: Verdict
    breaks: int = 0
    removed: str = ""
    library: str = ""
    users: tuple[str, ...] = ()
    early: tuple[EarlyRemoval, ...] = ()
    checked: bool = False


def facts_of(report: Report) -> ChangeFacts:
    """The facts of a report."""
    verdict = verdict_of(report)
    worst = [each for each in report.changes if each.impact == verdict.name.lower()]
    return ChangeFacts(
        OldAndNew(report.old.version, report.new.version),
        OldAndNew(report.old.soname, report.new.soname),
        verdict,
        len(worst),
        _removed(worst),
        checked=is_checked(report),
    )


def is_checked(report: Report) -> bool:
    """Whether all declarations of both sides were compared, so that advice may rest on that."""
    left = {each.facet for each in report.not_checked}
    return not whole_facets(report.old.evidence, report.new.evidence) <= left


def whole_facets(old: Sequence[Evidence], new: Sequence[Evidence]) -> frozenset[Facet]:
    """Which of debug information and headers show all declarations of both sides."""
    return frozenset(each for each in DECLARING if all(evidence_of(side, each).is_whole for side in (old, new)))


def _removed(worst: Sequence[ReportedFinding]) -> str:
    words = {REMOVED.get(each.kind) for each in worst}
    if len(words) != 1 or not (word := words.pop()):
        return ""
    return counted(len(worst), word)


def in_words(bump: Bump, facts: ChangeFacts) -> Bump:
    """The answer with its sentence; without one if neither labels nor SONAMEs tell releases apart."""
    known = facts.labels.old and facts.labels.new and facts.labels.old != facts.labels.new
    if not known and bump.soname in {"same", "none", "unversioned"}:
        return bump
    return replace(bump, sentence=_allowed(bump, facts) if bump.allowed else _refused(bump, facts))


def _allowed(bump: Bump, facts: ChangeFacts) -> str:
    old, new = _sides(facts)
    named = soname_step(facts)
    match bump.reason:
        case "nothing-breaks":
            return _compatible(bump, facts)
        case "label-major":
            why = f"its version declares a breaking release ({old} to {new})"
        case _:
            declares = f", and its version declares it ({old} to {new})" if bump.reason == "soname-and-label" else ""
            why = f"{named}{declares}"
    cure = f"; semantic versioning would require {bump.suggested}" if bump.suggested and not bump.unreleased else ""
    ready = f"; the next release must be {bump.suggested}" if bump.suggested and bump.unreleased else ""
    return f"{change(facts)}; this is allowed: {why}{cure}{ready}"


def _compatible(bump: Bump, facts: ChangeFacts) -> str:
    old, new = _sides(facts)
    if bump.soname == "bumped":
        word = name_word(facts.sonames.new or "")
        keep = f"; if nothing else needs the new {word}, keep the old one" if facts.checked else ""
        extent = "" if facts.checked else ", as far as that could be checked"
        return (
            f"{new} does not break {old}{extent}, but {soname_step(facts)}: every program must be "
            f"rebuilt{_users(facts)}{keep}"
        )
    if bump.suggested and bump.required != "patch":
        call = "the next release must be" if bump.unreleased else "release it as"
        step = "" if bump.versioning == "libtool" else f", a {bump.required} release"  # these labels have no such steps
        return f"{new} does not break {old}, and adds to it: {call} {bump.suggested}{step}"
    if bump.soname in {"renamed", "lowered", "lost"}:
        return f"{new} does not break {old}, but {soname_step(facts)}: programs keep asking for the old name"
    return f"{new} does not break {old}"


def _users(facts: ChangeFacts) -> str:
    """``, 5 known ones among them (app, lister, packer and 2 more)``."""
    users = facts.users
    if not users:
        return ""
    more = f" and {len(users) - NAMED} more" if len(users) > NAMED else ""
    return f", {len(users)} known {'one' if len(users) == 1 else 'ones'} among them ({', '.join(users[:NAMED])}{more})"


def _refused(bump: Bump, facts: ChangeFacts) -> str:
    name = facts.sonames.new or facts.sonames.old or ""
    word, broken = name_word(name), change(facts)
    call = f"the next release must be {bump.suggested}" if bump.unreleased else f"release it as {bump.suggested}"
    label = call if bump.suggested else ""
    raised = " and ".join(filter(None, (label, to_bump(name))))
    back = f"restore {_what(facts)}"
    either = _restore_first if bump.declared == "patch" else _either  # who ships a mend did not mean to break
    match bump.reason:
        case "package-kept":
            return f"{broken}, and the package kept its name, although others depend on it: rename it with the SONAME"
        case "package-unknown":
            return f"{broken}, and its packages are unknown: compare the packages"
        case "between-libraries":
            return f"{broken}: its libraries are inconsistent, which no version bump fixes"
        case "removed-too-early":
            return f"{broken}, and {_early(facts.early)}: restore early removals"
        case "never":
            return f"{broken}, and the gate allows no break: {back}"
        case "label-lowered":
            return f"{broken}, and has the lower version: compare the older release with the newer one"
        case "label-promises-nothing":
            how = f"{bump.versioning} labels" if bump.versioning in {"calendar", "serial"} else "these labels"
            enough = bump.rule == "major" or (label and not bump.soname_required)  # sources find either
            return f"{broken}, and {how} promise no compatibility: {either(label if enough else raised, back)}"
        case "label-too-small":
            return f"{broken}, and its version does not declare a breaking release: {either(label, back)}"
        case "soname-kept":
            return f"{broken} under the same {word}: {either(raised, back)}"
        case "soname-unversioned":
            said = f"the {word} {facts.sonames.new}, which has no version"
            return f"{broken} under {said}: {either(f'use a versioned {word}', back)}"
        case "soname-missing":
            named = "" if any(facts.sonames) else f"give it a {word}"
            return f"{broken}, and {_nameless(facts)}: {either(' and '.join(filter(None, (label, named))), back)}"
        case _:
            return f"{broken}, and {soname_step(facts)}, which is not a bump: {either(raised, back)}"


def _early(removals: Sequence[EarlyRemoval]) -> str:
    """``old() was never deprecated, older() may be removed from 2.2.0 on (deprecated since 1.4.0) and 3 more``."""
    more = f" and {len(removals) - NAMED} more" if len(removals) > NAMED else ""
    return f"{', '.join(map(_too_early, removals[:NAMED]))}{more}"


def _too_early(removal: EarlyRemoval) -> str:
    if removal.since and removal.removable:
        return f"{removal.display} may be removed from {removal.removable} on (deprecated since {removal.since})"
    if removal.since:
        return f"{removal.display} is deprecated since {removal.since}, whose version starts no deprecation window"
    return f"{removal.display} was never deprecated"


def _nameless(facts: ChangeFacts) -> str:
    if any(facts.sonames):
        return soname_step(facts)
    return "no SONAME ties existing programs to the old release"


def _either(cure: str, back: str) -> str:
    return f"{cure}, or {back}" if cure else back


def _restore_first(cure: str, back: str) -> str:
    return f"{back}, or {cure}" if cure else back


def _what(facts: ChangeFacts) -> str:
    return "it" if facts.breaks == 1 else "them" if facts.removed else "what broke"


def change(facts: ChangeFacts) -> str:
    """What a release breaks: ``1.10.0 removes 2 functions``, ``2.0.0 breaks 1.9.4 in 3 places``."""
    old, new = _sides(facts)
    where = f" of {facts.library}" if facts.library else ""
    if facts.removed:
        return f"{new} removes {facts.removed}{where}"
    places = f" in {counted(facts.breaks, PLACE)}" if facts.breaks else ""
    sources = "sources for " if facts.verdict is Verdict.API_BREAK else ""
    return f"{new} breaks {sources}{old}{places}{where}"


def _sides(facts: ChangeFacts) -> tuple[str, str]:
    old, new = facts.labels
    return (old, new) if old and new else ("the old library", "the new one")


def soname_step(facts: ChangeFacts) -> str:
    """``SONAME changed from .1 to .2``; whole names if they differ in more than their end."""
    old, new = facts.sonames
    word = name_word(new or old or "")
    whose = f"the {word} of {facts.library}" if facts.library else word if word == "SONAME" else f"the {word}"
    if not old or not new:
        return f"{whose} {f'{old} was removed' if old else f'{new} was added'}"
    stem = old.find(".so.") + len(".so")
    if stem >= len(".so") and old[:stem] == new[:stem]:
        old, new = old[stem:], new[stem:]
    return f"{whose} changed from {old} to {new}"
