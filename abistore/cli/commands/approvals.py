"""``approve`` and ``approvals``: breaks that people accept, and the ledger of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from abistore.cli.main import SuggestingGroup
from abistore.cli.options import FILE, SharedSettings, finding_words, library_words, store_command
from abistore.cli.output import answer, is_file, note, table, write_file
from abistore.model.approvals import EVERY_TARGET, in_words
from abistore.model.history import DEFAULT_PROFILE
from abistore.model.words import counted

if TYPE_CHECKING:
    from abistore.model.approvals import Approval
    from abistore.service.approval_files import SyncedLedger
    from abistore.service.approving import ApprovedBreak, LedgerEntry, LedgerState

HEADS = ("state", "library", "finding", "what", "approved", "scope", "target", "until", "found in", "reason")
WORDS = 60
"""How much of what was approved a row shows."""


@click.command("approve")
@click.argument("findings", metavar="FINDING...", nargs=-1, required=True, shell_complete=finding_words)
@click.option("--reason", required=True, help="Why the break is accepted. Every report shows it.")
@click.option("--ticket", default="", help="Where it was discussed: LIB-7, or an address.")
@click.option("--approver", default="", help="Who decided; by default the user's name.")
@click.option(
    "--until",
    metavar="DATE|VERSION|SONAME",
    default="",
    help="The last that it holds for: through this day (2026-12-31), up to and including this version (2.1), or while "
    "the SONAME is this one (libfoo.so.1). Say date:, version: or soname: before it where the text does not tell.  "
    "[default: until it is withdrawn]",
)
@click.option(
    "--scope",
    metavar="SCOPE",
    default="forever",
    show_default=True,
    help="release[:VERSION] (alone: the release that has the finding), branch[:CHANNEL] (where a release is judged "
    "against this baseline; alone: the channel `release`), or forever (every release).",
)
@click.option(
    "--target",
    default="",
    help="The platform that it holds on: elf-x86_64-64-little, or just x86_64, or all.  "
    "[default: the one that the library is stored for; required where there are several]",
)
@click.option(
    "--profile",
    default="",
    help="The build profile that it holds in, or all.  [default: the one that the library is stored in; required where "
    "there are several]",
)
@click.option("--library", shell_complete=library_words, help="The library, if several have such a finding.")
@click.option("--replace", is_flag=True, help="Put this in the place of what holds of the finding on other terms.")
@click.option("--actor", default="", help="Who writes it down, for the audit; by default the user's name.")
@store_command
def approve_command(settings: SharedSettings, /, *, findings: tuple[str, ...], **words: Any) -> None:
    """Accept the break FINDING: an identity, or its first digits, as `abistore verdict REFERENCE -v` shows it.

    The verdict stays BREAKING. A gate passes if everything that would fail it is approved, and every report says by
    whom, why and until when. The approval holds in later builds and releases too, until the finding's facts change:
    then it is void, and reports say so. What is approved already on other terms stays, unless --replace is given.

    Missing evidence cannot be approved: such a gate still exits with 72.
    """
    from abistore.service.approving import ApprovalPlan, approve

    done = approve(findings, ApprovalPlan(**words), database=settings.database)
    answer(settings, {"approved": done}, lambda: "\n".join(map(_line, done)))


@click.group("approvals", cls=SuggestingGroup)
def approvals_command() -> None:
    """List and withdraw accepted breaks, and keep them in a reviewed file."""


@approvals_command.command("list")
@click.argument("library", required=False, shell_complete=library_words)
@click.option("--past", is_flag=True, help="All that was ever approved and withdrawn, oldest first.")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice(("holds", "expired", "changed", "unused", "withdrawn", "replaced")),
    help="Only approvals of which this has become; several may be given.  [default: all]",
)
@store_command
def list_command(
    settings: SharedSettings, /, *, library: str | None, past: bool, states: tuple[LedgerState, ...]
) -> None:
    """List the accepted breaks of one LIBRARY, or of all.

    State: `holds`; `expired` for all latest releases; `changed`, if the finding has other facts now and has to be
    approved again; `unused`, if no stored comparison has it.
    """
    from abistore.service.approving import approvals

    found = approvals(library, past=past, states=states, database=settings.database)
    answer(settings, {"approvals": found}, lambda: table(HEADS, list(map(_row, found))) if found else "no approvals")


@approvals_command.command("withdraw")
@click.argument("findings", metavar="FINDING...", nargs=-1, required=True, shell_complete=finding_words)
@click.option("--reason", required=True, help="Why it is not accepted any more.")
@click.option("--scope", help="Withdraw what was approved for this scope only.")
@click.option("--target", help="Withdraw what was approved for this platform only, or for `all`.")
@click.option("--profile", help="Withdraw what was approved for this build profile only, or for `all`.")
@click.option("--library", shell_complete=library_words, help="The library, if several have such a finding.")
@click.option("--actor", default="", help="Who withdraws; by default the user's name.")
@store_command
def withdraw_command(settings: SharedSettings, /, *, findings: tuple[str, ...], **words: Any) -> None:
    """Take back what was approved of FINDING. The ledger keeps both: `abistore approvals list --past`."""
    from abistore.service.approving import WithdrawalPlan, withdraw

    done = withdraw(findings, WithdrawalPlan(**words), database=settings.database)
    answer(settings, {"withdrawn": done}, lambda: "\n".join(map(_line, done)))


@approvals_command.command("export")
@click.argument("library", required=False, shell_complete=library_words)
@click.option("-o", "--output", type=FILE, help="Write to this file instead of standard output.")
@click.option("--format", "form", type=click.Choice(("yaml", "json")), default="yaml", show_default=True)
@click.option(
    "--project", metavar="NAME", help="Whose file it is.  [default: the one that said so, or the library's name]"
)
@store_command
def export_command(
    settings: SharedSettings,
    /,
    *,
    library: str | None,
    output: Path | None,
    form: Literal["yaml", "json"],
    project: str | None,
) -> None:
    """Write what is approved in one LIBRARY, or in all, as a file that people review and `sync` reads."""
    from abistore.service.approval_files import export_approvals

    made = export_approvals(library, form, project=project, database=settings.database)
    if is_file(output):
        write_file(output, f"{made.text}\n".encode())
        note(settings, f"{output}: {counted(made.count, 'approval')}")
        if settings.json:
            answer(settings, {"output": str(output), "count": made.count}, str)
        return
    answer(settings, {"count": made.count, "approvals": made.text}, lambda: made.text)


@approvals_command.command("sync")
@click.argument("file", type=FILE)
@click.option("--check", is_flag=True, help="Write nothing; exit with 69 if the database says something else.")
@click.option("--actor", default="", help="Who does it, for the audit; by default the user's name.")
@store_command
def sync_command(settings: SharedSettings, /, *, file: Path, **words: Any) -> int:
    """Make the database say what the reviewed FILE of approvals says.

    What the file says and the database does not is added, with the file as its origin. What came from the file of the
    same project and is no longer in it is withdrawn; what was approved otherwise, or by other projects, stays. A wrong
    FILE changes nothing, nor does one that adds an end that is over.
    """
    from abistore.errors import StaleBaseline
    from abistore.service.approval_files import sync_approvals

    done = sync_approvals(file, database=settings.database, **words)
    code = StaleBaseline.exit_code if done.differs and not done.done else 0
    answer(settings, {"exit_code": code, "synced": done}, lambda: "\n".join(_differences(done)))
    return code


def _differences(done: SyncedLedger) -> Iterator[str]:
    undone = {one.key: "it was approved so by hand, and is the file's from now on" for one in done.held}
    undone |= {one.key: f"it was withdrawn {in_words(one)}: {one.reason}" for one in done.reopened}
    undone |= {one.key: _instead(one) for one in done.replaced}
    for what, found in (("approved", done.added), ("withdrawn", done.withdrawn)):
        for one in found:
            head = what if done.done else f"would be {what}"
            again = f"; {undone[one.key]}" if one in done.added and one.key in undone else ""
            yield f"{head}  {one.library} {one.identity}  {in_words(one)}: {one.reason}{again}"
    if not done.differs:
        yield "the database says what the file says"


def _instead(one: Approval) -> str:
    return f"replaces what was approved {in_words(one)}: {one.reason}"


def _line(done: ApprovedBreak) -> str:
    one = done.approval
    what = "withdrawn" if one.withdrawn else "approved"
    said = "" if done.changed else ", as before"
    remarks = "".join(f"; {each}" for each in (*map(_instead, done.replaced), done.remark) if each)
    return f"{one.library} {one.identity}: {what} {in_words(one)}{said}{remarks}"


def _row(entry: LedgerEntry) -> tuple[str, ...]:
    one, facts = entry.approval, entry.approval.facts
    what = ": ".join(filter(None, (facts.kind, entry.called, facts.part))) if facts else ""
    by = f"{one.approved:%Y-%m-%d} by {one.approver}" + (f" ({one.ticket})" if one.ticket else "")
    until = one.until.partition(":")[2]
    origin = f" [from {one.origin}]" if one.origin else ""
    reason = f"{one.reason}{origin}"
    return (
        entry.state,
        one.library,
        one.identity,
        what[:WORDS],
        by,
        one.scope,
        (one.target or EVERY_TARGET) + (f", {one.profile}" if one.profile != DEFAULT_PROFILE else ""),
        until,
        entry.found_in,
        reason,
    )
