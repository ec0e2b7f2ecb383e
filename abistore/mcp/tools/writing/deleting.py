"""``abi_delete``: take back a release that was stored wrongly."""

from __future__ import annotations

from typing import Annotated

from abistore.interface import OpenStore, Release, db_forget
from abistore.mcp.answers.answer import Answer, asking
from abistore.mcp.call import Call
from abistore.mcp.lines import line_of
from abistore.mcp.questions import Question
from abistore.mcp.refusals import Refusal
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import Library, Line, Version, described
from abistore.mcp.tools.writing.releases import named, release_of
from abistore.model.words.characters import in_line

LEAST_DIGITS = 12
LONG = 200


class DeleteAnswer(Answer, frozen=True, kw_only=True):
    """The release that was taken back; ``digest`` still finds what was stored of it."""

    library: str
    version: str
    line: str
    digest: str
    decided_by: str
    next: tuple[str, ...] = ()


def _question(
    call: Call,
    *,
    library: str,
    version: str,
    confirm_digest: str,
    reason: str = "",
    line: str | None = None,
) -> Question:
    """A deletion is always asked about."""
    with call.store() as store:
        release = release_of(store, line_of(store, library, line), version)
        _check(store, release, confirm_digest)
    text = (
        f"Delete the release {named(release)}, stored on {release.ingested:%Y-%m-%d}? Its file can be stored again. "
        f"Reason given: {in_line(reason, LONG)!r}"
    )
    facts = {
        "target": release.line.target,
        "profile": release.line.profile,
        "version": release.version,
        "digest": release.digest,
    }
    return Question(text, facts)


def _check(store: OpenStore, release: Release, digest: str) -> None:
    """Raises :class:`Refusal` for what would be refused after the user was asked."""
    if len(digest) < LEAST_DIGITS or not release.digest.startswith(digest.lower()):
        message = f"{release.reference} has another digest than confirm_digest"
        hint = f"give {LEAST_DIGITS} or more digits of the release that is meant: abi_list(library) has them"
        raise Refusal("INVALID_ARGUMENT", message, hint)
    moves = [move for move in store.baselines(release.line.library) if move.line == release.line]
    channels = [move.channel for move in moves if move.version == release.version]
    if channels:
        hint = asking("abi_baseline", library=release.line.library, version="...", channel=channels[0], reason="...")
        raise Refusal(
            "INVALID_ARGUMENT", f"{release.reference}: baseline {channels[0]} stands at it", f"move it: {hint}"
        )


@tool(writes=True, destroys=True, asks=_question)
def abi_delete(
    call: Call,
    *,
    library: Library,
    version: Version,
    confirm_digest: Annotated[str, described("Its digest, from abi_list")],
    reason: Annotated[str, described("Why, for the audit")] = "",
    line: Line = None,
) -> DeleteAnswer:
    """Take back a release that was stored wrongly. The user is asked. A release at which a baseline stands stays.

    What was stored of it stays for the audit, and its digest still finds it.
    """
    question = call.decided or _question(call, **call.arguments)
    facts = question.facts
    with call.writing() as store:
        gone = db_forget(
            f"{library}@{facts['version']}",
            actor=call.actor,
            reason=reason,
            digest=facts["digest"],
            database=store,
            target=facts["target"],
            profile=facts["profile"],
        )
    return DeleteAnswer(
        headline=f"DELETED: {gone.line.library} {gone.version}, digest {gone.digest[:LEAST_DIGITS]}",
        library=gone.line.library,
        version=gone.version,
        line=f"{gone.line.target}/{gone.line.profile}",
        digest=gone.digest,
        decided_by="user" if call.decided else "caller",
        next=(asking("abi_list", library=library),),
    )
