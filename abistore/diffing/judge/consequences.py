"""Puts consequences under their cause, so that one change is one finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec.structs import replace

from abistore.diffing.context import RULES, Context, Rule
from abistore.diffing.parts import TagFlip, ToolkitMove
from abistore.diffing.reuse import Watched
from abistore.diffing.side import SideFacts
from abistore.diffing.types.sameness import TypeSide
from abistore.model.declarations import SELF, Changed, Declared, Delta, Name
from abistore.model.findings import Finding, Impact, order
from abistore.model.names.qualified import class_behind, siblings, template_behind
from abistore.model.names.symbols import THUNKS, TYPEINFO, VTABLES, VTT
from abistore.model.reach import Reach
from abistore.model.shapes import AnyShape, Function, Named, Record
from abistore.model.structure import embedded

if TYPE_CHECKING:
    from abistore.diffing.following import Following, Relation

Follows: TypeAlias = Callable[[Finding, Context], bool]

ROOTED: Final = (TagFlip, ToolkitMove)
"""The shapes of what many declarations follow from."""


OF_LAYOUT: Final = frozenset({"alignment", "place", "size", "slot"})
"""The effects that follow from what an object has in it."""


def has_root(delta: Delta[Any]) -> bool:
    """Whether findings about declarations may belong under what is found of ``delta``."""
    return isinstance(delta, Changed) and isinstance(delta.old, ROOTED)


def _follows_from_toolkit(finding: Finding, context: Context) -> bool:
    """Whether a finding is about a library that moved, about one of its classes, or about a use of such a class.

    A use differs by what the classes are called, or lies otherwise where an object has one of these in it.
    """
    from abistore.diffing.renamed_exports import TOOLKIT, Toolkit  # few libraries need others than before

    toolkit = context.once(Toolkit)
    if finding.name == SELF:
        return finding.part.endswith((*toolkit.before, *toolkit.after))
    if toolkit.defines(finding.name):
        return True
    if RULES[finding.kind].effect in OF_LAYOUT and any(map(toolkit.defines, _within(finding.name, context))):
        return True
    old, new = (
        toolkit.without_names(text or "", old=is_old)
        for text, is_old in ((finding.old_value, True), (finding.new_value, False))
    )
    return old == new and TOOLKIT in old


def _within(name: Name, context: Context) -> frozenset[Name]:
    """The base classes of a class of the old release and the types of its fields, and theirs."""
    pending, found = [name], set[Name]()
    while pending:
        shape = context.old.shape(pending.pop())
        come = {*embedded(shape)} - found if shape is not None else set[Name]()
        found |= come
        pending += come
    return frozenset(found)


def _follows_from_strings(finding: Finding, context: Context) -> bool:
    """Whether what differs is called alike but for the mark of the standard library's newer strings and lists."""
    old, new = map(_unmarked, (finding.old_value or "", finding.new_value or ""))
    return old == new and "std::" in old


def _unmarked(text: str) -> str:
    return text.replace("__cxx11::", "").replace("[abi:cxx11]", "")


FOLLOWS: Final[Mapping[str, Follows]] = {
    "glibcxx_dual_abi_flip_detected": _follows_from_strings,
    "needed_added.toolkit": _follows_from_toolkit,
}
"""By the kinds of such findings, whether another finding follows from one."""

DELETION = "func_deleted_dwarf.special_member"
FUNCTION_DELETION = "func_deleted_dwarf.inline"
TRIVIALITY = "type_ability_removed.triviality"

CONSTANTS = frozenset(
    {
        *(
            "constant_changed",
            "constant_changed.passed_in",
            "constant_changed.integer",
        ),
        "constant_changed.sentinel",
        *("constant_changed.build", "constant_changed.version", "constant_changed.version_passed_in"),
    }
)

ABILITIES = frozenset(
    {
        *(
            "type_ability_added",
            "type_ability_removed.aggregate",
            "type_ability_removed.assignment",
            "type_ability_removed.copy",
        ),
        *("type_ability_removed.default", "type_ability_removed.destruction", "type_ability_removed.move", TRIVIALITY),
    }
)
"""What programs can do with a class, which what changed in it may say as well."""

FOLLOWING = (*VTABLES, TYPEINFO, VTT, *THUNKS)
"""Prefixes of what follows from the definition of a class."""


def fold(
    findings: Sequence[Finding], rules: Mapping[str, Rule], context: Context, asked: set[Name] | None = None
) -> list[Finding]:
    """The findings that stand for themselves, each with what follows from it.

    An *effect* (a size, an offset) belongs under a cause of the same record that weighs as much, or else under the
    change of a record that this one embeds. A fold never hides weight: a cause that weighs less than its effect
    leaves it alone. Nor does it hide a change: an effect that does not follow by the rules of layout stands for itself,
    and what no layout explains is bound to its cause.

    ``asked`` gets the names of which it depends on the findings.
    """
    parents = _Parents(findings, rules, context, set() if asked is None else asked)
    children: dict[int, list[Finding]] = {}
    roots: list[int] = []
    for index in range(len(findings)):
        root = parents.root(index)
        if root == index:
            roots.append(index)
        else:
            children.setdefault(root, []).append(parents.consequence(index))
    return [_with(findings[index], children.get(index, [])) for index in roots]


def _with(cause: Finding, effects: Iterable[Finding]) -> Finding:
    """``cause`` with what follows from it. What follows and weighs less affects nobody more."""
    consequences = tuple(sorted(effects, key=order))
    if not consequences:
        return cause
    heavy = (each for each in consequences if each.impact >= cause.impact)
    affected = {*cause.affected, *(name for each in heavy for name in each.affected)}
    return replace(cause, consequences=(*cause.consequences, *consequences), affected=tuple(sorted(affected)))


class _Parents:
    """Finds the cause of each finding."""

    def __init__(
        self, findings: Sequence[Finding], rules: Mapping[str, Rule], context: Context, asked: set[Name]
    ) -> None:
        self._findings = findings
        self._context = context
        self._rules = rules
        self._effect = [rules[finding.kind].effect for finding in findings]
        by_name: dict[Name, list[int]] = {}
        for index, finding in enumerate(findings):
            by_name.setdefault(finding.name, []).append(index)
        self._of = Watched(by_name, asked.add)
        worst_first = sorted(range(len(findings)), key=lambda index: order(findings[index]))
        self._rank = {index: rank for rank, index in enumerate(worst_first)}
        self._inner_causes: dict[tuple[Name, Impact], int | None] = {}
        self._roots: dict[int, int] = {}
        self._relations: dict[int, Relation] = {}

    def consequence(self, index: int) -> Finding:
        """The finding as a consequence of another one, bound to that where nothing determines what it breaks."""
        finding = self._findings[index]
        impact = finding.impact if finding.default_impact is None else max(finding.impact, finding.default_impact)
        if impact < Impact.API_BREAK or self._relation(index) == "follows":
            return finding
        return replace(finding, bound=True)

    @cached_property
    def _following(self) -> Following:
        from abistore.diffing.following import Following  # many comparisons have no effects

        return Following(self._findings, self._of, self._rules, self._context)

    def _relation(self, index: int) -> Relation:
        if not self._effect[index]:
            return "unknown"
        if index not in self._relations:
            self._relations[index] = self._following.relation(self._findings[index])
        return self._relations[index]

    def root(self, index: int) -> int:
        """The finding that ``index`` follows from in the end; itself where it is a cause.

        Records that embed each other (no compiler writes that) follow from the first of them.
        """
        path: dict[int, None] = {}
        place: int | None = index
        while place is not None and place not in path and place not in self._roots:
            path[place] = None
            last, place = place, self._parent(place)
        if place is None:
            root = last
        elif place in path:
            circle = list(path)
            root = min(circle[circle.index(place) :])
        else:
            root = self._roots[place]
        self._roots.update(dict.fromkeys(path, root))
        return root

    def _parent(self, index: int) -> int | None:
        parent = self._parent_below_roots(index)
        return self._root_above(index) if parent is None else parent

    def _root_above(self, index: int) -> int | None:
        """What is found of the whole library, where it weighs as much and the finding follows from it."""
        finding = self._findings[index]
        for root, follows in self._library_roots:
            if root != index and self._weighs(root, finding) and follows(finding, self._context):
                return root
        return None

    @cached_property
    def _library_roots(self) -> Sequence[tuple[int, Follows]]:
        return [(index, FOLLOWS[each.kind]) for index, each in enumerate(self._findings) if each.kind in FOLLOWS]

    def _parent_below_roots(self, index: int) -> int | None:
        finding = self._findings[index]
        for stand_in in (self._companion(finding), self._first_instances.get(index)):
            if stand_in is not None:
                return stand_in
        if self._effect[index] and finding.name.spelling.startswith(FOLLOWING):
            return None if self._relation(index) == "free" else self._class_cause(index)
        if not self._effect[index]:
            if finding.kind in CONSTANTS:
                return self._named_constant(index)
            if finding.kind in ABILITIES:
                return self._ability_cause(index)
            return self._user(index) if self._comes_or_goes(index) else self._part_without(index)
        cause = self._cause(index)
        return self._strongest_effect(index) if cause is None else cause

    def _named_constant(self, index: int) -> int | None:
        """Of a macro with the text that it had, what happened to the constants that it names."""
        finding = self._findings[index]
        old, new = (
            next((each for each in side.variants("source", finding.name) if isinstance(each, Declared)), Declared())
            for side in (self._context.old, self._context.new)
        )
        if old.value != new.value:
            return None
        from abistore.diffing.kinds.constants import named  # headers alone have macros

        causes = [other for name in named(old, finding.name) for other in self._of.get(name, ())]
        weighty = [
            other for other in causes if self._findings[other].kind in CONSTANTS and self._weighs(other, finding)
        ]
        return min(weighty, key=self._rank.__getitem__) if weighty else None

    def _comes_or_goes(self, index: int) -> bool:
        finding = self._findings[index]
        whole_type = finding.name.kind in ("record", "enum", "alias") and not finding.part
        return whole_type and self._rules[finding.kind].action != "changed"

    def _user(self, index: int) -> int | None:
        """What changed, came or went with a type that it uses (or used): the type follows what mentions it.

        Or else an export that reaches it, and mentions something that it did not (or no longer does): one that goes
        through types which were there all the time has nothing to do with it.
        """
        finding, context = self._findings[index], self._context
        side, other_side = context.old, context.new
        if self._rules[finding.kind].action == "added":
            side, other_side = other_side, side
        reaching = side.reach.exports_reaching(finding.name)
        exports = (each for each in reaching if _mentions_more(each, side, other_side))
        for names in (_mentioning(finding.name, side.types, side.reach), exports):
            users = (other for name in names for other in self._of.get(name, ()))
            causes = [other for other in users if other != index and self._weighs(other, finding)]
            if causes:
                return min(causes, key=self._rank.__getitem__)
        return None

    def _part_without(self, index: int) -> int | None:
        """Of a special member that went with a part of its class, what happened to that part; or how it came in."""
        finding = self._findings[index]
        if finding.new_value is None and finding.kind == FUNCTION_DELETION:
            return self._class_without(finding)
        if finding.kind != DELETION or finding.old_value is None:
            return None
        from abistore.diffing.kinds.equivalent_declarations import parts_without

        parts = parts_without(finding.old_value, finding.name, self._context.new)
        theirs = [other for part in parts for other in self._of.get(part, ()) if self._findings[other].kind == DELETION]
        own = [other for other in self._of.get(finding.name, ()) if self._findings[other].kind != DELETION]
        for causes in (theirs, [other for other in own if not self._effect[other]]):
            weighty = [other for other in causes if self._weighs(other, finding)]
            if weighty:
                return min(weighty, key=self._rank.__getitem__)
        return None

    def _ability_cause(self, index: int) -> int | None:
        """What took an ability from a class or gave it: the same of a part, else a change in it."""
        finding, old, new = self._findings[index], self._context.old, self._context.new
        parts = {
            each for side in (old, new) for shape in side.snapshot.described(finding.name) for each in embedded(shape)
        }
        functions = [
            each
            for side in (old, new)
            for each in (*side.tables.constructors(finding.name), *side.tables.handling(finding.name))
        ]
        alike = [o for name in sorted(parts) for o in self._of.get(name, ()) if self._findings[o].kind == finding.kind]
        members = [other for name in functions for other in self._of.get(name, ())]
        own = [other for other in self._of.get(finding.name, ()) if self._tells_ability(other, finding)]
        deleted = [other for other in own if self._findings[other].kind == DELETION]
        for causes in (alike, deleted, members, [other for other in own if not self._effect[other]]):
            weighty = [other for other in causes if self._weighs(other, finding)]
            if weighty:
                return min(weighty, key=self._rank.__getitem__)
        return None

    def _tells_ability(self, other: int, finding: Finding) -> bool:
        """Whether a finding of the class may tell why it lost an ability; that it is less trivial follows from all."""
        kind = self._findings[other].kind
        return kind != finding.kind and (kind not in ABILITIES or finding.kind == TRIVIALITY)

    def _class_without(self, finding: Finding) -> int | None:
        """Of a function that the compiler no longer makes, what is told of its class."""
        shape = self._context.old.shape(finding.name)
        owner = shape.method.owner if isinstance(shape, Function) and shape.method else finding.name
        theirs = [other for other in self._of.get(owner, ()) if self._findings[other].kind == DELETION]
        weighty = [other for other in theirs if self._weighs(other, finding)]
        return min(weighty, key=self._rank.__getitem__) if weighty else None

    def _companion(self, finding: Finding) -> int | None:
        """The first of what is emitted for one class or one constructor stands for the others, if it weighs as much."""
        together = siblings(finding.name.spelling)
        for symbol in together if len(together) > 1 else ():
            for kind in ("function", "variable"):
                for other in self._of.get(Name(kind, symbol), ()):
                    if self._findings[other].kind == finding.kind and self._weighs(other, finding):
                        return None if symbol == finding.name.spelling else other
        return None

    @cached_property
    def _first_instances(self) -> Mapping[int, int]:
        """What is found in the same way about several instances of one template, by the one that stands for them.

        That is the worst. Among equals it is the one that grew, and of several that did the one that most types embed.
        """
        alike: dict[tuple[str, str, str, str], list[int]] = {}
        for index, finding in enumerate(self._findings):
            template = template_behind(finding.name)
            if template and not self._effect[index]:
                alike.setdefault((finding.kind, finding.part, finding.name.kind, template), []).append(index)
        first = {min(each, key=self._prominence): each for each in alike.values() if len(each) > 1}
        return {index: stands for stands, each in first.items() for index in each if index != stands}

    def _prominence(self, index: int) -> tuple[object, ...]:
        finding = self._findings[index]
        sides = self._context.old, self._context.new
        old, new = (getattr(side.shape(finding.name), "size", 0) for side in sides)
        return -finding.impact, old == new, -self._holders(finding.name), -len(finding.affected), self._rank[index]

    def _holders(self, name: Name) -> int:
        old = self._context.old
        users = (old.shape(user) for user in old.reach.users(name))
        return sum(name in embedded(shape) for shape in users if isinstance(shape, Record))

    def _class_cause(self, index: int) -> int | None:
        """What changed in the class that a vtable, typeinfo or thunk belongs to, if it weighs as much.

        Without a finding about the class itself, its vtable stands for its other tables, and then its first thunk.
        """
        finding = self._findings[index]
        subject = class_behind(finding.name.spelling)
        lineage = self._lineage(Name("record", subject), finding)
        found = [other for name in lineage for other in self._of.get(name, ()) if self._weighs(other, finding)]
        if found:
            return min(found, key=lambda other: (self._effect[other], self._rank[other]))
        if finding.name.spelling.startswith(VTABLES):
            return None
        first = self._first_table.get(subject, index)
        return first if first != index and self._weighs(first, finding) else None

    def _lineage(self, name: Name, finding: Finding) -> list[Name]:
        """A class and, as long as nothing is found about it that weighs as much as ``finding``, its bases.

        What changes their tables changes its own.
        """
        lineage = [name]
        for each in lineage:
            shape = self._context.old.shape(each)
            heavy = any(self._weighs(other, finding) for other in self._of.get(each, ()))
            if not heavy and isinstance(shape, Record):
                bases = (self._context.old.types.bare(base.type)[0] for base in shape.bases)
                lineage += [base.name for base in bases if isinstance(base, Named) and base.name not in lineage]
        return lineage

    def _weighs(self, other: int, finding: Finding) -> bool:
        return self._findings[other].impact >= finding.impact

    @cached_property
    def _first_table(self) -> dict[str, int]:
        found: dict[str, int] = {}
        emitted = {index: each.name.spelling for index, each in enumerate(self._findings)}
        tables = [index for index, symbol in emitted.items() if symbol.startswith(FOLLOWING)]
        for index in sorted(tables, key=lambda each: (not emitted[each].startswith(VTABLES), self._rank[each])):
            found.setdefault(class_behind(emitted[index]), index)
        return found

    def _cause_within(self, index: int) -> int | None:
        finding = self._findings[index]
        worst = self._worst_causes.get(finding.name)
        return worst if worst is not None and self._weighs(worst, finding) else None

    @cached_property
    def _worst_causes(self) -> Mapping[Name, int]:
        causes: dict[Name, int] = {}
        for index in self._rank:
            if not self._effect[index]:
                causes.setdefault(self._findings[index].name, index)
        return causes

    def _strongest_effect(self, index: int) -> int | None:
        """Of several effects without a cause that weighs enough, the one that reads best stands for the others."""
        first = self._first_effects[self._findings[index].name, self._findings[index].impact]
        return None if first == index else first

    @cached_property
    def _first_effects(self) -> Mapping[tuple[Name, Impact], int]:
        """By declaration and impact, the effect without a cause among those of at least that impact that reads best."""
        effects = [index for index, effect in enumerate(self._effect) if effect and self._cause(index) is None]
        effects.sort(key=lambda index: (bool(self._findings[index].part), self._rank[index]))
        found: dict[tuple[Name, Impact], int] = {}
        for index in effects:
            finding = self._findings[index]
            for impact in Impact:
                if impact <= finding.impact:
                    found.setdefault((finding.name, impact), index)
        return found

    def _cause(self, index: int) -> int | None:
        """What an effect of a declaration follows from: another change of it, or of a part; ``None`` if it is free."""
        if self._relation(index) == "free":
            return None
        parent = self._cause_within(index)
        return self._embedded_cause(index) if parent is None else parent

    def _embedded_cause(self, index: int) -> int | None:
        finding = self._findings[index]
        key = finding.name, finding.impact
        if key not in self._inner_causes:
            self._inner_causes[key] = self._inner_cause(finding)
        return self._inner_causes[key]

    def _inner_cause(self, finding: Finding) -> int | None:
        shape = self._context.old.shape(finding.name)
        inner = sorted(set(embedded(shape))) if shape is not None else []
        for name in [each for part in inner for each in self._lineage(part, finding)]:
            resolved = self._context.old.types.record_behind(name) or name
            if resolved == finding.name or not self._changes_users(resolved):
                continue
            causes = [other for other in self._of.get(resolved, ()) if self._weighs(other, finding)]
            if causes:
                return min(causes, key=lambda other: (self._effect[other], self._rank[other]))
        return None

    def _changes_users(self, name: Name) -> bool:
        """Whether what differs in a record changes records that embed or derive from it: their layout or vtable."""
        new_name = self._context.renames.targets.get(name, name)
        old, new = self._context.old.shape(name), self._context.new.shape(new_name)
        return _outside(old) != _outside(new)


def _mentions_more(name: Name, side: SideFacts, other: SideFacts) -> bool:
    """Whether a declaration of one side mentions a type that it does not mention on the other."""
    known = other.reach.mentioned(name)
    return any(each not in known for each in side.reach.mentioned(name))


def _mentioning(name: Name, side: TypeSide, reach: Reach) -> set[Name]:
    """The declarations that mention ``name``, or an alias or array of it that has a name."""
    found, aliases, pending = set[Name](), set[Name](), [name]
    for each in pending:
        for user in reach.users(each):
            shapes = reach.mentions(user)  # none where headers alone show that it does
            if not shapes or any(each == mentioned for shape in shapes for mentioned, _ in shape):
                found.add(user)
            if user.kind == "alias" and user not in aliases and side.record_behind(user) == name:
                aliases.add(user)
                pending.append(user)
    return found


def _outside(shape: AnyShape | None) -> tuple[object, ...]:
    if isinstance(shape, Record):
        slots = tuple((method.display, method.slot) for method in shape.virtuals)
        return shape.size, shape.alignment, shape.passing, shape.has_vptr, shape.bases, slots
    return getattr(shape, "size", None), getattr(shape, "alignment", None)
