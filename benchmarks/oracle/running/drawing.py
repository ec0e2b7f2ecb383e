"""The edit of a seed: one operator or two, at drawn places of a drawn library."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Final

from benchmarks.oracle.running.draft import LIBRARIES, Draft, Nothing, Sources, load, names
from benchmarks.oracle.running.operators import OPERATORS, Operator

PAIRED: Final = 0.3
"""How many edits are of two operators."""

MOST: Final = 16
"""A subject is drawn as often as it has operators, and no oftener than one of so many."""


@dataclass(frozen=True)
class Edit:
    """A library before and after, by operators at places; ``attempt`` counts the drawn edits that do not build."""

    seed: int
    library: str
    operators: tuple[Operator, ...]
    places: tuple[str, ...]
    old: Sources
    new: Sources

    @property
    def title(self) -> str:
        """What was done where."""
        told = (f"{each.name} ({place})" for each, place in zip(self.operators, self.places, strict=True))
        return f"{self.library}: {', '.join(told)}"

    @property
    def digest(self) -> str:
        """The same for the same texts on both sides, and of the client."""
        return f"{self.old.digest}-{self.new.digest}-{_client(self.library)}"


def drawn(seed: int) -> Iterator[Edit]:
    """The edits that a seed draws, one after the other; the first that builds is the seed's."""
    random = Random(f"edit {seed}")
    while True:
        library = random.choice(names())
        count = 2 if random.random() < PAIRED else 1
        edit = _edited(seed, library, [_operator(random) for _ in range(count)], random)
        if edit:
            yield edit


def _edited(seed: int, library: str, operators: list[Operator], random: Random) -> Edit | None:
    old = load(library)
    new, places = old, []
    for each in operators:
        draft = Draft(new, random)
        try:
            places.append(str(each.change(draft)))
        except (Nothing, ValueError, IndexError):
            return None
        new = draft.sources
    if new.digest == old.digest:
        return None
    return Edit(seed, library, tuple(operators), tuple(places), old, new)


def _operator(random: Random) -> Operator:
    subjects = _subjects()
    drawn = random.choices(list(subjects), [min(MOST, len(each)) for each in subjects.values()])[0]
    return random.choice(subjects[drawn])


@cache
def _client(library: str) -> str:
    paths = sorted((LIBRARIES / library).glob("client.*"))
    texts = b"\0".join(path.read_bytes() for path in (*paths, LIBRARIES / "watch.h"))
    return hashlib.sha256(texts).hexdigest()[:16]


@cache
def _subjects() -> dict[str, list[Operator]]:
    found: dict[str, list[Operator]] = {}
    for each in OPERATORS.values():
        found.setdefault(each.subject, []).append(each)
    return found
