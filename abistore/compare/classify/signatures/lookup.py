"""What a name finds in the headers of a release, as C++ looks it up: also in base classes, and by ``using``."""

from __future__ import annotations

from typing import NamedTuple

from abistore.compare.consumers.headers.overloads import Overload
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.shapes import Named, Record


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
    """The public bases of a class."""
    record = next((each for each in side.variants("source", owner) if isinstance(each, Record)), None)
    types = (each.type for each in (record.bases if record is not None else ()) if each.access == "public")
    return [each.name for each in types if isinstance(each, Named)]
