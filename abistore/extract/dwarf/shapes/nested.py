"""Who can name a nested type: its access in the class around it, unless that class shows it in other ways."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec.structs import replace

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.peek import name_at, parameter_types
from abistore.extract.dwarf.entries.walk import Die, tagged
from abistore.extract.dwarf.shapes.records import ACCESS, default_access
from abistore.extract.dwarf.shapes.type_source import TypeSource
from abistore.extract.types.derivable import Derivability
from abistore.model.names import Name
from abistore.model.shapes import Access, Enum, Record
from abistore.patterns import pattern

PRODUCER: Final = pattern(r"GNU C\+\+\S* (\d+)\.|(?:\w+ )?clang version (\d+)\.")
OLDEST_GCC, OLDEST_CLANG = 8, 14
"""The first versions that were seen to tell the access of nested types; Apple numbers its Clang otherwise."""

MEMBERS: Final = frozenset(
    {
        *dw.RECORD_TAGS,
        dw.TAG_INHERITANCE,
        dw.TAG_MEMBER,
        dw.TAG_SUBPROGRAM,
        dw.TAG_TYPEDEF,
        dw.TAG_VARIABLE,
    }
)
SIGNATURES: Final = frozenset({dw.TAG_SUBPROGRAM, dw.TAG_SUBROUTINE_TYPE})
FUNCTIONS: Final = frozenset({dw.TAG_SUBPROGRAM})
DEEPEST: Final = 20
"""How many pointers, typedefs and classes a member is followed through."""


@cache
def tells_default(producer: str | None, tag: int) -> bool:
    """Whether a nested type that says nothing of its access has the default one of its class.

    Clang 14 tells the access of nested classes, and of enumerations and typedefs nothing.
    """
    match = PRODUCER.match(producer or "")
    if match is None or (producer or "").startswith("Apple"):
        return False
    if match[1]:
        return int(match[1]) >= OLDEST_GCC
    return int(match[2]) >= OLDEST_CLANG and tag in dw.RECORD_TAGS


class NestedTypes:
    """Which nested types are closed to consumers, by the definitions of the classes around them.

    ``private: class Node {...};`` is private where no accessible member of the class takes, returns, holds, derives
    from or renames a ``Node``; ``auto node = list.first();`` needs no name. A protected type is as good as a public
    one, unless nobody can derive from the class. Where no unit defines the class, nothing is known.
    """

    def __init__(self, types: TypeSource) -> None:
        self._types = types
        self._definitions: dict[str, int | None] = {}
        self._shown: dict[int, frozenset[str]] = {}
        self._derivable: dict[int, bool] = {}
        self._known: dict[int, Access] = {}
        self._named: dict[Name, Access] = {}
        self._behind: dict[int, tuple[str, ...]] = {}

    def told(self, name: Name, handle: int, shape: Record | Enum) -> Record | Enum:
        """``shape`` with the access of its type, as the first unit that describes it tells."""
        if name not in self._named:
            self._named[name] = self.access(handle)
        return shape if self._named[name] == "public" else replace(shape, access=self._named[name])

    def access(self, handle: int) -> Access:
        """The access that consumers have to the type ``handle``."""
        found = self._known.get(handle)
        if found is None:
            self._known[handle] = "public"  # what a damaged entry finds that is within itself
            found = self._known[handle] = self._access(handle)
        return found

    def _access(self, handle: int) -> Access:
        outer = self._class_around(handle)
        if outer is None:
            return "public"
        die, attributes = self._types.info.die(outer), self._types.info.attributes(handle)
        own = self._own_access(handle, die)
        around = self.access(outer)
        if own == "public" and around == "public":
            return "public"
        shown = self._shown_around(handle, own == "protected")
        spelling = self._types.spellings.of(handle, attributes)
        if shown is None or spelling is None or any(spelling in each for each in shown):
            return "public"
        return around if own == "public" else own

    def _class_around(self, handle: int) -> int | None:
        scope = self._types.info.scope(handle)
        outer = scope[-1] if scope else None
        if isinstance(outer, int) and self._types.info.entry(outer)[1].tag in dw.RECORD_TAGS:
            return outer
        return None

    def _own_access(self, handle: int, outer: Die) -> Access:
        unit, abbreviation, _, attributes = self._types.info.die(handle)
        told = ACCESS.get(attributes.get(dw.AT_ACCESSIBILITY, 0))
        if told is not None:
            return told
        return default_access(outer) if tells_default(unit.producer, abbreviation.tag) else "public"

    # --- what the classes around show -----------------------------------------------------------------------------

    def _shown_around(self, handle: int, protected: bool) -> frozenset[str] | None:
        """What accessible members of the classes around mention; ``None`` where one is defined nowhere.

        Or where one lets everybody derive from it, who has then access to what is ``protected``.
        """
        found = frozenset[str]()
        outer = self._class_around(handle)
        while outer is not None:
            if protected or self.access(outer) == "public":
                definition = self._definition(outer)
                if definition is None or (protected and self._is_derivable(definition)):
                    return None
                found |= self._shown_by(definition)
            outer, protected = self._class_around(outer), False
        return found

    def _definition(self, handle: int) -> int | None:
        """The definition of a class, in whatever unit."""
        attributes = self._types.info.attributes(handle)
        spelling = self._types.spellings.of(handle, attributes)
        if spelling is None:
            return None
        if spelling not in self._definitions:
            declared = dw.AT_DECLARATION in attributes
            self._definitions[spelling] = self._elsewhere(spelling, attributes) if declared else handle
        return self._definitions[spelling]

    def _elsewhere(self, spelling: str, attributes: Attributes) -> int | None:
        info = self._types.info
        for each in info.definitions(attributes.get(dw.AT_NAME, "")):
            if self._types.spellings.of(each, info.attributes(each)) == spelling:
                return each
        return None

    def _shown_by(self, record: int) -> frozenset[str]:
        """What accessible members of a class mention, by name."""
        if record not in self._shown:
            self._shown[record] = frozenset(self._mentions(record, record, 0))
        return self._shown[record]

    def _mentions(self, record: int, outermost: int, depth: int) -> Iterator[str]:
        """The same for a class in the ``outermost``, whose members say whether programs get at protected ones."""
        if depth > DEEPEST:
            return
        unit, abbreviation, position, _ = die = self._types.info.die(record)
        default = default_access(die)
        for handle, child, start in tagged(unit, position, MEMBERS) if abbreviation.has_children else ():
            after, attributes = child.decode(unit.data, start, unit)
            access = ACCESS.get(attributes.get(dw.AT_ACCESSIBILITY, 0), default)
            if access == "private" or (access == "protected" and not self._is_derivable(outermost)):
                continue
            if child.tag in dw.RECORD_TAGS:
                yield from self._mentions(handle, outermost, depth + 1)
            elif child.tag in SIGNATURES:
                yield from self._in_signature((unit, child, after, attributes), depth)
            else:
                yield from self._types_of(attributes.get(dw.AT_TYPE, -1), depth + 1)

    def _is_derivable(self, record: int) -> bool:
        """Whether anybody can derive from a class."""
        if record not in self._derivable:
            self._derivable[record] = self._lets_derive(record)
        return self._derivable[record]

    def _lets_derive(self, record: int) -> bool:
        found, die = Derivability(), self._types.info.die(record)
        default, name = default_access(die), str(die[3].get(dw.AT_NAME, "")).partition("<")[0]
        unit, abbreviation, position, _ = die
        for _, child, start in tagged(unit, position, FUNCTIONS) if abbreviation.has_children else ():
            called = name_at(unit, child, start)
            if called in (name, f"~{name}"):
                after, attributes = child.decode(unit.data, start, unit)
                private = ACCESS.get(attributes.get(dw.AT_ACCESSIBILITY, 0), default) == "private"
                usable = not private and dw.AT_DELETED not in attributes
                copies = self._copies((unit, child, after, attributes), record)
                found.add(usable, destroys=called != name, copies=copies)
        return bool(found)

    def _copies(self, constructor: Die, record: int) -> bool:
        """Whether a constructor takes nothing but a reference to its own class: no other copies are made implicitly."""
        taken = parameter_types(constructor)
        if len(taken) != 1:
            return False
        return [self._types.spellings.of(record, self._types.info.attributes(record))] == [*self._types_of(taken[0], 0)]

    def _types_of(self, handle: int, depth: int) -> tuple[str, ...]:
        """The named types behind an entry, worked out once: members of all classes take the same few types."""
        if handle < 0:
            return ()
        found = self._behind.get(handle)
        if found is None:
            self._behind[handle] = ()  # where a damaged type leads to itself
            found = self._behind[handle] = tuple(self._led_to(handle, depth))
        return found

    def _led_to(self, handle: int, depth: int) -> Iterator[str]:
        """The entry itself if it is a named type, else those behind its type and its parameters."""
        die = self._types.info.die(handle)
        tag, attributes = die[1].tag, die[3]
        if tag in dw.COMPOSITE_TAGS:
            if spelling := self._types.spellings.of(handle, attributes):
                yield spelling
            return
        if tag in SIGNATURES:
            yield from self._in_signature(die, depth)
        elif depth <= DEEPEST:
            yield from self._types_of(attributes.get(dw.AT_TYPE, -1), depth + 1)

    def _in_signature(self, die: Die, depth: int) -> Iterator[str]:
        """The named types behind what a function takes and returns."""
        for each in (die[3].get(dw.AT_TYPE, -1), *parameter_types(die)) if depth <= DEEPEST else ():
            yield from self._types_of(each, depth + 1)
