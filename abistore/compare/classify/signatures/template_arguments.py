"""What a template may be given, and what it asks of that: whether another one takes it all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from abistore.compare.classify.template_parameters import TemplateParameter, conjuncts, template_parameters
from abistore.compare.context import Context
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Declared

PACK: Final = "..."
APPLIED: Final = re.compile(r"\w+<#\d+>")
"""A constraint that names a concept, which another library may have."""


def _packs(declared: Declared) -> tuple[int, ...]:
    """The places of template parameters that are packs, which may be empty."""
    parameters = template_parameters(declared)
    return tuple(place for place, each in enumerate(parameters) if each.introduced.endswith(PACK))


def added_packs(old: Declared, new: Declared) -> tuple[int, ...]:
    """The places of packs that came behind all template parameters."""
    return tuple(each for each in _packs(new) if each >= len(old.template))


def emptied(text: str, packs: tuple[int, ...]) -> str:
    """``Topic<#0, #1...>`` with nothing for ``#1``."""
    for place in packs:
        text = re.sub(rf"(?:,\s*)?(?<![\w.#])#{place}\.\.\.", "", text)
    return text


def takes_template_arguments(old: Declared, new: Declared, context: Context) -> bool:
    """Whether a template takes what the other one was given for its parameters, and asks for no more of it."""
    before, after = template_parameters(old), template_parameters(new)
    further = after[len(before) :]
    if len(after) < len(before) or not all(map(_may_be_left_out, further)):
        return False
    packs = added_packs(old, new)
    if packs and _packs(old):
        return False  # the first pack takes all arguments
    written = [_unscoped(emptied(each, packs)) for each in conjuncts(new)]
    concepts = context.once(_concepts) | {each.partition("<")[0] for each in written if APPLIED.fullmatch(each)}
    asked = {_unscoped(each) for each in (*conjuncts(old), *_constraints(before, concepts))}
    asks = {*written, *(_unscoped(each) for each in _constraints(after, concepts))}
    return asks <= asked and all(_fits(*pair, concepts) for pair in zip(before, after, strict=False))


def _unscoped(constraint: str) -> str:
    """A constraint without the namespaces, which one of two spellings may leave out."""
    return re.sub(r"(?<![\w:])(?:\w+::)+(?=\w)", "", constraint)


def _may_be_left_out(parameter: TemplateParameter) -> bool:
    """Whether nobody need give a parameter, and its default looks at no other: one that does is a condition."""
    if parameter.introduced.endswith(PACK):
        return parameter.introduced == f"typename{PACK}"
    return parameter.default is not None and "#" not in parameter.default


def _fits(old: TemplateParameter, new: TemplateParameter, concepts: frozenset[str]) -> bool:
    if old.default is not None and old.default != new.default:
        return False
    return old.introduced == new.introduced or (
        new.introduced == "typename" and last_component(old.introduced) in concepts
    )


def _constraints(parameters: tuple[TemplateParameter, ...], concepts: frozenset[str]) -> Iterator[str]:
    """``template <Sortable T>`` as it is written behind ``requires``."""
    for place, each in enumerate(parameters):
        if last_component(each.introduced) in concepts:
            yield f"{each.introduced}<#{place}>"


def _concepts(context: Context) -> frozenset[str]:
    """The concepts that headers declare, without their namespaces."""
    found: set[str] = set()
    for side in (context.old, context.new):
        for name, shapes in side.snapshot.entries["source"].items():
            if name.kind == "variable" and any(
                isinstance(each, Declared) and "concept" in each.traits for each in shapes
            ):
                found.add(last_component(name.spelling))
    return frozenset(found)
