"""The variants that fields, variables, typedefs, parameters and results have where their types have the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.types.sameness import Sameness
from abistore.model.findings import Element, Impact


class Retyped(Enum):
    """How a type that has the same bits as before differs: each is a variant of the kinds about types."""

    RESPELLED = "respelled"
    CONVERTIBLE = "convertible"
    REINTERPRETED = "reinterpreted"
    INCONVERTIBLE = "inconvertible"


class _Said(NamedTuple):
    """What is said of a variant: its impact, the note, and the three parts of its documentation."""

    impact: Impact
    note: str
    title: str
    why: str
    fix: str


_SAID: Final = {
    Retyped.RESPELLED: _Said(
        Impact.COMPATIBLE,
        "the type of the {word} is spelled differently",
        "{type} changed its spelling only.",
        "Existing binaries use the same bits, and sources compile as before. Example: ``unsigned int`` became"
        " ``uint32_t``.",
        "nothing.",
    ),
    Retyped.CONVERTIBLE: _Said(
        Impact.COMPATIBLE,
        "the {word} has another type with the same bits",
        "{type} changed to a convertible one with the same representation.",
        "Existing binaries use the same bits in the same place. Sources compile as before.",
        "nothing.",
    ),
    Retyped.REINTERPRETED: _Said(
        Impact.RISK,
        "the {word} is interpreted differently",
        "{type} changed to one that gives the same bits another meaning, e.g. unsigned for signed.",
        "Programs and the library misread values that only one of the types has: -1 becomes a large number.",
        "keep the type, or never use a value outside the old type.",
    ),
    Retyped.INCONVERTIBLE: _Said(
        Impact.API_BREAK,
        "sources cannot use the {word} as before",
        "{type} changed to one with the same bits that sources cannot use like the old one.",
        "Existing binaries use the same bits in the same place. Sources that rely on the old type do not compile.",
        "keep the type, or add a {word} with the new one.",
    ),
}

NOTHING: Final[Mapping[Retyped, Any]] = MappingProxyType({})


class TypedSubject(NamedTuple):
    """What has a type: ``delta`` is the annotation of its changes, ``kind`` the kind that is told where bits differ.

    ``type`` begins titles: "The type of a field". ``more`` is said after the reason of a variant.
    """

    kind: str
    word: str
    type: str
    element: Element
    delta: str
    module: str
    more: Mapping[Retyped, str] = NOTHING
    aliases: Mapping[Retyped, tuple[str, ...]] = NOTHING


def graded(sameness: Sameness, is_usable: Callable[[], bool]) -> Retyped | None:
    """The variant of two types that compare so; ``is_usable`` says whether sources use the new one like the old one.

    ``None`` where the bits differ.
    """
    if sameness <= Sameness.SPELLING:
        return Retyped.RESPELLED
    if sameness is Sameness.DIFFERENT:
        return None
    if not is_usable():
        return Retyped.INCONVERTIBLE
    return Retyped.REINTERPRETED if sameness is Sameness.REINTERPRETED else Retyped.CONVERTIBLE


def variants_of(
    subject: TypedSubject,
    retyped: Callable[[Any, Context], Retyped | None],
    types: Callable[[Any], tuple[str, str]],
) -> None:
    """Register the four variants of a subject. ``retyped`` says which one a change is, ``types`` spells both sides."""
    for variant, said in _SAID.items():
        register = rule(
            said.impact,
            evidence="layout",
            element=subject.element,
            action="changed",
            variant=variant.value,
            aliases=subject.aliases.get(variant, ()),
        )
        register(_check(subject, variant, retyped, types))


def _check(
    subject: TypedSubject,
    variant: Retyped,
    retyped: Callable[[Any, Context], Retyped | None],
    types: Callable[[Any], tuple[str, str]],
) -> Callable[[Any, Context], Iterator[Note]]:
    said = _SAID[variant]
    note = said.note.format(word=subject.word)

    def check(changed: Any, context: Context) -> Iterator[Note]:
        if context.once(retyped, changed) is variant:
            yield Note(note, *types(changed))

    why = " ".join(filter(None, (said.why, subject.more.get(variant, ""))))
    check.__name__ = f"{subject.kind}_{variant.value}"
    check.__module__ = subject.module
    check.__annotations__["changed"] = subject.delta
    check.__doc__ = f"{said.title.format(type=subject.type)}\n\n{why}\n\nFix: {said.fix.format(word=subject.word)}"
    return check
