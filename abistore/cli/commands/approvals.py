"""``approve``: breaks that people accept, notes about findings, and the ledger of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeAlias

from msgspec.structs import asdict

from abistore.arguments import (
    Actor,
    ApprovalReason,
    ApprovedProfile,
    ApprovedTarget,
    Described,
    FindingIdentities,
    FindingIdentity,
    FindingLibrary,
    OptionalLibrary,
    Output,
    ReviewWord,
    Scope,
    Ticket,
    Until,
)
from abistore.cli.main import DefaultGroup
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, is_file, note, table, write_file
from abistore.cli.verbs import Options, verb
from abistore.model.approvals import EVERY_TARGET, FOREVER, in_words
from abistore.model.history import DEFAULT_PROFILE
from abistore.model.words import counted

if TYPE_CHECKING:
    from abistore.model.approvals import Approval
    from abistore.service.approval_files import SyncedLedger
    from abistore.service.approving import ApprovedBreak, LedgerEntry

HEADS = ("state", "library", "finding", "what", "approved", "applies to", "target", "until", "found in", "reason")
WORDS = 60
"""How much of what was approved a row shows."""

approve_command = DefaultGroup(
    "approve",
    default="add",
    help="Approve a break, so that gates pass and show the reason; list and withdraw approvals.",
)

State: TypeAlias = Literal["holds", "expired", "changed", "unused", "withdrawn", "replaced"]


class ApprovalOptions(Options, frozen=True):
    """Why a break is accepted, by whom, where and until when."""

    title: ClassVar[str] = "Options"
    reason: ApprovalReason
    ticket: Ticket = ""
    approver: Annotated[str, Described("The person who decided; by default the user's name.")] = ""
    until: Until = ""
    scope: Scope = "forever"
    target: ApprovedTarget = ""
    profile: ApprovedProfile = ""
    library: FindingLibrary = None
    replace: Annotated[bool, Described("Replace an existing approval of the finding with other terms.")] = False
    actor: Actor = ""


@verb("add", inside=approve_command, gives={"approved": "service.approving:approve"})
def add_command(settings: SharedSettings, findings: FindingIdentities, *, terms: ApprovalOptions) -> None:
    """Accept the break FINDING: an identity, or its first digits, as `abistore verdict REFERENCE -v` shows it.

    The verdict stays BREAKING. A gate passes if everything that would fail it is approved, and every report says by
    whom, why and until when. The approval holds in later builds and releases too, until the finding's facts change:
    then it is void, and reports say so. What is approved already on other terms stays, unless --replace is given.

    Missing evidence cannot be approved: such a gate still exits with 72.
    """
    from abistore.service.approving import ApprovalPlan, approve

    done = approve(findings, ApprovalPlan(**asdict(terms)), database=settings.database)
    answer(settings, {"approved": done}, lambda: "\n".join(map(_line, done)))


@verb(
    "list",
    inside=approve_command,
    gives=({"approvals": "service.approving:approvals"}, {"notes": "service.log:reviews"}),
)
def list_command(
    settings: SharedSettings,
    library: OptionalLibrary = None,
    *,
    past: Annotated[bool, Described("Show all approvals and withdrawals, oldest first.")] = False,
    states: Annotated[
        tuple[State, ...],
        Described("Show only approvals with this status. May be repeated.", ("--state", "states"), default="all"),
    ] = (),
    notes: Annotated[bool, Described("List review notes instead.")] = False,
) -> None:
    """List the accepted breaks of one LIBRARY, or of all.

    State: `holds`; `expired` for all latest releases; `changed`, if the finding has other facts now and has to be
    approved again; `unused`, if no stored comparison has it.
    """
    if notes:
        _list_notes(settings, library, past)
        return
    from abistore.service.approving import approvals

    found = approvals(library, past=past, states=states, database=settings.database)
    answer(settings, {"approvals": found}, lambda: table(HEADS, list(map(_row, found))) if found else "no approvals")


def _list_notes(settings: SharedSettings, library: str | None, past: bool) -> None:
    from abistore.service.log import reviews

    found = reviews(library, past=past, database=settings.database)
    rows = [
        (one.library, one.identity, one.state, one.actor, f"{one.reviewed:%Y-%m-%d %H:%M}", one.note) for one in found
    ]
    heads = ("library", "finding", "state", "by", "when", "note")
    answer(settings, {"notes": found}, lambda: table(heads, rows) if rows else "no notes")


@verb("note", inside=approve_command, gives={"noted": "service.log:review"})
def note_command(
    settings: SharedSettings,
    finding: FindingIdentity,
    text: str = "",
    *,
    state: ReviewWord = "seen",
    library: FindingLibrary = None,
    actor: Actor = "",
) -> None:
    """Write the note TEXT about FINDING: an identity, or its first digits. No verdict depends on it.

    It holds wherever the library has this finding, in later releases too, until the finding's facts change.
    """
    from abistore.service.log import ReviewPlan, review

    done = review(finding, ReviewPlan(state, text, actor, library), database=settings.database)
    said = done.review
    again = "" if done.changed else ", as before"
    answer(settings, {"noted": done}, lambda: f"{said.library} {said.identity}: {said.state}{again}")


@verb("withdraw", inside=approve_command, gives={"withdrawn": "service.approving:withdraw"})
def withdraw_command(
    settings: SharedSettings,
    findings: FindingIdentities,
    *,
    reason: Annotated[str, Described("The reason for withdrawing the approval.")],
    scope: Annotated[str | None, Described("Withdraw only approvals with this scope.")] = None,
    target: Annotated[str | None, Described("Withdraw only approvals for this platform, or for `all`.")] = None,
    profile: Annotated[str | None, Described("Withdraw only approvals for this build profile, or for `all`.")] = None,
    library: FindingLibrary = None,
    actor: Actor = "",
) -> None:
    """Withdraw approvals of FINDING. The history keeps both: `abistore approve list --past`."""
    from abistore.service.approving import WithdrawalPlan, withdraw

    plan = WithdrawalPlan(reason, library, scope, actor, target, profile)
    done = withdraw(findings, plan, database=settings.database)
    answer(settings, {"withdrawn": done}, lambda: "\n".join(map(_line, done)))


@verb(
    "export",
    inside=approve_command,
    gives=({"count": "builtins:int", "approvals": "builtins:str"}, {"count": "builtins:int", "output": "builtins:str"}),
)
def export_command(
    settings: SharedSettings,
    library: OptionalLibrary = None,
    *,
    form: Annotated[Literal["yaml", "json"], Described("The output format.", ("--format", "form"))] = "yaml",
    project: Annotated[
        str | None,
        Described(
            "The project that the file belongs to.",
            metavar="NAME",
            default="the approval's project, or the library's name",
        ),
    ] = None,
    output: Output = None,
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


@verb("sync", inside=approve_command, gives={"synced": "service.approval_files:sync_approvals"})
def sync_command(
    settings: SharedSettings,
    file: Path,
    *,
    check: Annotated[bool, Described("Write nothing; exit with 69 if the database differs from the file.")] = False,
    actor: Actor = "",
) -> int:
    """Update the database from the reviewed FILE of approvals.

    Approvals that only the file has are added, with the file as their origin. Approvals from the file of the same
    project that are no longer in it are withdrawn; manual approvals and those of other projects stay. An invalid FILE
    changes nothing, and neither does one with a new end in the past.
    """
    from abistore.errors import StaleBaseline
    from abistore.service.approval_files import sync_approvals

    done = sync_approvals(file, check=check, actor=actor, database=settings.database)
    stale = StaleBaseline(f"the database says something else than {file}", f"abistore approve sync {file}")
    error = stale if done.differs and not done.done else None
    text = "\n".join(_differences(done))
    answer(settings, {"synced": done}, lambda: text, error=error)
    return error.exit_code if error else 0


def _differences(done: SyncedLedger) -> Iterator[str]:
    undone = {one.key: "approved by hand with the same terms; from now on managed by the file" for one in done.held}
    undone |= {one.key: f"it was withdrawn {in_words(one)}: {one.reason}" for one in done.reopened}
    undone |= {one.key: _instead(one) for one in done.replaced}
    for what, found in (("approved", done.added), ("withdrawn", done.withdrawn)):
        for one in found:
            head = what if done.done else f"would be {what}"
            again = f"; {undone[one.key]}" if one in done.added and one.key in undone else ""
            yield f"{head}  {one.library} {one.identity}  {in_words(one)}: {one.reason}{again}"
    if not done.differs:
        yield "the database matches the file"


def _instead(one: Approval) -> str:
    return f"replaces the approval {in_words(one)}: {one.reason}"


def _line(done: ApprovedBreak) -> str:
    one = done.approval
    what = "withdrawn" if one.withdrawn else "approved"
    said = "" if done.changed else ", as before"
    remarks = "".join(f"; {each}" for each in (*map(_instead, done.replaced), done.remark) if each)
    return f"{one.library} {one.identity}: {what} {in_words(one)}{said}{remarks}"


def _applies_to(one: Approval) -> str:
    """The releases of its scope: ``forever`` would contradict an end."""
    return "every release" if one.scope == FOREVER else one.scope.replace(":", " ", 1)


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
        _applies_to(one),
        (one.target or EVERY_TARGET) + (f", {one.profile}" if one.profile != DEFAULT_PROFILE else ""),
        until,
        entry.found_in,
        reason,
    )
