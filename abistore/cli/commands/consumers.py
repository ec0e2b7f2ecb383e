"""``consumers``: what programs import and were built with, and what releases mean for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from abistore.arguments import Actor, Described, LibraryName, OptionalLibrary, ReleaseName, UsedName
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, table
from abistore.cli.reading_options import JudgingOptions, LineOptions
from abistore.cli.verbs import group, verb
from abistore.model.envelope import Conclusion
from abistore.model.findings import Verdict
from abistore.model.words import counted
from abistore.report.wording import shortened

if TYPE_CHECKING:
    from abistore.model.approvals import BrokenBy
    from abistore.service.consumer_verdicts import JudgedConsumer, ProgramRange, ReleaseForConsumers, UsersOfName
    from abistore.service.consumers import AddedConsumer, ShownConsumer

Platform: TypeAlias = Annotated[
    str | None, Described("The platform: its machine (x86_64), or in full (elf-x86_64-64-little).")
]
MOST = 10
"""So many reasons of one consumer are shown."""


consumers_command = group("consumers", "Store the imports of programs, and find the ones that a release breaks.")


@verb(
    "add",
    inside=consumers_command,
    gives={
        "consumers": "service.consumers:AddedConsumers.added",
        "left_out": "service.consumers:AddedConsumers.left_out",
    },
)
def add_command(
    settings: SharedSettings,
    apps: Annotated[tuple[Path, ...], Described(metavar="APP...")],
    *,
    name: Annotated[str, Described("The name of a single program.", default="its file name")] = "",
    debug_dirs: Annotated[
        tuple[Path, ...],
        Described(
            "A folder with separate debug information, e.g. /usr/lib/debug. May be repeated.",
            ("--debug-dir", "debug_dirs"),
        ),
    ] = (),
    actor: Actor = "",
) -> None:
    """Store the imports of APP, and with debug information the types that it was built with.

    APP is a program, a library, or a package (.deb, .rpm, .whl, ...) or folder of them; there, each is named
    PACKAGE:PATH. A program with the same name and target is replaced.

    \b
    abistore consumers add /usr/bin/app plugins/*.so
    abistore consumers add app_1.2_amd64.deb
    """
    from abistore.service.consumers import add_consumers
    from abistore.service.snapshots import ExtractOptions

    options = ExtractOptions(debug_dirs=debug_dirs)
    found = add_consumers(apps, name=name, options=options, actor=actor, database=settings.database)
    lines = [*map(_added, found.added), *(f"left out: {each}" for each in found.left_out)]
    answer(settings, {"consumers": found.added, "left_out": found.left_out}, lambda: "\n".join(lines))


def _added(one: AddedConsumer) -> str:
    word = "known" if one.known else "added"
    told = f"{counted(one.imports, 'import')}, {counted(one.types, 'type')}"
    return f"{one.details.name}: {word}, {told}{_unseen(one.details.unseen)}"


def _unseen(unseen: Sequence[str]) -> str:
    from abistore.service.consumers import WORDS

    return f"; not checked: {'; '.join(WORDS[each] for each in unseen)}" if unseen else ""


@verb("list", inside=consumers_command, gives={"consumers": "service.consumers:consumers"})
def list_command(settings: SharedSettings, library: OptionalLibrary = None, *, target: Platform = None) -> None:
    """List the stored consumers; with LIBRARY those that ask the loader for it."""
    from abistore.service.consumers import consumers

    found = consumers(library, database=settings.database, target=target)
    heads = ("consumer", "target", "imports", "types", "added", "not checked")
    rows = [
        (
            each.details.name,
            each.details.target,
            str(each.imports),
            str(each.types),
            f"{each.added:%Y-%m-%d}",
            ", ".join(each.details.unseen),
        )
        for each in found
    ]
    answer(settings, {"consumers": found}, lambda: table(heads, rows) if rows else "no consumers")


@verb("show", inside=consumers_command, gives={"consumer": "service.consumers:show_consumer"})
def show_command(settings: SharedSettings, name: str, *, target: Platform = None) -> None:
    """Show what the consumer NAME imports, and the types that it was built with."""
    from abistore.service.consumers import show_consumer

    found = show_consumer(name, database=settings.database, target=target)
    answer(settings, {"consumer": found}, lambda: "\n".join(_shown(found)))


def _shown(found: ShownConsumer) -> Iterator[str]:
    details = found.consumer.details
    yield f"{details.name} ({details.target})"
    yield f"needs {', '.join(details.needed) or 'no shared library'}{_unseen(details.unseen)}"
    for each in found.symbols:
        marks = [each.version, each.library, "weak" if each.weak else "", f"{each.copied} bytes" if each.copied else ""]
        yield "  ".join(filter(None, (f"  {shortened(each.symbol)}", *marks)))
    yield from (f"  built with {name.kind} {shortened(name.spelling)}" for name in found.types)


@verb("remove", inside=consumers_command, gives={"removed": "service.consumers:remove_consumers"})
def remove_command(
    settings: SharedSettings,
    names: Annotated[tuple[str, ...], Described(metavar="NAME...")],
    *,
    target: Platform = None,
    actor: Actor = "",
) -> None:
    """Take the consumer NAME out of the store. NAME may be a pattern.

    \b
    abistore consumers remove 'app_1.2_amd64.deb:*'
    """
    from abistore.service.consumers import remove_consumers

    gone = remove_consumers(names, target=target, actor=actor, database=settings.database)
    answer(settings, {"removed": gone}, lambda: "\n".join(f"removed {each.name} ({each.target})" for each in gone))


@verb("broken", inside=consumers_command, gives={"release": "service.consumer_verdicts:consumers_broken"})
def broken_command(
    settings: SharedSettings,
    reference: ReleaseName,
    *,
    against: Annotated[
        str | None,
        Described(
            "What the consumer list shows.", metavar="VERSION|baseline[:CHANNEL]", default="the previous release"
        ),
    ] = None,
    judging: JudgingOptions,
    line: LineOptions,
) -> int:
    """Show which stored consumers break when REFERENCE ships, and by what.

    Each is checked for its imported symbols and symbol versions, for the types that it was built with, and for breaks
    since the previous release that affect it. Missing checks are listed with each consumer. Exit code: 4 if one
    breaks.

    \b
    abistore consumers broken libfoo@2.0.0
    """
    from abistore.service.consumer_verdicts import consumers_broken

    found = consumers_broken(
        reference,
        against=against,
        by=judging.ruling(),
        target=line.target,
        profile=line.profile,
        database=settings.database,
    )
    broken = Conclusion(Verdict.BREAKING, "fail") if found.breaking else Conclusion(None, "pass")
    answer(settings, {"release": found}, lambda: "\n".join(_broken(found)), conclusion=broken)
    return 4 if found.breaking else 0


def _broken(found: ReleaseForConsumers) -> Iterator[str]:
    known = counted(len(found.consumers), "known consumer")
    against = f", judged against {found.against}" if found.against else ""
    rebuild = f", {found.rebuild} need another SONAME" if found.rebuild else ""
    yield f"{found.release.reference}: breaks {found.breaking} of {known}{rebuild}{against}"
    for each in found.consumers:
        yield from _judged(each, found)


def _judged(one: JudgedConsumer, found: ReleaseForConsumers) -> Iterator[str]:
    soname = found.release.soname or "no name"
    words = {"breaks": "breaks", "runs": "runs", "asks-for-another": f"does not load {soname} and must be rebuilt"}
    yield f"{one.name}: {words[one.state]} ({counted(one.imports, 'import')} of it)"
    yield from (f"  {reason(each)}" for each in one.broken_by[:MOST])
    if len(one.broken_by) > MOST:
        yield f"  and {len(one.broken_by) - MOST} more"
    yield from (f"  not checked: {each}" for each in one.not_checked[:MOST])


WAYS = {
    "symbol": "missing symbol",
    "version": "missing symbol version",
    "size": "data with another size",
    "type": "built with another",
    "change": "meets",
}
"""How each sort of break affects a consumer."""


def reason(one: BrokenBy) -> str:
    """What breaks a consumer, in words: ``missing symbol geo_norm (not exported)``."""
    broken = " ".join(filter(None, (WAYS[one.sort], one.kind and f"{one.kind}:", shortened(one.symbol))))
    return f"{broken} ({one.detail})" if one.detail else broken


@verb("using", inside=consumers_command, gives={"use": "service.consumer_verdicts:consumers_using"})
def using_command(settings: SharedSettings, library: LibraryName, name: UsedName, *, target: Platform = None) -> None:
    """List the stored consumers that use NAME of LIBRARY: that import the symbol, or were built with the type.

    \b
    abistore consumers using libfoo foo_open
    abistore consumers using libgeo geo::Point
    """
    from abistore.service.consumer_verdicts import consumers_using

    found = consumers_using(library, name, database=settings.database, target=target)
    answer(settings, {"use": found}, lambda: "\n".join(_users(found)))


def _users(found: UsersOfName) -> Iterator[str]:
    yield f"{len(found.users)} of {counted(found.consumers, 'known consumer')} of {found.library}"
    for each in found.users:
        how = [f"imports {shortened(one)}" for one in each.symbols] + [f"built with {one}" for one in each.types]
        yield f"  {each.name}  {', '.join(how)}"
    if found.unseen:
        yield f"not checked: {', '.join(found.unseen)} may use it in ways that the file does not show"


def ranged(
    settings: SharedSettings, program: str, library: str | None, debug_dirs: tuple[Path, ...], line: LineOptions
) -> None:
    """Tell which stored releases satisfy a program; without a library, for each that it needs and the store knows.

    How functions are called is no part of that: a program does not tell.
    """
    from abistore.service.consumer_verdicts import program_range
    from abistore.service.snapshots import ExtractOptions

    found = program_range(
        program,
        library,
        options=ExtractOptions(debug_dirs=debug_dirs),
        target=line.target,
        profile=line.profile,
        database=settings.database,
    )
    answer(settings, {"ranges": found}, lambda: "\n\n".join("\n".join(_range(each)) for each in found))


def _range(found: ProgramRange) -> Iterator[str]:
    fit = f"{found.first} to {found.last}" if found.first else "no stored release"
    yield (
        f"{found.line}: {fit} satisfies {found.program}"
        if found.first == found.last
        else (f"{found.line}: {fit} satisfy {found.program}")
    )
    for each in found.releases:
        words = {"breaks": "lacks", "runs": "satisfies", "asks-for-another": "is not what it needs"}
        reasons = "; ".join(map(reason, each.broken_by[:3]))
        more = f"; and {len(each.broken_by) - 3} more" if len(each.broken_by) > 3 else ""
        yield f"  {each.version}  {words[each.state]}{f': {reasons}{more}' if reasons else ''}"
    unseen = dict.fromkeys(word for each in found.releases for word in each.not_checked)
    yield from (f"not checked: {each}" for each in list(unseen)[:MOST])
