"""Groups of findings that depend on each other: each group is folded and suppressed as a whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from abistore.compare.context import Context
from abistore.compare.judge.consequences import fold
from abistore.compare.judge.findings import worst_of
from abistore.compare.judge.judged import Judged, joined
from abistore.compare.judge.sorted_findings import SortedFindings
from abistore.compare.policies.applied import AppliedRuling
from abistore.compare.reuse.watching import Key, Readers
from abistore.compare.rule import RULES
from abistore.model.cpp_names.emitted import class_behind, siblings, template_behind
from abistore.model.findings import Finding, Impact
from abistore.model.names import Name

if TYPE_CHECKING:
    from abistore.compare.policies.suppression import Suppression


class FindingGroup(NamedTuple):
    """The findings about some declarations, which no finding outside the group depends on.

    ``worst`` is the worst impact before a ruling is applied. ``asked`` are the names of which the findings mattered.
    """

    members: frozenset[Name]
    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    used: frozenset[Suppression]
    worst: Impact | None
    asked: frozenset[Name]


Watching = Callable[[set[Key]], tuple[Context, AppliedRuling]]
"""Makes a context that notes what is looked at, and a ruling applied in it."""


class FindingGroups:
    """The findings about all declarations, in groups. A group is kept until something that it depends on differs.

    ``findings`` and ``suppressed`` are those of all groups. Where nothing is ``folded``, each declaration is a group of
    its own, and its findings stand side by side: the worst of all is the same, because no fold hides weight.
    """

    def __init__(self, *, folded: bool = True) -> None:
        self._fold = folded
        self._numbers = count()
        self._groups: dict[int, FindingGroup] = {}
        self._of: dict[Name, int] = {}
        self._asking = Readers[int]()
        self._looking = Readers[int]()
        self._families: dict[str, set[Name]] = {}
        self.findings, self.suppressed = SortedFindings(), SortedFindings()

    def __iter__(self) -> Iterator[FindingGroup]:
        return iter(self._groups.values())

    def renew(
        self,
        judged: Mapping[Name, Judged],
        changed: Collection[Name],
        keys: Iterable[Key],
        watching: Watching,
    ) -> None:
        """Group anew what the findings of ``changed`` names, or something that was looked at by ``keys``, touch."""
        for name in changed if self._fold else ():
            self._note_families(name, name in judged)
        numbers = (
            self._asking.of(changed) | self._looking.of(keys) | {self._of[each] for each in changed if each in self._of}
        )
        loose = set(changed)
        for number in numbers:
            loose |= self._dissolve(number)
        loose = {name for name in loose if name in judged}
        self._regroup(sorted(loose), judged, watching)

    def _note_families(self, name: Name, found: bool) -> None:
        for family in _families(name):
            names = self._families.setdefault(family, set())
            (names.add if found else names.discard)(name)

    def _dissolve(self, number: int) -> frozenset[Name]:
        group = self._groups.pop(number)
        for table, findings in ((self.findings, group.findings), (self.suppressed, group.suppressed)):
            for each in findings:
                table.remove(each)
        self._asking.forget(number)
        self._looking.forget(number)
        for name in group.members:
            del self._of[name]
        return group.members

    def _regroup(self, names: Iterable[Name], judged: Mapping[Name, Judged], watching: Watching) -> None:
        """Make the groups of ``names``.

        A group that meets another one waits: all that others add to the two is folded with them at once.
        """
        waiting: dict[Name, set[Name]] = {}
        for name in names:
            if name not in self._of and name not in waiting:
                self._grow({name}, judged, watching, waiting, patient=True)
        while waiting:
            self._grow(next(iter(waiting.values())), judged, watching, waiting, patient=False)

    def _grow(
        self,
        members: set[Name],
        judged: Mapping[Name, Judged],
        watching: Watching,
        waiting: dict[Name, set[Name]],
        *,
        patient: bool,
    ) -> None:
        """Make the group of ``members``: larger ones, until it depends on no others' findings."""
        while True:
            seen: set[Key] = set()
            group = self._folded(members, judged, *watching(seen))
            others = {each for each in group.asked if each in judged} - members
            if not others:
                break
            members |= others
            met = [each for each in others if each in self._of or each in waiting]
            for each in met:
                members.update(self._dissolve(self._of[each]) if each in self._of else waiting.get(each, ()))
            if met and patient:
                waiting.update(dict.fromkeys(members, members))
                return
        for name in members:
            waiting.pop(name, None)
        self._keep(group, seen)

    def _keep(self, group: FindingGroup, seen: set[Key]) -> None:
        number = next(self._numbers)
        self._groups[number] = group
        for table, findings in ((self.findings, group.findings), (self.suppressed, group.suppressed)):
            for finding in findings:
                table.add(finding)
        self._of.update(dict.fromkeys(group.members, number))
        self._asking.keep(number, group.asked)
        self._looking.keep(number, seen)

    def _folded(
        self, members: set[Name], judged: Mapping[Name, Judged], context: Context, ruling: AppliedRuling
    ) -> FindingGroup:
        found = joined(judged[name] for name in sorted(members))
        if not self._fold:
            alone = tuple(ruling.judge(found))
            return FindingGroup(frozenset(members), alone, (), frozenset(), worst_of(found), frozenset())
        asked = self._related(members)
        kept = ruling.judge(found)
        findings = fold(kept, RULES, context, asked)
        suppressed = fold(ruling.suppressed, RULES, context, asked)
        return FindingGroup(
            frozenset(members),
            tuple(findings),
            tuple(suppressed),
            frozenset(ruling.used),
            worst_of(found),
            frozenset(asked),
        )

    def _related(self, members: Iterable[Name]) -> set[Name]:
        """The names whose findings matter to those of ``members`` by what they are called."""
        found = set[Name]()
        families = set[str]()
        for name in members:
            together = siblings(name.spelling)
            if len(together) > 1:
                found.update(Name(kind, symbol) for symbol in together for kind in ("function", "variable"))
            if subject := class_of(name):
                found.add(Name("record", subject))
            families.update(_families(name))
        return found.union(*(self._families.get(family, ()) for family in families))


def _families(name: Name) -> list[str]:
    """The class that ``name`` belongs to, and the template that it is an instance of."""
    return [family for family in (class_of(name), template_behind(name)) if family]


def class_of(name: Name) -> str:
    """The class that compilers emit ``name`` for, or that it is called as; empty for others."""
    return name.spelling if name.kind in ("record", "enum", "alias") else class_behind(name.spelling)
