"""``env``: what production, a suite or a product has, and what may ship there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from abistore.arguments import Actor, Described
from abistore.cli.commands.consumers import reason
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, progress
from abistore.cli.reading_options import JudgingOptions, LineOptions, ReadingOptions
from abistore.cli.verbs import group, verb
from abistore.errors import EvidenceMissing, StaleBaseline
from abistore.model.envelope import Conclusion
from abistore.model.findings import Verdict
from abistore.model.words import counted
from abistore.report.ledgers import LedgerTable, as_markdown, as_text

if TYPE_CHECKING:
    from abistore.model.environments import (
        CanShip,
        Environment,
        EnvironmentDifference,
        EnvironmentDrift,
        EnvironmentMember,
        HurtMember,
        RecordedMembers,
    )

EnvironmentName: TypeAlias = Annotated[str, Described(metavar="ENV")]
Members: TypeAlias = Annotated[tuple[str, ...], Described(metavar="LIBRARY@VERSION|APP...")]
Form: TypeAlias = Annotated[
    Literal["text", "json", "markdown"], Described("The output format.", ("--format", "form"), main=True)
]
Beside: TypeAlias = Annotated[bool, Described("Keep the other recorded versions of the library.")]

MOST = 10
"""So many gaps are shown."""

env_command = group("env", "Record what production, a suite or a product has, and ask what may ship there.")


@verb("record", inside=env_command, gives="service.environments:env_record")
def record_command(
    settings: SharedSettings,
    env: EnvironmentName,
    members: Members,
    *,
    beside: Beside = False,
    actor: Actor = "",
    line: LineOptions,
) -> None:
    """Record that ENV has a stored release, or APP: a stored consumer, by its name or a pattern.

    A library that is recorded again replaces its version: the one with the same SONAME, if there are several. A new
    ENV is created. Agents cannot record: a person or a deployment does.

    \b
    abistore env record production libfoo@1.4.2 libbar@2.0 app
    abistore env record production libfoo@2.0.0 --beside
    """
    from abistore.service.environments import env_record

    found = env_record(
        env,
        members,
        beside=beside,
        actor=actor,
        target=line.target,
        profile=line.profile,
        database=settings.database,
    )
    answer(settings, found, lambda: "\n".join(recorded_lines(found)))


@verb("remove", inside=env_command, gives="service.environments:env_remove")
def remove_command(
    settings: SharedSettings,
    env: EnvironmentName,
    members: Annotated[tuple[str, ...], Described(metavar="LIBRARY[@VERSION]|APP...")],
    *,
    actor: Actor = "",
    line: LineOptions,
) -> None:
    """Record that ENV no longer has a library, one version of it, or a program. Its history stays.

    \b
    abistore env remove production libfoo@1.4.2
    """
    from abistore.service.environments import env_remove

    found = env_remove(env, members, actor=actor, target=line.target, profile=line.profile, database=settings.database)
    answer(settings, found, lambda: "\n".join(recorded_lines(found)))


@verb("list", inside=env_command, gives={"environments": "service.environments:env_list"})
def list_command(
    settings: SharedSettings,
    env: Annotated[str | None, Described(metavar="[ENV]")] = None,
    *,
    form: Form = "text",
) -> None:
    """List the environments and what they have; with ENV also what it had earlier."""
    from abistore.service.environments import env_list

    found = env_list(env, database=settings.database)
    _show(settings, form, {"environments": found}, lambda: environment_tables(found, whole=env is not None))


@verb("can-ship", inside=env_command, gives={"shipping": "service.shipping:env_can_ship"})
def can_ship_command(
    settings: SharedSettings,
    releases: Annotated[tuple[str, ...], Described(complete="operand", metavar="LIBRARY@VERSION|FILE...")],
    *,
    environment: Annotated[str, Described("The environment.", ("--to", "environment"), metavar="ENV", main=True)],
    beside: Beside = False,
    form: Form = "text",
    judging: JudgingOptions,
    reading: ReadingOptions,
    line: LineOptions,
) -> int:
    """Say whether releases may ship to an environment together, and which programs and libraries would break there.

    A release is stored (libfoo@2.0.0), or a library file that is read now. Several are judged as they would run there
    together.

    Every program and library there that asks the loader for it is checked for its symbols, for the types that it was
    built with, and for breaks since the recorded version. What uses a broken library is listed after it. The releases
    themselves are checked for what they need there. What was broken before does not count. What `abistore policy bind`
    bound to their library counts, as in a gate.

    Exit code: 0 if it may ship, 4 with a table of what breaks and the versions that may ship, 72 if it cannot be
    known: a dependency was not recorded, imports are not stored, or types are missing on a side. Where a bound rule
    alone refuses it, the exit code of `gate`.

    \b
    abistore env can-ship libfoo@2.0.0 --to production
    abistore env can-ship libfoo@2.0.0 libbar@1.7 --to production
    abistore env can-ship build/libfoo.so --header include --to production
    """
    from abistore.service.shipping import EXIT_CODES, env_can_ship
    from abistore.service.snapshots import Selection

    with progress(settings) as advance:
        found = env_can_ship(
            releases,
            environment,
            beside=beside,
            by=judging.ruling(),
            selection=Selection(line.target, line.profile, reading.options(progress=advance)),
            database=settings.database,
        )
    verdict = {EXIT_CODES["fail"]: Verdict.BREAKING, Verdict.API_BREAK.exit_code: Verdict.API_BREAK}
    conclusion = Conclusion(verdict.get(found.exit_code), found.outcome)
    hint = "record what is missing with `abistore env record`, or store builds with -g"
    error = EvidenceMissing(found.headline, hint) if found.outcome == "undecided" else None
    tables = {"shipping": found}, lambda: shipping_tables(found)
    _show(settings, form, *tables, conclusion=conclusion, error=error)
    return found.exit_code


@verb("diff", inside=env_command, gives={"difference": "service.environments:env_diff"})
def diff_command(
    settings: SharedSettings,
    old: Annotated[str, Described(metavar="OLD")],
    new: Annotated[str, Described(metavar="NEW")],
    *,
    form: Form = "text",
) -> None:
    """Show what two environments do not have in common.

    \b
    abistore env diff staging production
    """
    from abistore.service.environments import env_diff

    found = env_diff(old, new, database=settings.database)
    _show(settings, form, {"difference": found}, lambda: difference_tables(found))


@verb("drift", inside=env_command, gives={"drift": "service.environments:env_drift"})
def drift_command(
    settings: SharedSettings,
    folder: Annotated[Path, Described(metavar="FOLDER")],
    *,
    environment: Annotated[str, Described("The environment.", ("--env", "environment"), metavar="ENV", main=True)],
    form: Form = "text",
) -> int:
    """Compare the libraries and programs in FOLDER with the recorded ones: changed, missing and unknown files.

    Files are compared by SHA-256. Links and debug files are omitted. Exit code: 69 if something differs.

    \b
    abistore env drift /opt/product/lib --env production
    """
    from abistore.service.environments import env_drift

    found = env_drift(folder, environment, database=settings.database)
    message = f"{found.folder}: differs from what was recorded of {found.environment}"
    error = StaleBaseline(message, f"record it with `abistore env record {found.environment}`") if found.files else None
    _show(settings, form, {"drift": found}, lambda: drift_tables(found), error=error)
    return error.exit_code if error else 0


def _show(
    settings: SharedSettings, form: str, value: Any, tables: Callable[[], list[LedgerTable]], **concluded: Any
) -> None:
    """Give an answer as text, Markdown or JSON."""
    settings.json = settings.json or form == "json"
    written = as_markdown if form == "markdown" else as_text
    answer(settings, value, lambda: written(tables()), **concluded)


def shipping_tables(found: CanShip) -> list[LedgerTable]:
    """Who would break where a release ships, by what, and which versions would do."""
    heads = ("member", "outcome", "reason")
    rows = [(each.label, _state(each), _why(each)) for each in found.broken]
    return [LedgerTable(found.headline, heads, rows, tuple(_below(found)))]


def _state(member: HurtMember) -> str:
    words = {"breaks": "breaks", "asks-for-another": "does not load", "uses-broken": "uses a broken member"}
    return words[member.state]


def _why(member: HurtMember) -> str:
    match member.state:
        case "uses-broken":
            return f"uses {member.through}"
        case "asks-for-another":
            return "the loader finds another SONAME than it asks for: rebuild it"
        case _:
            more = len(member.broken_by) - 3
            return "; ".join((*map(reason, member.broken_by[:3]), *([f"and {more} more"] if more > 0 else [])))


def _below(found: CanShip) -> Iterator[str]:
    for each in found.releases:
        if each.replaces:
            named = "" if len(found.releases) == 1 else f"{each.library}@{each.version} "
            yield f"{named}replaces {', '.join(each.replaces)}"
    yield from (f"{each.headline}; {each.reasons[-1].sentence}" for each in found.bound)
    yield from (f"unknown: {each}" for each in _first(found.unknown))
    yield from (f"not checked: {each}" for each in _first(found.not_checked))
    if found.outcome != "pass" and len(found.releases) == 1:
        untried = f" ({counted(found.untried, 'older version')} not tried)" if found.untried else ""
        yield f"versions that may ship: {', '.join(found.would_do) or 'none'}{untried}"


def _first(sentences: Sequence[str]) -> Iterator[str]:
    yield from sentences[:MOST]
    if len(sentences) > MOST:
        yield f"{len(sentences) - MOST} more"


def environment_tables(found: Sequence[Environment], *, whole: bool) -> list[LedgerTable]:
    """Each environment with its members; ``whole`` with the earlier ones, too."""
    return [each for one in found for each in _environment(one, whole)]


def _environment(one: Environment, whole: bool) -> Iterator[LedgerTable]:
    heads = ("member", "target", "recorded", "by", "file")
    rows = [(each.label, each.target, f"{each.recorded:%Y-%m-%d}", each.actor, each.file) for each in one.members]
    count = counted(len(one.members), "member")
    yield LedgerTable(f"{one.name}: {count}", heads, rows, ())
    if whole and one.earlier:
        heads = ("earlier", "target", "recorded", "until", "by")
        ended = [
            (each.label, each.target, f"{each.recorded:%Y-%m-%d}", f"{each.until:%Y-%m-%d}", each.ended_by)
            for each in one.earlier
        ]
        yield LedgerTable(f"{one.name}: earlier", heads, ended, ())


def recorded_lines(found: RecordedMembers) -> Iterator[str]:
    """What was recorded, replaced and removed, a line each."""
    where = found.environment
    yield from (f"recorded {each.label} in {where}" for each in found.recorded)
    yield from (f"replaced {each.label} in {where}" for each in found.replaced)
    yield from (f"removed {each.label} from {where}" for each in found.removed)
    yield from (f"known: {each.label} is recorded in {where}" for each in found.known)


def difference_tables(found: EnvironmentDifference) -> list[LedgerTable]:
    """What two environments do not have in common."""
    changed = [(each.name, each.target, _builds(each.old), _builds(each.new)) for each in found.changed]
    removed = [(each.name, each.target, _builds((each,)), "-") for each in found.removed]
    added = [(each.name, each.target, "-", _builds((each,))) for each in found.added]
    rows = [*changed, *removed, *added]
    title = f"{found.old} and {found.new}: {counted(len(rows), 'difference')}"
    return [LedgerTable(title, ("member", "target", found.old, found.new), rows, ())]


def _builds(members: Sequence[EnvironmentMember]) -> str:
    return ", ".join(each.version or each.sha256[:12] or each.label for each in members)


def drift_tables(found: EnvironmentDrift) -> list[LedgerTable]:
    """What lies in a folder instead of what was recorded."""
    heads = ("file", "state", "recorded", "content")
    rows = [
        (each.path, each.state, each.recorded or "-", each.is_now or each.sha256[:12] or "-") for each in found.files
    ]
    count = counted(len(rows), "difference")
    title = f"{found.folder} and {found.environment}: {count}, {found.as_recorded} as recorded"
    return [LedgerTable(title, heads, rows, tuple(f"not checked: {each}" for each in _first(found.not_checked)))]
