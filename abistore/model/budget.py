"""The limit on types without a name, which are spelled out wherever they are mentioned.

Each of forty such types may mention the one before twice. In memory that is forty objects; compared, encoded or stored
it would be a million million parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias

from msgspec.structs import replace

from abistore.model.names import Name
from abistore.model.shapes import AnyShape, Enum, Inline, Named, Primitive, Record, Special, TypeRef
from abistore.model.snapshot import Evidence
from abistore.model.structure import inner, mentioned, with_types
from abistore.model.words.counting import counted

MOST_PARTS: Final = 1 << 14
"""Parts of one type, each mention and member one; the largest seen in real libraries has 97 (``yaml_event_t``)."""

MOST_DEPTH: Final = 100
"""How deep a type may nest in itself; real ones stay below 20."""

SPARE_PARTS: Final = 1 << 16
PARTS_PER_MENTION: Final = 16
"""What all declarations together may spell out, for each member and each mention of a type; real ones do with 3."""

TOO_LARGE: Final = Special("type too large")

REASON: Final = "type-too-large"
HINT: Final = "give the types that are nested in each other names"

Size: TypeAlias = tuple[int, int]
"""How many parts something has, and how deep they nest."""

LEAVES: Final = frozenset({Named, Primitive, Special})
LEAF: Final[Size] = (1, 1)

Entries: TypeAlias = Mapping[Name, Sequence[AnyShape]]


class TypeBudget:
    """Replaces types of more than ``most`` parts. Objects are known by their identity, and kept while this lives.

    ``refused`` counts the replaced types.
    """

    def __init__(self, most: int = MOST_PARTS) -> None:
        self._most = most
        self._sizes: dict[int, tuple[TypeRef, Size]] = {}
        self._replaced: dict[int, tuple[TypeRef, TypeRef]] = {}
        self.refused = 0

    # measuring

    def within(self, type: TypeRef) -> TypeRef:
        """``type``, or :data:`TOO_LARGE` in its place. The types that it mentions were asked about before."""
        parts, depth = self.size(type)
        if parts <= self._most and depth <= MOST_DEPTH:
            return type
        self.refused += 1
        return TOO_LARGE

    def parts(self, shape: AnyShape) -> int:
        """How many parts a declaration has, the types that it spells out included."""
        return self.own(shape) + sum(self.size(type)[0] for type in mentioned(shape))

    def size(self, type: TypeRef) -> Size:
        """How large a type is where it is mentioned."""
        if type.__class__ in LEAVES:
            return LEAF
        known = self._sizes.get(id(type))
        if known is not None:
            return known[1]
        parts = mentioned(type.shape) if isinstance(type, Inline) else inner(type)
        if len(parts) == 1 and parts[0].__class__ in LEAVES and not isinstance(type, Inline):
            return 2, 2  # nearly all are so, and are measured sooner than remembered
        count, depth = 1 + (self.own(type.shape) if isinstance(type, Inline) else 0), 0
        for each in parts:
            more, deeper = self.size(each)
            count, depth = count + more, max(depth, deeper)
        found = count, 1 + depth
        self._sizes[id(type)] = type, found
        return found

    def own(self, shape: AnyShape) -> int:
        """How many parts a declaration has without the types that it mentions."""
        match shape:
            case Record():
                return 1 + len(shape.fields) + len(shape.bases) + len(shape.virtuals)
            case Enum():
                return 1 + len(shape.enumerators)
        return 1

    # replacing

    def shape(self, shape: AnyShape) -> AnyShape:
        """``shape`` with :data:`TOO_LARGE` in place of its too large types."""
        return with_types(shape, self.type)

    def type(self, type: TypeRef) -> TypeRef:
        """``type`` with :data:`TOO_LARGE` in place of too large types in it, or of itself."""
        known = self._replaced.get(id(type))
        if known is None:
            known = self._replaced[id(type)] = type, self.within(with_types(type, self.type))
        return known[1]


def fitted(entries: Entries) -> tuple[Entries, int]:
    """``entries`` within their budget, and how many types were replaced in them, the largest first.

    The budget grows with the members and mentions of all declarations.
    """
    most, refused = MOST_PARTS, 0
    while True:
        if most <= 4 or _fits(list(chain.from_iterable(entries.values())), TypeBudget(most)):
            return entries, refused
        most //= 2
        budget = TypeBudget(most)
        entries = {name: tuple(map(budget.shape, shapes)) for name, shapes in entries.items()}
        refused = max(refused, budget.refused)


def _fits(shapes: Sequence[AnyShape], budget: TypeBudget) -> bool:
    """Whether declarations spell out no more than their members and mentions allow.

    A type that many mention is one object, and measured once. Where few are large, nothing else need be counted.
    """
    types = list(chain.from_iterable(map(mentioned, shapes)))
    distinct = {id(type): type for type in types}
    sizes = {key: budget.size(type)[0] for key, type in distinct.items()}
    large = {key: size - PARTS_PER_MENTION for key, size in sizes.items() if size > PARTS_PER_MENTION}
    if sum([large[key] for key in map(id, types) if key in large]) <= SPARE_PARTS:
        return True
    own = sum(map(budget.own, shapes))
    spelled = own + sum(map(sizes.__getitem__, map(id, types)))
    return spelled <= SPARE_PARTS + PARTS_PER_MENTION * (own + len(types))


def weakened(evidence: Evidence, refused: int) -> Evidence:
    """``evidence`` of a facet in which so many types were replaced: partial, with the reason."""
    if not refused:
        return evidence
    state = "missing" if evidence.state == "missing" else "partial"
    detail = "; ".join([*([evidence.detail] if evidence.detail else []), told(refused)])
    return replace(evidence, state=state, reason=evidence.reason or REASON, detail=detail, hint=evidence.hint or HINT)


def told(refused: int) -> str:
    """The sentence about replaced types."""
    return f"{counted(refused, 'type is', 'types are')} too large to be spelled out"
