"""Histories made of the cases of all rules: many libraries in one, of which a few change from release to release.

Each case's two sides become two states of a part of the library. The one that *leads* gives what is no declaration: the
library's own facts, evidence and toolchain.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import NamedTuple

import msgspec

from abistore.model.declarations import SELF, Facet, Name
from abistore.model.snapshot import Location, Snapshot, Variants
from tests.cases import RULES, Case, cases, snapshot_of

FOLLOWING = 12
"""So many cases follow the one that leads."""


class Part(NamedTuple):
    """The part of a library that a case is: as it was, and as it is after its change.

    ``targets`` are what its sides are built for, ``names`` what they declare.
    """

    label: str
    states: tuple[Snapshot, Snapshot]
    targets: frozenset[str]
    names: frozenset[Name]


@cache
def parts(*, silent: bool) -> tuple[Part, ...]:
    """The cases that show their rule's kind, or those in which it is ``silent``."""
    found = (case for path in sorted(RULES.glob("*.md")) for case in cases(path) if case.silent == silent)
    return tuple(map(_part, found))


def _part(case: Case) -> Part:
    states = snapshot_of(case, "old"), snapshot_of(case, "new")
    held = (names for state in states for names in state.entries.values())
    declared = frozenset(name for names in held for name in names if name != SELF)
    return Part(case.label, states, frozenset(str(state.target) for state in states), declared)


def history(leading: Part, company: int, releases: int, *, mixed: bool = False) -> list[Snapshot]:
    """So many releases, of which the first has all parts as they were. The second changes the leading one.

    Parts share names where they are ``mixed``. ``company`` numbers the choices of what stands beside the leading part;
    no choice depends on where a case stands among all, so that a new one changes only the histories that it is in.
    """
    seed = f"{leading.label} {company}"
    random = Random(seed)
    library = _library(seed, leading, mixed)
    states = [0] * len(library)
    made = [_joined(library, states, 0)]
    for number in range(1, releases):
        for place in random.sample(range(1, len(library)), min(len(library) - 1, random.randrange(4))):
            states[place] = 1 - states[place]
        if number == 1 or random.random() < 0.3:
            states[0] = 1 - states[0]
        made.append(_joined(library, states, number))
    return made


def _library(seed: str, leading: Part, mixed: bool) -> Sequence[Part]:
    found, taken = [leading], set(leading.names)
    others = [*parts(silent=False), *parts(silent=True)]
    for part in sorted(others, key=lambda part: hashlib.sha256(f"{seed} {part.label}".encode()).digest()):
        if part.targets == {str(leading.states[0].target)} and (mixed or taken.isdisjoint(part.names)):
            found.append(part)
            taken |= part.names
        if len(found) > FOLLOWING:
            break
    return found


def _joined(library: Sequence[Part], states: Sequence[int], number: int) -> Snapshot:
    shown = [part.states[state] for part, state in zip(library, states, strict=True)]
    frame, entries = shown[0], dict[Facet, dict[Name, Variants]]()
    places: dict[Name, Location] = {}
    for each in reversed(shown):
        for facet, held in each.entries.items():
            if facet in frame.entries:
                entries.setdefault(facet, {}).update(held)
                places.update((name, place) for name, place in each.locations.items() if name in held)
    if SELF not in frame.entries.get("symbol", {}):
        entries.get("symbol", {}).pop(SELF, None)
    return msgspec.structs.replace(frame, version=frame.version or f"1.{number}", entries=entries, locations=places)
