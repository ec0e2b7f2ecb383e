"""What programs can do with a class, and what attributes and templates promise them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from abistore.diffing.context import Context
from abistore.diffing.headers import takes
from abistore.diffing.members import renamed_fields
from abistore.diffing.side import SideFacts
from abistore.diffing.types.sameness import flat_fields, plain
from abistore.diffing.types.vtables import DEEPEST
from abistore.model.declarations import (
    COPIED,
    Abilities,
    Ability,
    Argument,
    Changed,
    Declared,
    InlineBody,
    Name,
    Trait,
)
from abistore.model.names.qualified import last_component
from abistore.model.names.symbols import MEMBER, is_mangled
from abistore.model.shapes import Function, Named, Record, TypeRef, Variable

OF_OBJECTS: Final[frozenset[Ability]] = frozenset({"copy", "default", "default_implicitly", "move"})
"""What nobody can do with an abstract class, which has no objects of its own."""


OTHERWISE_TOLD: Final[frozenset[Ability]] = frozenset(
    {"aggregate", "cast", "copy_bytes", "derive", "instantiate", "list_members", "literal", "standard_layout"}
)
"""What other changes of a class tell, or what no program waits for."""


def _is_derived(ability: Ability) -> bool:
    return ability.startswith("derived_")


def lost(declared: Changed[Declared], context: Context, *abilities: Ability) -> list[Ability]:
    """Those of ``abilities`` that the old side has and the new one lacks, where the compilers of both were asked.

    A class that became abstract lost its objects, and one that became ``final`` those that derive from it: what these
    could do is no further loss.
    """
    pairs = _pairs(declared.old, declared.new)
    found = {ability for old, new in pairs for ability in _lost(old, new, _left(old, new, abilities))}
    return [each for each in abilities if each in found]


def _pairs(old: Declared, new: Declared) -> Iterator[tuple[Abilities | None, Abilities | None]]:
    """Both sides' abilities of a class, or of each instance of a template that headers of both use."""
    yield old.abilities, new.abilities
    known = {each.spelling: each.abilities for each in new.instances}
    yield from ((each.abilities, known.get(each.spelling)) for each in old.instances)


def _left(old: Abilities | None, new: Abilities | None, abilities: Iterable[Ability]) -> list[Ability]:
    """Those of ``abilities`` that a class can lose which became abstract or ``final``, if it did."""
    abstract, final = (bool(_lost(old, new, (each,))) for each in _TOLD)
    return [each for each in abilities if not (abstract and each in OF_OBJECTS) and not (final and _is_derived(each))]


_TOLD: Final[tuple[Ability, Ability]] = ("instantiate", "derive")


def gained(declared: Changed[Declared]) -> list[Ability]:
    """What programs can do with objects on the new side alone.

    Not what they can since the class is no longer abstract or ``final``, which is reported by itself.
    """
    found = (_gained(old, new) for old, new in _pairs(declared.old, declared.new) if old is not None)
    return next((each for each in found if each), [])


def _gained(old: Abilities, new: Abilities | None) -> list[Ability]:
    told = OTHERWISE_TOLD | (OF_OBJECTS if "instantiate" in old.lacking else frozenset())
    final = "derive" in old.lacking
    return _lost(new, old, (each for each in old.lacking if each not in told and not (final and _is_derived(each))))


def _lost(old: Abilities | None, new: Abilities | None, abilities: Iterable[Ability]) -> list[Ability]:
    if old is None or new is None:
        return []
    return [each for each in abilities if each in new.lacking and each not in old.lacking]


def is_made_by_compilers(name: Name, context: Context) -> bool:
    """Whether ``name`` was a special member that programs could use, and what they did with it compiles as before."""
    function = next((each for each in context.old.variants("source", name) if isinstance(each, Function)), None)
    if function is None or function.method is None or function.method.access != "public":
        return False
    if function.is_virtual and not _stays_virtual(function.method.owner, context.new):
        return False
    abilities = _used_by(function, function.method.owner)
    old, new = (_abilities(function.method.owner, side) for side in (context.old, context.new))
    return bool(abilities) and None not in (old, new) and not any(_lost(old, new, abilities))


def _stays_virtual(owner: Name, side: SideFacts) -> bool:
    shape = side.shape(owner)
    return isinstance(shape, Record) and side.tables.has_virtual_destructor(shape)


def _used_by(function: Function, owner: Name) -> tuple[Ability, ...]:
    """What programs do with a special member; nothing with any other function."""
    word = last_component(function.display)
    if word.startswith("~"):
        return ("destroy", "derived_destroy")
    constructs = word == last_component(owner.spelling.partition("<")[0])
    if constructs and not function.parameters:
        return ("default", "default_implicitly", "derived_default")
    if not takes(function, owner):
        return ()
    if constructs:
        return ("move", "derived_move") if takes(function, owner, ("&&",)) else ("copy", "derived_copy")
    moves = takes(function, owner, ("&&",))
    assigns = word == "operator="
    return (
        ("move_assign", "derived_move_assign") if assigns and moves else ("assign", "derived_assign") if assigns else ()
    )


def _abilities(name: Name, side: SideFacts) -> Abilities | None:
    return next((each.abilities for each in side.variants("source", name) if isinstance(each, Declared)), None)


def lists_as_before(name: Name, context: Context) -> bool:
    """Whether a list of values gives each member its own although it begins with a base now.

    Braces around the values of a base may be left out, where it is an aggregate that has members.
    """
    old, new = (_own_record(name, side) for side in (context.old, context.new))
    return old is not None and new is not None and not old.bases and _listed(new, context.new) == _members_of(old)


def _own_record(name: Name, side: SideFacts) -> Record | None:
    return next((each for each in side.variants("source", name) if isinstance(each, Record)), None)


def _members_of(record: Record) -> list[tuple[str, TypeRef]]:
    return [(each.name, each.type) for each in record.fields]


def _listed(record: Record, side: SideFacts, depth: int = 0) -> list[tuple[str, TypeRef]] | None:
    """The members in the order of a list of values; ``None`` where a base wants braces of its own."""
    found = list[tuple[str, TypeRef]]()
    for base in record.bases:
        behind = base.type.name if isinstance(base.type, Named) else None
        shape, abilities = (_own_record(behind, side), _abilities(behind, side)) if behind else (None, None)
        if shape is None or abilities is None or "aggregate" in abilities.lacking or depth == DEEPEST:
            return None
        inner = _listed(shape, side, depth + 1)
        if not inner:
            return None
        found += inner
    return found + _members_of(record)


def accepts_members(name: Name, context: Context) -> bool:
    """Whether a constructor of the new side takes a value for each member of the old one, in their order."""
    old = _own_record(name, context.old)
    wanted = tuple(each.type for each in old.fields) if old is not None and not old.bases else ()
    return bool(wanted) and any(each.parameters == wanted for each in _usable(name, context.new))


def _usable(name: Name, side: SideFacts) -> Iterator[Function]:
    for shapes in side.tables.constructors(name).values():
        for each in shapes:
            if each.method is not None and each.method.access == "public" and not each.method.deleted:
                yield each


_NEVER: Final = (1 << 31,)


class Availability(msgspec.Struct, frozen=True):
    """The first release of a system that has a declaration, and the first that has it no more."""

    introduced: tuple[int, ...] = ()
    obsoleted: tuple[int, ...] = _NEVER


def is_narrower(old: Declared, new: Declared) -> bool:
    """Whether a release of some system has the ``old`` declaration and not the ``new`` one.

    What says nothing of a system is available on all its releases.
    """
    before, after = _by_platform(old), _by_platform(new)
    always = Availability()
    pairs = ((before.get(each, always), after.get(each, always)) for each in before.keys() | after.keys())
    return any(new.introduced > old.introduced or new.obsoleted < old.obsoleted for old, new in pairs)


def _by_platform(declared: Declared) -> dict[str, Availability]:
    return {text.split()[0]: _availability(text) for text in declared.availability if text.strip()}


def _availability(text: str) -> Availability:
    if "unavailable" in text.split():
        return Availability(_NEVER, ())
    found = dict(word.split("=", 1) for word in text.split() if "=" in word)
    introduced, obsoleted = (_version(found.get(each, "")) for each in ("introduced", "obsoleted"))
    return Availability(introduced, obsoleted or _NEVER)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d{1,9}", text))


def gained_trait(declared: Changed[Declared], trait: Trait) -> bool:
    """Whether only the new side's declaration has ``trait``."""
    return trait in declared.new.traits and trait not in declared.old.traits


def lost_trait(declared: Changed[Declared], trait: Trait) -> bool:
    """Whether only the old side's declaration has ``trait``."""
    return trait in declared.old.traits and trait not in declared.new.traits


def told_beside(own: InlineBody, other: InlineBody) -> InlineBody:
    """A body as its own text tells it, with types as far as the other names some too: it may be of a former version.

    Whose layouts it depends on is judged with these. The same text that calls the same uses the same: only the access
    to that differs.
    """
    own = replace(own, objects=(), fields=())
    if (own.digest, own.calls) == (other.digest, other.calls):
        return replace(own, members=(), types=())
    return own if other.types else replace(own, types=())


def members_exchanged(declared: Changed[Declared], context: Context) -> tuple[Sequence[str], Sequence[str]] | None:
    """The members that a body used and uses now, where these are as many, and none lies where one of those lay.

    ``None`` where members only have other names, or moved themselves: they have findings of their own.
    """
    old, new = (each.body.fields if each.body is not None else () for each in (declared.old, declared.new))
    if not old or len(old) != len(new) or not set(old).isdisjoint(new):
        return None
    if [_renamed(each, context) for each in old] == list(new):
        return None
    before, after = [_place(each, context.old) for each in old], [_place(each, context.new) for each in new]
    if None in before or None in after or not set(before).isdisjoint(after):
        return None
    return old, new


def _owner_of_member(field: str) -> Name:
    return Name("record", field.rpartition("::")[0])


def _renamed(field: str, context: Context) -> str:
    owner, _, own = field.rpartition("::")
    return f"{owner}::{renamed_fields(_owner_of_member(field), context).get(own, own)}"


def _place(field: str, side: SideFacts) -> tuple[Name, int] | None:
    """The class of a member, and its offset in bits; ``None`` where that is not known."""
    owner, own = _owner_of_member(field), field.rpartition("::")[2]
    shape = side.shape(owner)
    fields = map(plain, flat_fields(shape)) if isinstance(shape, Record) else ()
    return next(((owner, each.offset) for each in fields if each.name == own), None)


_WORD: Final = "experimental"
_MANGLED: Final = f"{len(_WORD)}{_WORD}"


def is_experimental(name: Name) -> bool:
    """Whether ``name`` stands in a namespace ``experimental``."""
    if is_mangled(name.spelling):
        return name.spelling.startswith(MEMBER) and _MANGLED in name.spelling
    return f"{_WORD}::" in name.spelling


def graduated(name: Name) -> Name:
    """What ``name`` is called once it is stable: outside the namespace."""
    word = _MANGLED if is_mangled(name.spelling) else f"{_WORD}::"
    return Name(name.kind, name.spelling.replace(word, "", 1))


def is_overridden(name: Name, context: Context) -> bool:
    """Whether classes of programs may override the virtual function ``name`` of the old side, no destructor."""
    function = _function(name, context.old)
    if function is None or not function.is_virtual or function.method is None:
        return False
    destroys = last_component(function.display).startswith("~")
    return not destroys and not _is_final(name, context.old) and _is_derived_from(function.method.owner, context.old)


def passes_overrides(declared: Changed[Declared], context: Context) -> bool:
    """Whether the library now calls past what built classes of programs override: ``final`` tells compilers to.

    Only calls by the class that is ``final`` are direct. A library that gets objects as those of a base, and whose
    functions do not have the class in their signatures, goes on calling overrides.
    """
    owner = _owner(declared.subject.name, context.old) if gained_trait(declared, "final") else None
    if owner is None or not _is_derived_from(owner, context.old):
        return False
    return any(_takes(each, owner, context.old) for each in context.affected(owner))


def _owner(name: Name, side: SideFacts) -> Name | None:
    """The class of a virtual function, or the class ``name`` where it has some."""
    if name.kind != "function":
        return name if _is_polymorphic(name, side) else None
    function = _function(name, side)
    return function.method.owner if function is not None and function.is_virtual and function.method else None


def _takes(export: Name, owner: Name, side: SideFacts) -> bool:
    """Whether the library gets objects by an export as those of ``owner``: no slot leads to it, nor a constructor."""
    shapes = side.variants("source", export) or side.variants("layout", export)
    for each in shapes:
        if isinstance(each, Variable):
            return True
        if isinstance(each, Function):
            method = each.method
            if method is None or method.owner != owner:
                return True
            own = last_component(each.display).removeprefix("~") == last_component(owner.spelling).partition("<")[0]
            return not (each.is_virtual or method.static or own)
    return False


def _function(name: Name, side: SideFacts) -> Function | None:
    return next((each for each in side.variants("source", name) if isinstance(each, Function)), None)


def _is_polymorphic(name: Name, side: SideFacts) -> bool:
    records = (each for each in side.variants("source", name) if isinstance(each, Record))
    return any(side.tables.is_polymorphic(each) for each in records)


def _is_derived_from(owner: Name, side: SideFacts) -> bool:
    """Whether programs can have classes that derive from ``owner``, and objects of these."""
    declared = [each for each in side.variants("source", owner) if isinstance(each, Declared)]
    lacking = {ability for each in declared if each.abilities for ability in each.abilities.lacking}
    return not lacking & {"derive", "derived_destroy"} and side.tables.may_be_derived_from(owner)


def _is_final(name: Name, side: SideFacts) -> bool:
    return any(isinstance(each, Declared) and "final" in each.traits for each in side.variants("source", name))


ALIGNED = re.compile(r"assume_aligned\((\d+)\)")


def broken_promises(first: Declared, second: Declared) -> tuple[str, ...]:
    """What callers of ``first`` were compiled by that ``second`` does not say; nothing of what programs compile."""
    if COPIED & {*first.traits, *second.traits}:
        return ()
    return tuple(each for each in first.promises if not any(_implies(other, each) for other in second.promises))


def _implies(promise: str, other: str) -> bool:
    """Whether a function that keeps ``promise`` keeps ``other`` too."""
    if promise == other or (promise, other) == ("const", "pure"):
        return True
    aligned, less = ALIGNED.fullmatch(promise), ALIGNED.fullmatch(other)
    return aligned is not None and less is not None and int(aligned[1]) >= int(less[1])


_NAMED: Final = r"(?s)(?P<introduced>.*[^\s.]|.*\.\.\.)\s+(?P<name>[A-Za-z_]\w*)"
_TOKENS: Final = r"(?s)&&|\|\||."
_ANGLES: Final = r"\s*([<>])\s*"
_NO_NAMES: Final = frozenset(
    {
        *("auto", "bool", "char", "class", "const", "double", "float", "int", "long", "short", "signed", "size_t"),
        *("typename", "unsigned", "void", "volatile"),
    }
)
"""What ends a parameter without a name."""


class TemplateParameter(msgspec.Struct, frozen=True):
    """A template parameter without its name: ``typename``, ``int``, ``Sortable...``, and its default argument."""

    introduced: str
    default: str | None


def template_parameters(declared: Declared) -> tuple[TemplateParameter, ...]:
    """The parameters of a template. Where a default mentions another parameter, it does so by its position."""
    named = [_split(each) for each in declared.template]
    names = [name for _, name in named]
    return tuple(
        TemplateParameter(_by_position(introduced, names), each.default and _by_position(each.default, names))
        for each, (introduced, _) in zip(declared.template, named, strict=True)
    )


def conjuncts(declared: Declared) -> frozenset[str]:
    """What a constraint asks for, each by itself: ``Sortable<#0>`` and ``sizeof(#0)<9``; nothing without one."""
    if declared.requires is None:
        return frozenset()
    text = _by_position(re.sub(_ANGLES, r"\1", declared.requires), [_split(each)[1] for each in declared.template])
    parts, depth = [""], 0
    for token in re.findall(_TOKENS, text):
        depth += (token in "([{") - (token in ")]}")
        if depth == 0 and token == "||":
            return frozenset({text})
        if depth == 0 and token == "&&":
            parts.append("")
        else:
            parts[-1] += token
    return frozenset(part.strip() for part in parts)


def _split(parameter: Argument) -> tuple[str, str]:
    """How a parameter is introduced, and its name; ``class`` and ``typename`` are one word."""
    match = re.fullmatch(_NAMED, parameter.name)
    introduced, name = (match["introduced"], match["name"]) if match else (parameter.name, "")
    if name in _NO_NAMES:
        introduced, name = parameter.name, ""
    return re.sub(r"\bclass\b", "typename", introduced), name


def _by_position(text: str, names: Sequence[str]) -> str:
    """``text`` with each of the ``names`` replaced by its number."""
    places = {name: f"#{place}" for place, name in enumerate(names) if name}
    return re.sub(r"[A-Za-z_]\w*", lambda match: places.get(match[0], match[0]), text) if places else text
