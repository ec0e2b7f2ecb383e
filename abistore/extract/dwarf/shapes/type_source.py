"""What the members of a declaration ask of the types of their debug file."""

from __future__ import annotations

from typing import Protocol

from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.info import DebugInfo
from abistore.extract.dwarf.entries.walk import Die
from abistore.extract.dwarf.names.spellings import Spellings
from abistore.extract.types.references import References
from abistore.model.shapes import TypeRef


class TypeSource(Protocol):
    """Gives type references. :class:`~abistore.extract.dwarf.shapes.types.TypeReferences` is the one implementation.

    ``nested`` are the enumerations inside of classes that consumers can name.
    Readers of members are typed on this protocol, because types read members in turn: those of unnamed records.
    """

    info: DebugInfo
    references: References
    spellings: Spellings
    nested: list[int]

    def of(self, attributes: Attributes) -> TypeRef:
        """What an entry's DW_AT_type refers to; ``void`` where it has none."""

    def reference(self, handle: int) -> TypeRef:
        """The type that the DIE ``handle`` describes."""

    def define(self, spelling: str, handle: int, die: Die) -> TypeRef:
        """Notes that ``handle`` declares or defines the record or enum ``spelling``, and gives its mention."""

    def asked_alignment(self, reference: TypeRef) -> int:
        """The alignment in bytes that a typedef asks for with an attribute; 0 where it asks for none."""

    def byte_size(self, attributes: Attributes) -> int:
        """The size in bytes of an entry's type; 0 where it is not recorded."""

    def is_signed(self, attributes: Attributes) -> bool | None:
        """Whether an entry's type is a signed integer; ``None`` where that is not recorded."""
