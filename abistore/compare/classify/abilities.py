"""What programs can do with a class on one side of a comparison, and not on the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from abistore.compare.context import Context
from abistore.compare.diff.headers.constructed import takes
from abistore.compare.side import SideFacts
from abistore.compare.types.vtables import DEEPEST
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import EMPTY_BODY, Abilities, Ability, Declared
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.shapes import Function, Method, Named, Record, TypeRef

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
    could do is no further loss. Programs have nothing to lose of a class that the one around it keeps from them.
    """
    pairs = _pairs(declared.old, declared.new)
    found = {ability for old, new in pairs for ability in _lost(old, new, _left(old, new, abilities))}
    if not found or _is_kept_from_programs(declared.subject.name, context.old):
        return []
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


def _is_kept_from_programs(name: Name, side: SideFacts) -> bool:
    return any(each.access != "public" for each in side.variants("source", name) if isinstance(each, Record))


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
    if last_component(function.display).startswith("~") and not _does_nothing(function.method, name, context.old):
        return False
    abilities = _used_by(function, function.method.owner)
    old, new = (_abilities(function.method.owner, side) for side in (context.old, context.new))
    return bool(abilities) and None not in (old, new) and not any(_lost(old, new, abilities))


def _does_nothing(method: Method, name: Name, side: SideFacts) -> bool:
    """Whether a destructor does no more than the one that compilers make: the library runs those of its objects too."""
    bodies = [each.body for each in side.variants("source", name) if isinstance(each, Declared)]
    return method.defaulted or any(body is not None and body.digest == EMPTY_BODY for body in bodies)


def _stays_virtual(owner: Name, side: SideFacts) -> bool:
    """Whether the destructor that compilers make overrides one of a base."""
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
