"""Which declarations the exports of a library reach, and which exports reach a declaration.

Mentions lead from one to the next, see :mod:`abistore.model.structure`. An instance of a template that is only
mentioned, or only declared, leads by pointer to what its name spells; and beside headers an export that nothing
describes to the instance of which it is a member.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import Final, TypeAlias

from abistore.model.declarations import EXPORTS, SELF, Facet, Name
from abistore.model.names.qualified import class_behind, demangle, entity, last_component, scope
from abistore.model.names.symbols import is_mangled
from abistore.model.snapshot import Snapshot, Variants
from abistore.model.structure import Reference, references, spelled_types

CLOSED: Final = sys.maxsize
"""The place in the walk of a name whose component is known."""


class ExportsReaching:
    """The exports that reach each of many names, in time linear in the mentions between them.

    ``users`` are the names that mention a name, each with whether they do so by value. Names that reach each other are
    reached by the same exports: they are a strongly connected component (Tarjan, "Depth-first search and linear graph
    algorithms", 1972). A set of exports is a number with a bit for each, and names with one set share one tuple.
    """

    def __init__(self, users: Mapping[Name, Mapping[Name, bool]], exports: Sequence[Name], by_value_only: bool) -> None:
        self._users = users
        self._exports = exports
        self._by_value_only = by_value_only
        self._bits = {name: 1 << place for place, name in enumerate(exports)}
        self._sets: dict[Name, int] = {}
        self._tuples: dict[int, tuple[Name, ...]] = {0: ()}
        self._places: dict[Name, int] = {}
        self._lowest: dict[Name, int] = {}
        self._open: list[Name] = []
        for name in users:
            if name not in self._places:
                self._walk(name)

    def of(self, name: Name) -> tuple[Name, ...]:
        """The exports that reach ``name`` (itself too), in the order of all exports."""
        found = self._sets.get(name, self._bits.get(name, 0))
        if found not in self._tuples:
            self._tuples[found] = tuple(compress(self._exports, map(int, reversed(f"{found:b}"))))
        return self._tuples[found]

    def _walk(self, root: Name) -> None:
        """Tarjan's walk from ``root`` to its users, theirs, and so on, without recursion."""
        walk = [(root, iter(self._enter(root)))]
        while walk:
            name, left = walk[-1]
            if (user := next(left, None)) is None:
                walk.pop()
                self._leave(name)
                if walk:
                    self._join(walk[-1][0], name, self._lowest[name])
            elif user in self._places:
                self._join(name, user, self._places[user])
            else:
                walk.append((user, iter(self._enter(user))))

    def _enter(self, name: Name) -> list[Name]:
        self._places[name] = self._lowest[name] = len(self._places)
        self._sets[name] = self._bits.get(name, 0)
        self._open.append(name)
        found = self._users.get(name, {})
        return [user for user, by_value in found.items() if by_value] if self._by_value_only else list(found)

    def _join(self, name: Name, user: Name, place: int) -> None:
        """What reaches ``user`` reaches ``name``; an open user is in one component with it."""
        self._sets[name] |= self._sets[user]
        self._lowest[name] = min(self._lowest[name], place)

    def _leave(self, name: Name) -> None:
        """A name that led to none before it closes its component: all that is open since."""
        if self._lowest[name] != self._places[name]:
            return
        found = self._sets[name]
        while True:
            each = self._open.pop()
            self._sets[each] = found
            self._places[each] = self._lowest[each] = CLOSED
            if each == name:
                return


DECLARING: Final[tuple[Facet, ...]] = ("layout", "source")
"""The facets that show what a declaration is made of."""

Edges: TypeAlias = dict[Name, bool]
"""Names at the other end of mentions, each with whether one of these is by value."""

Mentions: TypeAlias = Sequence[Sequence[Reference]]
"""What a declaration mentions, shape by shape."""

Note: TypeAlias = Callable[[tuple[str, Name]], object]
"""Is told of ``("reach", name)`` where users or mentions of a name are looked at, and of ``("exports", name)``."""


class _Affected:
    """The exports that reach the names that were asked about, and how many names were met on the way."""

    def __init__(self) -> None:
        self.known: dict[Name, tuple[Name, ...]] = {}
        self.met = 0
        self.all: ExportsReaching | None = None


class Reach:
    """What the exported functions and variables of one snapshot reach through its layout and source facets.

    It is built when somebody first asks for more than what a name mentions, in time that is linear in the snapshot;
    :meth:`after` builds the one of a later release from what differs. A question costs what the names that it meets
    cost; many questions cost no more than all names.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._declared: Mapping[Facet, Mapping[Name, Variants]] = snapshot.entries
        self._of_headers = "source" in snapshot.entries
        self._backward: dict[Name, Edges] | None = None
        self._affected = _Affected(), _Affected()
        self._closures: dict[bool, set[Name]] = {}
        self._met = 0
        self._note: Note | None = None
        self._mentions: dict[Name, Mentions] = {}

    @cached_property
    def _forward(self) -> dict[Name, Edges]:
        """What each declaration mentions. The snapshot may go when this is known."""
        found: dict[Name, Edges] = {}
        for name in self._declared.get("layout", {}):
            _join(self._mentioned(name), found.setdefault(name, {}))
        for name, variants in self._declared.get("source", {}).items():
            _join([references(shape, name) for shape in variants], found.setdefault(name, {}))
        for name in self._declared.get("symbol", {}) if self._of_headers else ():
            if name not in found and (edges := _of_instance(name)):
                found[name] = edges
        self._declared = {}
        _follow_spelled(found, found)
        return found

    def mentions(self, name: Name) -> Mentions:
        """What the debug information's shapes of ``name`` mention, one by one."""
        if self._note:
            self._note(("reach", name))
        return self._mentioned(name)

    def mentioned(self, name: Name) -> Collection[Name]:
        """The names that ``name`` mentions, by debug information or headers."""
        if self._note:
            self._note(("reach", name))
        return self._forward.get(name, {}).keys()

    def _mentioned(self, name: Name) -> Mentions:
        known = self._mentions.get(name)
        if known is None:
            shapes = self._declared.get("layout", {}).get(name, ())
            known = self._mentions[name] = tuple([references(shape, name) for shape in shapes])
        return known

    def after(self, snapshot: Snapshot, changed: Iterable[Name]) -> Reach:
        """That of ``snapshot``, which differs from this one's in the declarations of the ``changed`` names only."""
        if ("source" in snapshot.entries) != self._of_headers:
            return Reach(snapshot)
        found = self._copy()
        found._forward, found._mentions = dict(self._forward), dict(self._mentions)
        found._backward = None if self._backward is None else dict(self._backward)
        for name in changed:
            found._replace(name, snapshot)
        if _follow_spelled(found._forward, changed):
            found._backward = None
        return found

    def watched(self, note: Note) -> Reach:
        """The same, which tells ``note`` of every name whose users or mentions it looks at, or whose exports."""
        self._users(SELF)
        found = self._copy()
        found._note, found._affected = note, self._affected
        return found

    def _copy(self) -> Reach:
        found = object.__new__(Reach)
        found._forward, found._backward, found._mentions = self._forward, self._backward, self._mentions
        found._declared, found._affected = {}, (_Affected(), _Affected())
        found._of_headers = self._of_headers
        found._closures, found._met, found._note = {}, 0, None
        return found

    def _replace(self, name: Name, snapshot: Snapshot) -> None:
        before = self._forward.pop(name, {})
        self._mentions.pop(name, None)
        after: Edges = {}
        for facet in DECLARING:
            if variants := snapshot.variants(facet, name):
                mentions = tuple([references(shape, name) for shape in variants])
                _join(mentions, after)
                self._forward[name] = after
                if facet == "layout":
                    self._mentions[name] = mentions
        if name not in self._forward and self._of_headers and snapshot.variants("symbol", name):
            after = _of_instance(name)
            if after:
                self._forward[name] = after
        if self._backward is None or before == after:
            return
        for used in before.keys() | after.keys():
            users = {user: by_value for user, by_value in self._backward.get(used, {}).items() if user != name}
            if used in after:
                users[name] = after[used]
            self._backward[used] = users

    def noted_otherwise(self, before: Reach, changed: Iterable[Name]) -> Iterator[tuple[str, Name]]:
        """The cached answers from the reach ``before`` that may differ now.

        These are the users of names, and the exports of each name from which a walk meets users that differ.
        """
        differing = set(self._used_otherwise(before, changed))
        yield from (("reach", name) for name in differing)
        yield from (("exports", name) for name in before._led_to(differing))

    def _led_to(self, names: Iterable[Name]) -> set[Name]:
        """``names``, and all that they mention, what these mention, and so on."""
        pending = list(names)
        found = set(pending)
        while pending:
            new = self._forward.get(pending.pop(), {}).keys() - found
            found |= new
            pending += new
        return found

    def _used_otherwise(self, before: Reach, changed: Iterable[Name]) -> Iterator[Name]:
        """The ``changed`` names, and those whose users differ from what they were ``before``."""
        pending = list(changed)
        if before._of_headers != self._of_headers:  # exports that nothing describes mention instances, or no longer
            pending += before._forward.keys() ^ self._forward.keys()
        yield from pending
        seen = set(pending)
        while pending:
            name = pending.pop()
            old, new = before._forward.get(name, {}), self._forward.get(name, {})
            come = {each for each in old.keys() ^ new.keys() if "<" in each.spelling} - seen
            seen |= come
            pending += come
            if old != new:
                yield from (used for used in old.keys() | new.keys() if old.get(used) != new.get(used))

    def users(self, name: Name) -> Iterable[Name]:
        """The declarations that mention ``name``."""
        return self._users(name).keys()

    def _users(self, name: Name) -> Edges:
        if self._note:
            self._note(("reach", name))
        return self._used_by.get(name, {})

    @property
    def _used_by(self) -> dict[Name, Edges]:
        if self._backward is None:
            self._backward = {}
            for user, edges in self._forward.items():
                for used, by_value in edges.items():
                    self._backward.setdefault(used, {})[user] = by_value
        return self._backward

    def reaches(self, name: Name, *, by_value: bool = False) -> bool:
        """Whether an export reaches ``name``; with ``by_value``, along such mentions only."""
        if self._note and not self._is_export(name):  # one look at the exports instead of one at each on the way
            return bool(self.exports_reaching(name, by_value=by_value))
        if by_value not in self._closures and self._met > len(self._forward) and not self._note:
            self._closures[by_value] = self._closure(by_value)
        closure = self._closures.get(by_value)
        return name in closure if closure is not None else any(map(self._is_export, self._reaching(name, by_value)))

    def _closure(self, by_value_only: bool) -> set[Name]:
        reached: set[Name] = set()
        pending = [name for name in self._forward if self._is_export(name)]
        while pending:
            for name, by_value in self._forward.get(pending.pop(), {}).items():
                if (by_value or not by_value_only) and name not in reached:
                    reached.add(name)
                    pending.append(name)
        return reached

    def exports_reaching(self, name: Name, *, by_value: bool = False) -> tuple[Name, ...]:
        """The exports that reach ``name`` (themselves too), sorted; with ``by_value``, along such mentions only."""
        if self._note:
            self._note(("exports", name))
        affected = self._affected[by_value]
        known = affected.known.get(name)
        if known is None:
            known = affected.known[name] = self._exports_reaching(name, by_value)
        return known

    def _exports_reaching(self, name: Name, by_value: bool) -> tuple[Name, ...]:
        """One by one; once that met more names than there are, for all of them."""
        affected = self._affected[by_value]
        if affected.all is None and affected.met > len(self._forward):
            affected.all = ExportsReaching(self._used_by, sorted(filter(self._is_export, self._forward)), by_value)
        return affected.all.of(name) if affected.all else tuple(sorted(self._sources(name, by_value)))

    def _sources(self, name: Name, by_value_only: bool) -> set[Name]:
        """The exports that reach ``name``; what was asked before of a name on the way is not walked again."""
        affected, users = self._affected[by_value_only], self._used_by
        found: set[Name] = set()
        seen = {name}
        pending = [name]
        while pending:
            each = pending.pop()
            if (known := affected.known.get(each)) is not None:
                found.update(known)
                continue
            if self._is_export(each):
                found.add(each)
            for user, by_value in users.get(each, {}).items():
                if user not in seen and (by_value or not by_value_only):
                    seen.add(user)
                    pending.append(user)
        affected.met += len(seen)
        return found

    def _reaching(self, name: Name, by_value_only: bool) -> Iterator[Name]:
        """The declarations that reach ``name``; it is one of them where it reaches itself."""
        seen: set[Name] = set()
        pending = [name]
        while pending:
            for user, by_value in self._users(pending.pop()).items():
                if (by_value or not by_value_only) and user not in seen:
                    seen.add(user)
                    self._met += 1
                    pending.append(user)
                    yield user

    def _is_export(self, name: Name) -> bool:
        return name.kind in ("function", "variable") and name in self._forward


def _join(mentions: Mentions, edges: Edges) -> None:
    for each in mentions:
        for mentioned, by_value in each:
            edges[mentioned] = by_value or edges.get(mentioned, False)


def _of_instance(export: Name) -> Edges:
    """What an export spells that nothing describes: the instance of a template that it is a member of, and arguments.

    Headers declare templates, and of instances that they leave to the library no members.
    """
    if export.kind not in EXPORTS or not is_mangled(export.spelling) or "I" not in export.spelling:
        return {}
    if class_behind(export.spelling):
        return {}
    subject = entity(demangle(export.spelling))
    owner = Name("record", scope(subject))
    edges = dict.fromkeys(spelled_types(Name("record", subject)) if subject.endswith(">") else (), False)
    if "<" in owner.spelling:
        edges[owner] = last_component(subject) == last_component(owner.spelling)
    return edges


def _follow_spelled(edges: dict[Name, Edges], names: Iterable[Name]) -> bool:
    """Enter what the undescribed instances of templates spell that ``names`` lead to; whether there is any."""
    pending = list(names)
    entered = False
    while pending:
        name = pending.pop()
        for each in (name, *edges.get(name, ())):
            if each not in edges and "<" in each.spelling and (spelled := spelled_types(each)):
                edges[each] = dict.fromkeys(spelled, False)
                pending.append(each)
                entered = True
    return entered
