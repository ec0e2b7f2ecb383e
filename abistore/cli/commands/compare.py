"""``compare``, ``verdict`` and ``whatif``: what differs, for two files, a stored release, and an edit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec

from abistore.arguments import (
    ALLOW,
    Against,
    AllowWord,
    Declarations,
    Described,
    FailOn,
    HeaderPatch,
    Operand,
    WitnessToo,
)
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, note, progress
from abistore.cli.reading_options import JudgingOptions, LineOptions, ReadingOptions, SideOptions, TrustOptions
from abistore.cli.rendering import AllowingOptions, FailingOptions, Rendering, show_report, style_of, tells_notes
from abistore.cli.verbs import Options, verb
from abistore.errors import UsageError

if TYPE_CHECKING:
    from abistore.service.whatif import WhatIf, WhatIfBaseline


class ComparedOptions(FailingOptions, frozen=True):
    """What makes a comparison of two files fail."""

    allow: Annotated[AllowWord | None, ALLOW._replace(default="the verdict alone decides")] = None


@verb("compare", gives="report.model:Report", bisect=True)
def compare_command(
    settings: SharedSettings,
    old: Operand,
    new: Operand,
    *,
    programs: Annotated[
        tuple[str, ...],
        Described(
            "A program: judge only the changes that it depends on. May be repeated.",
            ("--for", "programs"),
            metavar="PROGRAM",
            complete="file",
        ),
    ] = (),
    witness: WitnessToo = False,
    rendering: Rendering,
    gating: ComparedOptions,
    judging: JudgingOptions,
    sides: SideOptions,
    reading: ReadingOptions,
    line: LineOptions,
) -> int:
    """Compare OLD with NEW and judge the difference.

    Each is a library, a JSON snapshot, a stored release (libfoo@1.2.0, libfoo@latest, libfoo@prev, libfoo@baseline,
    libfoo@baseline:CHANNEL) or the first digits of a snapshot's digest. ./NAME is a file, whatever it is called.

    Two packages (.deb, .rpm, .whl, .conda, .zip, tar) or folders are compared as releases of all libraries in them:
    one table, one verdict; so are universal files, of all their architectures. Beside anything else, a package stands
    for its library of the other side's name.

    Exits with 0 (no break, or one that --allow allows), 2 (source break), 4 (binary break), 72 if --require is not met,
    or another code of 64 and above if there is no verdict.
    """
    from abistore.service.comparing import compare, strangers

    with progress(settings) as advance:
        report = compare(
            old,
            new,
            database=settings.database,
            selection=reading.selection(sides, line, advance),
            fail_on=gating.fail_on,
            require=gating.required(),
            by=judging.ruling(),
            programs=programs,
            allow=gating.allow,
            consumers=gating.consumers,
            witness=witness,
        )
    if (said := strangers(report)) and not tells_notes(rendering):
        note(settings, said, "note")
    return show_report(settings, rendering.shown(report), rendering)


class WiderOptions(Options, frozen=True):
    """Wider questions about a release than one comparison."""

    title: ClassVar[str] = "Wider questions"
    baselines: Annotated[
        bool,
        Described(
            "Compare with every baseline of the release: the previous release, the first one with the same "
            "SONAME, each channel.",
            ("--all-baselines", "baselines"),
            main=True,
        ),
    ] = False
    targets: Annotated[
        bool,
        Described(
            "Judge all targets and profiles of the version; the verdict is the worst one.",
            ("--all-targets", "targets"),
            main=True,
        ),
    ] = False
    statement: Annotated[bool, Described("State whether the release may ship, with all the evidence.", main=True)] = (
        False
    )

    sign: Annotated[
        Path | None,
        Described(
            "With --statement: sign it with this Ed25519 key, and write a DSSE envelope. Name the public key if an SSH "
            "agent holds the private one.",
            metavar="KEY",
            complete="file",
        ),
    ] = None
    verify: Annotated[
        Path | None,
        Described(
            "Verify this signed statement; with REFERENCE, also that the same decision is reached again.",
            metavar="FILE",
            complete="file",
        ),
    ] = None
    libraries: Annotated[
        tuple[Path, ...],
        Described(
            "With --verify: a library that the statement must be about. May be repeated.",
            ("--library", "libraries"),
            metavar="FILE",
            complete="file",
        ),
    ] = ()

    def check(self) -> None:
        """Raise :class:`UsageError` for an option without the one that it belongs to."""
        if self.sign is not None and not self.statement:
            raise UsageError("--sign needs --statement", "only a statement can be signed")
        if self.libraries and self.verify is None:
            raise UsageError("--library needs --verify", "name the signed statement: --verify FILE")

    def asked(self, against: str | None) -> Callable[..., int] | None:
        """What answers the question, if one is asked. Raises :class:`UsageError` for several."""
        wanted = (self.baselines, self.targets, self.statement, self.verify is not None)
        if sum(wanted) > 1 or (any(wanted) and against):
            raise UsageError("these options exclude each other", "use one of them for each call")
        if not any(wanted):
            return None
        from abistore.cli.commands.ledger import all_baselines, all_targets, signed, stated, verified

        if self.verify is not None:
            return partial(verified, document=self.verify, libraries=self.libraries)
        if self.sign is not None:
            return partial(signed, key=self.sign)
        return all_baselines if self.baselines else all_targets if self.targets else stated


@verb(
    "verdict",
    gives=(
        "report.model:Report",
        {"ledgers": "service.ledger:ledger"},
        {"lines": "service.ledger:lines_of_release"},
        {"statement": "service.statements:statement"},
        {"verified": "service.attesting:verify_statement"},
    ),
    bisect=True,
)
def verdict_command(
    settings: SharedSettings,
    reference: Annotated[str | None, Described(complete="reference", metavar="REFERENCE")] = None,
    *,
    against: Against = None,
    witness: WitnessToo = False,
    wider: WiderOptions,
    rendering: Rendering,
    gating: AllowingOptions,
    judging: JudgingOptions,
    line: LineOptions,
    trusting: TrustOptions,
) -> int:
    """Show the verdict about the stored release REFERENCE (libfoo@1.2.0).

    A verdict that today's rules gave before is read from the database. Otherwise the release is judged now and the
    verdict is stored.

    A release that may break passes with exit code 0, and the report says why (--allow): the verdict stays BREAKING.

    With --against, the release's evidence must show no less than the other side's, unless --require says otherwise; the
    exit code is 72 if it shows less.

    --all-baselines, --all-targets and --statement take a library's name too: then they are about its latest release.
    They exit as their outcome says.

    --sign and --verify exit as the outcome of the statement says; 76 if it does not verify.

    \b
    abistore verdict libfoo@1.4.0
    abistore verdict libfoo@1.4.0 --all-baselines
    abistore verdict libfoo@1.4.0 --statement --format markdown -o RELEASE.md
    abistore verdict libfoo@1.4.0 --statement --sign release_key -o libfoo.intoto.json
    abistore verdict --verify libfoo.intoto.json --library libfoo.so.1 --allowed-signers signers
    """
    from abistore.service.verdicts import verdict

    tell = wider.asked(against)
    if tell is not None and wider.verify is not None:
        tell = partial(tell, trusting=trusting)
    elif reference is None:
        raise UsageError("no release is named", "abistore verdict LIBRARY@VERSION")
    if tell is not None:
        return tell(settings, reference, rendering=rendering, gating=gating, judging=judging, line=line)
    assert reference is not None
    judgement = verdict(
        reference,
        against=against,
        database=settings.database,
        require=gating.required(),
        by=judging.ruling(),
        fail_on=gating.fail_on,
        allow=gating.allow,
        deprecation=gating.deprecation,
        consumers=gating.consumers,
        witness=witness,
        target=line.target,
        profile=line.profile,
    )
    return show_report(settings, rendering.shown(judgement.report), rendering)


@verb("whatif", gives={"what_if": "service.whatif:whatif"})
def whatif_command(
    settings: SharedSettings,
    operand: Operand,
    *,
    header_patch: HeaderPatch = None,
    declare: Declarations = (),
    fail_on: FailOn = "api_break",
    reading: ReadingOptions,
    judging: JudgingOptions,
    line: LineOptions,
) -> int:
    """Judge an edit of headers before it is built.

    OPERAND is a library (libfoo: each release that is a baseline), a release (libfoo@1.2.0), or a file. --header names
    the headers before the edit. A declaration can be judged without headers, against the stored release.

    Shows whether programs built against the release would break, where a record has room, and alternatives without a
    break, judged by the same rules. Nothing is stored. Exit codes are those of `compare`, with the worst verdict.
    """
    from abistore.model.envelope import concluded
    from abistore.service.snapshots import Selection
    from abistore.service.whatif import WhatIfPlan, whatif

    options = reading.options()
    plan = WhatIfPlan(options.headers, header_patch or "", declare)
    selection = Selection(line.target, line.profile, msgspec.structs.replace(options, headers=None))
    found = whatif(operand, plan, database=settings.database, selection=selection, fail_on=fail_on, by=judging.ruling())
    conclusion = concluded((each.report.decision for each in found.judged), found.exit_code)
    answer(settings, {"what_if": found}, lambda: "\n\n".join(_told(settings, found)), conclusion=conclusion)
    return found.exit_code


def _told(settings: SharedSettings, found: WhatIf) -> Iterator[str]:
    for each in found.judged:
        yield "\n".join(_judged(settings, each))
    if len(found.judged) > 1:
        yield f"{found.verdict} for the worst of {len(found.judged)} releases"


def _judged(settings: SharedSettings, each: WhatIfBaseline) -> Iterator[str]:
    from abistore.report import render

    channels = f"  baseline {', '.join(each.channels)}" if each.channels else ""
    yield f"{each.reference}  {each.target}{channels}"
    yield render(each.report, "text", style_of(settings, False))
    if each.unsettled:
        yield f"Not checked: the layout of records that embed it: {', '.join(each.unsettled)}. Give the headers."
    for room in each.rooms:
        yield f"Room in {room.symbol}: {'; '.join(room.rooms)}"
    if each.ways:
        yield "Alternatives without a break:"
    for way in each.ways:
        yield f"  - {way.title}  ({way.verdict})"
        yield from (f"      {line}" for line in way.declaration.splitlines())
