"""What happened in a store since a cursor, as events and as texts, and a command that is called for each event."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import OutputError, UndeliveredEvent, UsageError
from abistore.files import check_writable, write_whole
from abistore.model.decision import Outcome
from abistore.model.findings import ENGINE, RulingKey
from abistore.model.history import AuditRecord, Release, StoredVerdict, VerdictSummary
from abistore.model.labels import Given
from abistore.model.words import in_line
from abistore.patterns import pattern
from abistore.report.formats.markdown import code, plain
from abistore.service.approved_gates import day, of_library
from abistore.service.binding import names_for, rule_for, ruled
from abistore.service.database import Database, using

if TYPE_CHECKING:
    from abistore.store.store import Store

START, NOW = "start", "now"
"""Words for the cursor before all events, and for the one after them."""

_CURSOR = pattern(r"(\d+)-([0-9a-f]*)")
_OF_LINE = pattern(r"(\S+?)(?:@(\S+))? \(([^,()]+), ([^()]+)\)(?: (.+))?")
_PARTS = ("library", "version", "target", "profile", "channel")
_OF_FINDING = pattern(r"(\S+) ([0-9a-f]{20}(?:-\d+)?)")
_DIGEST = pattern(r"digest ([0-9a-f]+)")
_DIGESTS = pattern(r"[0-9a-f]{32} [0-9a-f]{32}")
_VERDICT = pattern(r"(\w+) under (.+) by (\S+)")


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change of a store, as its audit has it. ``cursor`` stands behind it.

    ``action`` is that of the audit: ``ingest``, ``candidate``, ``verdict``, ``approve``, ``baseline`` and others.
    ``library`` to ``finding`` are what ``subject`` says, as far as it is about such a thing. Of a verdict, ``against``
    is the version of the other release, and ``outcome`` whether the release may ship beside it, by what holds today.
    ``origin`` is the digest that the record has in another store, where it was merged from there.
    """

    cursor: str
    at: datetime
    actor: str
    action: str
    subject: str
    detail: str
    library: str = ""
    version: str = ""
    target: str = ""
    profile: str = ""
    channel: str = ""
    digest: str = ""
    finding: str = ""
    against: str = ""
    verdict: str = ""
    outcome: Outcome | None = None
    origin: str = ""

    @property
    def line(self) -> str:
        """The event as one line of JSON."""
        return msgspec.json.encode(self).decode()

    @property
    def sentence(self) -> str:
        """The event in a few words."""
        release = f"{self.library} {self.version}".strip()
        match self.action:
            case "verdict" if self.version:
                ship = {"pass": ", may ship", "fail": ", may not ship", "undecided": ", undecided"}
                return f"{release} compared with {self.against}: {self.verdict}{ship.get(self.outcome or '', '')}"
            case "ingest":
                return f"{release} was stored"
            case "candidate":
                return f"{release} failed its gate and was kept as a candidate"
            case "baseline":
                now = f"is now {self.version}" if self.version else "was cleared"
                return f"baseline {self.channel} of {self.library} {now}"
        return f"{self.action}: {self.subject}"


class EventsSince(msgspec.Struct, frozen=True):
    """What happened, oldest first, and the ``cursor`` behind the last event; ``more`` where the limit cut it."""

    events: tuple[Event, ...]
    cursor: str
    more: bool = False


def events(since: str = START, *, limit: int | None = None, database: Database = None) -> EventsSince:
    """What happened since a cursor: one of an event, ``start`` or ``now``; ``limit`` events at most.

    Raises :class:`UsageError` for a cursor that is none, or of another store, such as a backup that was restored.
    """
    with using(database) as store, store.reading():
        found = store.audit_since(*_place(since), limit)
        events_of = _EventReader(store)
        return EventsSince(
            tuple(events_of.event(f"{number}-{key}", one) for number, key, one in found.records), *found[1:]
        )


def _place(cursor: str) -> tuple[int | None, str]:
    """The number and the digest of the last record that is known; no number for all of them."""
    if cursor == START:
        return 0, ""
    if cursor == NOW:
        return None, ""
    found = _CURSOR.fullmatch(cursor.strip())
    if found is None:
        raise UsageError(f"not a cursor: {cursor[:60]!r}", f"give the cursor of an event, {START} or {NOW}")
    return int(found[1]), found[2]


class _EventReader:
    """Makes events of records. What several of them need is read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._of_digest = cache(partial(store.of_digest, candidates=True))
        self._summaries = cache(lambda line: store.verdict_summaries(line, str(ENGINE)))
        self._decisions = cache(self._decisions_of)

    def event(self, cursor: str, one: AuditRecord) -> Event:
        """The event of a record."""
        words = (one.at, one.actor, one.action, one.subject, one.detail)
        about = self._verdict(one) if one.action == "verdict" else _parsed(one)
        return Event(cursor, *words, **about, origin=one.origin)

    def _decisions_of(self, library: str, soname: str | None) -> Callable[..., Outcome | None]:
        from abistore.service.history import StoredDecisions  # with all that judges
        from abistore.service.verdicts import key_of

        rule = rule_for(self._store, names_for(library, soname))
        approvals = of_library(self._store.approvals(), library)
        decisions = StoredDecisions(self._store, approvals, day(None), rule=rule)

        def outcome(old: Release, new: Release, found: VerdictSummary, ruling: RulingKey) -> Outcome | None:
            if key_of(ruled(rule, None), old, new) != ruling and rule is not None:
                return None  # by another policy than the bound one

            def given() -> StoredVerdict | None:
                return self._store.find_verdict(old, new, ruling, str(ENGINE))

            return decisions.beside(old, new, found, given, old.version).outcome

        return outcome

    def _verdict(self, one: AuditRecord) -> dict[str, object]:
        """What a verdict is about; its name alone where a side is not stored any more."""
        said = _VERDICT.fullmatch(one.detail)
        name = said[1] if said else ""
        for old, new in self._pairs(one.subject):
            place = {"library": new.line.library, "target": new.line.target, "profile": new.line.profile}
            found = self._found(old, new, said[2] if said else "")
            outcome = self._decisions(new.line.library, new.soname)(old, new, *found) if found else None
            about = {"version": new.version, "digest": new.digest, "against": old.version}
            return {**place, **about, "verdict": name, "outcome": outcome}
        return {"verdict": name}

    def _pairs(self, subject: str) -> Iterator[tuple[Release, Release]]:
        if not _DIGESTS.fullmatch(subject):
            return
        olds, news = map(self._of_digest, subject.split(" "))
        yield from ((old, new) for new in news for old in olds if old.line == new.line)

    def _found(self, old: Release, new: Release, ruling: str) -> tuple[VerdictSummary, RulingKey] | None:
        for (before, after, key), found in self._summaries(new.line).items():
            if (before, after) == (old.sequence, new.sequence) and " ".join(filter(None, key)) == ruling:
                return found, key
        return None


def _parsed(one: AuditRecord) -> dict[str, str]:
    """What a subject names."""
    if said := _OF_LINE.fullmatch(one.subject):
        about = dict(zip(_PARTS, (word or "" for word in said.groups()), strict=True))
        if one.action == "baseline":
            about["version"] = one.detail.partition(";")[0].strip("-")
        digest = _DIGEST.search(one.detail)
        return {**about, "digest": digest[1] if digest else ""}
    if said := _OF_FINDING.fullmatch(one.subject):
        return {"library": said[1], "finding": said[2]}
    return {}


TEMPLATES = {"comment": "notice_comment.md", "issue": "notice_issue.md", "mail": "notice_mail.txt"}
"""Texts about events, by what they are for. That of an issue is empty unless a release may not ship."""


def notice(events: Sequence[Event], template: str) -> str:
    """Events as a text by ``template``: comment, issue, mail, or the path of a Jinja template that gets ``events``.

    Filters show a value as ``markdown``, as ``code`` in Markdown, or in one ``line``. Raises :class:`UsageError`.
    """
    from jinja2 import PackageLoader, StrictUndefined, TemplateError  # a tenth of a second
    from jinja2.sandbox import SandboxedEnvironment

    loader = PackageLoader("abistore.report", "templates")
    made = SandboxedEnvironment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"markdown": plain, "code": code, "line": in_line}
    try:
        if template in TEMPLATES:
            found = made.get_template(TEMPLATES[template])
        else:
            found = made.from_string(Path(template).read_text(encoding="utf-8"))
        return found.render(events=events).strip()
    except (TemplateError, OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{template}: not a template: {why}", f"name {', '.join(TEMPLATES)} or a file") from None


class NotifyPlan(Given, frozen=True):
    """Which command gets each event as one JSON object on standard input, and how often it is tried.

    With ``template`` it gets that :func:`notice`, and is not called for an event whose notice is empty.

    It is called ``attempts`` times at most, ``timeout`` seconds each, with pauses that double from ``pause`` seconds.
    ``cursor_file`` keeps the cursor of the last event that was delivered, and is where the next call begins; ``since``
    is where a call without one begins. ``limit`` events at most are delivered.
    """

    command: str = ""
    cursor_file: Path | None = None
    since: str = START
    attempts: int = 5
    timeout: float = 60.0
    pause: float = 1.0
    limit: int | None = None
    template: str = ""


class Notified(msgspec.Struct, frozen=True):
    """How many events were delivered, and the cursor behind the last one."""

    delivered: int
    cursor: str
    more: bool = False


def kept_cursor(path: Path | None, since: str) -> str:
    """The cursor that a file keeps; ``since`` where there is no file yet.

    Raises :class:`UsageError`, and :class:`OutputError` where :func:`keep_cursor` could not write it afterwards.
    """
    if path is None:
        return since
    with _written(path):
        check_writable(path)
    if not path.exists():
        return since
    try:
        text = path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", "name a file that can be read") from error
    if _CURSOR.fullmatch(text) is None:
        raise UsageError(f"{path}: holds no cursor", "delete it, or name another file")
    return text


def keep_cursor(path: Path | None, cursor: str) -> None:
    """Write a cursor to its file, whole. Raises :class:`OutputError`."""
    if path is not None:
        with _written(path):
            write_whole(path, (f"{cursor}\n".encode(),))


@contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}", "name another --cursor-file") from error


def notify(plan: NotifyPlan, *, database: Database = None) -> Notified:
    """Call a command for each event since the cursor, in order; the cursor moves on with each that it accepted.

    An event may come twice where a call was interrupted, and none is left out. Raises :class:`UndeliveredEvent` where
    the command failed as often as it may: the cursor stays before that event.
    """
    words = _words(plan)
    found = events(kept_cursor(plan.cursor_file, plan.since), limit=plan.limit, database=database)
    for one in found.events:
        _deliver(one, words, plan)
        keep_cursor(plan.cursor_file, one.cursor)
    if not found.events:
        keep_cursor(plan.cursor_file, found.cursor)
    return Notified(len(found.events), found.cursor, found.more)


def _words(plan: NotifyPlan) -> Sequence[str]:
    try:
        words = shlex.split(plan.command)
    except ValueError as error:
        raise UsageError(f"not a command: {plan.command[:80]!r}: {error}") from error
    if not words:
        raise UsageError("the command is empty", "is a variable of the script unset?")
    if plan.attempts < 1 or plan.timeout <= 0:
        raise UsageError("attempts and timeout begin at 1", "pass larger numbers")
    return words


def _deliver(one: Event, words: Sequence[str], plan: NotifyPlan) -> None:
    text = notice((one,), plan.template) if plan.template else one.line
    if not text:
        return
    why = ""
    for attempt in range(plan.attempts):
        if attempt:
            time.sleep(plan.pause * 2 ** (attempt - 1))
        why = _called(text, words, plan.timeout)
        if not why:
            return
    tried = f"{plan.attempts} times" if plan.attempts > 1 else "once"
    raise UndeliveredEvent(f"{words[0]}: {why}, tried {tried}, for the event {one.cursor}: {one.action} {one.subject}")


def _called(text: str, words: Sequence[str], timeout: float) -> str:
    """Why the command did not accept an event; empty where it did."""
    try:
        done = subprocess.run(words, input=f"{text}\n".encode(), timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {timeout:g} seconds"
    except OSError as error:
        return f"cannot be run: {error.strerror}"
    return f"exit code {done.returncode}" if done.returncode else ""
