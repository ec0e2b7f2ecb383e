"""``show`` and ``list``: what is in releases, and which are stored."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from abistore.arguments import AddedSince, Described, EveryLibrary, LibraryNames, ShownName
from abistore.cli.commands.history import deprecations_text
from abistore.cli.options import SharedSettings
from abistore.cli.output import Advance, answer, beside_failed, progress, table, width, with_failed
from abistore.cli.reading_options import LineOptions, ReadingOptions
from abistore.cli.rendering import style_of
from abistore.cli.verbs import Options, verb
from abistore.errors import UsageError
from abistore.model.labels import word_on
from abistore.model.words import bounded, counted
from abistore.report.formats.text import listed
from abistore.report.wording import package_of, package_words, short_package, shortened

if TYPE_CHECKING:
    from abistore.model.snapshot import Evidence
    from abistore.service.consumer_verdicts import UnusedExports
    from abistore.service.database import Database
    from abistore.service.declarations import DeclarationText, DeclaredExports, Hardening, SnapshotCard, TypeUsers
    from abistore.service.inventory import Inventory, ProvidedSymbol, UsedType
    from abistore.service.listing import OfEach


WIDEST = 100
"""So many characters of a name are shown beside others."""


class ListOptions(Options, frozen=True):
    """What is listed of a release."""

    title: ClassVar[str] = "Lists"
    exports: Annotated[
        bool, Described("List the exported functions and variables, each with its first release.", main=True)
    ] = False
    types: Annotated[bool, Described("List the types, each with its first release.", main=True)] = False
    users: Annotated[
        str | None,
        Described(
            "List the exports that use this type, by value or by pointer.", metavar="TYPE", complete="declaration"
        ),
    ] = None
    deprecated: Annotated[
        bool,
        Described("List deprecated declarations with their first release, and removed ones.", main=True),
    ] = False
    unused: Annotated[
        bool, Described("With --exports: only those that no stored consumer imports (`abistore consumers`).")
    ] = False
    since: AddedSince = None
    regex: Annotated[bool, Described("PATTERN is a regular expression (RE2), found anywhere in the name.")] = False
    deprecation: Annotated[
        str | None,
        Described(
            "With --deprecated: how long a deprecated declaration is kept: '2 minor', '1 major', '3 releases' or "
            "'180 days'.",
            metavar="WINDOW",
        ),
    ] = None

    @property
    def any(self) -> bool:
        """Whether a list is asked for."""
        return bool(self.exports or self.types or self.users or self.deprecated)

    def check(self) -> None:
        """Raise :class:`UsageError` for two lists at once, and for choices among what is not listed."""
        listed = sum(map(bool, (self.exports, self.types, self.users, self.deprecated)))
        if listed > 1:
            raise UsageError("these options exclude each other", "use one of them for each call")
        if not listed and (self.unused or self.since or self.regex):
            raise UsageError("nothing is listed", "pass --exports, --types or --deprecated")
        if self.unused and self.since is not None:
            raise UsageError("--unused and --since exclude each other", "use one of them for each call")


@verb(
    "show",
    gives=(
        {"snapshot": "service.declarations:card"},
        {"declarations": "service.declarations:declarations"},
        {"inventory": "service.inventory:exports"},
        {"unused": "service.consumer_verdicts:unused_exports"},
        {"types": "service.inventory:who_uses"},
        {"deprecations": "service.log:deprecations"},
        {"snapshots": "service.declarations:SnapshotCard[]", "failed": "service.listing:FailedLibrary[]"},
        {"declared": "service.declarations:DeclaredIn[]", "failed": "service.listing:FailedLibrary[]"},
        {"inventories": "service.inventory:Inventory[]", "failed": "service.listing:FailedLibrary[]"},
        {"unused": "service.consumer_verdicts:UnusedExports[]", "failed": "service.listing:FailedLibrary[]"},
        {"types": "service.inventory:who_uses", "failed": "service.listing:FailedLibrary[]"},
        {"deprecations": "service.log:deprecations", "failed": "service.listing:FailedLibrary[]"},
    ),
)
def show_command(
    settings: SharedSettings,
    operand: Annotated[str | None, Described(metavar="[OPERAND|PATTERN]", complete="operand")] = None,
    name: ShownName = None,
    *,
    every: EveryLibrary = False,
    lists: ListOptions,
    line: LineOptions,
    reading: ReadingOptions,
) -> int:
    """Show the snapshot OPERAND, its declaration NAME as C or C++ with offsets, or lists of what is in it.

    OPERAND is a stored release (libfoo@1.2.0), a digest, a library or a JSON snapshot, or a pattern for several
    libraries ('lib*@latest'); with --all, the only argument is NAME. NAME is a symbol as the linker spells it, or a
    function, variable or type as the source does.

    --exports, --types, --users and --deprecated need a stored release; a library's name means its latest release.
    PATTERN is a glob of the name in the source, or of the symbol. Types need debug information or headers. With
    --deprecation, --deprecated shows when a removal is allowed.

    \b
    abistore show libfoo@1.2.0
    abistore show libfoo@1.2.0 foo_open
    abistore show libfoo@1.2.0 --exports 'foo_io_*' --since 1.2.0
    abistore show libfoo --users geo::Point
    abistore show libfoo --deprecated --deprecation '2 minor'
    abistore show 'lib*'
    """
    from abistore.service.listing import is_pattern, matching, of_each

    if every and name is not None:
        raise UsageError("--all means every library", f"leave out {operand}, or --all")
    words, wanted = ((), operand) if every else ((operand,) if operand else (), name)
    with progress(settings) as advance:
        ask = _Asked(settings, wanted, lists, line, reading, advance)
        if not every and operand is not None and not is_pattern(operand):
            shown = ask.of(operand, settings.database)
            answer(settings, {shown.key: shown.value}, shown.text)
            return 0
        meant = matching(words, every=every, database=settings.database)
        names = [name if "@" in name or lists.any else f"{name}@latest" for name in meant]
        found = of_each(names, ask.of, searching=wanted is not None or bool(lists.users), database=settings.database)
    _show_several(settings, found, brief=wanted is None and not lists.any)
    return found.exit_code


class _Shown(NamedTuple):
    """What is shown of an operand: the key and the value of the answer, and its text.

    ``plural`` is the key and the part of an answer about several libraries.
    """

    key: str
    value: Any
    text: Callable[[], str]
    plural: tuple[str, tuple[Any, ...]]


CARD_HEADS = ("library", "version", "target", "exports", "digest", "evidence")


def _show_several(settings: SharedSettings, found: OfEach[_Shown], *, brief: bool) -> None:
    def text() -> str:
        if brief:
            rows = [_card_row(each.value) for each in found.results]
            return beside_failed(table(CARD_HEADS, rows, right=frozenset({3})), found.failed)
        return beside_failed("\n\n".join(each.text() for each in found.results), found.failed)

    told: dict[str, tuple[Any, ...]] = {}
    for key, part in (each.plural for each in found.results):
        told[key] = (*told.get(key, ()), *part)
    answer(settings, with_failed(told, found.failed, True), text)


def _card_row(card: SnapshotCard) -> tuple[str, ...]:
    seen = ", ".join(each.facet if each.state == "full" else f"{each.facet} {each.state}" for each in card.evidence)
    return card.library, card.version or "", card.target, str(card.exports), card.digest[:12], seen


class _Asked(NamedTuple):
    """What is to be shown of an operand."""

    settings: SharedSettings
    name: str | None
    lists: ListOptions
    line: LineOptions
    reading: ReadingOptions
    advance: Advance | None

    @property
    def place(self) -> dict[str, str | None]:
        """Which of the lines of a library is meant."""
        return {"target": self.line.target, "profile": self.line.profile}

    def of(self, operand: str, store: Database) -> _Shown:
        """What is asked, of one operand."""
        lists = self.lists
        if lists.deprecated:
            return self._deprecated(operand, store)
        if lists.users:
            return self._users(lists.users, operand, store)
        if lists.exports and lists.unused:
            return self._unused(operand, store)
        if lists.exports or lists.types:
            return self._inventory(operand, store)
        return self._operand(operand, store)

    def _deprecated(self, library: str, store: Database) -> _Shown:
        from abistore.service.log import deprecations

        found = deprecations(library, within=self.lists.deprecation, database=store, **self.place)
        return _Shown("deprecations", found, lambda: deprecations_text(found), ("deprecations", found))

    def _users(self, type: str, reference: str, store: Database) -> _Shown:
        """The exports that use a type. One that only reaches it through other types is marked."""
        from abistore.service.inventory import who_uses

        found = who_uses(type, reference=reference, database=store, **self.place)

        def text() -> str:
            return "\n\n".join("\n".join(_type_users(each)) for each in found)

        return _Shown("types", found, text, ("types", found))

    def _unused(self, reference: str, store: Database) -> _Shown:
        from abistore.service.consumer_verdicts import unused_exports

        spare = unused_exports(reference, self.name, regex=self.lists.regex, database=store, **self.place)
        return _Shown("unused", spare, lambda: "\n".join(_unused(spare)), ("unused", (spare,)))

    def _inventory(self, reference: str, store: Database) -> _Shown:
        from abistore.service.inventory import exports, types

        ask, what = (exports, "export") if self.lists.exports else (types, "type")
        since, regex = self.lists.since, self.lists.regex
        found = ask(reference, self.name, since=since, regex=regex, database=store, **self.place)
        return _Shown("inventory", found, lambda: _inventory(found, what), ("inventories", (found,)))

    def _operand(self, operand: str, store: Database) -> _Shown:
        """A snapshot, or one of its declarations."""
        from abistore.service.declarations import DeclaredIn, card, declarations
        from abistore.service.snapshots import Selection

        selection = Selection(self.line.target, self.line.profile, self.reading.options(progress=self.advance))
        if self.name is None:
            found = card(operand, database=store, selection=selection)
            return _Shown("snapshot", found, lambda: "\n".join(_card(self.settings, found)), ("snapshots", (found,)))
        declared = declarations(operand, self.name, database=store, selection=selection)

        def text() -> str:
            return "\n\n".join(_declared(self.settings, one) for one in declared)

        return _Shown("declarations", declared, text, ("declared", (DeclaredIn(operand, declared),)))


def _card(settings: SharedSettings, card: SnapshotCard) -> Iterator[str]:
    facts = card.facts
    rows = [
        ("digest", card.digest),
        ("target", card.target),
        (word_on(card.target), (facts and facts.soname) or "none"),
        ("needs", ", ".join(facts.needed) if facts else ""),
        ("protection", ", ".join(_protection(facts.hardening)) if facts and facts.hardening else ""),
        ("exports", f"{card.exports}"),
        ("names", ", ".join(f"{count} {kind}" for kind, count in card.counts.items() if kind != "library")),
        *((f"{evidence.facet} facet", _evidence(evidence)) for evidence in card.evidence),
        *_headers(settings, card.headers),
        ("package", package_words(package) if (package := package_of(card.provenance)) else ""),
        ("depends", ", ".join(package.depends) if package else ""),
        ("breaks", ", ".join(package.breaks) if package else ""),
        ("file", card.provenance.file),
        ("SHA-256", card.provenance.sha256),
        ("build-id", card.provenance.build_id or "none"),
        ("compilers", "; ".join(card.provenance.compilers)),
    ]
    if stored := card.stored:
        rows += [
            ("profile", stored.profile),
            ("ingested", f"{stored.ingested:%Y-%m-%d %H:%M} as number {stored.sequence}"),
            ("released", f"{stored.released:%Y-%m-%d}" if stored.released else ""),
            ("revision", stored.revision or ""),
            ("CI job", stored.url or ""),
            ("tags", "\n".join(f"{tag.name}: {tag.note}" if tag.note else tag.name for tag in stored.tags)),
        ]
    yield f"{card.library} {card.version or '(no version)'}"
    for head, text in rows:
        yield from _row(head, text)


def _headers(settings: SharedSettings, headers: DeclaredExports | None) -> Iterator[tuple[str, str]]:
    for head, names in (("undeclared", headers.undeclared), ("unexported", headers.unexported)) if headers else ():
        said = "exported, but in no public header" if head == "undeclared" else "declared, but not exported"
        yield head, "\n".join([f"{len(names)} {said}", *(names if settings.verbosity > 0 else ())])


def _row(head: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines()):
        first = f"  {head if number == 0 else '':12}  "
        yield from _wrapped(line, first, " " * len(first))


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    """``text`` wrapped to the terminal; lines begin with ``first``, then ``rest``. No name is cut."""
    return textwrap.wrap(
        bounded(text),
        width(),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _protection(hardening: Hardening) -> Iterator[str]:
    yield f"{hardening.relro} RELRO"
    yield "executable stack" if hardening.executable_stack else "no executable stack"
    for present, text in (
        (hardening.bind_now, "immediate binding"),
        (hardening.stack_canary, "stack canary"),
        (hardening.fortify, "FORTIFY"),
        (hardening.text_relocations, "text relocations"),
        (hardening.writable_executable_segment, "a writable executable segment"),
    ):
        if present:
            yield text
    yield from hardening.branch_protection


def _evidence(evidence: Evidence) -> str:
    what, done = ("header", "read") if evidence.facet == "source" else ("export", "described")
    counts = f"{evidence.described} of {counted(evidence.expected, what)} {done}" if evidence.expected else ""
    said = (evidence.state, evidence.source and f"from {evidence.source}", counts, evidence.detail)
    hint = f"\nhint: {evidence.hint}" if evidence.hint else ""
    return "; ".join(part for part in said if part) + hint


def _declared(settings: SharedSettings, declared: DeclarationText) -> str:
    where = f" at {declared.location}" if declared.location else ""
    head = f"// {declared.name.kind} {declared.display} ({declared.facet}){where}"
    return shortened("\n".join((head, *declared.texts, *_users(settings, declared.used)))) or ""


def _users(settings: SharedSettings, used: TypeUsers | None) -> Iterator[str]:
    if used is None:
        return
    if not (used.by_value or used.by_pointer):
        yield "// used by no export"
    for how, symbols in (("by value", used.by_value), ("by pointer", used.by_pointer)):
        if symbols:
            names = listed(symbols, style_of(settings, full=False))
            yield from _wrapped(f"reached {how} by {counted(len(symbols), 'export')}: {names}", "// ", "//     ")


@verb(
    "list",
    gives=(
        {"lines": "service.history:lines_with_outcomes"},
        {"releases": "service.history:releases_with_outcomes"},
        {"providers": "service.inventory:provides"},
    ),
)
def list_command(
    settings: SharedSettings,
    libraries: LibraryNames = (),
    *,
    every: EveryLibrary = False,
    provides: Annotated[
        str | None,
        Described("List the libraries that export this symbol or did before, with their releases.", metavar="SYMBOL"),
    ] = None,
    line: LineOptions,
) -> None:
    """List the stored libraries: all, or those that patterns match; or the releases and candidates of one LIBRARY.

    The outcome says whether a release may ship after the previous one: pass, fail or undecided; of a library that of
    its latest release. It comes from the stored verdict; `-` where none is stored (`abistore history` judges).

    \b
    abistore list
    abistore list 'lib*'
    abistore list libfoo
    abistore list --provides foo_open
    """
    if provides is not None:
        _list_providers(settings, provides, libraries, line)
        return
    from abistore.service.history import releases_with_outcomes
    from abistore.service.listing import is_pattern, matching

    if every and libraries:
        raise UsageError("--all means every library", f"leave out {' '.join(libraries)}, or --all")
    if len(libraries) != 1 or is_pattern(libraries[0]):
        _list_lines(settings, matching(libraries, database=settings.database) if libraries else None)
        return
    found = releases_with_outcomes(libraries[0], database=settings.database, target=line.target, profile=line.profile)
    tagged = any(release.tags for release in found)
    packages = [package_of(release.provenance) for release in found]
    packaged = any(packages)
    rows = [
        (
            f"{release.version} (candidate)" if release.candidate else release.version,
            release.line.target,
            release.line.profile,
            f"{release.released or release.ingested:%Y-%m-%d}",
            release.soname or "",
            str(release.exports),
            release.outcome or NOT_JUDGED,
            release.digest[:12],
            *([short_package(package) if package else ""] if packaged else []),
            *([", ".join(tag.name for tag in release.tags)] if tagged else []),
        )
        for release, package in zip(found, packages, strict=True)
    ]
    further = (*(["package"] if packaged else []), *(["tags"] if tagged else []))
    words = {word_on(release.line.target) for release in found}
    word = words.pop() if len(words) == 1 else "SONAME"
    heads = ("version", "target", "profile", "date", word, "exports", "outcome", "digest", *further)
    answer(settings, {"releases": found}, lambda: table(heads, rows, right=frozenset({5})))


def _list_lines(settings: SharedSettings, names: Sequence[str] | None) -> None:
    from abistore.service.history import lines_with_outcomes

    found = lines_with_outcomes(database=settings.database, among=names)
    packaged = any(one.package for one in found)
    rows = [
        (
            one.line.library,
            one.line.target,
            one.line.profile,
            f"{one.releases} and {counted(one.candidates, 'candidate')}" if one.candidates else str(one.releases),
            one.first,
            one.latest,
            one.outcome or NOT_JUDGED,
            *([short_package(one.package) if one.package else ""] if packaged else []),
            ", ".join(f"{channel} {version}" for channel, version in sorted(one.baselines.items())),
        )
        for one in found
    ]
    further = (*(["package"] if packaged else []), "baselines")
    heads = ("library", "target", "profile", "releases", "first", "latest", "outcome", *further)
    answer(
        settings,
        {"lines": found},
        lambda: table(heads, rows, right=frozenset({3})) if rows else "nothing is stored yet; see `abistore ingest`",
    )


NOT_JUDGED = "-"
"""The outcome of a release about which no verdict is stored."""

FIRST = "<="
"""Marks a version before which nothing is stored: the declaration may be older."""


def _unused(found: UnusedExports) -> Iterator[str]:
    known = counted(found.consumers, "known consumer")
    yield f"unused by all of {known}; consumers that are not stored may use them"
    if found.unseen:
        yield f"not checked: symbols that {', '.join(found.unseen)} looks up with dlsym or GetProcAddress"
    yield _inventory(found.inventory, "export")


def _inventory(found: Inventory, what: str) -> str:
    heads = ("kind", "since", "last changed", "version", "name")
    rows = [
        (
            one.name.kind,
            f"{FIRST} {one.since}" if one.first_stored else one.since,
            one.changed if one.changed != one.since else "",
            one.symbol_version or "",
            shortened(one.display) or one.display,
        )
        for one in found.items
    ]
    of = f"{len(found.items)} of {found.of}" if len(found.items) < found.of else str(found.of)
    columns = [number for number in range(len(heads)) if number != 3 or any(row[3] for row in rows)]
    shown = table([heads[each] for each in columns], [[row[each] for each in columns] for row in rows])
    return f"{found.release.reference}: {of} {what}{'s' if found.of != 1 else ''}\n{shown}"


def _type_users(found: UsedType) -> Iterator[str]:
    yield f"{found.line} {found.version}: {shortened(found.called)}"
    for user in found.users:
        way = f"  through {' -> '.join(map(_brief, user.through))}" if user.through else ""
        yield f"  {user.how.replace('_', ' ')}  {_brief(user.display)}{way}"
    if found.instances:
        yield f"  and {counted(found.instances, 'function')} of the standard library's templates"
    elif not found.users:
        yield "  no export uses it"


def _brief(name: str) -> str:
    return bounded(shortened(name) or name, WIDEST)


def _list_providers(settings: SharedSettings, symbol: str, libraries: Sequence[str], line: LineOptions) -> None:
    """List the libraries that export a symbol, which is spelled as the linker does, or as the source does."""
    from abistore.service.inventory import provides

    if libraries:
        raise UsageError("--provides looks in all libraries", f"leave {' '.join(libraries)} out")
    found = provides(symbol, target=line.target, profile=line.profile, database=settings.database)
    answer(settings, {"providers": found}, lambda: "\n".join(map(_provider, found)))


def _provider(found: ProvidedSymbol) -> str:
    since = f"{FIRST} {found.since}" if found.first_stored else found.since
    until = f"until before {found.until}" if found.until else "until now"
    versions = f"  ({', '.join(found.symbol_versions)})" if found.symbol_versions else ""
    return f"{found.line}: {shortened(found.display)}  since {since}, {until}{versions}"
