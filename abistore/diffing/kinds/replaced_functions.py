"""Functions whose every call is accepted by another one in their place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from msgspec.structs import replace

from abistore.diffing.context import Context
from abistore.diffing.kinds.abilities import TemplateParameter, conjuncts, template_parameters
from abistore.diffing.kinds.parameter_types import accepts, serves
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.public_api import Overload
from abistore.diffing.types.sameness import NUMBERS, Sameness
from abistore.model.declarations import Argument, Declared, Name, Trait
from abistore.model.names.qualified import demangle, entity, last_component, template_of
from abistore.model.names.symbols import primary
from abistore.model.shapes import Function, Named, Pointer, Primitive, Qualified, Record, Special, TypeRef
from abistore.model.structure import references


class FoundFunctions(NamedTuple):
    """The functions that a name finds; ``unseen`` is a using-declaration of what no public header declares."""

    overloads: tuple[Overload, ...] = ()
    unseen: Name | None = None

    def __bool__(self) -> bool:
        return bool(self.overloads) or self.unseen is not None


def find(display: str, owner: Name | None, side: SideFacts) -> FoundFunctions:
    """What the name of a function finds in its scope ([basic.lookup.qual], [class.member.lookup]).

    A class that declares the name hides that of its bases. What two bases declare is ambiguous, and is not found.
    """
    here = side.overload_sets.get(Name("function", display), ())
    brought, unseen = _brought_in(display, side)
    found = FoundFunctions((*here, *brought), unseen)
    if found or owner is None:
        return found
    name = last_component(display)
    bases = [find(f"{base.spelling}::{name}", base, side) for base in _bases(owner, side)]
    declaring = [each for each in bases if each]
    return declaring[0] if len(declaring) == 1 else FoundFunctions()


def _brought_in(display: str, side: SideFacts) -> tuple[tuple[Overload, ...], Name | None]:
    """The functions that a using-declaration brings in, and its name where headers show none of them."""
    name = Name("alias", display)
    shapes = side.variants("source", name)
    target = next((each.value for each in shapes if isinstance(each, Declared) and "using" in each.traits), None)
    if target is None:
        return (), None
    overloads = side.overload_sets.get(Name("function", target.removeprefix("::")), ())
    return overloads, None if overloads else name


def _bases(owner: Name, side: SideFacts) -> list[Name]:
    record = next((each for each in side.variants("source", owner) if isinstance(each, Record)), None)
    types = (each.type for each in (record.bases if record is not None else ()) if each.access == "public")
    return [each.name for each in types if isinstance(each, Named)]


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
    found: set[str] = set()
    for side in (context.old, context.new):
        for name, shapes in side.snapshot.entries["source"].items():
            if name.kind == "variable" and any(
                isinstance(each, Declared) and "concept" in each.traits for each in shapes
            ):
                found.add(last_component(name.spelling))
    return frozenset(found)


OTHER: Final[tuple[Trait, ...]] = ("friend", "using")
"""Traits of a declaration that is not found as the former one was."""


class Callee(NamedTuple):
    """A function as headers declare it: with its text."""

    overload: Overload
    text: Declared


class Successor(NamedTuple):
    """What takes all calls of a function, and whether it is the same one for them: it is only declared elsewhere."""

    name: Name
    same: bool


def successor(name: Name, context: Context) -> Successor | None:
    """The one declaration of the new headers that the name of ``name`` finds, and that takes all its calls.

    Further parameters have defaults or are an empty pack, it asks for no more of template arguments, each argument
    converts, and so does the result to the former one. What is virtual has overriding functions, which do not fit; and
    a template deduces other arguments than a function takes, so that neither stands for the other. With two such
    functions, calls are ambiguous. What another library declares, and ``using`` brings in, is not seen.
    """
    old = _declared(context.old, name)
    if old is None or any(each in context.renames.targets for each, _ in references(old.overload.function)):
        return None  # sources know the type by its old name
    function = old.overload.function
    seen = find(function.display, None if function.method is None else function.method.owner, context.new)
    if seen.unseen is not None:
        return Successor(seen.unseen, False)
    others = (_declared(context.new, each.name) for each in seen.overloads)
    found = [each for each in others if each is not None and _takes_calls(old, each, context)]
    exact = [each for each in found if _takes_as_they_are(old, each, context)]
    best = _once(exact or found)
    if len(best) != 1:
        return _specialized(old, seen.overloads, context)
    return Successor(best[0].overload.name, _is_only_elsewhere(old, best[0], context))


def _specialized(old: Callee, others: Iterable[Overload], context: Context) -> Successor | None:
    """The template of which a function was an explicit specialization, where both sides' headers define it."""
    own = entity(demangle(old.overload.name.spelling))
    template, arguments = template_of(own)
    if not arguments or own != template + arguments:
        return None
    count = len(old.overload.function.parameters)
    fit = (each.name for each in others if len(each.function.parameters) == count)
    primary = [each for each in fit if _is_defined(each, context)]
    return Successor(primary[0], False) if len(primary) == 1 else None


def _is_defined(template: Name, context: Context) -> bool:
    texts = [_declared(side, template) for side in (context.old, context.new)]
    return all(each is not None and {"template", "defined"} <= {*each.text.traits} for each in texts)


def shorter(name: Name, count: int, context: Context) -> Name | None:
    """The other function that takes the calls of ``name`` which give the first ``count`` arguments alone."""
    old = _declared(context.old, name)
    if old is None or count > len(old.overload.function.parameters):
        return None
    function = replace(old.overload.function, parameters=old.overload.function.parameters[:count])
    given = Callee(Overload(name, function, count), replace(old.text, parameters=(Argument(),) * count))
    others = find(function.display, None if function.method is None else function.method.owner, context.new).overloads
    known = (_declared(context.new, each.name) for each in others if each.name != name)
    fit = (each for each in known if each is not None and _takes_calls(given, each, context))
    exact = _once(each for each in fit if _takes_as_they_are(given, each, context))
    return exact[0].overload.name if len(exact) == 1 else None


def _once(callees: Iterable[Callee]) -> list[Callee]:
    """Each function once: a constructor has several symbols."""
    found: dict[str, Callee] = {}
    for each in callees:
        found.setdefault(primary(each.overload.name.spelling), each)
    return [*found.values()]


def _is_only_elsewhere(old: Callee, new: Callee, context: Context) -> bool:
    before, after = old.overload.function, new.overload.function
    types = zip((before.result, *before.parameters), (after.result, *after.parameters), strict=False)
    alike = before.display != after.display and len(before.parameters) == len(after.parameters)
    return alike and all(_same(*pair, (), context) for pair in types)


def _declared(side: SideFacts, name: Name) -> Callee | None:
    shapes = side.variants("source", name)
    text = next((each for each in shapes if isinstance(each, Declared)), None)
    function = next((each for each in shapes if isinstance(each, Function)), None)
    overloads = side.overload_sets.get(Name("function", function.display), ()) if function else ()
    overload = next((each for each in overloads if each.name == name), None)
    return Callee(overload, text) if overload is not None and text is not None else None


def _takes_calls(old: Callee, new: Callee, context: Context) -> bool:
    before, after = old.overload.function, new.overload.function
    constant = ("constexpr" in old.text.traits) <= ("constexpr" in new.text.traits)
    templates = ("template" in old.text.traits) == ("template" in new.text.traits)
    plain = not any(each in new.text.traits for each in OTHER)
    alike = (before.variadic, before.calling_convention) == (after.variadic, after.calling_convention)
    return (
        (constant and templates and plain and alike)
        and _called_alike(before, after)
        and _accepts_arguments(old, new, context)
        and takes_template_arguments(old.text, new.text, context)
        and _returns_alike(old, new, context)
    )


def _returns_alike(old: Callee, new: Callee, context: Context) -> bool:
    before, after = old.overload.function.result, new.overload.function.result
    if _same(before, after, added_packs(old.text, new.text), context):
        return True
    return not _is_deduced(before, after) and serves(old.overload.name, before, after, context, certain=True)


def _called_alike(old: Function, new: Function) -> bool:
    """Whether a function is called on all objects, and by all conversions, that the other one was."""
    before, after = old.method, new.method
    if before is None or after is None:
        return before is after
    kept = set(before.qualifiers) <= set(after.qualifiers) and before.reference == after.reference
    overridden = (old.is_virtual or new.is_virtual) and before.owner == after.owner
    return kept and before.static == after.static and not overridden and before.explicit >= after.explicit


# --- arguments --------------------------------------------------------------------------------------------------------


def _accepts_arguments(old: Callee, new: Callee, context: Context) -> bool:
    """Whether a call with the arguments of one function is one of the other."""
    before, after = old.overload.function.parameters, new.overload.function.parameters
    more = len(after) - len(before)
    if more < 0 or (more and before and _is_pack(before[-1])):
        return False  # what follows a pack is not deduced
    packs = added_packs(old.text, new.text)
    defaults = [each.default for each in _arguments(new)]
    further = zip(after[len(before) :], defaults[len(before) :], strict=True)
    left_out = all(default is not None or _is_pack(each) for each, default in further)
    given = [each.default is not None for each in _arguments(old)]
    stay = all(default is not None for default, had in zip(defaults, given, strict=False) if had)
    pairs = zip(before, after, strict=False)
    name = old.overload.name
    return left_out and stay and all(_same(*pair, packs, context) or _converts(name, *pair, context) for pair in pairs)


def _takes_as_they_are(old: Callee, new: Callee, context: Context) -> bool:
    """Whether no argument is of another type than before, so that overloads that convert one are worse."""
    packs = added_packs(old.text, new.text)
    pairs = zip(old.overload.function.parameters, new.overload.function.parameters, strict=False)
    return all(_same(*pair, packs, context) or _binds(*pair, context) for pair in pairs)


def _binds(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether a value became a reference to a constant, or what a pointer leads to became one."""
    if not isinstance(new, Pointer) or not isinstance(new.target, Qualified):
        return False
    if new.sort == "&" and not (isinstance(old, Pointer) and old.sort != "*"):
        return context.stored(old, new.target.target) <= Sameness.SPELLING
    return isinstance(old, Pointer) and context.stored(old, new) <= Sameness.QUALIFIERS


def _arguments(callee: Callee) -> tuple[Argument, ...]:
    """The parameters as they are written; nothing is written of a function whose parameters have no names."""
    count = len(callee.overload.function.parameters)
    written = callee.text.parameters
    return written if len(written) == count else (Argument(),) * count


def _is_pack(type: TypeRef) -> bool:
    return isinstance(type, Special) and type.spelling.endswith(PACK)


def _converts(name: Name, old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether every argument for one parameter converts to the other; a template would deduce something else."""
    old, new = _number(old), _number(new)
    if _is_deduced(old, new):
        return False
    if isinstance(new, Pointer) and new.sort == "&" and isinstance(new.target, Qualified):
        value = not isinstance(old, Pointer) or old.sort == "*"
        if value and new.target.qualifiers == ("const",):
            return accepts(name, old, new.target.target, context, certain=True)
    return accepts(name, old, new, context, certain=True)


def _number(type: TypeRef) -> TypeRef:
    """A number that a template's declaration spells: it is not deduced."""
    if isinstance(type, Special) and type.spelling in NUMBERS:
        return Primitive(type.spelling, 0)  # no size is asked: every number converts
    return type


def _is_deduced(old: TypeRef, new: TypeRef) -> bool:
    return isinstance(old, Special) or isinstance(new, Special)


def _same(old: TypeRef, new: TypeRef, packs: tuple[int, ...], context: Context) -> bool:
    """Whether two types are the same where packs that came are empty."""
    if isinstance(old, Special) and isinstance(new, Special):
        return old.spelling == emptied(new.spelling, packs)
    return context.stored(old, new) <= Sameness.SPELLING
