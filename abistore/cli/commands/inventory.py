"""``show``, ``list``, ``exports``, ``types``, ``who-uses`` and ``provides``: what is in releases."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.options import (
    SharedSettings,
    library_words,
    line_options,
    operand_words,
    reference_words,
    since_words,
    store_command,
)
from abistore.cli.output import answer, table, width
from abistore.cli.reading_options import ExtractingOptions, extract_options
from abistore.cli.rendering import style_of
from abistore.errors import UsageError
from abistore.model.labels import word_on
from abistore.model.words import bounded, counted
from abistore.report.formats.text import listed
from abistore.report.wording import package_of, package_words, short_package, shortened

if TYPE_CHECKING:
    from abistore.model.snapshot import Evidence
    from abistore.service.consumer_verdicts import UnusedExports
    from abistore.service.declarations import DeclarationText, DeclaredExports, Hardening, SnapshotCard, TypeUsers
    from abistore.service.inventory import Inventory, ProvidedSymbol, UsedType


@click.command("show")
@click.argument("operand", shell_complete=operand_words)
@click.argument("name", required=False)
@line_options
@extract_options
@store_command
def show_command(
    settings: SharedSettings,
    /,
    *,
    operand: str,
    name: str | None,
    target: str | None,
    profile: str | None,
    extracting: ExtractingOptions,
) -> None:
    """Show the snapshot OPERAND, or its declaration NAME as C or C++ with offsets.

    OPERAND is a stored release (libfoo@1.2.0), a digest, a library or a JSON snapshot. NAME is a symbol as the
    linker spells it, or a function, variable or type as the source does.
    """
    from abistore.cli.output import progress
    from abistore.service.declarations import card, declarations
    from abistore.service.operands import Selection

    with progress(settings) as advance:
        selection = Selection(target, profile, extracting.options(progress=advance))
        if name is None:
            found = card(operand, database=settings.database, selection=selection)
        else:
            declared = declarations(operand, name, database=settings.database, selection=selection)
    if name is None:
        answer(settings, {"snapshot": found}, lambda: "\n".join(_card(settings, found)))
        return
    answer(settings, {"declarations": declared}, lambda: "\n\n".join(_declared(settings, one) for one in declared))


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
    """How many exports and public declarations lack each other, and with detail which."""
    for head, names in (("undeclared", headers.undeclared), ("unexported", headers.unexported)) if headers else ():
        said = "exported and in no public header" if head == "undeclared" else "declared and not exported"
        yield head, "\n".join([f"{len(names)} {said}", *(names if settings.verbosity > 0 else ())])


def _row(head: str, text: str) -> Iterator[str]:
    """One fact, wrapped to the terminal, its lines below each other."""
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
        yield "// reached by no export"
    for how, symbols in (("by value", used.by_value), ("by pointer", used.by_pointer)):
        if symbols:
            names = listed(symbols, style_of(settings, full=False))
            yield from _wrapped(f"reached {how} by {counted(len(symbols), 'export')}: {names}", "// ", "//     ")


@click.command("list")
@click.argument("library", required=False, shell_complete=library_words)
@line_options
@store_command
def list_command(settings: SharedSettings, /, *, library: str | None, target: str | None, profile: str | None) -> None:
    """List all stored libraries, or the releases and candidates of one LIBRARY."""
    if library is None:
        _list_lines(settings)
        return
    from abistore.service.listing import releases

    found = releases(library, database=settings.database, target=target, profile=profile)
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
            release.digest[:12],
            *([short_package(package) if package else ""] if packaged else []),
            *([", ".join(tag.name for tag in release.tags)] if tagged else []),
        )
        for release, package in zip(found, packages, strict=True)
    ]
    further = (*(["package"] if packaged else []), *(["tags"] if tagged else []))
    words = {word_on(release.line.target) for release in found}
    word = words.pop() if len(words) == 1 else "SONAME"
    heads = ("version", "target", "profile", "date", word, "exports", "digest", *further)
    answer(settings, {"releases": found}, lambda: table(heads, rows, right=frozenset({5})))


def _list_lines(settings: SharedSettings) -> None:
    from abistore.service.listing import lines

    found = lines(database=settings.database)
    packaged = any(one.package for one in found)
    rows = [
        (
            one.line.library,
            one.line.target,
            one.line.profile,
            f"{one.releases} and {counted(one.candidates, 'candidate')}" if one.candidates else str(one.releases),
            one.first,
            one.latest,
            *([short_package(one.package) if one.package else ""] if packaged else []),
            ", ".join(f"{channel} {version}" for channel, version in sorted(one.baselines.items())),
        )
        for one in found
    ]
    further = (*(["package"] if packaged else []), "baselines")
    heads = ("library", "target", "profile", "releases", "first", "latest", *further)
    answer(
        settings,
        {"lines": found},
        lambda: table(heads, rows, right=frozenset({3})) if rows else "nothing is stored yet; see `abistore ingest`",
    )


FIRST = "<="
"""Marks a version before which nothing is stored: the declaration may be older."""

since_option = click.option(
    "--since", metavar="VERSION", shell_complete=since_words, help="Only what came with this release, or later."
)
regex_option = click.option(
    "--regex", is_flag=True, help="PATTERN is a regular expression (RE2), found anywhere in the name."
)


def listing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what ``exports`` and ``types`` have in common."""
    for option in (store_command, line_options, since_option, regex_option, click.argument("pattern", required=False)):
        command = option(command)
    return click.argument("reference", shell_complete=reference_words)(command)


@click.command("exports")
@click.option(
    "--unused", is_flag=True, help="Those alone that no stored consumer imports (`abistore consumers`), to be removed."
)
@listing
def exports_command(
    settings: SharedSettings, /, *, reference: str, pattern: str | None, unused: bool, **words: Any
) -> None:
    """List the exported functions and variables of REFERENCE, each with since when it is there and as it is.

    REFERENCE is a release (libfoo@1.2.0), or a library: then its latest release. PATTERN is a glob of the name in the
    source, or of the symbol.

    \b
    abistore exports libfoo
    abistore exports libfoo@1.2.0 'foo_io_*'
    abistore exports libfoo@1.2.0 --since 1.2.0
    abistore exports libfoo --regex '^foo_.*_v2$'
    abistore exports libfoo --unused
    """
    from abistore.service.inventory import exports

    if unused:
        from abistore.service.consumer_verdicts import unused_exports

        if words.pop("since") is not None:
            raise UsageError("--unused and --since are two questions", "ask them one after the other")
        spare = unused_exports(reference, pattern, database=settings.database, **words)
        answer(settings, {"unused": spare}, lambda: "\n".join(_unused(spare)))
        return

    found = exports(reference, pattern, database=settings.database, **words)
    answer(settings, {"inventory": found}, lambda: _inventory(found, "export"))


@click.command("types")
@listing
def types_command(settings: SharedSettings, /, *, reference: str, pattern: str | None, **words: Any) -> None:
    """List the types that REFERENCE describes, each with since when it is there and as it is.

    REFERENCE is a release (libfoo@1.2.0), or a library: then its latest release. PATTERN is a glob of the name. Types
    are known where there was debug information, or where headers were given; those of the standard library are left
    out.

    \b
    abistore types libfoo
    abistore types libfoo@1.2.0 'geo::*'
    """
    from abistore.service.inventory import types

    found = types(reference, pattern, database=settings.database, **words)
    answer(settings, {"inventory": found}, lambda: _inventory(found, "type"))


def _unused(found: UnusedExports) -> Iterator[str]:
    known = counted(found.consumers, "known consumer")
    yield f"used by none of {known}; consumers that are not stored may use them"
    if found.unseen:
        yield f"not checked: what {', '.join(found.unseen)} asks for by dlsym or GetProcAddress"
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


@click.command("who-uses")
@click.argument("type")
@click.option(
    "--in",
    "reference",
    metavar="REFERENCE",
    shell_complete=reference_words,
    help="A release, or a library: its latest.  [default: the latest release of every library]",
)
@line_options
@store_command
def who_uses_command(settings: SharedSettings, /, *, type: str, **words: Any) -> None:
    """List the exports that use TYPE: by value, so that its layout matters to programs, or by pointer.

    An export that only reaches it through other types is marked.

    \b
    abistore who-uses geo::Point
    abistore who-uses 'struct stat' --in libfoo@1.2.0
    """
    from abistore.service.inventory import who_uses

    found = who_uses(type, database=settings.database, **words)
    answer(settings, {"types": found}, lambda: "\n\n".join("\n".join(_type_users(each)) for each in found))


def _type_users(found: UsedType) -> Iterator[str]:
    yield f"{found.line} {found.version}: {found.type.kind} {shortened(found.type.spelling)}"
    for user in found.users:
        through = "" if user.directly else ", through other types"
        yield f"  {user.how.replace('_', ' ')}{through}  {shortened(user.display)}"
    if not found.users:
        yield "  no export uses it"


@click.command("provides")
@click.argument("symbol")
@line_options
@store_command
def provides_command(settings: SharedSettings, /, *, symbol: str, **words: Any) -> None:
    """List the libraries that export SYMBOL or once did, with the releases that have it.

    SYMBOL is spelled as the linker does, or as the source does.

    \b
    abistore provides foo_open
    """
    from abistore.service.inventory import provides

    found = provides(symbol, database=settings.database, **words)
    answer(settings, {"providers": found}, lambda: "\n".join(map(_provider, found)))


def _provider(found: ProvidedSymbol) -> str:
    since = f"{FIRST} {found.since}" if found.first_stored else found.since
    until = f"until before {found.until}" if found.until else "until now"
    versions = f"  ({', '.join(found.symbol_versions)})" if found.symbol_versions else ""
    return f"{found.line}: {shortened(found.display)}  since {since}, {until}{versions}"
