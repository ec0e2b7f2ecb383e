"""``exports``, ``types``, ``who-uses`` and ``provides``: what is in releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.options.shared import SharedSettings, line_options, store_command
from abistore.cli.output import answer
from abistore.cli.tables import table
from abistore.cli.words import reference_words, since_words
from abistore.errors import UsageError
from abistore.model.words.counting import counted
from abistore.report.wording import shortened

if TYPE_CHECKING:
    from abistore.service.consumers.asking import UnusedExports
    from abistore.service.inventory.inventory import Inventory
    from abistore.service.inventory.providers import ProvidedSymbol
    from abistore.service.inventory.users import UsedType

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
    from abistore.service.inventory.inventory import exports

    if unused:
        from abistore.service.consumers.asking import unused_exports

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
    from abistore.service.inventory.inventory import types

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
    from abistore.service.inventory.users import who_uses

    found = who_uses(type, database=settings.database, **words)
    answer(settings, {"types": found}, lambda: "\n\n".join("\n".join(_users(each)) for each in found))


def _users(found: UsedType) -> Iterator[str]:
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
    from abistore.service.inventory.providers import provides

    found = provides(symbol, database=settings.database, **words)
    answer(settings, {"providers": found}, lambda: "\n".join(map(_provider, found)))


def _provider(found: ProvidedSymbol) -> str:
    since = f"{FIRST} {found.since}" if found.first_stored else found.since
    until = f"until before {found.until}" if found.until else "until now"
    versions = f"  ({', '.join(found.symbol_versions)})" if found.symbol_versions else ""
    return f"{found.line}: {shortened(found.display)}  since {since}, {until}{versions}"
