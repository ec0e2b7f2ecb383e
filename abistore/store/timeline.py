"""In which releases a declaration was added, changed and removed, with reviews and approvals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace
from sqlalchemy import Select, Table, bindparam, func, insert, select, update

from abistore.errors import SnapshotNotFound
from abistore.model.approvals import Approval, ApprovedFacts, in_words
from abistore.model.declarations import EXPORTS, FACETS, SELF, Facet, Name
from abistore.model.findings import IDENTITY_SIZE, Finding, identified, may_begin, order
from abistore.model.format_gaps import cut, unrecorded_by
from abistore.model.history import DEFAULT_PROFILE, FindingReview, LineKey, LogEvent, Release, Sighting
from abistore.model.shapes import AnyShape, Library
from abistore.model.snapshot import Variants, evidence_of, name_digest, sort_variants
from abistore.store import names as calling
from abistore.store import releases as cards
from abistore.store import tables, verdicts
from abistore.store.database import AMONG, Database, damaged, record, stamp
from abistore.store.names import MeantNames, called
from abistore.store.order import in_release_order
from abistore.store.releases import OF_LINE, labels
from abistore.store.snapshots import RowMemory, places
from abistore.store.tables import checksum
from abistore.store.verdicts import LISTS, parts_of


def sealed_rows(
    database: Database, statement: Select[Any], what: str, added: Sequence[str] = ()
) -> list[Sequence[Any]]:
    """The values of all rows, verified. ``what`` is one of them in words: ``a review``.

    ``statement`` selects the sum, the row's number, its values (those that say of what it is first), and its seal; the
    number is ``NULL`` where there is no row. ``added`` names the last of the values, as :class:`SealedLedger` has them.
    Raises :class:`StoreError` where a row was changed or taken away.
    """
    rows = database.rows(statement)
    found, missing = list[Sequence[Any]](), rows[0][0] if rows else None
    for _, identifier, *values, seal in rows:
        if identifier is None:
            continue
        if checksum(identifier, *_sealed(values, added)) != seal:
            raise damaged(database.where, f"{what} of {values[0]} {values[1]}")
        missing -= seal
        found.append(values)
    if missing != 0:
        raise damaged(database.where, f"{what} is missing")
    return found


def _sealed(values: Sequence[Any], added: Sequence[str]) -> Iterator[Any]:
    """What a seal is of. A value that was added is told by its column: another one may be left out."""
    first = len(values) - len(added)
    yield from values[:first]
    yield from (f"{name}={value}" for name, value in zip(added, values[first:], strict=True) if value is not None)


class SealedLedger:
    """What people said of findings, oldest first: rows of ``table``. ``total`` of the root is the sum of their seals.

    ``columns`` are the values of a row, beside the library that it is about. Those ``added`` by a later schema are text
    or ``NULL``, and a seal leaves them out where they are ``NULL``: rows of before stay valid.
    """

    def __init__(self, table: Table, total: str, columns: Sequence[str], added: Sequence[str] = ()) -> None:
        root, library = tables.root.c, tables.library.c
        columns = (*columns, *added)
        self._columns, self._added = columns, added
        self._every = (
            select(root[total], table.c.id, library.name, *(table.c[each] for each in columns), table.c.checksum)
            .select_from(tables.root.outerjoin(table.join(tables.library), root.id == 1))
            .order_by(table.c.id)
        )
        self._library = select(library.id).where(library.name == bindparam("library"))
        self._insert = insert(table)
        self._seal = update(table).where(table.c.id == bindparam("identifier"))
        self._count = update(tables.root).values({total: root[total] + bindparam("seal")})

    def rows(self, database: Database, what: str) -> list[Sequence[Any]]:
        """The library and the values of all rows, as :func:`sealed_rows` says."""
        return sealed_rows(database, self._every, what, self._added)

    def append(self, database: Database, library: str, values: Sequence[Any]) -> None:
        """Write a row. Raises :class:`SnapshotNotFound` for an unknown library."""
        known = database.rows(self._library, {"library": library})
        if not known:
            raise SnapshotNotFound(f"{library}: no such library in {database.where}")
        told = dict(zip(self._columns, values, strict=True))
        identifier = database.insert(self._insert, {"library_id": known[0][0], **told, "checksum": 0})
        seal = checksum(identifier, *_sealed((library, *values), self._added))
        database.run(self._seal.values(checksum=seal), {"identifier": identifier})
        database.run(self._count, {"seal": seal})


_COLUMNS = ("identity", "facts", "scope", "until", "reason", "ticket", "approver", "actor", "approved", "origin")
_ADDED = ("target", "stood_at", "profile")
_UNSAID = {"target": "", "stood_at": "", "profile": DEFAULT_PROFILE}
"""What a value is that no row tells."""

_LEDGER = SealedLedger(tables.approval, "approvals", (*_COLUMNS, "withdrawn"), _ADDED)


def add_approval(database: Database, said: Sequence[Approval]) -> tuple[bool, ...]:
    """Write approvals down, all or none; false for each that says what the last one of its key said.

    Raises :class:`SnapshotNotFound` for an unknown library.
    """
    with database.transaction():
        known = {one.key: one for one in every_approval(database)}
        done = []
        for one in said:
            last = known.get(one.key)
            done.append(last is None or last.terms != one.terms)
            if done[-1]:
                append_approval(database, one)
                record(database, one.actor, *_audited(one, last))
                known[one.key] = one
        return tuple(done)


def _audited(one: Approval, last: Approval | None) -> tuple[str, str, str]:
    """What the audit says of an approval: the action, the finding, and the details, with what it replaces."""
    replaces = last is not None and not last.withdrawn and not one.withdrawn
    replaced = f"replaces the approval {in_words(last)}: {last.reason}" if last and replaces else ""
    told = in_words(one), one.reason, one.origin and f"from {one.origin}", replaced
    action = "withdraw" if one.withdrawn else "approve"
    return action, f"{one.library} {one.identity}", "; ".join(filter(None, told))


def append_approval(database: Database, one: Approval) -> None:
    """Write an approval, whatever was approved before. Raises :class:`SnapshotNotFound` for an unknown library."""
    added = (None if (said := getattr(one, column)) == _UNSAID[column] else said for column in _ADDED)
    values = (*(_packed(one, column) for column in _COLUMNS), int(one.withdrawn), *added)
    _LEDGER.append(database, one.library, values)


def _packed(one: Approval, column: str) -> str | None:
    if column == "facts":
        return msgspec.json.encode(one.facts).decode() if one.facts else None
    return stamp(one.approved) if column == "approved" else str(getattr(one, column))


def every_approval(database: Database) -> tuple[Approval, ...]:
    """All that was approved and withdrawn, oldest first. Raises :class:`StoreError` where a row is not as written."""
    return tuple(map(_read, _LEDGER.rows(database, "an approval")))


def _read(values: Sequence[Any]) -> Approval:
    told = dict(zip(("library", *_COLUMNS, "withdrawn", *_ADDED), values, strict=True))
    told |= {column: told[column] or _UNSAID[column] for column in _ADDED}
    facts = msgspec.json.decode(told["facts"], type=ApprovedFacts) if told["facts"] is not None else None
    moment = datetime.fromisoformat(told["approved"])
    return Approval(**told | {"facts": facts, "approved": moment, "withdrawn": bool(told["withdrawn"])})


_REVIEW_LEDGER = SealedLedger(tables.review, "reviews", ("identity", "state", "note", "actor", "reviewed"))


def add_review(database: Database, said: FindingReview) -> bool:
    """Note a review; false where the same was said last. Raises :class:`SnapshotNotFound` for an unknown library."""
    return add_all(database, [said])[0]


def add_all(database: Database, said: Sequence[FindingReview]) -> tuple[bool, ...]:
    """Note several reviews, all or none."""
    with database.transaction():
        last = {(one.library, one.identity): (one.state, one.note) for one in every_review(database)}
        done = []
        for one in said:
            key, words = (one.library, one.identity), (one.state, one.note)
            done.append(last.get(key) != words)
            if done[-1]:
                append_review(database, one)
                detail = "; ".join(filter(None, words))
                record(database, one.actor, "review", f"{one.library} {one.identity}", detail)
                last[key] = words
        return tuple(done)


def append_review(database: Database, said: FindingReview) -> None:
    """Write a review, whatever was said before."""
    _REVIEW_LEDGER.append(
        database, said.library, (said.identity, said.state, said.note, said.actor, stamp(said.reviewed))
    )


def every_review(database: Database) -> tuple[FindingReview, ...]:
    """All reviews, oldest first. Raises :class:`StoreError` where one was changed or taken away."""
    return tuple(
        FindingReview(library, identity, state, note, actor, datetime.fromisoformat(reviewed))
        for library, identity, state, note, actor, reviewed in _REVIEW_LEDGER.rows(database, "a review")
    )


_RETURNING_ENTRY, _RETURNING_NAME = tables.entry.c, tables.name.c
_SYMBOL = _RETURNING_ENTRY.facet == FACETS.index("symbol")
_LINES = tables.line.join(tables.library)
_OF_LINE = select(tables.line.c.id).select_from(_LINES).where(OF_LINE).scalar_subquery()
_SEVERAL = (
    select(_RETURNING_ENTRY.name_id)
    .where(_RETURNING_ENTRY.line_id == _OF_LINE, _SYMBOL)
    .group_by(_RETURNING_ENTRY.name_id)
    .having(func.count() > 1)
    .scalar_subquery()
)
_SPANS = (
    select(
        _RETURNING_ENTRY.name_id,
        _RETURNING_NAME.kind,
        _RETURNING_NAME.spelling,
        _RETURNING_ENTRY.first_seq,
        _RETURNING_ENTRY.last_seq,
    )
    .select_from(tables.entry.join(tables.name))
    .where(_RETURNING_ENTRY.line_id == _OF_LINE, _SYMBOL, _RETURNING_NAME.kind.in_(bindparam("kinds", expanding=True)))
    .where(_RETURNING_ENTRY.name_id.in_(_SEVERAL))
)


class ReturnedExport(NamedTuple):
    """An export that came back: the first release without it, and the first that has it again."""

    name: Name
    gone: Release
    back: Release


def returned(database: Database, line: LineKey, releases: Sequence[Release]) -> tuple[ReturnedExport, ...]:
    """The exports of a line that were gone and came back, by the ``releases`` in release order, then by name.

    A release whose evidence shows no symbols says nothing. Raises :class:`StoreError` where an entry is damaged.
    """
    shown = [each for each in releases if cards.evidence_state(each.evidence, "symbol") != "missing"]
    spans: dict[Name, list[tuple[int, int]]] = {}
    for _, kind, spelling, first, last in database.rows(_SPANS, {**labels(line), "kinds": EXPORTS}):
        if not (isinstance(first, int) and isinstance(last, int)):
            raise damaged(database.where, "an entry is out of range")
        spans.setdefault(Name(kind, spelling), []).append((first, last))
    found = [each for name, held in spans.items() for each in _gaps(name, held, shown)]
    places = {release.sequence: place for place, release in enumerate(shown)}
    return tuple(sorted(found, key=lambda each: (places[each.back.sequence], each.name)))


def _gaps(name: Name, held: Sequence[tuple[int, int]], releases: Sequence[Release]) -> Iterator[ReturnedExport]:
    seen, gone = False, None
    for release in releases:
        if any(first <= release.sequence <= last for first, last in held):
            if gone is not None:
                yield ReturnedExport(name, gone, release)
            seen, gone = True, None
        elif seen and gone is None:
            gone = release


_VERDICT = tables.verdict.c
_JUDGED = select(_VERDICT.id, _VERDICT.old_id, _VERDICT.new_id, _VERDICT.judged, _VERDICT.brought)


def sightings(database: Database, called: str, most: int, memory: RowMemory) -> tuple[tuple[Sighting, ...], int]:
    """The findings, and consequences, whose identity begins with ``called``: what was found last comes first.

    At most ``most``, and how many rows hold more of them. What is no beginning of an identity finds nothing, nor does
    what only other stores found: their judgements answer nobody here.
    """
    if not may_begin(called):
        return (), 0
    beginning, _, number = called.partition("-")
    rows = verdicts.called(database, beginning)
    found: dict[Finding, Sighting] = {}
    for position, row in enumerate(rows):
        if len(found) >= most:
            return _placed(database, found.values(), memory), len(rows) - position
        for one in _sighted(database, row):
            identity, _, own = one.identity.partition("-")
            if identity.startswith(beginning) and number in {"", own}:
                found.setdefault(one.finding, one)
    return _placed(database, found.values(), memory), 0


def elsewhere(database: Database, called: str) -> tuple[Release, Release] | None:
    """The sides of a comparison in which another store found what is called so, and this one did not."""
    rows = verdicts.called(database, called.partition("-")[0]) if may_begin(called) else []
    for row in rows:
        first = _first(database, row)
        if first.brought is not None:
            return _release(database, first.old_id), _release(database, first.new_id)
    return None


class _Judged(NamedTuple):
    id: int
    old_id: int
    new_id: int
    judged: str
    brought: int | None


def _placed(database: Database, found: Iterable[Sighting], memory: RowMemory) -> tuple[Sighting, ...]:
    """``found`` with where the declarations stand."""
    places_of = cache(lambda side: places(database, side, memory))
    return tuple(
        replace(one, finding=verdicts.placed(one.finding, places_of(one.old), places_of(one.new))) for one in found
    )


def _sighted(database: Database, row: int) -> Iterator[Sighting]:
    """The finding of one row and what follows from it; nothing where another store alone found it."""
    first = _first(database, row)
    if first.brought is not None:
        return
    ((key,),) = database.rows(select(tables.finding.c.key).where(tables.finding.c.id == row))
    namesakes = verdicts.read(database, _namesakes(database, first.id, row, key))
    old, new = (_release(database, side) for side in (first.old_id, first.new_id))
    if row not in namesakes:
        raise damaged(database.where, f"verdict {first.id} does not have finding {row}")
    same = sorted(namesakes.values(), key=order)
    own = [(identity, each) for identity, each in identified(same) if each is namesakes[row]]
    for identity, finding in (*own, *_nested(namesakes[row].consequences)):
        yield Sighting(old, new, datetime.fromisoformat(first.judged), identity, finding)


def _first(database: Database, row: int) -> _Judged:
    """The judgement that had a finding first; of one that another store gave, that which this one gave after it.

    A store that was merged before it told them apart has the former written beside the finding.
    """
    finding_ = tables.finding.c
    rows = database.rows(_JUDGED.select_from(tables.finding.join(tables.verdict)).where(finding_.id == row))
    if not rows:
        raise damaged(database.where, f"finding {row}, or its verdict, is missing")
    first = _Judged(*rows[0])
    if first.brought is None:
        return first
    same = (_VERDICT.old_id == first.old_id, _VERDICT.new_id == first.new_id, _VERDICT.brought.is_(None))
    own = (_Judged(*each) for each in database.rows(_JUDGED.where(*same).order_by(_VERDICT.id)))
    return next((each for each in own if any(row in part for part in _lists(database, each.id))), first)


def _release(database: Database, identifier: int) -> Release:
    for release in cards.find(database, cards.SNAPSHOT.id == identifier):
        return release
    raise damaged(database.where, f"release {identifier} of a verdict is missing")


def _namesakes(database: Database, verdict: int, row: int, key: bytes) -> Iterator[int]:
    """The findings in the same list of a judgement that have the same identity: these are numbered."""
    called = set(verdicts.identified_by(database, key[:IDENTITY_SIZE].hex()))
    return (each for part in _lists(database, verdict) if row in part for each in part if each in called)


def _lists(database: Database, verdict: int) -> list[list[int]]:
    parts = parts_of(database, verdict)
    return [verdicts.unpack(parts[part]) for part in LISTS if part in parts]


def _nested(consequences: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    for identity, finding in identified(consequences):
        yield identity, finding
        yield from _nested(finding.consequences)


_NAME, _ENTRY, _SHAPE, _LINE = tables.name.c, tables.entry.c, tables.shape.c, tables.line.c

_ENTRIES = (
    select(
        *(_NAME.entries, _NAME.id, _ENTRY.line_id, _ENTRY.facet, _ENTRY.shape_id, _ENTRY.first_seq, _ENTRY.last_seq),
        *(_SHAPE.digest, _SHAPE.body),
    )
    .select_from(tables.name.outerjoin(tables.entry).outerjoin(tables.shape))
    .where(_NAME.id.in_(AMONG))
)
_NAMED = select(_NAME.id).where(_NAME.digest == bindparam("digest"))
_KEYS = (
    select(_LINE.id, tables.library.c.name, _LINE.target, _LINE.profile)
    .select_from(tables.line.join(tables.library))
    .where(_LINE.id.in_(AMONG))
)

Action: TypeAlias = Literal["appeared", "changed", "vanished", "not-observed"]


class _Span(msgspec.Struct, frozen=True):
    """A shape, and the sequences in which it held."""

    first: int
    last: int
    shape: AnyShape


Spans: TypeAlias = dict[tuple[Name, Facet], list[_Span]]


class _Entry(NamedTuple):
    name: int
    line: int
    facet: int
    shape: int
    first: int
    last: int
    digest: bytes
    body: str


class _Lived(NamedTuple):
    """The releases of a line in release order, what each saw of each facet, and the spans of names that are meant."""

    releases: Sequence[Release]
    counts: Mapping[int, Mapping[Facet, int]]
    spans: Spans


def logs(
    database: Database, spellings: Sequence[str], library: str | None, memory: RowMemory
) -> dict[LineKey, tuple[LogEvent, ...]]:
    """What became of the names that are meant, line by line, in the lines of ``library`` (``None``: of all).

    A line's events are by name, release order and facet, and of the first of ``spellings`` that means anything there.
    A release whose evidence could not show the declaration gives ``not-observed``, and the next one that could is
    compared with the last that could. Lines that never had such a name are left out.
    """
    known = {line.key: line for line in cards.every(database) if library in {None, line.key.library}}
    found: dict[LineKey, tuple[LogEvent, ...]] = {}
    for spelling in spellings:
        wanted = {key: line for key, line in known.items() if key not in found}
        for key, lived in _lived(database, called(database, spelling), wanted, memory):
            if events := tuple(_line_events(lived)):
                found[key] = events
    return {line: found[line] for line in sorted(found)}


def _line_events(lived: _Lived) -> Iterator[LogEvent]:
    ordered, spans = lived.releases, lived.spans
    place = {release.sequence: position for position, release in enumerate(ordered)}
    for name in sorted({name for name, _ in spans}):
        of_name = [
            event
            for facet in FACETS
            if (name, facet) in spans
            for event in _events(ordered, lived.counts, name, facet, spans[name, facet])
        ]
        yield from sorted(of_name, key=lambda event: place[event.release.sequence])


def _events(
    ordered: Sequence[Release],
    counts: Mapping[int, Mapping[Facet, int]],
    name: Name,
    facet: Facet,
    spans: Sequence[_Span],
) -> Iterator[LogEvent]:
    before: Variants = ()
    lacking: frozenset[str] = frozenset()
    for position, release in enumerate(ordered):
        sequence = release.sequence
        after = sort_variants(span.shape for span in spans if span.first <= sequence <= span.last)
        full = cards.evidence_state(release.evidence, facet) == "full"
        lacks = unrecorded_by(evidence_of(release.evidence, facet))
        hidden = not full or any(type(span.shape).__name__ in lacks for span in spans)
        if not cards.speaks(counts[sequence].get(facet), full) or (not after and hidden):
            yield LogEvent(release, name, facet, "not-observed", before, (), not position)
        elif not _alike(before, after, lacking | lacks if lacking != lacks else frozenset()):
            action: Action = "changed" if before and after else "appeared" if after else "vanished"
            yield LogEvent(release, name, facet, action, before, after, not position)
            before, lacking = after, lacks
        elif lacks <= lacking:
            before, lacking = after, lacks


def _alike(before: Variants, after: Variants, lacking: frozenset[str]) -> bool:
    """Whether nothing is seen to differ, given the facts that one of two releases does not record."""
    return after == before or bool(lacking and cut(lacking).variants(before) == cut(lacking).variants(after))


def _lived(
    database: Database, meant: MeantNames, wanted: Mapping[LineKey, cards.LineOverview], memory: RowMemory
) -> Iterator[tuple[LineKey, _Lived]]:
    """Those of the ``wanted`` lines that ever had a name that is meant."""
    names = meant.names
    entries: dict[int, list[_Entry]] = {}
    for entry in _entries(database, names):
        entries.setdefault(entry.line, []).append(entry)
    keys = _keys(database, sorted(entries))
    displays = tuple(calling.display_prefixes(meant.words))
    spans: dict[LineKey, Spans] = {}
    for identifier, own in entries.items():
        displayed = {entry.name for entry in own if entry.body.startswith(displays)}
        chosen = meant.within({entry.name for entry in own}, displayed)
        if chosen and keys[identifier] in wanted:
            spans[keys[identifier]] = _spans(database, names, memory, (one for one in own if one.name in chosen))
    seen = list(cards.of_lines(database, {identifier: wanted[key] for identifier, key in keys.items() if key in spans}))
    ordered: dict[LineKey, list[Release]] = {key: [] for key in spans}
    for release in in_release_order(database, [release for release, _ in seen]):
        ordered[release.line].append(release)
    counts: dict[LineKey, dict[int, Mapping[Facet, int]]] = {key: {} for key in spans}
    for release, count in seen:
        counts[release.line][release.sequence] = count
    for key in spans:
        yield key, _Lived(ordered[key], counts[key], spans[key])


def _spans(database: Database, names: Mapping[int, Name], memory: RowMemory, entries: Iterable[_Entry]) -> Spans:
    spans: Spans = {}
    for entry in entries:
        shape = memory.whole_shape(database, entry.shape, entry.body, entry.digest)
        span = _Span(entry.first, entry.last, shape)
        spans.setdefault((names[entry.name], FACETS[entry.facet]), []).append(span)
    return spans


def _entries(database: Database, names: Mapping[int, Name]) -> Iterator[_Entry]:
    """The entries of ``names`` in all lines. Raises :class:`StoreError` where one is damaged or missing."""
    missing: dict[int, int] = {}
    for total, name, *row in database.within(_ENTRIES, sorted(names)):
        missing.setdefault(name, total)
        entry = _Entry(name, *row)
        if entry.digest is not None:
            place = (entry.line, entry.facet, tables.key(entry.digest), entry.first, entry.last)
            missing[name] -= tables.entry_seal(*place)
            yield entry
    for name in names:
        if missing.get(name) != 0:
            raise damaged(database.where, f"an entry of {names[name]} is missing or was changed")


class LibraryFacts(NamedTuple):
    """The facts of a library as a whole, in the releases of a line with these sequence numbers."""

    first: int
    last: int
    facts: Library


def library_facts(database: Database, memory: RowMemory) -> dict[LineKey, tuple[LibraryFacts, ...]]:
    """What all lines say of their libraries as a whole, without the rest of their snapshots."""
    rows = database.rows(_NAMED, {"digest": name_digest(SELF.kind, SELF.spelling)})
    entries = list(_entries(database, {row: SELF for (row,) in rows})) if rows else []
    keys = _keys(database, sorted({entry.line for entry in entries}))
    found: dict[LineKey, tuple[LibraryFacts, ...]] = {}
    for entry in entries:
        shape = memory.whole_shape(database, entry.shape, entry.body, entry.digest)
        if isinstance(shape, Library):
            key = keys[entry.line]
            found[key] = (*found.get(key, ()), LibraryFacts(entry.first, entry.last, shape))
    return found


def _keys(database: Database, identifiers: Sequence[int]) -> dict[int, LineKey]:
    """The labels of lines that have entries. Raises :class:`StoreError` where a line is missing."""
    found = {identifier: LineKey(*key) for identifier, *key in database.within(_KEYS, identifiers)}
    if len(found) < len(identifiers):
        raise damaged(database.where, "the line of an entry is missing")
    return found
