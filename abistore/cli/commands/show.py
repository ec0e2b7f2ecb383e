"""``show`` and ``list``: one snapshot, one declaration, or everything stored."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from abistore.cli.options.extracting import ExtractingOptions, extract_options
from abistore.cli.options.shared import SharedSettings, line_options, store_command
from abistore.cli.output import answer, width
from abistore.cli.rendering import style_of
from abistore.cli.tables import table
from abistore.cli.words import library_words, operand_words
from abistore.model.labels.sonames import word_on
from abistore.model.words.characters import bounded
from abistore.model.words.counting import counted
from abistore.report.formats.text import listed
from abistore.report.packages import package_of, package_words, short_package
from abistore.report.wording import shortened

if TYPE_CHECKING:
    from abistore.model.snapshot import Evidence
    from abistore.service.declarations import DeclarationText, SnapshotCard, TypeUsers
    from abistore.service.declared_exports import DeclaredExports
    from abistore.service.facts import Hardening


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
    from abistore.cli.progress import progress
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
