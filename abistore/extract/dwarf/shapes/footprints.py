"""The sizes and alignments of foreign types, without entering their members into the snapshot."""

from __future__ import annotations

from typing import Final

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.walk import Die, parts
from abistore.extract.dwarf.names.base_types import spelling_of_base
from abistore.extract.dwarf.shapes.records import arguments_in
from abistore.extract.dwarf.shapes.types import MAX_DEPTH, SORTS, TypeReferences
from abistore.model.cpp_names.normal import primitive
from abistore.model.shapes import Foreign
from abistore.model.snapshot import Target

LAID_OUT: Final = frozenset({dw.TAG_MEMBER, dw.TAG_INHERITANCE})
WORDS: Final = frozenset({dw.TAG_POINTER_TYPE, dw.TAG_REFERENCE_TYPE, dw.TAG_RVALUE_REFERENCE_TYPE})
SCALARS: Final = frozenset({dw.TAG_BASE_TYPE, dw.TAG_ENUMERATION_TYPE})


class Footprints:
    """Sizes and alignments of foreign types, found once per name and without entering them into the snapshot."""

    def __init__(self, types: TypeReferences, target: Target) -> None:
        self._types = types
        self._target = target
        self._alignments: dict[int, int] = {}

    def shape(self, handle: int) -> Foreign:
        """The foreign type that the DIE ``handle`` defines."""
        types = self._types
        _, abbreviation, _, attributes = die = types.info.die(handle)
        return Foreign(
            SORTS[abbreviation.tag],
            attributes.get(dw.AT_BYTE_SIZE),
            self._of(handle, die) or None,
            tuple(arguments_in(types, die)),
        )

    def alignment(self, attributes: Attributes, depth: int = 0) -> int:
        """The natural alignment in bytes of an entry's type; 0 where that embeds what its unit only declares."""
        handle = attributes.get(dw.AT_TYPE, -1)
        if handle < 0 or depth > MAX_DEPTH:
            return 1
        found = self._alignments.get(handle)
        if found is None:
            found = self._alignments[handle] = self._of(handle, self._types.info.die(handle), depth)
        return found

    def _of(self, handle: int, die: Die, depth: int = 0) -> int:
        unit, abbreviation, _, attributes = die
        tag = abbreviation.tag
        asked = int(attributes.get(dw.AT_ALIGNMENT, 1))
        if tag in dw.RECORD_TAGS:
            if attributes.get(dw.AT_SIGNATURE, handle) not in (handle, -1):
                return self.alignment({dw.AT_TYPE: attributes[dw.AT_SIGNATURE]}, depth + 1)
            whole = dw.AT_DECLARATION not in attributes
            for _, _, part in parts(die, LAID_OUT):
                is_static = dw.AT_EXTERNAL in part or dw.AT_DECLARATION in part
                if not is_static:
                    natural = self.alignment(part, depth + 1)
                    asked = max(asked, part.get(dw.AT_ALIGNMENT, 1), natural)
                    whole = whole and natural > 0
            return asked if whole else 0
        if tag in WORDS:
            return self._scalar("*", unit.address_size)
        if tag == dw.TAG_PTR_TO_MEMBER_TYPE:
            return unit.address_size
        if tag in SCALARS:
            return max(asked, self._scalar(spelling_of_base(unit, attributes), int(attributes.get(dw.AT_BYTE_SIZE, 0))))
        natural = self.alignment(attributes, depth + 1)
        return max(asked, natural) if natural else 0

    def _scalar(self, spelling: str, size: int) -> int:
        """The alignment in bytes of a built-in type, enumeration or pointer inside a record."""
        from abistore.model.layout.layouts import primitive_alignment  # C libraries mention no foreign types

        return primitive_alignment(primitive(spelling, size), self._target) or 1
