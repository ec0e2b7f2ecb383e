"""Since when headers deprecate a declaration, and when it was removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from abistore.limits import limits_for
from abistore.model.declarations import Declared, Name
from abistore.model.history import Release
from abistore.model.shapes import Function, Variable
from abistore.model.snapshot import Snapshot, evidence_of
from abistore.model.structure import without_cycle_collection
from abistore.report.model import Report, ReportedFinding
from abistore.service.declarations import display
from abistore.service.judging import WAS_DEPRECATED
from abistore.service.listing import releases_of

if TYPE_CHECKING:
    from abistore.store.store import Store

DEPRECATED = "deprecated"


class DeclaredLife(NamedTuple):
    """A declaration of headers: where in release order it was deprecated and removed, ``None`` if it was not.

    ``is_private``: a private member, which programs can use through inline functions of the headers only.
    """

    display: str
    since: int | None = None
    removed: int | None = None
    is_private: bool = False


class DeclaredLives(NamedTuple):
    """The lives of all public declarations that were ever deprecated or went; ``read`` are places with headers."""

    lives: Mapping[Name, DeclaredLife]
    read: Sequence[int]


def declared_lives(store: Store, releases: Sequence[Release]) -> DeclaredLives:
    """Walk the releases of a line, in release order. One whose headers were not read says nothing."""
    walk, found = store.walk(), dict[Name, DeclaredLife]()
    read, pending, known = list[int](), set[Name](), dict[Name, bool]()
    for place, release in enumerate(releases):
        with limits_for(release.declarations << 8, f"reading {release.reference}"), without_cycle_collection():
            step = walk.step(release)
            pending |= step.changed
            if evidence_of(release.evidence, "source").state == "missing":
                continue
            _note(found, known, step.snapshot, (place, pending if read else _all(step.snapshot)))
        read.append(place)
        pending = set()
    return DeclaredLives(found, read)


def _all(snapshot: Snapshot) -> Iterable[Name]:
    return snapshot.entries.get("source", {}).keys()


def _note(
    found: dict[Name, DeclaredLife], known: dict[Name, bool], snapshot: Snapshot, changed: tuple[int, Iterable[Name]]
) -> None:
    """What a release says of the declarations that differ from the one before; ``known`` are private or not."""
    place, names = changed
    for name in names:
        declared = next(_declared(snapshot, name), None)
        life = found.get(name)
        if declared is None:
            if name in known:
                was_private = known.pop(name)
                life = life or DeclaredLife(_display(snapshot, name), is_private=was_private)
                found[name] = life._replace(removed=place)
            continue
        known[name] = _is_private(snapshot, name)
        if DEPRECATED not in declared.traits:
            found.pop(name, None)
        elif life is None or life.removed is not None or life.since is None:
            found[name] = DeclaredLife(_display(snapshot, name), since=place, is_private=known[name])


def _declared(snapshot: Snapshot, name: Name) -> Iterator[Declared]:
    return (shape for shape in snapshot.variants("source", name) if isinstance(shape, Declared))


def _is_private(snapshot: Snapshot, name: Name) -> bool:
    shapes = snapshot.variants("source", name)
    functions = [shape.method.access for shape in shapes if isinstance(shape, Function) and shape.method is not None]
    return "private" in functions or any(isinstance(each, Variable) and each.access == "private" for each in shapes)


def _display(snapshot: Snapshot, name: Name) -> str:
    return display(name, (*snapshot.variants("layout", name), *snapshot.variants("source", name)))


def with_deprecation_dates(store: Store, report: Report, old: Release) -> Report:
    """The report, in which removed declarations say since which stored release they were deprecated."""
    if old.candidate or not any(WAS_DEPRECATED in each.description for each in report.changes):
        return report
    releases = releases_of(store, old.line)
    ordered = releases[: next(at for at, each in enumerate(releases) if each.sequence == old.sequence) + 1]
    found = declared_lives(store, ordered)

    def said(finding: ReportedFinding) -> ReportedFinding:
        life = found.lives.get(Name(finding.subject, finding.symbol))
        if life is None or life.since is None:
            return finding
        since = f"{ordered[life.since].version}{' or earlier' if life.since == found.read[0] else ''}"
        return replace(finding, description=finding.description.replace(WAS_DEPRECATED, f"; deprecated since {since}"))

    return replace(report, changes=tuple(map(said, report.changes)))
