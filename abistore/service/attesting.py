"""Signed documents about releases and audits: writing one, and verifying that it is true of a file and of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from abistore import __version__
from abistore.errors import InputError, MalformedStatement, NotVerified, StaleStatement, WrongFile
from abistore.extract.files import open_input
from abistore.model.decision import Outcome
from abistore.model.history import AuditHead, Release, VerifiedAudit
from abistore.model.snapshot import Moment
from abistore.model.statements import ReleaseStatement, SignedSubject, StatementPart, VerifiedStatement
from abistore.report.plain import plain
from abistore.service.database import Database, using
from abistore.service.signatures import (
    MOST_BYTES,
    FileSubject,
    OpenedStatement,
    Signer,
    Trust,
    opened,
    read,
    signed,
    signing_key,
)
from abistore.service.statements import statement

if TYPE_CHECKING:
    from abistore.model.versions import DeprecationWindow
    from abistore.service.ruling import Ruling

STATEMENT: Final = "https://git.example.org/abistore/release-statement/v1"
"""The type of the predicate that holds a statement."""

AUDIT: Final = "https://git.example.org/abistore/audit-head/v1"
"""The type of the predicate that holds the head of a store's audit."""


class SignedStatement(msgspec.Struct, frozen=True):
    """A statement, and the ``document`` that holds it with a signature: a DSSE envelope, as JSON."""

    statement: ReleaseStatement
    document: str


class StatementPredicate(msgspec.Struct, frozen=True):
    """What is signed of a statement: when, by which abistore, and the statement as ``--statement --json`` has it."""

    signed: Moment
    abistore: str
    statement: dict[str, Any]


def sign_statement(
    reference: str,
    key: str | Path,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
    today: date | None = None,
    deprecation: DeprecationWindow | None = None,
) -> SignedStatement:
    """State whether a release may ship, as :func:`statement` does, and sign that with the Ed25519 key in a file.

    Its subjects are the files of all lines. Raises as :func:`statement` does, :class:`SigningKeyError`, and
    :class:`InputError` for a release of which no file is known.
    """
    signer = signing_key(Path(key))
    found = statement(
        reference, database=database, target=target, profile=profile, by=by, today=today, deprecation=deprecation
    )
    subjects = [_subject(release) for release in _releases(found)]
    predicate = StatementPredicate(_now(), __version__, plain(found))
    return SignedStatement(found, signed(subjects, STATEMENT, predicate, signer).decode())


def verify_statement(
    document: str | Path,
    trust: Trust,
    *,
    libraries: Sequence[str | Path] = (),
    reference: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
    today: date | None = None,
    deprecation: DeprecationWindow | None = None,
    now: datetime | None = None,
) -> VerifiedStatement:
    """Verify the signed statement in a file: its signature, the files of ``libraries``, and its decision.

    The decision is reached again if ``reference`` names the stored release. Raises the kinds of :class:`NotVerified`,
    and for a reference as :func:`statement` does.
    """
    found, predicate, signer = _read_signed(document, STATEMENT, StatementPredicate, trust, now)
    try:
        said = msgspec.convert(predicate.statement, _Said)
    except msgspec.ValidationError as error:
        raise MalformedStatement(f"{document}: not a release statement: {error}") from None
    subjects = _compared(found.statement.subject, libraries)
    changed: tuple[StatementPart, ...] = ()
    if reference is not None:
        again = statement(
            reference, database=database, target=target, profile=profile, by=by, today=today, deprecation=deprecation
        )
        _check_same_release(said, found.statement.subject, again)
        changed = _decided_again(predicate.statement, plain(again))
    return VerifiedStatement(
        *(said.library, said.version, said.sentence, said.verdict, said.outcome, said.exit_code),
        *(predicate.signed, signer.key, signer.principals, subjects, reference is not None, changed),
    )


class _Said(msgspec.Struct, frozen=True):
    """What is read of a statement, whatever else it has."""

    library: str
    version: str
    sentence: str
    verdict: str | None
    outcome: Outcome
    exit_code: int


def _releases(found: ReleaseStatement) -> Iterator[Release]:
    """The releases of all lines that have the version."""
    return (row.release for row in found.release.rows if row.release is not None)


def _subject(release: Release) -> FileSubject:
    file = release.provenance
    if not file.sha256:
        raise InputError(f"{release.reference}: no file is known", "ingest the library, not a dump of it")
    return FileSubject(file.file or release.line.library, {"sha256": file.sha256})


def _compared(subjects: Sequence[FileSubject], files: Sequence[str | Path]) -> tuple[SignedSubject, ...]:
    """The subjects of a statement, with the files that equal them. Raises :class:`WrongFile` for any other file."""
    found = dict[str, str]()
    for each in files:
        with open_input(Path(each)) as file:
            found[file.sha256()] = str(each)
    signed_digests = {each.digest.get("sha256", "") for each in subjects}
    if wrong := [file for digest, file in found.items() if digest not in signed_digests]:
        about = ", ".join(each.name for each in subjects)
        raise WrongFile(f"{wrong[0]}: the statement is about another file (it is about {about})")
    digests = ((each.name, each.digest.get("sha256", "")) for each in subjects)
    return tuple(SignedSubject(name, digest, found.get(digest, "")) for name, digest in digests)


def _check_same_release(said: _Said, subjects: Sequence[FileSubject], again: ReleaseStatement) -> None:
    if (said.library, said.version) != (again.library, again.version):
        wrong = f"the statement is about {said.library} {said.version}, not {again.library} {again.version}"
        raise WrongFile(wrong, "ask for the statement about this release")
    stored = {each.provenance.sha256 for each in _releases(again)}
    if any(each.digest.get("sha256") not in stored for each in subjects):
        raise WrongFile(f"the statement is about another build of {said.library} {said.version} than the stored one")


def _decided_again(said: dict[str, Any], now: dict[str, Any]) -> tuple[StatementPart, ...]:
    """What two statements rest on and differ in. Raises :class:`StaleStatement` where they decide differently."""
    try:
        before, after = _parts(said), _parts(now)
        same = _decision(said) == _decision(now)
    except (KeyError, TypeError) as error:
        raise MalformedStatement(f"not a release statement: it lacks {error}") from None
    changed = tuple(part for part in before if before[part] != after[part])
    if not same:
        decided = f"{said['outcome']} ({said['verdict']}) is signed, {now['outcome']} ({now['verdict']}) is decided now"
        why = f"changed: {', '.join(changed)}" if changed else "what it rests on did not change"
        raise StaleStatement(f"{said['library']} {said['version']}: {decided}; {why}")
    return changed


def _decision(said: dict[str, Any]) -> list[object]:
    """What is decided, of all lines and of each: the same words lead to the same action."""
    lines = ((each["line"], each["decision"]["outcome"], each["decision"]["verdict"]) for each in said["lines"])
    return [said["outcome"], said["verdict"], said["exit_code"], *lines]


def _parts(said: dict[str, Any]) -> dict[StatementPart, object]:
    """What a decision rests on."""
    rows, lines = said["release"]["rows"], said["lines"]
    return {
        "engine": said["engine"],
        "policy": (said["policy"], said["policy_digest"]),
        "suppressions": said["suppression_digest"],
        "baselines": [list(map(_baseline, row["ledger"]["standings"])) for row in rows if row["ledger"]],
        "evidence": [each["evidence"] for each in lines],
        "approvals": [each["approvals"] for each in lines],
        "lines": [(row["line"], row["ledger"] is None) for row in rows],
    }


def _baseline(standing: dict[str, Any]) -> tuple[str, str]:
    return standing["against"]["version"], standing["against"]["digest"]


class SignedAudit(msgspec.Struct, frozen=True):
    """The head of a store's audit, and the ``document`` that holds it with a signature: a DSSE envelope, as JSON."""

    head: AuditHead
    document: str


class AuditPredicate(msgspec.Struct, frozen=True):
    """What is signed of an audit: when, by which abistore, and its head."""

    signed: Moment
    abistore: str
    head: AuditHead


def sign_audit(key: str | Path, *, database: Database = None) -> SignedAudit:
    """Sign the head of the store's audit with the Ed25519 key in a file.

    Raises :class:`SigningKeyError`, and :class:`DamagedStore` where the audit was changed without its digests.
    """
    signer = signing_key(Path(key))
    with using(database) as store:
        head = store.audit_head()
    subject = FileSubject("audit", {"abistore": head.digest})
    return SignedAudit(head, signed([subject], AUDIT, AuditPredicate(_now(), __version__, head), signer).decode())


def verify_audit(
    document: str | Path, trust: Trust, *, database: Database = None, now: datetime | None = None
) -> VerifiedAudit:
    """Verify that the store's audit is the one whose signed head is in a file, or its continuation.

    Raises the kinds of :class:`NotVerified`, :class:`AuditRewritten` among them, and :class:`DamagedStore`.
    """
    _, said, signer = _read_signed(document, AUDIT, AuditPredicate, trust, now)
    with using(database) as store:
        added = store.audit_added(said.head)
    return VerifiedAudit(said.head, said.signed, signer.key, signer.principals, added)


P = TypeVar("P", StatementPredicate, AuditPredicate)


def _read_signed(
    document: str | Path, predicate_type: str, kind: type[P], trust: Trust, now: datetime | None
) -> tuple[OpenedStatement, P, Signer]:
    """What a file states, its predicate, and who signed it. Each error names the file."""
    data = read(Path(document), MOST_BYTES, MalformedStatement)
    try:
        found = opened(data, predicate_type, trust)
        predicate = msgspec.json.decode(found.statement.predicate, type=kind)
        return found, predicate, found.signer(predicate.signed, now)
    except NotVerified as error:
        raise type(error)(f"{document}: {error.message}", error.hint) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedStatement(f"{document}: the predicate is malformed: {error}") from None


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
